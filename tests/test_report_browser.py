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
from mpicampaign.show.charts.selection import MANY_LINES

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

CHART = "document.querySelector('#curve-1')"
PLOT = f"{CHART}.querySelector('.plot > svg')"
SEEN = f"[...{PLOT}.querySelectorAll('.line')].filter((line) => getComputedStyle(line).display !== 'none')"
# Where in the window a path ends.
END = """((path) => {
  const { x, y } = path.getPointAtLength(path.getTotalLength()), { a, e, f } = path.getScreenCTM();
  return [a * x + e, a * y + f];
})(%s)"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report")
    groups = [synthetic.campaign(host_group=f"group{n}", factor=1 + n / 10) for n in range(1, 6)]
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
    chromium.value(f"void {PLOT}.scrollIntoView({{ block: 'center' }})")
    return chromium


def tip(page: Browser) -> list[str]:
    """The lines of what is read out of the curves."""
    shown = f"{CHART}.querySelector('.tip:not([hidden])')"
    return str(page.value(f"{shown}?.innerText ?? ''")).splitlines()


def point_at_end(page: Browser, path: str) -> list[str]:
    """What is read out at the last point of a path."""
    page.value(f"void {PLOT}.scrollIntoView({{ block: 'center' }})")
    # Parts that come into view are laid out in the next frame, which moves others.
    page.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.value(f"void {PLOT}.scrollIntoView({{ block: 'center' }})")
    page.point(*page.value(END % path))
    return tip(page)


def medians(page: Browser) -> list[list[str]]:
    """The table below the curves: a name and its values in each line."""
    rows = f"[...{CHART}.querySelector('.medians table').tBodies[0].rows]"
    found = page.value(f"{rows}.map((row) => [...row.cells].map((cell) => cell.textContent.trim()))")
    return [[str(text) for text in row] for row in found]


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


def test_the_mouse_and_the_arrow_keys_read_values(page: Browser) -> None:
    first, second, *_ = medians(page)
    said = point_at_end(page, f"{SEEN}[0].querySelector('path')")
    assert said == [f"{first[-1]} µs at 4 MiB", first[0], "median of 6 repeats"]
    page.point(1, 1)
    assert tip(page) == []
    page.value(f"void {PLOT}.focus()")
    found = []
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "Escape"):
        page.key(key)
        found.append([line.split()[0] for line in tip(page)[:1]])
    values = [first[2], first[3], second[3], second[2], first[2]]
    assert found == [*([value] for value in values), []]


def test_boxes_hide_lines_and_highlight_their_own(page: Browser) -> None:
    label = f"{CHART}.querySelectorAll('[data-facet] label')[0]"
    before = page.value(f"{SEEN}.length")
    page.click(f"{label}.querySelector('input')")
    count = page.value(f"{SEEN}.length")
    assert 0 < count < before
    status = str(page.value(f"{CHART}.querySelector('[role=status]').textContent"))
    assert status.startswith(f"{count} of ")
    page.click(f"{label}.querySelector('input')")
    assert page.value(f"{SEEN}.length") == before
    page.value(f"void {label}.querySelector('input').focus()")
    pale = page.value(f"{SEEN}.filter((line) => getComputedStyle(line).opacity < 0.5).length")
    assert pale == count
    page.click(f"{CHART}.querySelector('[data-shows=repeats]')")
    said = point_at_end(page, f"{SEEN}[0].querySelector('.repeats path')")[2]
    assert re.fullmatch(r"repeat \d on node1, job 100\d, verified", said)


def test_curves_fit_a_phone(page: Browser) -> None:
    page.resize(390, 844, phone=True)
    assert page.value("document.documentElement.scrollWidth") <= 390
    style = f"getComputedStyle({PLOT}.querySelector('text'))"
    assert page.value(f"parseFloat({style}.fontSize) * {PLOT}.getScreenCTM().a") >= 8
    point_at_end(page, f"{SEEN}[0].querySelector('path')")
    left, right = page.value(
        f"(({{ left, right }}) => [left, right])({CHART}.querySelector('.tip').getBoundingClientRect())"
    )
    assert 0 <= left < right <= 390


def test_without_script_all_lines_are_seen(page: Browser, report: str) -> None:
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        opened(page, report)
        assert page.value(f"{SEEN}.length") == len(medians(page)) > MANY_LINES
    finally:
        page.call("Emulation.setScriptExecutionDisabled", value=False)


def test_hostile_text_stays_text_in_the_browser(chromium: Browser, tmp_path: Path) -> None:
    evil = '"><img src=x onerror=hacked=1></script><script>hacked=1</script>$$x$$ @{y} $index {{7*7}}\u2028'
    case = Case(evil, evil, evil, "PingPong")
    records = [
        replace(record, hosts=(evil,), job_id=evil, metadata={evil: evil}, verdict_reasons=(evil,))
        for record in synthetic.case_runs(case, 1e-6, 1e9)
    ]
    page = opened(chromium, written(tmp_path, records))
    page.click(f"{CHART}.querySelector('[data-shows=repeats]')")
    said = " ".join(point_at_end(page, f"{CHART}.querySelector('.repeats path')"))
    assert "<img src=x onerror=hacked=1></script><script>" in said and "$$x$$ @{y} $index" in said
    assert page.value("typeof hacked") == "undefined"
    assert page.complaints == []
    assert not any(request.startswith("http") for request in page.requests)
