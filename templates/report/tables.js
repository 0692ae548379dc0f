"use strict";
// Tables that sort, are searched and copied. Without this script they are as they were written.

document.documentElement.classList.remove("no-script");

const rowsOf = (table) => [...table.tBodies[0].rows];

// The value of a row in a column, or its text; null where there is none.
function valueOf(row, column, isNumber) {
  const cell = row.cells[column];
  return isNumber ? (cell?.dataset.v === undefined ? null : Number(cell.dataset.v)) : cell?.textContent.trim() ?? null;
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
  const keyed = rowsOf(table).map((row) => [valueOf(row, head.cellIndex, isNumber), row]);
  keyed.sort(([a], [b]) => compare(a, b, sign));
  table.tBodies[0].append(...keyed.map(([, row]) => row));
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

// Tables as CSV: numbers in full and in SI units, intervals in columns of their own, all else as it is shown.

const plain = (node) => node.textContent.replace(/\s+/g, " ").trim();

// Quoted where needed; a spreadsheet takes what begins like a formula for one, unless an apostrophe is before it.
function field(text) {
  const safe = /^\s*[=+\-@]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function headNames(head, hasInterval) {
  const name = head.cloneNode(true);
  const unit = head.dataset.si ? ` [${head.dataset.si}]` : "";
  if (unit) name.querySelectorAll("small").forEach((small) => small.remove());
  const ends = hasInterval ? ["low", "high"].map((end) => `${plain(name)}, interval ${end}${unit}`) : [];
  return [plain(name) + unit, ...ends];
}

function cellValues(head, cell, hasInterval) {
  const { v, low, high } = cell?.dataset ?? {};
  const first = head.dataset.kind === "number" ? v ?? "" : cell ? plain(cell) : "";
  return hasInterval ? [first, low ?? "", high ?? ""] : [first];
}

function csvOf(table) {
  const heads = [...table.tHead.rows[0].cells];
  const rows = rowsOf(table).map((row) => [...row.cells]);
  const ended = heads.map((_, column) => rows.some((cells) => cells[column]?.dataset.low !== undefined));
  const lines = rows.map((cells) => heads.flatMap((head, i) => cellValues(head, cells[i], ended[i])));
  const names = heads.flatMap((head, column) => headNames(head, ended[column]));
  return [names, ...lines].map((line) => line.map(field).join(",")).join("\n") + "\n";
}

// By a copy event, which works for files, too, and asks no permission.
function copy(text) {
  const give = (event) => {
    event.clipboardData.setData("text/plain", text);
    event.preventDefault();
  };
  document.addEventListener("copy", give, { once: true });
  const done = document.execCommand("copy");
  document.removeEventListener("copy", give);
  return done;
}

function makeCopy(table) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy as CSV";
  button.title = "Numbers in full and in SI units";
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", () => {
    button.textContent = copy(csvOf(table)) ? "Copied, in SI units" : "The browser refused to copy";
    setTimeout(() => (button.textContent = "Copy as CSV"), 3000);
  });
  return button;
}

const tables = [...document.querySelectorAll("main table")];
for (const table of tables.filter((table) => !table.matches(".ratios"))) {
  if (rowsOf(table).length > 1 && table.matches(".sortable")) {
    makeSortable(table);
  }
  const tools = document.createElement("p");
  tools.className = "tools";
  tools.append(makeCopy(table));
  (table.closest(".wide") ?? table).before(tools);
}

// A wide table fades at the side where more of it is.
function showEdges(frame) {
  frame.classList.toggle("more-left", frame.scrollLeft > 1);
  frame.classList.toggle("more-right", frame.scrollLeft + frame.clientWidth < frame.scrollWidth - 1);
}

const sized = new ResizeObserver((entries) => entries.forEach((entry) => showEdges(entry.target)));
for (const frame of document.querySelectorAll(".wide")) {
  sized.observe(frame);
  frame.addEventListener("scroll", () => showEdges(frame), { passive: true });
}

// One box searches the rows of all tables. What does not match is hidden on the screen, never on paper.

const box = document.getElementById("search");
const folds = [...document.querySelectorAll("main details")].filter((fold) => fold.querySelector("table"));
const openBefore = new Map();
let searched; // rows with their texts, made for the first search

// The texts of a table's rows; facts that all runs of a case share stand below its table.
function textsOf(table) {
  const shared = table.closest(".case")?.querySelector(".shared")?.textContent ?? "";
  return rowsOf(table).map((row) => [row, `${row.textContent} ${shared}`.toLowerCase(), table]);
}

function search() {
  searched ??= tables.flatMap(textsOf);
  const terms = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = new Set();
  let shown = 0;
  for (const [row, text, table] of searched) {
    const isMatch = terms.every((term) => text.includes(term));
    row.classList.toggle("unmatched", !isMatch);
    if (isMatch) matching.add(table);
    shown += isMatch;
  }
  for (const table of tables) {
    (table.closest(".wide") ?? table).classList.toggle("unmatched", !matching.has(table));
  }
  for (const fold of folds) {
    if (!openBefore.has(fold)) openBefore.set(fold, fold.open);
    const isMatch = [...fold.querySelectorAll("table")].some((table) => matching.has(table));
    fold.classList.toggle("unmatched", !isMatch);
    fold.open = terms.length ? isMatch : openBefore.get(fold);
  }
  if (!terms.length) openBefore.clear();
  document.getElementById("found").textContent = terms.length ? `${shown} of ${searched.length} rows` : "";
}

box.addEventListener("input", search);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.target.closest("input, textarea, select")) {
    event.preventDefault();
    box.focus();
  }
});

// The contents: the section that is read is marked; on small screens they are a menu.

const bar = document.querySelector("nav");
const links = [...bar.querySelectorAll("a")];
const menu = bar.querySelector(".menu");

function openMenu(isOpen) {
  bar.classList.toggle("open", isOpen);
  menu.setAttribute("aria-expanded", isOpen);
}

function markSection() {
  const above = links.filter((link) => document.querySelector(link.hash).getBoundingClientRect().top < innerHeight / 3);
  for (const link of links) link.removeAttribute("aria-current");
  (above.at(-1) ?? links[0]).setAttribute("aria-current", "true");
}

menu.addEventListener("click", () => openMenu(!bar.classList.contains("open")));
bar.addEventListener("click", (event) => event.target.closest("a") && openMenu(false));
window.addEventListener("scroll", markSection, { passive: true });
markSection();

// What is folded opens where a link leads to it or into it, and all of it for the printer.
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  const own = target?.querySelector(":scope > h2 + details");
  if (own) own.open = true;
  for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) {
    fold.open = true;
  }
  target?.scrollIntoView();
}

window.addEventListener("hashchange", openTarget);
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach((fold) => (fold.open = true));
});
if (location.hash) {
  openTarget();
}
