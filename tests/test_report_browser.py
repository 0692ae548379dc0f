"""The report in a real browser: its display, its controls, and no requests to servers."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import statistics
from typing import TYPE_CHECKING, Any

import build_records as make
import pytest
from browser import CHROMIUM, Browser, browser
from default_report import default_report

from mpicampaign.base.records import Case
from mpicampaign.compare.compare import compare
from mpicampaign.report.draw_figures import draw_all
from mpicampaign.report.write import write_report
from mpicampaign.show.interactive import MANY_LINES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# In continuous integration a browser is demanded: without one these tests fail there.
MAY_SKIP = CHROMIUM is None and os.environ.get("CI") != "true"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(MAY_SKIP, reason="no chromium on this machine")]

TABLE = "document.querySelector('#tables table')"
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
    groups = [make.campaign(host_group=f"group{n}", factor=1 + n / 10) for n in range(1, 6)]
    records = [record for group in groups for record in group]
    figures = draw_all(compare(make.campaign()), folder / "figures")
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
    chromium.call("Emulation.setEmulatedMedia", media="")
    chromium.call("Emulation.setFocusEmulationEnabled", enabled=True)  # the last test may have left the page
    chromium.open("about:blank")
    chromium.open(address)
    return chromium


def texts(page: Browser, column: int) -> list[str]:
    """The beginnings of the column's cells, in the order shown."""
    rows = f"[...{TABLE}.tBodies[0].rows].filter((row) => row.checkVisibility())"
    found = page.value(f"{rows}.map((row) => row.cells[{column}]?.innerText.split('\\n')[0] ?? '')")
    return [str(text) for text in found]


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


def test_nothing_is_complained_of_and_nothing_asked_for(page: Browser, report: str) -> None:
    for chart in range(1, 5):
        page.value(f"void document.querySelector('#curve-{chart}').scrollIntoView()")
    assert page.complaints == []
    assert {request for request in page.requests if not request.startswith("data:")} <= {
        report,
        "about:blank",
    }


def test_the_first_screen_answers(page: Browser) -> None:
    for width, height, phone in ((1280, 800, False), (390, 844, True)):
        page.resize(width, height, phone)
        bottom = page.value("document.querySelector('.answer p').getBoundingClientRect().bottom")
        assert bottom < height
        assert page.value("document.documentElement.scrollWidth") <= width
    said = page.value("document.querySelector('#answers h2').innerText")
    assert said.startswith("SHM-1 is the fastest placement in 15 of 20 comparisons"), said
    assert page.value("document.querySelector('#answers > .marks > summary').innerText").startswith("quiet?")
    first = "SHM-1 < TCP-loopback in all 5 host groups."
    assert page.value("document.querySelector('.answer p').innerText") == first


def test_the_picture_has_its_dots_best_first_and_its_names_whole(
    chromium: Browser, default_page: str
) -> None:
    page = opened(chromium, default_page)
    for width, phone in ((1280, False), (390, True)):
        page.resize(width, 844, phone)
        dots = page.value(
            "[...document.querySelector('.picture table').querySelectorAll('circle')]"
            ".map((dot) => dot.getBoundingClientRect().x)"
        )
        assert len(dots) == 3 and dots == sorted(dots) and dots[0] < dots[-1]
        shown = (
            "[...document.querySelectorAll('.picture td, .picture th')].filter((cell) => cell.offsetWidth)"
        )
        cut = page.value(f"{shown}.filter((cell) => cell.scrollWidth > cell.clientWidth + 1).length")
        assert cut == 0


def test_a_click_sorts_by_value_with_what_is_not_there_last(page: Browser) -> None:
    head = f"{TABLE}.tHead.rows[0].cells[2]"
    page.click(f"{head}.querySelector('button')")
    assert page.value(f"{head}.getAttribute('aria-sort')") == "ascending"
    up = [float(text) for text in texts(page, 2)[:15]]
    assert up == sorted(up) and up[0] < 1 < up[-1]
    page.click(f"{head}.querySelector('button')")
    assert page.value(f"{head}.getAttribute('aria-sort')") == "descending"
    assert [float(text) for text in texts(page, 2)[:15]] == up[::-1]


