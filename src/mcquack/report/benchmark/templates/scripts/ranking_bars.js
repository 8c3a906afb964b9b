// How often each model is first, second, … last: the paper's figure.

function drawRankingBars() {
  const box = byId("ranking-bars");
  whenChosen(() => draw(box.clientWidth));
  onWidth(box, draw);

  function draw(width) {
    const { standings } = currentView();
    const most = Math.max(...standings.map((line) => line.datasets));
    const names = Math.max(...standings.map((line) => textWidth(report.models[line.model].title)), 60);
    const left = Math.min(names + 14, 0.42 * width);
    const frame = { left, right: width - 50, row: 34, most, nRanks: standings.length };
    const height = 20 + frame.row * standings.length;
    const label = standings.map((line) => `${modelText(line.model)} ${decimal(line.average)}`).join(", ");
    box.replaceChildren(
      s(
        "svg",
        {
          class: "chart",
          viewBox: `0 0 ${width} ${height}`,
          role: "img",
          "aria-label": `Average normalised ranks: ${label}`,
        },
        s("text", { class: "quiet", x: width, y: 11, "text-anchor": "end" }, "average"),
        standings.map((line, index) => rankingRow(line, { ...frame, top: 20 + index * frame.row, width })),
      ),
    );
    byId("ranking-numbers").replaceChildren(rankCountTable(standings));
  }
}

function rankingRow(line, { left, right, row, most, nRanks, top, width }) {
  const height = row - 10;
  const scale = (right - left) / most;
  let before = 0;
  const pieces = line.counts.map((count, index) => {
    const x = left + before * scale;
    before += count;
    const title = `${modelText(line.model)}: rank ${index + 1} on ${counted(count, "dataset")}`;
    const shape = {
      x,
      y: top,
      width: Math.max(0, count * scale - 1),
      height,
      style: { fill: rankColour(index, nRanks) },
    };
    return count > 0 && s("rect", { ...shape, class: "rank" }, s("title", {}, title));
  });
  const title = report.models[line.model].title;
  const middle = top + height / 2;
  const published = isPublished(line.model);
  return s(
    "g",
    {},
    s(
      "text",
      { x: left - 12, y: published ? middle - 1 : middle + 4.5, "text-anchor": "end" },
      fitted(title, left - 14),
    ),
    published && s("text", { class: "quiet", x: left - 12, y: middle + 12, "text-anchor": "end" }, "published"),
    s("rect", { class: "track", x: left, y: top, width: right - left, height }),
    pieces,
    s("text", { class: "strong", x: width, y: middle + 4.5, "text-anchor": "end" }, decimal(line.average)),
  );
}

/** Blue for the first, through a pale middle, to red for the last. */
function rankColour(index, nRanks) {
  const share = nRanks > 1 ? index / (nRanks - 1) : 0;
  const [from, to, part] =
    share < 0.5 ? ["--rank-first", "--rank-middle", 2 * share] : ["--rank-middle", "--rank-last", 2 * share - 1];
  return `color-mix(in oklab, var(${to}) ${(100 * part).toFixed(1)}%, var(${from}))`;
}

function rankCountTable(standings) {
  const heads = standings.map((_, index) => h("th", { scope: "col", class: "number" }, String(index + 1)));
  const rows = standings.map((line) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, modelName(line.model)),
      line.counts.map((count) => h("td", { class: "number" }, count ? whole(count) : "·")),
    ),
  );
  const table = h(
    "table",
    {},
    h("caption", {}, "On how many datasets a model has each rank; equal scores have the smallest of their ranks."),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Rank"), heads)),
    h("tbody", {}, rows),
  );
  return scrollable(table, { label: "Counts of each rank", classes: "pinned" });
}
