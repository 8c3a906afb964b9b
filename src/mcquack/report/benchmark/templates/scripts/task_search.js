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
  const [low, high] = padded(Math.min(...scores), Math.max(...scores), null);
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
    marks.values.map((value) =>
      s("text", { class: "quiet", x: x(value), y: 42, "text-anchor": "middle" }, value.toFixed(marks.digits)),
    ),
  );
}

function trialTable(trials, metric) {
  const names = [...new Set(trials.flatMap((trial) => Object.keys(trial.settings)))];
  const varied = names.filter((name) => new Set(trials.map((trial) => JSON.stringify(trial.settings[name]))).size > 1);
  const shown = varied.length > 0 ? varied : names;
  const order = sorted(trials, (trial) => trial.score, true);
  const body = h("tbody");
  const table = h(
    "table",
    {},
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, metric),
        h("th", { scope: "col", class: "number" }, "splits"),
        h("th", { scope: "col", class: "number" }, "fit"),
        shown.map((name) => h("th", { scope: "col" }, name)),
      ),
    ),
    body,
  );
  const show = (count) => body.replaceChildren(...order.slice(0, count).map((trial) => trialRow(trial, shown)));
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
