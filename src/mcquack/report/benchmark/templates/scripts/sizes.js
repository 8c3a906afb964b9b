// Scores against the size of the datasets, family by family.

function drawSizes() {
  const section = byId("sizes");
  if (!section) return;
  const box = byId("size-panels");
  const legend = byId("size-legend");
  const training = byId("size-training");
  const left = crowd();
  let forget = [];

  function draw() {
    const curves = report.curves[chosen.metric] ?? [];
    const shown = curves.filter((curve) => chosen.family === "" || curve.family === chosen.family);
    const models = [...new Set(shown.map((curve) => curve.model))].sort((a, b) => a - b);
    legend.replaceChildren(...models.map(legendButton));
    forget.forEach((stop) => stop());
    forget = [];
    const families = [...new Set(shown.map((curve) => curve.family))];
    box.replaceChildren(
      ...families.map((family) =>
        panel(
          family,
          shown.filter((curve) => curve.family === family),
        ),
      ),
    );
    byId("size-empty").hidden = families.length > 0;
  }

  function legendButton(model) {
    const toggle = () => {
      left.has(model) ? left.delete(model) : left.add(model);
      draw();
      legend.querySelector(`[data-model="${model}"]`).focus();
    };
    const pressed = String(!left.has(model));
    return h(
      "button",
      { type: "button", "aria-pressed": pressed, "data-model": model, onclick: toggle },
      swatch(model),
      modelName(model),
    );
  }

  function panel(family, curves) {
    const holder = h("div", { class: "panel" });
    const kept = curves.filter((curve) => !left.has(curve.model) && (curve.part === "test" || training.checked));
    const lines = kept.map(sizeLine);
    const whole = h("div", {}, h("h3", {}, report.families.find((each) => each.name === family).title), holder);
    if (lines.length === 0) holder.append(h("p", { class: "empty" }, "No model is chosen."));
    // Only after the panel has its place on the page does it have a width.
    else requestAnimationFrame(() => forget.push(onWidth(holder, (width) => sizePlot(holder, lines, width))));
    return whole;
  }

  training.addEventListener("change", draw);
  whenChosen(draw);
}

const MOST_MODELS = 8;
const MOST_PUBLISHED = 3;

/** Of many models, the published ones that are left out at first: all but the best few. */
function crowd() {
  const published = currentView()
    .standings.map((line) => line.model)
    .filter(isPublished);
  return new Set(report.models.length > MOST_MODELS ? published.slice(MOST_PUBLISHED) : []);
}

/** Training scores are dashed and have no band, which would hide those of the test. */
function sizeLine(curve) {
  const isTraining = curve.part === "train";
  return {
    ...curve,
    points: isTraining ? curve.points.map((point) => point.slice(0, 2)) : curve.points,
    colour: modelColour(curve.model),
    classes: isTraining ? "dashed thin" : isPublished(curve.model) ? "thin" : "",
  };
}

function sizePlot(holder, lines, width) {
  const label = `${metricPhrase()} against size: ${lines.map((line) => modelText(line.model)).join(", ")}`;
  const plot = linePlot(lines, { width, height: 210, xLabel: "size n", label, limits: [0, 1] });
  const guide = s("line", { class: "guide", y1: plot.top, y2: plot.bottom, visibility: "hidden" });
  const readout = h("div", { class: "readout", hidden: true });
  plot.drawing.append(guide);
  holder.replaceChildren(plot.drawing, readout);
  const show = (event) => {
    const size = plot.nearest(event.clientX - holder.getBoundingClientRect().left);
    guide.setAttribute("x1", plot.x(size));
    guide.setAttribute("x2", plot.x(size));
    guide.setAttribute("visibility", "visible");
    readout.replaceChildren(...sizeReadout(lines, size));
    readout.hidden = false;
    const before = plot.x(size) > width / 2;
    readout.style.left = before ? "auto" : `${plot.x(size) + 12}px`;
    readout.style.right = before ? `${width - plot.x(size) + 12}px` : "auto";
  };
  plot.drawing.addEventListener("pointermove", show);
  plot.drawing.addEventListener("pointerdown", show);
  plot.drawing.addEventListener("pointerleave", () => {
    readout.hidden = true;
    guide.setAttribute("visibility", "hidden");
  });
}

function sizeReadout(lines, size) {
  const found = lines
    .filter((line) => line.part === "test")
    .map((line) => ({ line, point: line.points.find((point) => point[0] === size) }))
    .filter(({ point }) => point);
  found.sort((a, b) => b.point[1] - a.point[1]);
  const rows = found.map(({ line, point }) =>
    h("div", {}, h("span", {}, swatch(line.model), report.models[line.model].title), h("span", {}, decimal(point[1]))),
  );
  return [h("div", { class: "muted" }, `n = ${size}`), ...rows];
}
