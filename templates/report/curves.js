"use strict";
// Curves: drawn by Bokeh when they come into view; the boxes beside them choose the lines.

const curves = JSON.parse(document.getElementById("curves-data").textContent);
Bokeh.set_log_level("warn");

// The rows of a data source that belong to lines that are shown.
function chosen(data, lines) {
  const keep = Array.from(data.line, (line) => lines.has(line));
  return Object.fromEntries(
    Object.entries(data).map(([name, column]) => [name, Array.from(column).filter((_, i) => keep[i])]),
  );
}

// The numbers of the lines all of whose values are ticked.
function tickedLines(chart, lines) {
  const ticked = [...chart.querySelectorAll("fieldset[data-facet]")].map((facet) =>
    [...facet.querySelectorAll("input")].map((box) => box.checked),
  );
  return lines.flatMap((values, line) => (values.every((value, i) => ticked[i][value]) ? [line] : []));
}

// All elements below one, those in shadow trees included.
function* within(element) {
  for (const child of [...(element.shadowRoot?.children ?? []), ...element.children]) {
    yield child;
    yield* within(child);
  }
}

// Bokeh's tools are names and a mouse: as buttons for the keyboard and screen readers.
function nameTools(plot) {
  for (const part of within(plot)) {
    if (part.matches(".bk-ClickButton, .bk-OnOffButton")) {
      part.setAttribute("role", "button");
      part.setAttribute("aria-label", part.title);
      part.addEventListener("keydown", (event) => {
        if (event.key === " ") {
          event.preventDefault();
          part.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
        }
      });
    }
    if (part.matches(".bk-events, .bk-OnOffButton")) {
      part.tabIndex = -1; // nothing can be done there without a mouse; all values are in the table below
    }
  }
}

async function draw(chart) {
  const { item, lines } = curves[chart.id];
  const [view] = await Bokeh.embed.embed_item(item, chart.querySelector(".plot"));
  const renderers = view.model.renderers;
  const all = new Map(renderers.map((renderer) => [renderer, { ...renderer.data_source.data }]));
  const update = () => {
    const shown = tickedLines(chart, lines);
    for (const renderer of renderers) {
      const kind = renderer.data_source.name === "repeats" ? "repeats" : "medians";
      renderer.data_source.data = chosen(all.get(renderer), new Set(shown));
      renderer.visible = chart.querySelector(`input[data-shows=${kind}]`).checked;
    }
    chart.querySelector("[role=status]").textContent = `${shown.length} of ${lines.length} lines`;
  };
  chart.addEventListener("change", update);
  update();
  // Bokeh lays out its tools, and makes some of them, at the next frame.
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  nameTools(chart.querySelector(".plot"));
  chart.dataset.drawn = "yes";
}

const observer = new IntersectionObserver(
  (entries) => {
    for (const entry of entries.filter((entry) => entry.isIntersecting)) {
      observer.unobserve(entry.target);
      draw(entry.target);
    }
  },
  { rootMargin: "400px" },
);
document.querySelectorAll(".chart").forEach((chart) => observer.observe(chart));
