// Numbers and names as people read them.

const NOTHING = "–";

function decimal(value, digits = 3) {
  return value === null || value === undefined ? NOTHING : value.toFixed(digits);
}

function whole(value) {
  return value === null || value === undefined ? NOTHING : Math.round(value).toLocaleString("en");
}

function duration(seconds) {
  if (seconds === null || seconds === undefined) return NOTHING;
  if (seconds < 0.0095) return `${(1000 * seconds).toFixed(1)} ms`;
  if (seconds < 0.995) return `${Math.round(1000 * seconds)} ms`;
  if (seconds < 99.5) return `${seconds.toPrecision(seconds < 9.95 ? 2 : 3).replace(/\.0$/, "")} s`;
  if (seconds < 5970) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

function chance(p) {
  if (p < 0.001) return "p < 0.001";
  return `p = ${p.toFixed(3)}`;
}

/** Any value of a setting, as one would type it. */
function setting(value) {
  if (value === null || value === undefined) return "none";
  if (typeof value === "number" && !Number.isInteger(value)) return String(Number(value.toPrecision(6)));
  if (Array.isArray(value)) return `(${value.map(setting).join(", ")})`;
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}

function counted(count, noun) {
  return `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Round numbers that part an interval into about ``count`` pieces. */
function ticks(low, high, count = 5) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
  const found = [];
  for (let index = Math.ceil(low / step - 1e-9); index * step <= high + step * 1e-9; index++) found.push(index * step);
  return { values: found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}
