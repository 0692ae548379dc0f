"use strict";
// Tables that sort and filter. Without this script they are as they were written.

document.documentElement.classList.remove("no-script");

// What is sorted and filtered together: the rows of a table, or its bodies where it has several.
function unitsOf(table) {
  return table.tBodies.length > 1 ? [...table.tBodies] : [...table.tBodies[0].rows];
}

// The largest value of a unit in a column, or its text; null where there is no value.
function valueOf(unit, column, isNumber) {
  const rows = unit.rows ? [...unit.rows] : [unit];
  if (!isNumber) {
    return rows[0].cells[column]?.textContent.trim() ?? null;
  }
  // A row of a body whose first cells span several rows has fewer cells: count from the end.
  const width = rows[0].cells.length;
  const values = rows
    .map((row) => row.cells[column - (width - row.cells.length)]?.dataset.v)
    .filter((text) => text !== undefined)
    .map(Number);
  return values.length ? Math.max(...values) : null;
}

// Negative, zero or positive; what has no value comes last in both directions.
function compare(a, b, sign) {
  if (a === null || b === null) {
    return (a === null) - (b === null);
  }
  return sign * (typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true }));
}

function sort(table, head) {
  const first = head.dataset.first ?? "ascending";
  const second = first === "ascending" ? "descending" : "ascending";
  const direction = head.getAttribute("aria-sort") === first ? second : first;
  for (const other of table.tHead.rows[0].cells) {
    other.removeAttribute("aria-sort");
  }
  head.setAttribute("aria-sort", direction);
  const sign = direction === "ascending" ? 1 : -1;
  const isNumber = head.dataset.kind === "number";
  const keyed = unitsOf(table).map((unit) => [valueOf(unit, head.cellIndex, isNumber), unit]);
  keyed.sort(([a], [b]) => compare(a, b, sign));
  const place = keyed[0][1].parentNode;
  place.append(...keyed.map(([, unit]) => unit));
}

// A button in each head, so that the keyboard and screen readers can sort.
function makeSortable(table) {
  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(table, head));
  }
}

function filter(units, terms, status) {
  let shown = 0;
  for (const unit of units) {
    const text = unit.textContent.toLowerCase();
    unit.hidden = !terms.every((term) => text.includes(term));
    shown += unit.hidden ? 0 : 1;
  }
  status.textContent = `${shown} of ${units.length} rows`;
}

// A long table of comparisons shows medians and intervals; a tick brings mean and range.
function makeBrief(table) {
  const label = document.createElement("label");
  const input = document.createElement("input");
  input.type = "checkbox";
  label.append(input, " mean and range");
  input.addEventListener("change", () => table.classList.toggle("brief", !input.checked));
  table.classList.add("brief");
  return label;
}

// A box above the table; rows without all of its terms are hidden.
function makeFilter(table) {
  const box = document.createElement("p");
  const label = document.createElement("label");
  const input = document.createElement("input");
  const status = document.createElement("span");
  box.className = "filter";
  input.type = "search";
  status.setAttribute("role", "status");
  label.append("Filter ", input);
  box.append(label, " ", status);
  if (table.classList.contains("comparison")) {
    box.append(" ", makeBrief(table));
  }
  (table.closest(".wide") ?? table).before(box);
  const units = unitsOf(table);
  const update = () => filter(units, input.value.toLowerCase().split(/\s+/).filter(Boolean), status);
  input.addEventListener("input", update);
  update();
}

for (const table of document.querySelectorAll("table.sortable")) {
  const count = unitsOf(table).length;
  if (count > 1) {
    makeSortable(table);
  }
  if (count > 8) {
    makeFilter(table);
  }
}

// What is folded opens where a link leads into it, and all of it for the printer.
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) {
    fold.open = true;
  }
  target?.scrollIntoView();
}

window.addEventListener("hashchange", openTarget);
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach((fold) => (fold.open = true));
  document.querySelectorAll(".brief").forEach((table) => table.classList.remove("brief"));
});
if (location.hash) {
  openTarget();
}
