// Each model against each other.

const MOST_NAMED_COLUMNS = 7;

function drawWins() {
  whenChosen(() => {
    const { models, records } = currentView().wins;
    // Many names over many columns leave no room for the numbers; then columns have the numbers of the rows.
    const isNumbered = models.length > MOST_NAMED_COLUMNS;
    const heads = models.map((model, column) => winsHead(model, isNumbered && column + 1));
    const rows = models.map((model, row) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, isNumbered && h("span", { class: "place" }, String(row + 1)), modelName(model)),
        records[row].map((record, column) => (row === column ? h("td", { class: "none" }, "·") : recordCell(record))),
      ),
    );
    const table = h(
      "table",
      { class: isNumbered ? "matrix wins dense" : "matrix wins" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, h("span", { class: "hidden-text" }, "Model")), heads)),
      h("tbody", {}, rows),
    );
    byId("wins-table").replaceChildren(scrollable(table, { label: "Wins, ties and losses", classes: "pinned" }));
  });
}

function winsHead(model, number) {
  if (!number) return h("th", { scope: "col" }, modelName(model));
  const name = modelText(model);
  return h("th", { scope: "col", title: name }, String(number), h("span", { class: "hidden-text" }, ` ${name}`));
}

/** Blue for more wins than losses, red for more losses; pale enough for the numbers to stand out. */
function recordCell([won, tied, lost]) {
  const shared = won + tied + lost;
  if (shared === 0) return h("td", { class: "none", title: "no dataset in common" }, NOTHING);
  const lead = (won - lost) / shared;
  const colour = lead >= 0 ? "--win" : "--loss";
  const text = `${won} won, ${tied} tied, ${lost} lost`;
  const background = `color-mix(in oklab, var(${colour}) ${(34 * Math.abs(lead)).toFixed(1)}%, var(--paper))`;
  return h(
    "td",
    { title: text, style: { background } },
    h("span", { "aria-hidden": "true" }, `${won}–${tied}–${lost}`),
    h("span", { class: "hidden-text" }, text),
  );
}
