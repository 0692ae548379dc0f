"""The report in a real browser: its display, its controls, and no requests to servers."""

from __future__ import annotations

import csv
import io
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import synthetic
from browser import CHROMIUM, Browser, browser

from mpicampaign.compare.compare import compare
from mpicampaign.records import Case
from mpicampaign.show.figures.draw import draw_all
from mpicampaign.show.report.write import write_report

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# In continuous integration a browser is demanded: without one these tests fail there.
MAY_SKIP = CHROMIUM is None and os.environ.get("CI") != "true"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(MAY_SKIP, reason="no chromium on this machine")]

TABLE = "document.querySelector('#tables table')"
CHART = "document.querySelector('#curve-1')"
# All text of a node, with that in the shadow trees of its parts, where Bokeh writes.
DEEP = """
window.deep = (node) => node.nodeType === Node.TEXT_NODE ? node.textContent + " "
  : ["STYLE", "SCRIPT"].includes(node.tagName) ? ""
  : [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes].map(deep).join("");
"""
# Where the window has the point of a data source with these places in it.
PLACE = """(() => {
  const [view] = [...Bokeh.index];
  const renderer = view.owner.find_one(view.model.renderers[%d]);
  const data = renderer.model.data_source.data;
  const { x_scale, y_scale } = renderer.coordinates;
  const { x, y } = view.canvas_view.el.getBoundingClientRect();
  return [x + x_scale.compute(%s), y + y_scale.compute(%s)];
})()"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report")
    groups = [synthetic.campaign(host_group=f"group{n}", factor=1 + n / 10) for n in range(1, 5)]
    records = [record for group in groups for record in group]
    figures = draw_all(compare(synthetic.campaign()), folder / "figures")
    return written(folder, records, figures)


def written(folder: Path, records: Any, figures: Any = ()) -> str:
    text = "campaign: seen\ntitle: " + "wide " * 100
    texts = {"campaign_title": "Looked at", "campaign_text": text}
    write_report(folder / "report.html", compare(records), records, lambda: figures, **texts)
    return (folder / "report.html").as_uri()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture
def page(chromium: Browser, report: str) -> Browser:
    return opened(chromium, report)


def opened(chromium: Browser, address: str) -> Browser:
    chromium.complaints.clear()
    chromium.requests.clear()
    chromium.resize(1280, 900)
    chromium.open("about:blank")
    chromium.open(address)
    return chromium


def texts(page: Browser, column: int) -> list[str]:
    """The beginnings of the column's cells, in the order shown."""
    rows = f"[...{TABLE}.tBodies[0].rows].filter((row) => row.checkVisibility())"
    found = page.value(f"{rows}.map((row) => row.cells[{column}]?.innerText.split('\\n')[0] ?? '')")
    return [str(text) for text in found]


def draw(page: Browser, chart: str = CHART) -> None:
    page.value(f"void {chart}.scrollIntoView()")
    page.wait(f"{chart}.dataset.drawn === 'yes'")


def hover(page: Browser, renderer: int, x: str, y: str, words: str) -> str:
    """Point at a figure until a tooltip has the text; returns the text of all tooltips."""
    page.value(DEEP)
    # Bokeh finds lines only where it has painted them: at the next frame after a change.
    page.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.wait(f"{PLACE % (renderer, x, y)}.every(Number.isFinite)")
    for _ in range(100):
        place = page.value(PLACE % (renderer, x, y))
        page.point(place[0] - 40, place[1] - 40)
        page.point(*place)
        said = str(page.value("deep(document.body.lastElementChild) + deep(document.querySelector('.plot'))"))
        if words in said:
            return " ".join(said.split())
    raise AssertionError(f"no tooltip says {words}: {said}")


def copied(page: Browser, table: str) -> list[list[str]]:
    """What the button above a table copies."""
    page.value("void (window.copied = '', DataTransfer.prototype.setData = (_, text) => (copied = text))")
    page.value(f"void {table}.closest('.wide').previousElementSibling.querySelector('button').focus()")
    page.key("Enter", text="\r")
    page.wait("copied")
    return list(csv.reader(io.StringIO(str(page.value("copied")))))


def test_a_stacked_table_repeats_its_names_and_formulas_stay_text(page: Browser) -> None:
    header, *lines = copied(page, "document.querySelector('table.stacked')")
    assert {len(line) for line in lines} == {len(header)} and all(line[0] and line[2] for line in lines)
    page.value("void (document.querySelector('#doubts td:nth-child(3)').textContent = '=cmd(\"a\", 1)')")
    assert copied(page, "document.querySelector('#doubts table')")[1][2] == '\'=cmd("a", 1)'


def luminance(colour: str) -> float:
    """Of ``rgb(1, 2, 3)``, as WCAG defines it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_hostile_text_stays_text_in_the_browser(chromium: Browser, tmp_path: Path) -> None:
    evil = '"><img src=x onerror=hacked=1></script><script>hacked=1</script>$$x$$ @{y} $index {{7*7}}\u2028'
    case = Case(evil, evil, evil, "PingPong")
    records = [
        replace(record, hosts=(evil,), job_id=evil, metadata={evil: evil}, verdict_reasons=(evil,))
        for record in synthetic.case_runs(case, 1e-6, 1e9)
    ]
    page = opened(chromium, written(tmp_path, records))
    draw(page)
    page.click(f"{CHART}.querySelector('[data-shows=repeats]')")
    said = hover(page, 2, "data.xs[0][12]", "data.ys[0][12]", "hosts: ")
    assert "<img src=x onerror=hacked=1></script><script>" in said and "$$x$$ @{y} $index" in said
    assert page.value("typeof hacked") == "undefined"
    assert page.complaints == []
    assert not any(request.startswith("http") for request in page.requests)
