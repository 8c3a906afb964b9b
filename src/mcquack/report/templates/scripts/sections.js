// The names of the sections in the bar.

/** Marks the section that is being read. */
function followSections() {
  const links = [...document.querySelectorAll(".sections a")];
  const mark = (id) =>
    links.forEach((link) =>
      link.hash === `#${id}` ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current"),
    );
  const observer = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => mark(entry.target.id)),
    { rootMargin: "-20% 0px -70% 0px" },
  );
  document.querySelectorAll("main > section").forEach((section) => observer.observe(section));
}
