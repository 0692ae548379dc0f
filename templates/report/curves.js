"use strict";
// Curves: the boxes choose lines; the pointer, a finger and the arrow keys read values.

const NEAR = 25; // units of a drawing

// The points of a path in the units of its drawing, with their texts. Its steps: l dx dy…, h dx…, v dy…
function pointsOf(path, line) {
  const steps = path.getAttribute("d").split(/(?=[lhv])/).flatMap((part) => {
    const numbers = part.match(/-?[\d.]+/g).map(Number);
    if (part[0] === "h") return numbers.map((dx) => [dx, 0]);
    if (part[0] === "v") return numbers.map((dy) => [0, dy]);
    return numbers.flatMap((dx, i) => (i % 2 ? [] : [[dx, numbers[i + 1]]]));
  });
  let [x, y] = [0, 0];
  return path.dataset.v.split(" ").map((text, i) => {
    [x, y] = [x + steps[i][0], y + steps[i][1]];
    return { x, y, text, path, line };
  });
}

const plotOf = (chart) => chart.querySelector(".plot > svg");

// What the places across are called; charts over the same ticks share the list.
function labelsOf(plot) {
  const { x, labels } = plot.closest("[data-x]").dataset;
  const texts = labels.split(",");
  return new Map(x.split(" ").map((place, i) => [Number(place).toFixed(1), texts[i]]));
}

function prepare(chart) {
  const plot = plotOf(chart);
  const tip = chart.querySelector(".tip");
  const lines = [...plot.querySelectorAll(".line")];
  const facets = [...chart.querySelectorAll("[data-facet]")].map((facet) => [...facet.querySelectorAll("label")]);
  const boxOf = (line, facet) => facets[facet][line.dataset.values.split(" ")[facet]];
  const repeats = chart.querySelector("[data-shows=repeats]");
  const mark = document.createElementNS(plot.namespaceURI, "circle");
  mark.setAttribute("r", 4);
  mark.setAttribute("class", "mark");
  let labels; // of the places across
  let curves; // the points of each path
  let read = null; // the one that is read out

  function shown() {
    curves ??= lines.flatMap((line) => [...line.querySelectorAll("path")].map((path) => pointsOf(path, line)));
    return curves.filter(([{ path, line }]) => !line.classList.contains("off") && (repeats?.checked || path.parentNode === line));
  }

  function highlight(chosen) {
    plot.classList.toggle("faded", chosen.length > 0);
    for (const line of lines) line.classList.toggle("on", chosen.includes(line));
  }

  function show(point) {
    read = point;
    highlight(point ? [point.line] : []);
    tip.hidden = !point;
    mark.remove();
    if (!point) return;
    mark.setAttribute("cx", point.x);
    mark.setAttribute("cy", point.y);
    plot.append(mark);
    const paths = [...point.line.querySelectorAll("path")];
    const median = paths.length > 1 ? `\nmedian of ${paths.length - 1} repeats` : "";
    const of = point.path === paths[0] ? median : `\n${point.path.dataset.title}`;
    labels ??= labelsOf(plot);
    const value = `${point.text} ${plot.dataset.unit} at ${labels.get(point.x.toFixed(1))}`;
    tip.textContent = `${value}\n${paths[0].dataset.title}${of}`;
    const { width, height } = plot.viewBox.baseVal;
    tip.classList.toggle("left", point.x > width / 2);
    tip.style.left = `${(100 * point.x) / width}%`;
    tip.style.top = `${(100 * point.y) / height}%`;
  }

  function nearest(x, y, points) {
    const distance = (point) => Math.hypot(point.x - x, point.y - y);
    return points.reduce((best, point) => (distance(point) < distance(best) ? point : best), { x: x + NEAR, y });
  }

  function update() {
    for (const line of lines) {
      line.classList.toggle("off", facets.some((_, i) => !boxOf(line, i).querySelector("input").checked));
    }
    plot.classList.toggle("each", repeats?.checked ?? false);
    show(null);
    const count = lines.filter((line) => !line.classList.contains("off")).length;
    const status = chart.querySelector("[role=status]");
    if (status) status.textContent = `${count} of ${lines.length} lines`;
  }

  for (const title of plot.querySelectorAll("title")) { // the browser shows these without a script
    title.parentNode.dataset.title = title.textContent;
    title.remove();
  }
  chart.addEventListener("change", update);
  plot.addEventListener("pointermove", (event) => {
    const { a, e, f } = plot.getScreenCTM();
    const found = nearest((event.clientX - e) / a, (event.clientY - f) / a, shown().flat());
    show(found.path ? found : null);
  });
  for (const gone of ["pointerleave", "blur"]) plot.addEventListener(gone, () => show(null));
  plot.addEventListener("keydown", (event) => {
    const [along, across] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key] ?? [];
    const all = shown();
    if (event.key === "Escape") show(null);
    if (along === undefined || !all.length) return;
    event.preventDefault();
    const now = read ? all.findIndex((points) => points.includes(read)) : 0;
    const points = all[(now + across + all.length) % all.length];
    const place = read ? all[now].indexOf(read) + along : 0;
    show(across && read ? points.find((point) => point.x >= read.x) ?? points.at(-1) : points.at(place % points.length));
  });
  facets.forEach((labels, facet) =>
    labels.forEach((label) => {
      const own = () => highlight(lines.filter((line) => boxOf(line, facet) === label));
      for (const come of ["pointerenter", "focusin"]) label.addEventListener(come, own);
      for (const go of ["pointerleave", "focusout"]) label.addEventListener(go, () => highlight([]));
    }),
  );
  update();
}

document.querySelectorAll(".chart").forEach(prepare);