def test_bandwidth_sorts_its_best_first_and_only_one_column_is_sorted(page: Browser) -> None:
    page.click(f"{TABLE}.tHead.rows[0].cells[2].querySelector('button')")
    page.click(f"{TABLE}.tHead.rows[0].cells[6].querySelector('button')")
    assert page.value(f"{TABLE}.querySelectorAll('[aria-sort]').length") == 1
    down = [float(text) for text in texts(page, 6)[:12]]
    assert down == sorted(down, reverse=True)


def test_the_keyboard_sorts(page: Browser) -> None:
    page.value(f"void {TABLE}.tHead.rows[0].cells[0].querySelector('button').focus()")
    page.key("Enter", text="\r")
    page.wait(f"{TABLE}.tHead.rows[0].cells[0].getAttribute('aria-sort') === 'ascending'")
    assert texts(page, 0)[:2] == ["group1 SHM", "group1 SHM-1"]


def test_one_search_hides_rows_of_all_tables_and_says_how_many_are_left(page: Browser) -> None:
    found = "document.getElementById('found').textContent"
    case = "document.querySelectorAll('.case')"
    page.key("/", text="/")
    assert page.value("document.activeElement.id") == "search" and page.value(found) == ""
    page.type("group3 shm-1")
    page.wait(f"{found}.endsWith(' rows')")
    heads = page.value(
        "[...document.querySelectorAll('#tables .comparison tbody tr')]"
        ".filter((row) => row.checkVisibility())"
        ".map((row) => row.cells[0].textContent)"
    )
    assert len(heads) > 2 and all("group3" in text for text in heads)
    assert texts(page, 0) == ["group3 SHM-1"]
    assert page.value(f"[...{case}].filter((fold) => fold.checkVisibility()).every((fold) => fold.open)")
    page.call("Emulation.setEmulatedMedia", media="print")
    try:
        assert page.value(f"[...{TABLE}.rows].every((row) => row.checkVisibility())"), "nothing lost on paper"
    finally:
        page.call("Emulation.setEmulatedMedia", media="")
    page.value("void (document.getElementById('search').value = '')")
    page.value("void document.getElementById('search').dispatchEvent(new Event('input'))")
    assert page.value(found) == "" and len(texts(page, 0)) == 15
    assert not page.value(f"[...{case}].some((fold) => fold.open)")


def test_the_search_finds_what_all_runs_of_a_case_share(page: Browser) -> None:
    of = "document.querySelector('.case:has(.shared)')"
    table, shared = (page.value(f"{of}.querySelector('{what}').textContent") for what in ("table", ".shared"))
    word = max((word for word in re.findall(r"[\w.-]+", shared) if word not in table), key=len)
    page.value(f"void (document.getElementById('search').value = {word!r})")
    page.value("void document.getElementById('search').dispatchEvent(new Event('input'))")
    rows = f"[...{of}.querySelectorAll('table tbody tr')].filter((row) => !row.closest('.shared'))"
    assert page.value(f"{rows}.length > 1 && {rows}.every((row) => !row.closest('.unmatched'))")


def test_the_contents_follow_and_are_a_menu_on_a_phone(page: Browser) -> None:
    current = "document.querySelector('nav [aria-current]').textContent"
    assert page.value(current) == "Answers"
    page.value("void document.getElementById('curves').scrollIntoView()")
    page.wait(f"{current} === 'Curves'")
    assert page.value("document.querySelector('nav').getBoundingClientRect().top") == 0
    page.resize(390, 844, True)
    link = "document.querySelector('nav a[href=\"#runs\"]')"
    assert not page.value(f"{link}.checkVisibility()")
    page.click("document.querySelector('nav .menu')")
    assert page.value("document.querySelector('nav .menu').getAttribute('aria-expanded')") == "true"
    page.click(link)
    page.wait(f"{current} === 'Runs'")
    assert not page.value(f"{link}.checkVisibility()")


