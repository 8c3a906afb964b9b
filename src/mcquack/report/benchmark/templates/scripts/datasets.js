// Every dataset with the scores of every model.

function drawDatasets() {
  const filter = byId("dataset-filter");
  const part = byId("dataset-part");

  function draw() {
    const table = report.scores[part.value][chosen.metric];
    const standing = currentView().standings.map((line) => line.model);
    const shown = report.datasets
      .map((dataset, index) => ({ ...dataset, index }))
      .filter((dataset) => chosen.family === "" || dataset.family === chosen.family)
      .filter((dataset) => matches(`${dataset.name} ${dataset.family}`, filter.value))
      .filter(
        (dataset) =>
          table && standing.some((model) => table.cells[dataset.index][model] || isRun(dataset.index, model)),
      );
    byId("dataset-empty").hidden = shown.length > 0;
    byId("dataset-notes").hidden = !shown.some(({ index }) => standing.some((model) => noted(index, model)));
    byId("dataset-table").replaceChildren(shown.length > 0 ? scoreTable(shown, standing, table) : "");
  }

  filter.addEventListener("input", draw);
  part.addEventListener("change", draw);
  whenChosen(draw);
}

function isRun(dataset, model) {
  return report.chunks[dataset]?.[model] !== undefined;
}

function scoreTable(datasets, models, table) {
  const heads = models.map((model) => h("th", { scope: "col", class: "number" }, modelName(model)));
  const hasFamilies = new Set(datasets.map((dataset) => dataset.family)).size > 1;
  let family = null;
  const rows = datasets.flatMap((dataset) => {
    const line = h(
      "tr",
      {},
      h("th", { scope: "row" }, breakable(dataset.name)),
      models.map((model) => h("td", { class: "number" }, scoreCell(dataset, model, table))),
    );
    if (!hasFamilies || dataset.family === family) return [line];
    family = dataset.family;
    const title = report.families.find((each) => each.name === family).title;
    return [h("tr", { class: "family-row" }, h("th", { colspan: models.length + 1, scope: "rowgroup" }, title)), line];
  });
  const element = h(
    "table",
    { class: "scores" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Dataset"), heads)),
    h("tbody", {}, rows),
  );
  return scrollable(element, { label: "Scores of every dataset", classes: "pinned tall" });
}

function noted(dataset, model) {
  const note = report.notes[dataset]?.[model];
  return note ? h("sup", { title: note }, "*") : null;
}

function scoreCell({ index, name }, model, table) {
  const score = table.cells[index][model];
  if (!score) {
    if (!isRun(index, model)) return h("span", { class: "muted" }, NOTHING);
    const state = report.states[report.chunks[index][model]];
    return h("a", { class: "score", href: cellLink(index, model) }, h("span", { class: "muted" }, state));
  }
  const [mean, spread, mark] = score;
  const classes = ["score", "best score", "second score"][mark];
  const said = mark ? h("span", { class: "hidden-text" }, [" (best)", " (second best)"][mark - 1]) : null;
  const label = `${modelText(model)} on ${name}`;
  return h(
    "a",
    { class: classes, href: cellLink(index, model), title: label },
    h("span", { class: "mean" }, decimal(mean)),
    spread === null ? null : h("span", { class: "spread" }, ` ± ${decimal(spread)}`),
    noted(index, model),
    said,
  );
}
