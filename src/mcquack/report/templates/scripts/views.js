// What is shown: the metric and the family that the reader has chosen, and the order and choice of models.

const report = JSON.parse(byId("report-data").textContent);
const chosen = { metric: report.metric, family: "" };
const order = { column: 1, down: false };
const hiddenModels = new Set([...document.querySelectorAll(".legend [aria-pressed=false]")].map((it) => it.dataset.model));

/** Models of the chosen metric and family, best first. */
function standingModels() {
  return report.views[chosen.metric][chosen.family].models;
}

/** A metric as within a sentence. */
function metricPhrase(name = chosen.metric) {
  return report.metrics.find((metric) => metric.name === name)?.phrase ?? name;
}

function isPublished(index) {
  return report.models[index].source !== "";
}

function publishedTag(index) {
  return isPublished(index) && h("span", { class: "tag", title: report.models[index].source }, "published");
}

function modelName(index) {
  return [breakable(report.models[index].title), isPublished(index) && [" ", publishedTag(index)]];
}

/** Views and cells lie in the page compressed, and are read when somebody looks at them. */
async function unpacked(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

function followViews() {
  const metric = byId("metric");
  const family = byId("family");
  metric.addEventListener("change", () => {
    // Published scores may lack a metric on all datasets of a family.
    choose({ metric: metric.value, family: hasView(metric.value, chosen.family) ? chosen.family : "" });
  });
  family?.addEventListener("change", () => choose({ family: family.value }));
  byId("leaderboard").addEventListener("click", sortByHead);
  byId("leaderboard-filter").addEventListener("input", () => {
    filterLeaderboard();
    keepAddress();
  });
  byId("sizes")?.addEventListener("click", toggleModel);
  disableFamilies();
  showModels();
}

// The view has an address, #metric=auc&family=two_curves&part=train&models=…&datasets=…, without what is as at first.

const FILTERS = { part: "dataset-part", models: "leaderboard-filter", datasets: "dataset-filter" };

function viewAddress() {
  const now = { ...chosen };
  for (const [name, id] of Object.entries(FILTERS)) now[name] = byId(id)?.value ?? "";
  const first = { metric: report.metric, part: "test" };
  const told = Object.entries(now).filter(([name, value]) => value !== (first[name] ?? ""));
  return told.length > 0 ? `#${new URLSearchParams(told)}` : "";
}

function keepAddress() {
  if (!isTaskAddress()) history.replaceState(null, "", location.pathname + location.search + viewAddress());
}

function followAddress() {
  const names = ["metric", "family", ...Object.keys(FILTERS)];
  const restore = () => {
    if (isTaskAddress()) return;
    const given = new URLSearchParams(location.hash.slice(1));
    // The name of a section leads there, and changes nothing that was chosen.
    if (location.hash.length > 1 && !names.some((name) => given.has(name))) return viewAddress() && keepAddress();
    const metric = Object.hasOwn(report.views, given.get("metric") ?? "") ? given.get("metric") : report.metric;
    const family = hasView(metric, given.get("family") ?? "") ? (given.get("family") ?? "") : "";
    byId("dataset-part").value = given.get("part") === "train" ? "train" : "test";
    byId("leaderboard-filter").value = given.get("models") ?? "";
    byId("dataset-filter").value = given.get("datasets") ?? "";
    byId("metric").value = metric;
    if (metric !== chosen.metric || family !== chosen.family) return choose({ metric, family });
    filterLeaderboard();
    drawDatasets();
  };
  addEventListener("hashchange", restore);
  restore();
}

function hasView(metric, family) {
  return Object.hasOwn(report.views[metric], family);
}

async function choose(changes) {
  Object.assign(chosen, changes);
  keepAddress();
  const { chunk } = report.views[chosen.metric][chosen.family];
  const parts = await unpacked(`view-${chunk}`);
  if (chunk !== report.views[chosen.metric][chosen.family].chunk) return; // somebody was quicker
  // All of it was written with the page, every name as text.
  document.querySelectorAll("[data-part]").forEach((place) => (place.innerHTML = parts[place.dataset.part]));
  document.querySelectorAll("[data-says=metric]").forEach((place) => (place.textContent = metricPhrase()));
  disableFamilies();
  sortLeaderboard();
  filterLeaderboard();
  showModels();
  drawScores();
  drawDatasets();
}

function disableFamilies() {
  const family = byId("family");
  if (!family) return;
  family.value = chosen.family;
  [...family.options].forEach((option) => (option.disabled = !hasView(chosen.metric, option.value)));
}

// The leaderboard: heads are buttons that sort.

function sortByHead(event) {
  const button = event.target.closest(".sort");
  if (!button) return;
  const column = button.closest("th").cellIndex;
  order.down = column === order.column ? !order.down : "down" in button.dataset;
  order.column = column;
  sortLeaderboard();
  announce(`Sorted by ${button.textContent}, ${order.down ? "descending" : "ascending"}.`);
}

function sortLeaderboard() {
  const table = document.querySelector(".leaderboard");
  [...table.tHead.rows[0].cells].forEach((head, index) => {
    if (index !== order.column) head.removeAttribute("aria-sort");
    else head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
  });
  const value = (row) => row.cells[order.column].dataset.value;
  const place = (row) => Number(row.querySelector(".place").textContent);
  const rows = [...table.tBodies[0].rows].sort((a, b) => place(a) - place(b));
  table.tBodies[0].append(...sorted(rows, (row) => (order.column === 0 ? value(row) : numeric(value(row))), order.down));
}

function numeric(text) {
  return text === undefined ? null : Number(text);
}

/** A new list; rows without a value come last either way, and equal ones keep their order. */
function sorted(rows, value, down) {
  const sign = down ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
  });
}

function filterLeaderboard() {
  const rows = [...document.querySelector(".leaderboard").tBodies[0].rows];
  const typed = byId("leaderboard-filter").value;
  rows.forEach((row) => (row.hidden = !matches(row.querySelector(".who").lastElementChild.textContent, typed)));
  const isEmpty = rows.every((row) => row.hidden);
  document.querySelector(".leaderboard").hidden = isEmpty;
  byId("leaderboard-empty").hidden = !isEmpty;
}

/** Whether a name contains every word that was typed. */
function matches(name, typed) {
  const lower = name.toLowerCase();
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}

// Scores against size: buttons take models out.

function toggleModel(event) {
  const { model } = event.target.closest(".legend button")?.dataset ?? {};
  if (model === undefined) return;
  hiddenModels.has(model) ? hiddenModels.delete(model) : hiddenModels.add(model);
  showModels();
}

function showModels() {
  document.querySelectorAll(".legend button").forEach((button) => {
    button.setAttribute("aria-pressed", String(!hiddenModels.has(button.dataset.model)));
  });
  document.querySelectorAll(".panels g[id]").forEach((group) => {
    const [, model] = group.id.match(/-(?:curve|band)-(\d+)-\w+$/) ?? [];
    if (model !== undefined) group.toggleAttribute("hidden", hiddenModels.has(model));
  });
}
