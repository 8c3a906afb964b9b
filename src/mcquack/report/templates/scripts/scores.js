// Scores as a figure, and against what they cost: drawn when somebody looks, from numbers that the page has anyway.

const DOT = 2.8;

function followScores() {
  const box = byId("score-figures");
  onWidth(box, drawScores);
}

function drawScores(width = Math.floor(byId("score-figures").clientWidth)) {
  if (width <= 0) return;
  const view = report.views[chosen.metric][chosen.family];
  const panel = width < 640 ? width : Math.floor((width - 40) / 2);
  byId("score-rows").replaceChildren(scoreRows(view, width));
  byId("score-seconds").replaceChildren(costPart(view, view.seconds, { width: panel, what: "median time of one fit", text: duration }));
  byId("score-parameters").replaceChildren(
    costPart(view, view.parameters, { width: panel, what: "median number of parameters", text: whole }),
  );
}

/** The look of a model: its colour, and whether only its outline is drawn, as of published ones. */
function lookOf(model) {
  const colour = `var(--model-${model % 10})`;
  return isPublished(model) ? { fill: "var(--paper)", stroke: colour } : { fill: colour, stroke: colour };
}

/** A row for each model: a dot for its score on every dataset, and a line at the mean. */
function scoreRows(view, width) {
  const scores = report.scores.test[chosen.metric];
  const shown = report.datasets.flatMap(({ family }, index) => (["", family].includes(chosen.family) ? [index] : []));
  const found = view.models.map((model) => shown.flatMap((index) => (scores[index][model] ? [scores[index][model][0]] : [])));
  const [low, high] = padded(found.flat());
  const { values, digits } = ticks(low, high, Math.max(3, Math.min(8, width / 90)));
  const names = view.models.map((model) => elided(report.models[model].title));
  const left = 30 + Math.min(Math.max(...names.map((name) => textWidth(name))) + 6, 0.4 * width);
  const x = (value) => left + ((value - low) / (high - low)) * (width - left - 10);
  const [step, top] = [24, 14];
  const bottom = top + step * found.length;
  const rows = view.models.map((model, row) => {
    const y = top + step * row;
    const dot = (value) => `M${(x(value) - DOT).toFixed(1)},${y}a${DOT},${DOT} 0 1,0 ${2 * DOT},0a${DOT},${DOT} 0 1,0 ${-2 * DOT},0`;
    const { stroke } = lookOf(model);
    const said = `${report.models[model].title}: mean ${decimal(view.means[row])} on ${counted(found[row].length, "dataset")}`;
    return [
      quietText(0, y + 4, String(row + 1), "start"),
      s("text", { x: 24, y: y + 4 }, fitted(names[row], left - 30)),
      s(
        "g",
        {},
        s("title", {}, said),
        s("path", { class: isPublished(model) ? "dots hollow" : "dots", d: found[row].map(dot).join(""), style: { color: stroke } }),
        s("line", { class: "mean", x1: x(view.means[row]), x2: x(view.means[row]), y1: y - 8, y2: y + 8 }),
      ),
    ];
  });
  return s(
    "svg",
    { class: "chart", viewBox: `0 0 ${width} ${bottom + 24}`, role: "img", "aria-label": `Test ${metricPhrase()} of every model on every dataset` },
    values.map((value) => [
      s("line", { class: "grid", x1: x(value), x2: x(value), y1: 0, y2: bottom - 8 }),
      quietText(x(value), bottom + 4, value.toFixed(digits)),
    ]),
    quietText(width - 10, bottom + 20, metricPhrase(), "end"),
    rows,
  );
}