def test_a_table_is_copied_as_csv_in_full_and_in_si_units(page: Browser) -> None:
    header, *lines = copied(page, TABLE)
    assert header[:5] == [
        "host group, placement", "n", "latency at 0 B [s]",
        "latency at 0 B, interval low [s]", "latency at 0 B, interval high [s]",
    ]  # fmt: skip
    assert len(lines) == 15 and {len(line) for line in lines} == {len(header)}
    records = [run for run in make.campaign(host_group="group1", factor=1.1) if run.status == "ok"]
    own = [run for run in records if (run.case.placement, run.case.benchmark) == ("SHM-1", "PingPong")]
    values = sorted(run.series[0].columns["time"][0] or 0 for run in own)
    assert lines[0][0].startswith("group1 SHM-1")
    assert [float(text) for text in lines[0][2:5]] == [statistics.median(values), values[0], values[-1]]
    assert page.value(f"({TABLE}.closest('.wide')).previousElementSibling.textContent").startswith("Copied")


def test_a_wide_table_fades_at_the_side_where_more_of_it_is(page: Browser) -> None:
    page.resize(700, 844)
    frame = f"{TABLE}.closest('.wide')"
    page.wait(f"{frame}.className === 'wide more-right'")
    assert page.value(f"getComputedStyle({frame}).maskImage").startswith("linear-gradient")
    page.value(f"void ({frame}.scrollLeft = 40)")
    page.wait(f"{frame}.classList.length === 3")
    page.value(f"void ({frame}.scrollLeft = 9999)")
    page.wait(f"{frame}.className === 'wide more-left'")


def test_a_value_links_to_its_runs(page: Browser) -> None:
    target = page.value(f"{TABLE}.querySelector('td a').getAttribute('href')")
    fold = f"document.querySelector({json.dumps(target)}).closest('details')"
    assert page.value(f"{fold}.open") is False
    page.click(f"{TABLE}.querySelector('td a')")
    page.wait(f"{fold}.open")
    page.wait(f"document.querySelector({json.dumps(target)}).getBoundingClientRect().top < innerHeight")
    # Not every browser opens what is folded by itself.
    page.value(f"void ({fold}.open = false, window.dispatchEvent(new Event('hashchange')))")
    assert page.value(f"{fold}.open") is True


def test_every_table_has_a_caption_and_every_control_a_name(page: Browser) -> None:
    assert page.value("[...document.querySelectorAll('table')].every((table) => table.caption)")
    assert page.value("[...document.querySelectorAll('th')].every((head) => head.scope)")
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    wanted = {"button", "checkbox", "searchbox", "link", "region", "table", "img"}
    nameless = [
        node["role"]["value"]
        for node in nodes
        if node.get("role", {}).get("value") in wanted and not node.get("name", {}).get("value")
    ]
    assert nameless == []


# What has the focus, below shadow trees: its name, whether anything of it is seen, and its outline.
FOCUS = """(() => {
  let part = document.activeElement;
  const { left, top, right, bottom, width } = part.getBoundingClientRect();
  const places = [[(left + right) / 2, (top + bottom) / 2], [left + 2, top + 2], [right - 2, bottom - 2]];
  const there = places.map(([x, y]) => document.elementFromPoint(x, y)).filter(Boolean);
  const tall = bottom - top > innerHeight / 2;
  const seen = tall || there.some((found) => part.contains(found) || found.contains(part));
  while (part.shadowRoot?.activeElement) part = part.shadowRoot.activeElement;
  const { outlineStyle, outlineColor } = getComputedStyle(part);
  const name = part.getAttribute("aria-label") ?? part.textContent.trim();
  return { end: part === document.body, tag: part.tagName, name, seen, outlineStyle, outlineColor };
})()"""


