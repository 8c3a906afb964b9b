// One task looked at closely. Its address is #task=<id>, or #cell=<dataset>,<model> for the first task of a cell.

function followTasks() {
  const dialog = byId("task");
  dialog.addEventListener("close", () => {
    if (isTaskAddress()) history.replaceState(null, "", location.pathname + location.search + viewAddress());
    document.title = report.title;
  });
  // A click beside the dialog, which belongs to its backdrop.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  addEventListener("hashchange", openAddress);
  openAddress();
}

function isTaskAddress() {
  return /^#(task|cell)=/.test(location.hash);
}

async function openAddress() {
  const dialog = byId("task");
  if (!isTaskAddress()) return dialog.open && dialog.close();
  const address = location.hash;
  const content = await contentOf(address).catch(() =>
    plainContent("This browser cannot unpack it", "Use one of 2023 or newer."),
  );
  if (address !== location.hash) return;
  dialog.replaceChildren(...content);
  dialog.setAttribute("aria-labelledby", "task-title");
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  document.title = `${byId("task-title").textContent} – ${report.title}`;
  dialog.dispatchEvent(new CustomEvent("shown"));
}

async function contentOf(address) {
  const [kind, value] = address.slice(1).split("=");
  if (kind === "task") {
    const chunk = report.taskIds.findIndex((ids) => ids.split(" ").includes(value));
    if (chunk < 0) return plainContent("No such task", `This report has no task ${value}.`);
    const cell = await unpacked(`cell-${chunk}`);
    return taskContent(cell, cell.tasks.find((task) => task.id === value));
  }
  const [dataset, model] = value.split(",").map(Number);
  const chunk = report.chunks[dataset]?.[model];
  if (chunk !== undefined) {
    const cell = await unpacked(`cell-${chunk}`);
    return taskContent(cell, cell.tasks[0]);
  }
  if (!report.models[model] || !report.datasets[dataset])
    return plainContent("No such cell", "This report does not have it.");
  return publishedContent(dataset, model);
}

function taskHead(title, lines) {
  const close = h("button", { type: "button", class: "close", onclick: () => byId("task").close() }, "Close");
  return h("header", { class: "task-head" }, h("h2", { id: "task-title" }, title), close, lines);
}

function plainContent(title, text) {
  return [taskHead(title, []), h("div", { class: "task-body" }, h("p", {}, text))];
}

function taskContent(cell, task) {
  const title = [theirs(cell.title), " on ", theirs(cell.dataset)];
  const phase = task.phase === "final" ? "final score" : "part of the search";
  const line = h("p", {}, `${phase} · ${task.split} · seed ${task.seed} · `, h("code", {}, task.id));
  return [
    taskHead(title, [line, siblings(cell, task)]),
    h(
      "div",
      { class: "task-body" },
      task.error && errorPart(task),
      h("section", {}, task.error ? null : scoresPart(task), factsPart(task)),
      h("section", {}, settingsPart(task)),
      historyPart(task.details.history),
      confusionPart(task.details),
      kernelPart(task.details),
      searchPart(cell),
      warningsPart(task.details.warnings),
      versionsPart(task),
    ),
  ];
}

/** The tasks of the same cell with the other seeds. */
function siblings(cell, task) {
  const finals = cell.tasks.filter((each) => each.phase === "final");
  if (finals.length === 0) return null;
  const links = finals.map((each) =>
    h(
      "a",
      { href: `#task=${each.id}`, "aria-current": each.id === task.id && "true" },
      `seed ${each.seed}${each.error ? " failed" : ""}`,
    ),
  );
  return h("nav", { class: "siblings", "aria-label": "Seeds" }, links);
}

function part(title, ...content) {
  return h("section", {}, h("h3", {}, title), content);
}

function widePart(title, ...content) {
  return h("section", { class: "wide" }, h("h3", {}, title), content);
}

function pairs(entries) {
  return h(
    "dl",
    { class: "pairs" },
    entries
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => [h("dt", {}, theirs(name)), h("dd", {}, value)]),
  );
}

function errorPart(task) {
  return widePart("What went wrong", h("pre", { tabindex: "0" }, task.error));
}

const PARTS = ["train", "validation", "test"];

function scoresPart(task) {
  const parts = PARTS.filter((name) => task.scores[name]);
  const metrics = report.metrics.filter((metric) => parts.some((name) => metric.name in task.scores[name]));
  return [h("h3", {}, "Scores"), scoresTable(parts, metrics, (metric, name) => decimal(task.scores[name][metric], 4))];
}

function scoresTable(parts, metrics, text) {
  const cells = (metric) => parts.map((name) => h("td", { class: "number" }, text(metric.name, name)));
  return tableOf(
    [columnHead("Metric"), parts.map((name) => columnHead(name, true))],
    metrics.map((metric) => h("tr", {}, h("th", { scope: "row" }, metric.title), cells(metric))),
  );
}

function factsPart(task) {
  return [
    h("h3", {}, "Facts"),
    pairs([
      ["parameters", task.parameters === null ? null : whole(task.parameters)],
      ...Object.entries(task.seconds).map(([stage, seconds]) => [`time to ${stage}`, duration(seconds)]),
      ["finished", task.finished.replace("T", " ").replace("+00:00", " UTC")],
      ["data fingerprint", task.fingerprint && h("code", {}, task.fingerprint)],
    ]),
  ];
}

function settingsPart(task) {
  const entries = Object.entries(task.settings);
  const content =
    entries.length > 0
      ? pairs(entries.map(([name, value]) => [name, h("code", {}, setting(value))]))
      : "All at their defaults.";
  return [h("h3", {}, "Settings"), content];
}

