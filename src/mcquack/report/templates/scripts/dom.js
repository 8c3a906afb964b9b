// Building blocks of the page. Text from the data only ever becomes text, never markup.

/** An element with attributes, listeners (on…) and children. */
function h(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** The same for drawings. */
function s(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "style") Object.entries(value).forEach(([property, of]) => element.style.setProperty(property, of));
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

function byId(id) {
  return document.getElementById(id);
}

/** Tells readers of the screen what has changed elsewhere on it. */
function announce(text) {
  byId("announcements").textContent = text;
}

/** A table of rows below heads. */
function tableOf(heads, rows, classes = null) {
  return h("table", { class: classes }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows));
}

/** The head of a column, or of one with numbers. */
function columnHead(content, isNumber = false) {
  return h("th", { scope: "col", class: isNumber && "number" }, content);
}

/** A table that scrolls within itself; the keyboard can scroll it, too. */
function scrollable(table, { label, classes = "" }) {
  return h("div", { class: `scroll ${classes}`, tabindex: "0", role: "region", "aria-label": label }, table);
}

/** Calls ``draw(width)`` now, and again whenever the width of ``box`` changes. */
function onWidth(box, draw) {
  let last = 0;
  const redraw = () => {
    const width = Math.floor(box.clientWidth);
    if (width > 0 && width !== last) draw((last = width));
  };
  const observer = new ResizeObserver(() => requestAnimationFrame(redraw));
  observer.observe(box);
  redraw();
  return () => observer.disconnect();
}

/** A long name of several words in one, which may be broken before each of them. */
function breakable(name) {
  const words = name.length <= 12 ? [name] : elided(name).split(/(?<=[a-z0-9])(?=[A-Z])|(?<=_)/);
  return theirs(
    name,
    words.flatMap((word, index) => (index > 0 ? [h("wbr"), word] : [word])),
  );
}

const MOST_LETTERS = 80;

/** The text without its middle, if it is long. */
function elided(text) {
  const last = Math.floor((MOST_LETTERS - 1) / 3);
  return text.length <= MOST_LETTERS ? text : `${text.slice(0, MOST_LETTERS - 1 - last)}…${text.slice(-last)}`;
}

/** A text that somebody else chose: the text around it keeps its order and its place. */
function theirs(text, shown = elided(text)) {
  const isLong = text.length > MOST_LETTERS;
  return h("bdi", { class: isLong && "elided", title: isLong && text }, shown);
}

const ruler = document.createElement("canvas").getContext("2d");

/** Width of a text in a chart, in pixels. */
function textWidth(text, size = 13) {
  ruler.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return ruler.measureText(text).width;
}

/** The text, cut so that it fits, with an ellipsis where something is missing. */
function fitted(text, width, size = 13) {
  if (textWidth(text, size) <= width) return text;
  let kept = text;
  while (kept.length > 1 && textWidth(`${kept}…`, size) > width) kept = kept.slice(0, -1);
  return `${kept}…`;
}

// Numbers as people read them.

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
