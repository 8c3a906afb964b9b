// Puts the page of a study together: its figures and tables stand in it already.

/** Unfolds the section that the address names. */
function followFolds() {
  const unfold = () => {
    const section = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const fold = section && section.querySelector(":scope > details");
    if (fold) fold.open = true;
  };
  addEventListener("hashchange", unfold);
  // Whoever asks for the same section again after folding it changes no address.
  document.addEventListener("click", (event) => event.target.closest('a[href^="#"]') && setTimeout(unfold));
  unfold();
}

followTheme();
followSections();
followFolds();
