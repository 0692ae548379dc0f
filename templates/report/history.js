"use strict";
// Two ticks side by side, from the points of the curves.

const find = (id) => document.getElementById(id);

for (const note of document.querySelectorAll(".needs-script")) note.remove();

// Of each curve its name, its unit, and its values as text by the names of ticks.
const curves = [...document.querySelectorAll(".chart")].map((chart) => {
  const plot = plotOf(chart);
  const labels = labelsOf(plot);
  const points = pointsOf(plot.querySelector(".line path")).map(({ x, text }) => [labels.get(x.toFixed(1)), text]);
  return { name: chart.querySelector("h3").textContent, unit: plot.dataset.unit, values: new Map(points) };
});
const ticks = curves.length ? [...labelsOf(plotOf(document)).values()] : [];

function fill(select, chosen) {
  select.replaceChildren(...ticks.map((tick) => new Option(tick)));
  select.selectedIndex = chosen;
  select.addEventListener("change", compare);
}

function compare() {
  const [earlier, later] = [find("earlier").value, find("later").value];
  const rows = curves.map(({ name, unit, values }) => {
    const [before, after] = [values.get(earlier), values.get(later)];
    const ratio = Number(after) / Number(before);
    const row = document.createElement("tr");
    const cells = [name, unit, before ?? "–", after ?? "–", Number.isFinite(ratio) ? ratio.toFixed(3) : "–"];
    row.append(
      ...cells.map((text, column) => {
        const cell = document.createElement(column ? "td" : "th");
        cell.textContent = text;
        if (column === 0) cell.scope = "row";
        if (column > 1) cell.className = "number";
        return cell;
      }),
    );
    return row;
  });
  find("compared").tBodies[0].replaceChildren(...rows);
}

fill(find("earlier"), Math.max(0, ticks.length - 2));
fill(find("later"), ticks.length - 1);
compare();
performance.mark("drawn");
