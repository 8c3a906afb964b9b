// Who stands where.

function drawLeaderboard() {
  const filter = byId("leaderboard-filter");
  const nothing = h("p", { class: "empty", hidden: true }, "No model has a name like that.");
  const columns = [
    { title: "Model", value: (line) => report.models[line.model].title, cell: leaderboardName },
    {
      title: "Average rank",
      hint: "mean over the datasets of rank ÷ number of models; smaller is better",
      value: (line) => line.average,
      cell: (line) => [decimal(line.average), whisker(line)],
    },
    {
      title: "Mean score",
      isNumber: true,
      startsDown: true,
      value: (line) => line.score,
      cell: (line) => decimal(line.score),
    },
    {
      title: "Wins",
      hint: "datasets on which no model is better",
      isNumber: true,
      startsDown: true,
      value: (line) => line.counts[0],
      cell: (line) => whole(line.counts[0]),
    },
    {
      title: "Datasets",
      isNumber: true,
      startsDown: true,
      value: (line) => line.datasets,
      cell: (line) => whole(line.datasets),
    },
    {
      title: "Parameters",
      hint: "median over the datasets",
      isNumber: true,
      value: (line) => line.parameters,
      cell: (line) => whole(line.parameters),
    },
    {
      title: "Fit",
      hint: "median time of one fit with the chosen settings",
      isNumber: true,
      value: (line) => line.seconds,
      cell: (line) => duration(line.seconds),
    },
  ];
  const board = sortableTable(columns, { label: "Leaderboard", classes: "leaderboard", by: 1 });
  byId("leaderboard-table").replaceChildren(board.element, nothing);

  function draw() {
    const lines = currentView().standings.map((line, index) => ({ ...line, place: index + 1 }));
    const found = lines.filter((line) => matches(modelText(line.model), filter.value));
    board.show(found);
    board.element.hidden = found.length === 0;
    nothing.hidden = found.length > 0;
  }

  filter.addEventListener("input", draw);
  whenChosen(draw);
}

function leaderboardName(line) {
  const place = h("span", { class: "place" }, String(line.place));
  return h("span", { class: "who" }, place, swatch(line.model), h("span", {}, modelName(line.model)));
}

/** The interval of an average rank on a line from 0 to 1; of few datasets there is none. */
function whisker({ model, average, low, high }) {
  const [width, height] = [150, 14];
  const x = (rank) => 4 + rank * (width - 8);
  const colour = modelColour(model);
  const isKnown = low !== null;
  const text = isKnown ? `95 % interval ${decimal(low)} to ${decimal(high)}` : "too few datasets for an interval";
  return h(
    "span",
    { class: "interval" },
    s(
      "svg",
      { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": text },
      s("title", {}, text),
      s("line", { x1: x(0), x2: x(1), y1: 7, y2: 7, stroke: "var(--line)" }),
      isKnown &&
        s("line", {
          x1: x(low),
          x2: x(high),
          y1: 7,
          y2: 7,
          stroke: colour,
          "stroke-width": 3,
          "stroke-linecap": "round",
        }),
      s("circle", {
        cx: x(average),
        cy: 7,
        r: 4,
        fill: isPublished(model) ? "var(--paper)" : colour,
        stroke: isPublished(model) ? colour : "var(--paper)",
        "stroke-width": 1.5,
      }),
    ),
  );
}