def luminance(colour: str) -> float:
    """Of ``rgb(1, 2, 3)``, as WCAG defines it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(("width", "phone"), [pytest.param(1280, False, marks=pytest.mark.full), (390, True)])
def test_the_keyboard_reaches_everything_and_the_focus_is_seen(
    page: Browser, width: int, phone: bool
) -> None:
    page.resize(width, 844, phone)
    page.value("scrollTo(0, 0)")
    stops: list[dict[str, Any]] = []
    while not stops or not stops[-1]["end"]:
        page.key("Tab")
        stops.append(page.value(FOCUS))
        assert len(stops) < 2000, "a trap"
    stops.pop()
    visible = "a[href], button, input, summary"
    count = f"[...document.querySelectorAll('{visible}')].filter((part) => part.checkVisibility()).length"
    assert sum(stop["tag"] in ("A", "BUTTON", "INPUT", "SUMMARY") for stop in stops) == page.value(count)
    assert [stop for stop in stops if not stop["seen"] or stop["outlineStyle"] != "solid"] == []
    assert [stop for stop in stops if stop["tag"] != "INPUT" and not stop["name"]] == []
    grounds = [luminance("rgb(255, 255, 255)"), luminance("rgb(27, 31, 36)")]  # the page, the bar of sections
    for colour in {stop["outlineColor"] for stop in stops}:
        pairs = [sorted((luminance(colour), ground)) for ground in grounds]
        assert min((light + 0.05) / (dark + 0.05) for dark, light in pairs) >= 3, colour


def test_what_scrolls_and_what_curves_offer_has_a_role_and_a_name(page: Browser) -> None:
    page.value("document.querySelectorAll('details').forEach((fold) => (fold.open = true))")
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    named = {(n["role"]["value"], n.get("name", {}).get("value", "").strip()) for n in nodes if "role" in n}
    assert ("region", "Campaign file") in named
    assert ("button", "latency at 0 B µs") in named, "the arrow of the head is not read out"
    sizes = "[...document.querySelectorAll('.list a')].map((part) => part.getBoundingClientRect().height)"
    assert min(page.value(sizes)) >= 24


def test_paper_gets_everything_and_no_controls(page: Browser) -> None:
    page.value("void window.dispatchEvent(new Event('beforeprint'))")
    page.call("Emulation.setEmulatedMedia", media="print")
    page.resize(690, 980)  # A4 without its margins
    for hidden in ("nav", ".tools", ".controls input", ".medians"):
        shown = f"[...document.querySelectorAll('{hidden}')].some((part) => part.checkVisibility())"
        assert page.value(shown) is False, hidden
    assert page.value("[...document.querySelectorAll('details')].every((fold) => fold.open)")
    clipped = page.value(
        "[...document.querySelectorAll('main table')].filter((table) => table.checkVisibility() && "
        "table.getBoundingClientRect().right > innerWidth + 1).map((table) => table.caption.textContent)"
    )
    facts = page.value("getComputedStyle(document.querySelector('.case li')).display")
    heads = page.value("getComputedStyle(document.querySelector('.case thead th')).overflowWrap")
    page.call("Emulation.setEmulatedMedia", media="")
    assert clipped == []
    assert (facts, heads) == ("inline", "normal"), "facts line by line and broken words take 60 pages more"


def test_without_scripts_it_is_all_there(chromium: Browser, report: str) -> None:
    chromium.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page = opened(chromium, report)
        assert page.value("document.querySelectorAll('#tables tbody tr').length") > 20
        assert page.value("document.querySelector('#figures summary').checkVisibility()")
        assert page.value("document.querySelector('.medians summary').checkVisibility()")
        assert not page.value("document.querySelector('.controls input').checkVisibility()")
        assert page.value(f"{SEEN}.length") == len(medians(page)) > MANY_LINES
        assert page.complaints == []
    finally:
        chromium.call("Emulation.setScriptExecutionDisabled", value=False)


def test_names_of_60_characters_are_whole_and_widen_nothing(chromium: Browser, tmp_path: Path) -> None:
    names = [f"a-host-group-of-the-cluster-in-the-north-with-a-long-name-{n:02d}" for n in (1, 2)]
    page = opened(chromium, written(tmp_path, [run for n in names for run in make.campaign("s", n)]))
    for width, phone in ((1280, False), (390, True)):
        page.resize(width, 844, phone)
        assert page.value("document.documentElement.scrollWidth") <= width
        parts = "[...document.querySelectorAll('.controls label, .answer :not(caption, svg, svg *), h2, h3')]"
        shown = f"{parts}.filter((part) => part.checkVisibility() && part.clientWidth)"
        cut = page.value(f"{shown}.filter((part) => part.scrollWidth > part.clientWidth + 1).length")
        assert cut == 0
        labels = page.value(
            "[...document.querySelectorAll('.controls label')].map((label) => label.textContent.trim())"
        )
        assert all(name in labels for name in names)


def test_formulas_stay_text(page: Browser) -> None:
    page.value("void (document.querySelector('#doubts details').open = true)")
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
    page.wait(f"{SEEN}.filter((line) => getComputedStyle(line).opacity < 0.5).length === {count}")
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


def test_hostile_text_stays_text_in_the_browser(chromium: Browser, tmp_path: Path) -> None:
    evil = '"><img src=x onerror=hacked=1></script><script>hacked=1</script>$$x$$ @{y} $index {{7*7}}\u2028'
    case = Case(evil, evil, evil, "PingPong")
    fields = {"hosts": (evil,), "job_id": evil, "metadata": {evil: evil}, "verdict_reasons": (evil,)}
    records = make.case_runs(case, **fields)
    page = opened(chromium, written(tmp_path, records))
    page.click(f"{CHART}.querySelector('[data-shows=repeats]')")
    said = " ".join(point_at_end(page, f"{CHART}.querySelector('.repeats path')"))
    assert "<img src=x onerror=hacked=1></script><script>" in said and "$$x$$ @{y} $index" in said
    assert page.value("typeof hacked") == "undefined"
    assert page.complaints == []
    assert not any(request.startswith("http") for request in page.requests)


@pytest.fixture(scope="module")
def default_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of real runs, with all that they noted."""
    return default_report(tmp_path_factory.mktemp("default")).as_uri()