function costPart(view, costs, { width, what, text }) {
  const points = view.models.flatMap((model, row) => (costs[row] > 0 ? [{ model, row, cost: costs[row], mean: view.means[row] }] : []));
  const nLeftOut = view.models.length - points.length;
  const note = nLeftOut > 0 && h("p", { class: "note" }, `${counted(nLeftOut, "model")} without it ${nLeftOut === 1 ? "is" : "are"} left out.`);
  if (points.length === 0) return h("p", { class: "empty" }, `No model tells its ${what}.`);
  return h("div", {}, costPlot(points, { width, what, text }), note);
}

/** Mean scores over a logarithmic scale; points have the places of the leaderboard as their names. */
function costPlot(points, { width, what, text }) {
  const [height, left, right] = [260, 46, 20];
  const logs = points.map(({ cost }) => Math.log10(cost));
  const [first, last] = [Math.min(...logs), Math.max(...logs)];
  const room = Math.max(0.06 * (last - first), 0.08);
  const [low, high] = padded(points.map(({ mean }) => mean));
  const x = (log) => left + ((log - first + room) / (last - first + 2 * room)) * (width - left - right);
  const y = (value) => 26 + ((high - value) / (high - low)) * (height - 72);
  const yTicks = ticks(low, high, 5);
  const label = `Mean test ${metricPhrase()} against the ${what}`;
  const placed = points.map(({ mean }, index) => boxAround(x(logs[index]), y(mean), 6, 6));
  const marks = points.map(({ model, row, cost, mean }, index) => {
    const [at, height] = [x(logs[index]), y(mean)];
    const said = `${row + 1}. ${report.models[model].title}: ${decimal(mean)}, ${text(cost)}`;
    return s(
      "g",
      {},
      s("title", {}, said),
      s("circle", { cx: at, cy: height, r: 5, "stroke-width": 2, style: lookOf(model) }),
      placeName(String(row + 1), at, height, placed),
    );
  });
  return s(
    "svg",
    { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    yTicks.values.map((value) => [
      s("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
      quietText(left - 7, y(value) + 4, value.toFixed(yTicks.digits), "end"),
    ]),
    logTicks(first - room, last + room, Math.max(2, width / 110)).map((log) => [
      s("line", { class: "grid", x1: x(log), x2: x(log), y1: 26, y2: height - 40 }),
      quietText(x(log), height - 24, text(10 ** log)),
    ]),
    quietText(0, 12, `mean ${metricPhrase()}`, "start"),
    quietText(width - right, height - 5, what, "end"),
    marks,
  );
}

function boxAround(x, y, halfWidth, halfHeight) {
  return { left: x - halfWidth, right: x + halfWidth, top: y - halfHeight, bottom: y + halfHeight };
}

/** A name beside its point, on the first side where nothing else stands. */
function placeName(name, x, y, placed) {
  const half = textWidth(name, 11.5) / 2;
  const sides = [[9 + half, 0], [-9 - half, 0], [0, -14], [0, 14], [10 + half, -12], [-10 - half, -12], [10 + half, 12], [-10 - half, 12]];
  const isFree = (box) =>
    placed.every((it) => it.right <= box.left || box.right <= it.left || it.bottom <= box.top || box.bottom <= it.top);
  const boxes = sides.map(([right, down]) => boxAround(x + right, y + down, half, 5));
  const box = boxes.find(isFree) ?? boxes[0];
  placed.push(box);
  return quietText((box.left + box.right) / 2, (box.top + box.bottom) / 2 + 4, name);
}

/** Logarithms of round numbers: powers of ten, and between few of them also twice and five times as much. */
function logTicks(low, high, most) {
  const all = (factors, step) => {
    const found = [];
    for (let power = Math.floor(low); power <= high; power += step)
      found.push(...factors.map((factor) => power + Math.log10(factor)).filter((log) => low <= log && log <= high));
    return found;
  };
  const choices = [all([1, 2, 5], 1), all([1, 3], 1), ...[1, 2, 3, 5, 10].map((step) => all([1], step))];
  const fitting = choices.find((found) => found.length <= most && found.length > 0);
  return fitting ?? [(low + high) / 2];
}
