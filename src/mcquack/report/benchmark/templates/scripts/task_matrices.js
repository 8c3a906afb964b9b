// What one task takes for what: its confusion matrix and its kernel.

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
    return h("tr", {}, h("th", { scope: "row" }, names[truth]), cells);
  });
  const corner = h("th", { scope: "col" }, h("span", { class: "hidden-text" }, "true class"));
  const table = h(
    "table",
    { class: "matrix confusion" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        corner,
        names.map((name) => h("th", { scope: "col" }, name)),
      ),
    ),
    h("tbody", {}, rows),
  );
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
  const names = classNames(details, details.class_names?.length ?? Math.max(...classes) + 1);
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
