// Lines over an axis, for scores by size and for training curves.

/**
 * A line plot of ``curves`` {points: [[x, y, low, high]…], colour, classes}; ``y`` may be null where there is a gap.
 * Returns the drawing and a function from a position in pixels to the nearest x.
 */
function linePlot(curves, { width, height, xLabel, label, isWhole = true, limits = null }) {
  const points = curves.flatMap((curve) => curve.points.filter((point) => Number.isFinite(point[1])));
  const xs = [...new Set(points.map((point) => point[0]))].sort((a, b) => a - b);
  const ys = points.flatMap((point) => point.slice(1).filter(Number.isFinite));
  const [low, high] = padded(Math.min(...ys), Math.max(...ys), limits);
  const yTicks = ticks(low, high, 4);
  const margin = {
    left: 12 + Math.max(...yTicks.values.map((y) => textWidth(y.toFixed(yTicks.digits), 11.5))),
    right: 8,
    top: 8,
    bottom: 34,
  };
  const [x0, x1] = [xs[0], xs.at(-1)];
  const x = (value) => margin.left + (x1 > x0 ? (value - x0) / (x1 - x0) : 0.5) * (width - margin.left - margin.right);
  const y = (value) => margin.top + ((high - value) / (high - low)) * (height - margin.top - margin.bottom);
  const xTicks = ticks(x0, x1, Math.max(2, Math.min(6, width / 60)));
  const shownX = x1 > x0 ? xTicks.values.filter((value) => !isWhole || Number.isInteger(value)) : [x0];
  const drawing = s(
    "svg",
    { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    yTicks.values.map((value) => [
      s("line", { class: "grid", x1: margin.left, x2: width - margin.right, y1: y(value), y2: y(value) }),
      s(
        "text",
        { class: "quiet", x: margin.left - 7, y: y(value) + 4, "text-anchor": "end" },
        value.toFixed(yTicks.digits),
      ),
    ]),
    shownX.map((value) =>
      s(
        "text",
        { class: "quiet", x: x(value), y: height - 18, "text-anchor": "middle" },
        value.toFixed(x1 > x0 ? xTicks.digits : 0),
      ),
    ),
    s("text", { class: "quiet", x: width - margin.right, y: height - 3, "text-anchor": "end" }, xLabel),
    curves.map((curve) => bandOf(curve, x, y)),
    curves.map((curve) => curveOf(curve, x, y)),
  );
  const nearest = (pixel) =>
    xs.reduce((best, value) => (Math.abs(x(value) - pixel) < Math.abs(x(best) - pixel) ? value : best));
  return { drawing, nearest, x, bottom: height - margin.bottom, top: margin.top };
}

function padded(low, high, limits) {
  const pad = (high - low || 0.1 * Math.abs(high) || 0.1) * 0.06;
  const [least, most] = limits ?? [-Infinity, Infinity];
  return [Math.max(least, low - pad), Math.min(most, high + pad)];
}

function curveOf({ points, colour, classes = "" }, x, y) {
  const known = points.filter((point) => Number.isFinite(point[1]));
  if (known.length === 1) {
    return s("circle", { cx: x(known[0][0]), cy: y(known[0][1]), r: 3, style: { fill: colour } });
  }
  let isDrawing = false;
  const steps = points.map(([at, value]) => {
    if (!Number.isFinite(value)) return ((isDrawing = false), "");
    const step = `${isDrawing ? "L" : "M"}${x(at).toFixed(1)},${y(value).toFixed(1)}`;
    isDrawing = true;
    return step;
  });
  return s("path", { class: `curve ${classes}`, d: steps.join(""), style: { stroke: colour } });
}

function bandOf({ points, colour }, x, y) {
  const known = points.filter((point) => Number.isFinite(point[2]) && Number.isFinite(point[3]));
  if (known.length < 2) return null;
  const upper = known.map((point) => `${x(point[0]).toFixed(1)},${y(point[3]).toFixed(1)}`);
  const lower = known.map((point) => `${x(point[0]).toFixed(1)},${y(point[2]).toFixed(1)}`).reverse();
  return s("path", { class: "band", d: `M${[...upper, ...lower].join("L")}Z`, style: { fill: colour } });
}
