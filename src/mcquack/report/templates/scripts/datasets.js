// Every dataset with the scores of every model.

function followDatasets() {
  const redraw = () => {
    drawDatasets();
    keepAddress();
  };
  byId("dataset-filter").addEventListener("input", redraw);
  byId("dataset-part").addEventListener("change", redraw);
  drawDatasets();
}

function drawDatasets() {
  const scores = report.scores[byId("dataset-part").value][chosen.metric];
  const models = standingModels();
  const shown = report.datasets
    .map((dataset, index) => ({ ...dataset, index }))
    .filter((dataset) => chosen.family === "" || dataset.family === chosen.family)
    .filter((dataset) => matches(`${dataset.name} ${dataset.family}`, byId("dataset-filter").value))
    .filter(({ index }) => models.some((model) => scores[index][model] || isRun(index, model)));
  byId("dataset-empty").hidden = shown.length > 0;
  byId("dataset-notes").hidden = !shown.some(({ index }) => models.some((model) => noted(index, model)));
  byId("dataset-table").replaceChildren(shown.length > 0 ? scoreTable(shown, models, scores) : "");
}

function isRun(dataset, model) {
  return report.chunks[dataset]?.[model] !== undefined;
}

function scoreTable(datasets, models, scores) {
  const heads = [columnHead("Dataset"), ...models.map((model) => columnHead(modelName(model), true))];
  const hasFamilies = new Set(datasets.map((dataset) => dataset.family)).size > 1;
  let family = null;
  const rows = datasets.flatMap((dataset) => {
    const line = h(
      "tr",
      {},
      h("th", { scope: "row" }, breakable(dataset.name), dataset.size && h("small", { class: "size" }, dataset.size)),
      models.map((model) => h("td", { class: "number" }, scoreCell(dataset, model, scores))),
    );
    if (!hasFamilies || dataset.family === family) return [line];
    family = dataset.family;
    const title = family.replaceAll("_", " ");
    return [h("tr", { class: "family-row" }, h("th", { colspan: models.length + 1, scope: "rowgroup" }, theirs(title))), line];
  });
  return scrollable(tableOf(heads, rows, "scores"), { label: "Scores of every dataset", classes: "pinned tall" });
}

function noted(dataset, model) {
  const note = report.notes[dataset]?.[model];
  return note ? h("sup", { title: note }, "*") : null;
}

function scoreCell({ index, name }, model, scores) {
  const score = scores[index][model];
  if (!score) {
    if (!isRun(index, model)) return h("span", { class: "muted" }, NOTHING);
    const state = report.states[report.chunks[index][model]];
    return h("a", { class: "score", href: `#cell=${index},${model}` }, h("span", { class: "muted" }, state));
  }
  const [mean, spread, mark] = score;
  const classes = ["score", "best score", "second score"][mark];
  const said = mark ? h("span", { class: "hidden-text" }, [" (best)", " (second best)"][mark - 1]) : null;
  const label = `${report.models[model].title}${isPublished(model) ? " (published)" : ""} on ${name}`;
  return h(
    "a",
    { class: classes, href: `#cell=${index},${model}`, title: label },
    h("span", { class: "mean" }, decimal(mean)),
    spread === null ? null : h("span", { class: "spread" }, ` ± ${decimal(spread)}`),
    noted(index, model),
    said,
  );
}