WHOLE = (
    "document.head.insertAdjacentHTML('beforeend', '<style>.chart { content-visibility: visible }</style>')"
)


def test_the_default_page_is_ten_screens_with_folded_runs_and_pairs(
    chromium: Browser, default_page: str
) -> None:
    page = opened(chromium, default_page)
    page.resize(1280, 800)
    page.value(WHOLE)
    assert page.value("document.documentElement.scrollHeight") <= 8000
    assert page.value("document.documentElement.scrollWidth") <= 1280
    for part in ("#runs table", "#rankings table", "#doubts table", "pre", "figure"):
        shown = f"[...document.querySelectorAll('{part}')].map((part) => part.checkVisibility())"
        found = page.value(shown)
        assert found and not any(found), part
    assert not re.search(r"\b2005\b", page.value("document.querySelector('main').textContent"))
    text = "[...document.querySelectorAll('.picture .ratios:not(.sizes) text')]"
    ticks = page.value(f"{text}.map((tick) => tick.textContent)")
    assert ticks and all(tick == "best" or tick.endswith("×") for tick in ticks)


def test_on_a_phone_every_table_shows_its_numbers_without_scrolling_and_figures_are_legible(
    chromium: Browser, default_page: str
) -> None:
    page = opened(chromium, default_page)
    page.resize(390, 844, phone=True)
    page.value("document.querySelectorAll('details').forEach((fold) => (fold.open = true))")
    parts = "[...document.querySelectorAll('main table, main .wide, main td')]"
    wide = (
        f"{parts}.filter((part) => part.checkVisibility() && (part.scrollWidth > part.clientWidth + 1 || "
        "part.getBoundingClientRect().right > 390)).map((part) => part.textContent.slice(0, 80))"
    )
    assert page.value(wide) == []
    assert page.value("document.documentElement.scrollWidth") <= 390
    value = page.value(f"{TABLE}.querySelector('td[data-low]').innerText").split()
    assert len(value) == 3 and value[1].startswith("["), "the median and its interval"
    page.value(WHOLE.replace(".chart", "figure"))
    height = "parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM()"
    heights = (
        f"[...document.querySelectorAll('figure svg :not([transform]) > text')].map((text) => {height}.a)"
    )
    assert 8 <= page.value(f"Math.min(...{heights})") < 20, "no smaller than one can read"
