// Tables whose heads are buttons that sort.

/**
 * A table of ``columns`` {title, value(row), cell(row), isNumber, startsDown, hint}; the first is the head of its row.
 * ``rows`` can be replaced with ``show``; the chosen order stays.
 */
function sortableTable(columns, { label, classes = "", by = 0 }) {
  let order = { column: by, down: Boolean(columns[by].startsDown) };
  let rows = [];
  const heads = columns.map((column, index) =>
    h(
      "th",
      { scope: "col", class: column.isNumber && "number" },
      h("button", { type: "button", class: "sort", title: column.hint, onclick: () => sortBy(index) }, column.title),
    ),
  );
  const body = h("tbody");
  const table = h("table", { class: classes }, h("thead", {}, h("tr", {}, heads)), body);

  function sortBy(column) {
    const down = column === order.column ? !order.down : Boolean(columns[column].startsDown);
    order = { column, down };
    draw();
    announce(`Sorted by ${columns[column].title}, ${down ? "descending" : "ascending"}.`);
  }

  function draw() {
    heads.forEach((head, index) => {
      if (index !== order.column) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
    });
    body.replaceChildren(...sorted(rows, columns[order.column].value, order.down).map(line));
  }

  function line(row) {
    const cells = columns.map((column, index) =>
      index === 0
        ? h("th", { scope: "row" }, column.cell(row))
        : h("td", { class: column.isNumber && "number" }, column.cell(row)),
    );
    return h("tr", { class: row.classes }, cells);
  }

  function show(newRows) {
    rows = newRows;
    draw();
  }

  return { element: scrollable(table, { label, classes: "pinned" }), table, show };
}

/** A new list; rows without a value come last either way, and equal ones keep their order. */
function sorted(rows, value, down) {
  const sign = down ? -1 : 1;
  return rows
    .map((row, index) => ({ row, index, value: value(row) }))
    .sort((a, b) => {
      const missing = (a.value === null || a.value === undefined) - (b.value === null || b.value === undefined);
      return missing || sign * compared(a.value, b.value) || a.index - b.index;
    })
    .map(({ row }) => row);
}

function compared(a, b) {
  if (typeof a === "string") return a.localeCompare(b, "en", { numeric: true });
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whether a name contains every word that was typed. */
function matches(name, typed) {
  const lower = name.toLowerCase();
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}