function warningsPart(warnings) {
  if (!warnings?.length) return null;
  return widePart("Warnings", warnings.map((text) => h("pre", {}, text)));
}

function versionsPart(task) {
  const facts = Object.entries(report.environments[task.environment]);
  return h(
    "section",
    { class: "wide" },
    h("details", { class: "more" }, h("summary", {}, "Versions and machine"), pairs(facts)),
  );
}

function publishedContent(dataset, model) {
  const { source } = report.models[model];
  const note = report.notes[dataset]?.[model];
  const found = (part, metric) => report.scores[part]?.[metric]?.[dataset][model];
  const parts = PARTS.filter((name) => report.metrics.some((metric) => found(name, metric.name)));
  const metrics = report.metrics.filter((metric) => parts.some((name) => found(name, metric.name)));
  const text = (metric, name) => {
    const score = found(name, metric);
    if (!score) return NOTHING;
    return decimal(score[0], 4) + (score[1] === null ? "" : ` ± ${decimal(score[1], 4)}`);
  };
  return [
    taskHead([theirs(report.models[model].title), " on ", theirs(report.datasets[dataset].name)], [
      h("p", {}, source ? publishedTag(model) : ""),
    ]),
    h(
      "div",
      { class: "task-body" },
      part("Scores", scoresTable(parts, metrics, text)),
      part("Source", h("p", {}, theirs(source || "run here")), note && h("p", { class: "note" }, note)),
    ),
  ];
}

// The search that chose the settings of a task.

const MOST_TRIALS = 12;

function searchPart(cell) {
  const { choice, trials } = cell;
  if (!choice && trials.length === 0) return null;
  if (trials.length === 0)
    return widePart("Search", h("p", { class: "muted" }, "Nothing was searched; these settings were given."));
  const metric = metricPhrase(cell.metric);
  const failed = trials.filter((trial) => trial.failed).length;
  const sentence = [
    `Search ${choice ? choice.search : ""} tried ${counted(trials.length, "setting")}`,
    failed > 0 && `, of which ${whole(failed)} failed`,
    choice && choice.score !== null && `; the best has a mean validation ${metric} of ${decimal(choice.score, 4)}`,
    ".",
  ];
  const holder = h("div", { class: "panel" });
  const scored = trials.filter((trial) => trial.score !== null);
  if (scored.length > 1) whenShown((width) => holder.replaceChildren(trialStrip(scored, width, metric)), holder);
  return widePart("Search", h("p", { class: "muted" }, sentence), holder, trialTable(trials, metric));
}

/** A tick for the score of each setting that was tried. */
function trialStrip(trials, width, metric) {
  const scores = trials.map((trial) => trial.score);
  const [low, high] = padded(scores);
  const x = (score) => 6 + ((score - low) / (high - low)) * (width - 12);
  const marks = ticks(low, high, Math.min(8, width / 70));
  return s(
    "svg",
    {
      class: "chart",
      viewBox: `0 0 ${width} 50`,
      role: "img",
      "aria-label": `Mean validation ${metric} of ${trials.length} settings`,
    },
    s("line", { class: "grid", x1: 0, x2: width, y1: 26, y2: 26 }),
    trials.map((trial) =>
      s("line", {
        x1: x(trial.score),
        x2: x(trial.score),
        y1: 12,
        y2: 26,
        style: { stroke: "var(--muted)" },
        opacity: 0.55,
      }),
    ),
    trials
      .filter((trial) => trial.isChosen)
      .map((trial) => s("circle", { cx: x(trial.score), cy: 9, r: 4, style: { fill: "var(--accent)" } })),
    marks.values.map((value) => quietText(x(value), 42, value.toFixed(marks.digits))),
  );
}

function trialTable(trials, metric) {
  const names = [...new Set(trials.flatMap((trial) => Object.keys(trial.settings)))];
  const varied = names.filter((name) => new Set(trials.map((trial) => JSON.stringify(trial.settings[name]))).size > 1);
  const shown = varied.length > 0 ? varied : names;
  const order = sorted(trials, (trial) => trial.score, true);
  const table = tableOf(
    [columnHead(metric), columnHead("splits", true), columnHead("fit", true), shown.map((name) => columnHead(theirs(name)))],
    [],
  );
  const show = (count) =>
    table.tBodies[0].replaceChildren(...order.slice(0, count).map((trial) => trialRow(trial, shown)));
  show(MOST_TRIALS);
  const more = h(
    "button",
    {
      type: "button",
      class: "close",
      hidden: order.length <= MOST_TRIALS,
      onclick: () => (show(Infinity), (more.hidden = true)),
    },
    `Show all ${whole(order.length)}`,
  );
  return [scrollable(table, { label: "Settings that were tried" }), h("p", { class: "more" }, more)];
}

function trialRow(trial, names) {
  const score = trial.score === null ? (trial.failed ? "failed" : "stopped early") : decimal(trial.score, 4);
  const link = h("a", { href: `#task=${trial.ids[0]}` }, score);
  return h(
    "tr",
    { class: trial.isChosen && "chosen" },
    h("th", { scope: "row" }, link, trial.isChosen && [" ", h("span", { class: "tag" }, "chosen")]),
    h("td", { class: "number" }, whole(trial.ids.length)),
    h("td", { class: "number" }, duration(trial.seconds)),
    names.map((name) => h("td", {}, h("code", {}, setting(trial.settings[name])))),
  );
}
