// How one task was trained.

const CURVE_GROUPS = [
  ["Loss", /loss/],
  ["Alignment", /alignment/],
  ["Accuracy", /accuracy/],
];

function historyPart(history) {
  if (!history) return null;
  const { epoch, ...columns } = history;
  const names = Object.keys(columns);
  const groups = CURVE_GROUPS.map(([title, pattern]) => [title, names.filter((name) => pattern.test(name))]);
  const panels = groups
    .filter(([, found]) => found.length > 0)
    .map(([title, found]) => historyPanel(title, found, columns, epoch));
  return panels.length > 0 ? widePart("Training", h("div", { class: "panels" }, panels)) : null;
}

function historyPanel(title, names, columns, epoch) {
  const lines = names.map((name, index) => {
    const isValidation = name.startsWith("validation");
    return {
      name: curveName(name, title),
      points: columns[name].map((value, at) => [epoch ? epoch[at] : at + 1, value ?? NaN]),
      colour: isValidation ? "var(--muted)" : `var(--model-${index % 10})`,
      classes: isValidation ? "dashed" : "",
      isDashed: isValidation,
    };
  });
  const drawn = lines.filter((line) => line.points.some((point) => Number.isFinite(point[1])));
  const holder = h("div", { class: "panel" });
  const key = drawn.map((line) =>
    h("span", {}, h("i", { class: line.isDashed && "dashed", style: { color: line.colour } }), line.name),
  );
  if (drawn.length === 0) return null;
  whenShown(
    (width) =>
      holder.replaceChildren(
        linePlot(drawn, { width, height: 190, xLabel: "epoch", label: `${title} over the epochs` }).drawing,
      ),
    holder,
  );
  return h("div", {}, h("div", { class: "key" }, h("span", {}, title), key), holder);
}

/** "validation_loss" is "validation" under the heading Loss, and "loss_kao" is "kao". */
function curveName(name, title) {
  const words = name.split("_").filter((word) => word !== title.toLowerCase());
  return words.join(" ") || "training";
}

/** Draws once the dialog is open, and again when its width changes. */
function whenShown(draw, holder) {
  byId("task").addEventListener("shown", () => onWidth(holder, draw), { once: true });
}
