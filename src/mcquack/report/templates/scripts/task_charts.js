// How one task was trained, and what it takes for what: curves, confusion matrix and kernel.

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
        linePlot(drawn, { width, height: 190, label: `${title} over the epochs` }),
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

/** A line plot over whole epochs of ``lines`` {points: [[x, y]…], colour, classes}; ``y`` may be NaN where there is a gap. */
function linePlot(lines, { width, height, label }) {
  const points = lines.flatMap((line) => line.points.filter((point) => Number.isFinite(point[1])));
  const xs = points.map((point) => point[0]);
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = padded(points.map((point) => point[1]));
  const yTicks = ticks(low, high, 4);
  const left = 12 + Math.max(...yTicks.values.map((value) => textWidth(value.toFixed(yTicks.digits), 11.5)));
  const x = (value) => left + (x1 > x0 ? (value - x0) / (x1 - x0) : 0.5) * (width - left - 8);
  const y = (value) => 8 + ((high - value) / (high - low)) * (height - 42);
  const xTicks = x1 > x0 ? ticks(x0, x1, Math.max(2, Math.min(6, width / 60))).values.filter(Number.isInteger) : [x0];
  return s(
    "svg",
    { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    yTicks.values.map((value) => [
      s("line", { class: "grid", x1: left, x2: width - 8, y1: y(value), y2: y(value) }),
      quietText(left - 7, y(value) + 4, value.toFixed(yTicks.digits), "end"),
    ]),
    xTicks.map((value) => quietText(x(value), height - 18, String(value))),
    quietText(width - 8, height - 3, "epoch", "end"),
    lines.map((line) => lineOf(line, x, y)),
  );
}

function quietText(x, y, text, anchor = "middle") {
  return s("text", { class: "quiet", x, y, "text-anchor": anchor }, text);
}

function padded(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const pad = (high - low || 0.1 * Math.abs(high) || 0.1) * 0.06;
  return [low - pad, high + pad];
}

function lineOf({ points, colour, classes }, x, y) {
  const known = points.filter((point) => Number.isFinite(point[1]));
  if (known.length === 1)
    return s("circle", { cx: x(known[0][0]), cy: y(known[0][1]), r: 3, style: { fill: colour } });
  let isDrawing = false;
  const steps = points.map(([at, value]) => {
    if (!Number.isFinite(value)) return ((isDrawing = false), "");
    const step = `${isDrawing ? "L" : "M"}${x(at).toFixed(1)},${y(value).toFixed(1)}`;
    isDrawing = true;
    return step;
  });
  return s("path", { class: `curve ${classes}`, d: steps.join(""), style: { stroke: colour } });
}

function classNames(details, count) {
  return Array.from({ length: count }, (_, index) => String(details.class_names?.[index] ?? index));
}

function confusionPart(details) {
  const counts = details.confusion;
  if (!counts) return null;
  const names = classNames(details, counts.length);
  const rows = counts.map((row, truth) => {
    const total = row.reduce((sum, count) => sum + count, 0);
    const cells = row.map((count, predicted) => {
      const title = `${names[truth]} taken for ${names[predicted]}: ${count} of ${total}`;
      const background = confusionColour(total > 0 ? count / total : 0, truth === predicted);
      const text = count === 0 ? h("span", { class: "muted" }, "·") : whole(count);
      return h("td", { style: { background }, title }, text);
    });
    return h("tr", {}, h("th", { scope: "row" }, theirs(names[truth])), cells);
  });
  const corner = columnHead(h("span", { class: "hidden-text" }, "true class"));
  const table = tableOf([corner, names.map((name) => columnHead(theirs(name)))], rows, "matrix confusion");
  const place = counts.length > 6 ? widePart : part;
  const note = h("p", { class: "note" }, "Rows are true classes, columns the predicted ones.");
  return place("Confusion on the test part", note, scrollable(table, { label: "Confusion matrix", classes: "pinned" }));
}

/** Square roots let also rare mistakes be seen. */
function confusionColour(share, isRight) {
  const colour = isRight ? "--win" : "--loss";
  return `color-mix(in oklab, var(${colour}) ${(42 * Math.sqrt(share)).toFixed(1)}%, var(--paper))`;
}

function kernelPart(details) {
  const { classes, values } = details.kernel ?? {};
  if (!values?.length) return null;
  const names = classNames(details, details.class_names?.length ?? Math.max(...classes) + 1).map(elided);
  const holder = h("div", { class: "panel" });
  whenShown((width) => holder.replaceChildren(kernelDrawing(classes, values, { names, width })), holder);
  const most = Math.max(...values.flat());
  const note = h("p", { class: "note" }, "Rows are samples by class, columns the centroids of the classes.");
  const scale = h("p", { class: "scale" }, "0", h("i", { class: "heat" }), decimal(most, 2), " fidelity");
  const place = values[0].length > 12 ? widePart : part;
  return place("Kernel of test samples", note, holder, scale);
}

/** Rows are samples sorted by class, columns centroids; a perfect model is dark on the staircase alone. */
function kernelDrawing(classes, values, { names, width }) {
  const most = Math.max(...values.flat()) || 1;
  const widest = Math.max(...names.map((name) => textWidth(name, 11.5)));
  const left = Math.min(widest + 10, width / 3);
  const [nRows, nColumns] = [values.length, values[0].length];
  const cellWidth = Math.min(Math.max(44, 240 / nColumns), (width - left) / nColumns);
  const cellHeight = Math.max(3, Math.min(9, 320 / nRows));
  const cells = values.flatMap((row, index) =>
    row.map((value, column) =>
      s("rect", {
        class: "cell",
        x: left + column * cellWidth,
        y: index * cellHeight,
        width: cellWidth,
        height: cellHeight + 0.3,
        "fill-opacity": (value / most).toFixed(3),
      }),
    ),
  );
  const runs = names
    .map((name, index) => ({ name, first: classes.indexOf(index), last: classes.lastIndexOf(index) }))
    .filter(({ first }) => first >= 0);
  const marks = runs.map(({ name, first, last }) => [
    first > 0 &&
      s("line", {
        class: "grid",
        style: { stroke: "var(--line)" },
        x1: left,
        x2: left + nColumns * cellWidth,
        y1: first * cellHeight,
        y2: first * cellHeight,
      }),
    s(
      "text",
      { class: "quiet", x: left - 7, y: ((first + last + 1) / 2) * cellHeight + 4, "text-anchor": "end" },
      fitted(name, left - 9, 11.5),
    ),
  ]);
  const perClass = nColumns / names.length;
  const heads = names.map((name, index) => {
    const room = perClass * cellWidth;
    const x = left + (index + 0.5) * room;
    // Names that do not fit above their columns are those of the rows, in the same order.
    return textWidth(name, 11.5) <= room && s("text", { class: "quiet", x, y: -6, "text-anchor": "middle" }, name);
  });
  const height = nRows * cellHeight;
  const frame = s("rect", {
    x: left,
    y: 0,
    width: nColumns * cellWidth,
    height,
    fill: "none",
    style: { stroke: "var(--line)" },
  });
  const label = `Kernel of ${nRows} test samples and ${nColumns} centroids`;
  return s(
    "svg",
    { class: "chart", viewBox: `0 -20 ${width} ${height + 26}`, role: "img", "aria-label": label },
    cells,
    marks,
    heads,
    frame,
  );
}
