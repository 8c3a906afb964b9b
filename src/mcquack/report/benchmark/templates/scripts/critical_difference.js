// Which differences in rank are more than chance (Demšar 2006).

function drawCriticalDifference() {
  const box = byId("critical-difference-chart");
  whenChosen(() => draw(box.clientWidth));
  onWidth(box, draw);

  function draw(width) {
    const { comparison } = currentView();
    const isTested = Boolean(comparison.models);
    byId("critical-difference-reading").textContent = comparison.reading;
    byId("critical-difference-more").hidden = !isTested;
    byId("critical-difference-published").hidden = !isTested || !comparison.models.some(isPublished);
    box.replaceChildren(isTested ? differenceDiagram(comparison, width) : "");
    byId("critical-difference-numbers").replaceChildren(isTested ? pairTable(comparison) : "");
  }
}

/** Names at both sides, as in the literature, or in a column where the page is too narrow for that. */
function differenceDiagram(comparison, width) {
  const { models, ranks } = comparison;
  const half = Math.ceil(models.length / 2);
  const room = models.map((model) => textWidth(report.models[model].title) + 58);
  const [left, right] = [Math.max(...room.slice(0, half)), Math.max(0, ...room.slice(half))];
  const isWide = left + right + 36 * models.length <= width;
  const { height, content } = isWide
    ? differencesAtBothSides(comparison, { width, left, right: width - right })
    : differencesInRows(comparison, { width });
  const label = models.map((model, index) => `${modelText(model)} ${decimal(ranks[index], 2)}`).join(", ");
  return s(
    "svg",
    { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Average ranks ${label}` },
    content,
  );
}

function rankScale(nModels, { left, right }) {
  return (rank) => left + ((rank - 1) / (nModels - 1)) * (right - left);
}

function differencesAtBothSides({ models, ranks, difference, groups }, { left, right }) {
  const x = rankScale(models.length, { left, right });
  const [axisY, rowHeight] = [58, 25];
  const half = Math.ceil(models.length / 2);
  const bars = stacked(groups);
  const firstRow = axisY + 24 + 9 * Math.max(0, ...bars.map((bar) => bar.level + 1));
  const names = models.map((model, index) => {
    const isLeft = index < half;
    const y = firstRow + rowHeight * (isLeft ? index : models.length - 1 - index);
    const edge = isLeft ? left - 12 : right + 12;
    const name = nameSpan(model, report.models[model].title);
    const rank = s("tspan", { class: "quiet" }, decimal(ranks[index], 2));
    const text = isLeft ? [name, "  ", rank] : [rank, "  ", name];
    return [
      s("path", { class: "leg", d: `M${x(ranks[index])},${axisY} V${y} H${edge}` }),
      rankDot(model, x(ranks[index]), axisY),
      s("text", { x: isLeft ? edge - 6 : edge + 6, y: y + 4.5, "text-anchor": isLeft ? "end" : "start" }, text),
    ];
  });
  const joints = bars.map(({ from, to, level }) => {
    const y = axisY + 13 + 9 * level;
    return s("line", { class: "clique", x1: x(ranks[from]) - 5, x2: x(ranks[to]) + 5, y1: y, y2: y });
  });
  return {
    height: firstRow + rowHeight * half - 8,
    content: [rankAxis(x, models.length, axisY), differenceRuler(x, difference, models.length), names, joints],
  };
}

function differencesInRows({ models, ranks, difference, groups }, { width }) {
  const bars = stacked(groups);
  const nLevels = Math.max(0, ...bars.map((bar) => bar.level + 1));
  const widest = Math.max(...models.map((model) => textWidth(report.models[model].title)));
  const left = Math.min(widest + 16, 0.45 * width);
  const x = rankScale(models.length, { left: left + 6, right: width - 16 - 9 * nLevels });
  const [axisY, rowHeight] = [58, 27];
  const y = (index) => axisY + 22 + rowHeight * index;
  const names = models.map((model, index) => [
    s("line", { class: "grid", x1: left, x2: x(models.length), y1: y(index), y2: y(index) }),
    s(
      "text",
      { x: left - 8, y: y(index) + 4.5, "text-anchor": "end" },
      nameSpan(model, fitted(report.models[model].title, left - 10)),
    ),
    rankDot(model, x(ranks[index]), y(index)),
  ]);
  const joints = bars.map(({ from, to, level }) => {
    const at = width - 4 - 9 * level;
    return s("line", { class: "clique", x1: at, x2: at, y1: y(from) - 4, y2: y(to) + 4 });
  });
  return {
    height: y(models.length - 1) + 14,
    content: [rankAxis(x, models.length, axisY), differenceRuler(x, difference, models.length), names, joints],
  };
}

function nameSpan(model, text) {
  return s("tspan", { "font-style": isPublished(model) && "italic" }, text);
}

function rankDot(model, cx, cy) {
  return s("circle", { cx, cy, r: 4, style: { fill: modelColour(model), stroke: "var(--paper)" } });
}

function rankAxis(x, nModels, y) {
  const every = Math.ceil(18 / (x(2) - x(1)));
  const marks = Array.from({ length: nModels }, (_, index) => [
    s("line", { class: "axis", x1: x(index + 1), x2: x(index + 1), y1: y - 5, y2: y }),
    index % every === 0 &&
      s("text", { class: "quiet", x: x(index + 1), y: y - 10, "text-anchor": "middle" }, String(index + 1)),
  ]);
  return [s("line", { class: "axis", x1: x(1), x2: x(nModels), y1: y, y2: y }), marks];
}

/** How long the critical difference is, drawn above the axis; one that is longer than the axis has no right end. */
function differenceRuler(x, difference, nModels) {
  const fits = difference <= nModels - 1;
  const [from, to, y] = [x(1), x(fits ? 1 + difference : nModels), 22];
  return [
    s("path", { class: "axis", d: `M${from},${y - 4} v8 M${from},${y} H${to}${fits ? ` M${to},${y - 4} v8` : ""}` }),
    s("text", { class: "quiet", x: from, y: y - 9 }, `critical difference ${decimal(difference, 2)}`),
  ];
}

/** Bars that overlap go to different levels. */
function stacked(groups) {
  const ends = [];
  return groups.map(([from, to]) => {
    let level = ends.findIndex((end) => end < from);
    if (level < 0) level = ends.length;
    ends[level] = to;
    return { from, to, level };
  });
}

function pairTable({ models, pairs }) {
  const heads = models.map((model) => h("th", { scope: "col", class: "number" }, modelName(model)));
  const rows = models.map((model, row) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, modelName(model)),
      pairs[row].map((p, column) =>
        h("td", { class: "number" }, column === row ? "·" : p < 0.001 ? "< 0.001" : decimal(p)),
      ),
    ),
  );
  const table = h(
    "table",
    {},
    h("caption", {}, "Nemenyi’s p value of each pair."),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Model"), heads)),
    h("tbody", {}, rows),
  );
  return scrollable(table, { label: "p values of each pair", classes: "pinned" });
}
