// What is shown: the data of the report, and the metric and family that the reader has chosen.

const report = JSON.parse(byId("report-data").textContent);
const chosen = { metric: report.metric, family: "" };
const listeners = [];

/** Calls ``draw`` now and after every choice. */
function whenChosen(draw) {
  listeners.push(draw);
  draw();
}

function choose(changes) {
  Object.assign(chosen, changes);
  listeners.forEach((draw) => draw());
}

/** Statistics of the chosen metric and family. */
function currentView() {
  return report.views[chosen.metric][chosen.family];
}

/** A metric as within a sentence. */
function metricPhrase(name = chosen.metric) {
  return report.metrics.find((metric) => metric.name === name)?.phrase ?? name;
}

function modelColour(index) {
  return `var(--model-${index % 10})`;
}

function isPublished(index) {
  return report.models[index].source !== "";
}

/** Published models have a hollow mark: colour is never the only difference. */
function swatch(index) {
  const colour = modelColour(index);
  const classes = isPublished(index) ? "swatch hollow" : "swatch";
  return h("span", { class: classes, style: { background: colour, "--swatch": colour }, "aria-hidden": "true" });
}

function publishedTag(index) {
  return isPublished(index) && h("span", { class: "tag", title: report.models[index].source }, "published");
}

function modelName(index) {
  return [breakable(report.models[index].title), isPublished(index) && [" ", publishedTag(index)]];
}

/** The same as plain text, for drawings and for readers of the screen. */
function modelText(index) {
  return report.models[index].title + (isPublished(index) ? " (published)" : "");
}

function cellLink(dataset, model) {
  return `#cell=${dataset},${model}`;
}
