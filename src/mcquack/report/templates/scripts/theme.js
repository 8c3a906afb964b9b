// Light, dark, or as the system has it.

function followTheme() {
  const switches = document.querySelectorAll('input[name="theme"]');
  const set = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    switches.forEach((input) => (input.checked = input.value === theme));
  };
  set(remembered());
  switches.forEach((input) =>
    input.addEventListener("change", () => {
      set(input.value);
      remember(input.value);
    }),
  );
}

// Some browsers keep nothing for pages that come from a file.
function remembered() {
  try {
    const theme = localStorage.getItem("mcquack-theme");
    return ["light", "dark"].includes(theme) ? theme : "auto";
  } catch {
    return "auto";
  }
}

function remember(theme) {
  try {
    localStorage.setItem("mcquack-theme", theme);
  } catch {
    return;
  }
}
