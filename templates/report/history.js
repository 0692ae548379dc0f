"use strict";
// A curve over time, drawn on a canvas, and two ticks side by side. Data: ticks and days; for each curve its name,
// unit, values (null where the tick has none), changes.

const history = JSON.parse(document.getElementById("curves-data").textContent);
const find = (id) => document.getElementById(id);
const colours = { line: "#0072b2", change: "#c25e00", axis: "#57606a", grid: "#d0d7de" };

for (const note of document.querySelectorAll(".needs-script")) note.remove();

function fill(select, names, chosen) {
  select.replaceChildren(...names.map((name, number) => new Option(name, number)));
  select.value = chosen;
}

const names = history.ticks.map((tick, number) => `${history.days[number]} ${tick}`);
const last = names.length - 1;
fill(find("curve"), history.curves.map((curve) => `${curve.name} (${curve.unit})`), 0);
fill(find("from"), names, 0);
fill(find("to"), names, last);
fill(find("earlier"), names, Math.max(0, last - 1));
fill(find("later"), names, last);

const chosen = (id) => Number(find(id).value);
const short = (value) => (value === null ? "–" : String(Number(value.toPrecision(4))));

// What is drawn now: the curve, and from the number of a tick to a place and back.
function view() {
  const curve = history.curves[chosen("curve")];
  const [from, to] = [chosen("from"), chosen("to")].sort((a, b) => a - b);
  const shown = curve.values.slice(from, to + 1).filter((value) => value !== null);
  const low = Math.min(...shown);
  const high = Math.max(...shown);
  const room = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
  return { curve, from, to, low: low - room, high: high + room, empty: shown.length === 0 };
}

// Round steps for about five lines.
function steps(low, high) {
  const power = 10 ** Math.floor(Math.log10((high - low) / 4));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => (high - low) / size <= 5);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) found.push(value);
  return found;
}

let marked = null; // the number of the tick that is read out

function draw() {
  const canvas = find("plot");
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = 300;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.clearRect(0, 0, width, height);
  const { curve, from, to, low, high, empty } = view();
  canvas.setAttribute("aria-label", `${curve.name}, ${curve.unit}, ${to - from + 1} ticks, ${curve.changes.length} changes`);
  if (empty) return read();
  const x = (tick) => 70 + ((tick - from) / Math.max(1, to - from)) * (width - 90);
  const y = (value) => height - 30 - ((value - low) / (high - low)) * (height - 50);
  pen.font = "12px system-ui, sans-serif";
  pen.strokeStyle = colours.grid;
  pen.fillStyle = colours.axis;
  pen.textAlign = "right";
  for (const value of steps(low, high)) {
    pen.beginPath();
    pen.moveTo(70, y(value));
    pen.lineTo(width - 20, y(value));
    pen.stroke();
    pen.fillText(short(value), 64, y(value) + 4);
  }
  pen.textAlign = "left";
  pen.fillText(history.days[from], 70, height - 8);
  pen.textAlign = "right";
  pen.fillText(history.days[to], width - 20, height - 8);
  for (const change of curve.changes.filter((each) => each.first > from && each.first <= to)) {
    pen.strokeStyle = pen.fillStyle = colours.change;
    pen.setLineDash([5, 4]);
    pen.beginPath();
    pen.moveTo(x(change.first - 0.5), 10);
    pen.lineTo(x(change.first - 0.5), height - 30);
    pen.stroke();
    pen.setLineDash([]);
    pen.textAlign = x(change.first) > width / 2 ? "right" : "left";
    pen.fillText(change.text, x(change.first - 0.5) + (pen.textAlign === "left" ? 5 : -5), 20);
  }
  pen.strokeStyle = pen.fillStyle = colours.line;
  pen.beginPath();
  for (let tick = from; tick <= to; tick += 1) {
    if (curve.values[tick] !== null) pen.lineTo(x(tick), y(curve.values[tick]));
  }
  pen.stroke();
  for (let tick = from; tick <= to; tick += 1) {
    if (curve.values[tick] === null || (to - from > 200 && tick !== marked)) continue;
    pen.beginPath();
    pen.arc(x(tick), y(curve.values[tick]), tick === marked ? 5 : 2.5, 0, 7);
    pen.fill();
  }
  read();
}

// The tick under the pointer or reached by the arrow keys, as text.
function read() {
  const { curve, from, to } = view();
  const changes = curve.changes.map((change) => change.text);
  const about = changes.length ? `Changes: ${changes.join("; ")}.` : curve.notJudged || "No change was found.";
  const point = marked === null || marked < from || marked > to ? "Arrow keys or the pointer read single ticks." :
    `${names[marked]}: ${short(curve.values[marked])} ${curve.unit}.`;
  find("reading").textContent = `${point} ${about}`;
}

function mark(tick) {
  const { from, to } = view();
  marked = Math.min(to, Math.max(from, tick));
  draw();
}

function compare() {
  const [earlier, later] = [chosen("earlier"), chosen("later")];
  const rows = history.curves.map((curve) => {
    const [before, after] = [curve.values[earlier], curve.values[later]];
    const ratio = before === null || after === null || before === 0 ? null : after / before;
    const row = document.createElement("tr");
    const name = document.createElement("th");
    name.scope = "row";
    name.textContent = curve.name;
    const cells = [curve.unit, short(before), short(after), ratio === null ? "–" : ratio.toFixed(3)].map((text, number) => {
      const cell = document.createElement("td");
      cell.textContent = text;
      if (number) cell.className = "number";
      return cell;
    });
    row.append(name, ...cells);
    return row;
  });
  find("compared").tBodies[0].replaceChildren(...rows);
}

for (const id of ["curve", "from", "to"]) find(id).addEventListener("change", draw);
for (const id of ["earlier", "later"]) find(id).addEventListener("change", compare);
window.addEventListener("resize", draw);
find("plot").addEventListener("pointermove", (event) => {
  const { from, to } = view();
  mark(Math.round(from + ((event.offsetX - 70) / (find("plot").clientWidth - 90)) * (to - from)));
});
find("plot").addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step) {
    event.preventDefault();
    mark((marked ?? view().from - step) + step);
  }
});
// A curve's name in the table above chooses it.
for (const link of document.querySelectorAll('a[href^="#curve-"]')) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    find("curve").value = Number(link.hash.slice("#curve-".length));
    draw();
    find("one").scrollIntoView();
    find("curve").focus();
  });
}
draw();
compare();
performance.mark("drawn");
