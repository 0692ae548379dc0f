"""The page and the command of a history: in a real browser, in the terminal, as data and figures."""

from __future__ import annotations

import csv
import io
import os
import re
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path

import golden_messages
import pytest
from browser import CHROMIUM, Browser, browser
from history_data import curve, key, name_of, noise, store_of, write_runs, write_ticks
from plain_history import At, Drawn, Plain

from mpicampaign.base.records import Header, write_records
from mpicampaign.cli import main
from mpicampaign.cli.history import filtered
from mpicampaign.collect.campaign import collect_own, plan_of
from mpicampaign.history.changes import analyse_curves, events
from mpicampaign.history.curves import Curve
from mpicampaign.history.overview import Overview, SeriesEntry, overview
from mpicampaign.history.ticks import BEGAN, TickLog
from mpicampaign.questions.history.draw import charts_over_time
from mpicampaign.questions.history.say import curve_grid, history_document, no_change_text
from mpicampaign.report.history import write_history_page
from mpicampaign.show.document import Heading, plain

MAY_SKIP = CHROMIUM is None and os.environ.get("CI") != "true"
HOSTILE = '</script><img src=x onerror="document.title=1">&'


def history(folder: Path, days: int = 64, curves: int = 18, cut: int = 42) -> Overview:
    """Half of the curves over TCP, which lose 5 % with another kernel; the first has a hostile name."""
    made = []
    for number in range(curves):
        tcp = number % 2 == 0
        group = HOSTILE if number == 0 else "blue"
        of = key("TCP" if tcp else "SHM-1", f"bandwidth at {number} B", group)
        made.append(curve(noise(days, 0.95 if tcp else 1.0, cut, seed=number), of, cut))
    return overview_of(made, folder, (days, 1, 2))


def overview_of(made: Sequence[Curve], folder: Path, ticks: tuple[int, int, int]) -> Overview:
    analysis = analyse_curves(made, folder / "changes.jsonl")
    series = [SeriesEntry(p.tick, p.time, len(made), len(made), False, False) for p in made[0].points]
    found = tuple(events(analysis.curves))
    return Overview("c", tuple(series), analysis.curves, found, analysis.new, ticks, ())


def drawn(curves: Sequence[Curve]) -> dict[str, Drawn]:
    """Their points by the names of the metrics."""
    return {
        f"{one.key.label}: {one.key.metric}": Drawn(
            one.key.placement,
            one.key.transport or one.key.placement,
            bool(one.key.lower_is_better),
            tuple(At(point.time, point.value, point.observed) for point in one.points),
        )
        for one in curves
    }


def held(found: Overview, curves: dict[str, Drawn], folder: Path) -> Counter[str]:
    """How many sentences of each kind the terminal and the page have; each is checked against the points."""
    plain_history, kinds = Plain(curves, found.ticks), Counter[str]()
    plain_history.table(curve_grid(found))
    nodes = history_document(found)
    texts = [text for node in nodes for text in getattr(node, "items", [getattr(node, "text", "")])]
    write_history_page(folder / "page.html", found)
    page, _, _ = (folder / "page.html").read_text().partition('<section class="chart"')
    page = re.sub(r"(?s)<(script|style|nav|table)\b.*?</\1>", "", page)
    on_page = re.findall(r"<(?:li|p)(?: class=[^>]*)?>(.*)", page)
    headings = {plain(node.text) for node in nodes if isinstance(node, Heading)}
    texts += [unescape(re.sub("<.*?>", "", text)) for text in on_page]
    for text in map(plain, filter(None, texts)):
        if text not in headings:
            kinds[plain_history.sentence(text)] += 1
    for chart, (name, one) in zip(charts_over_time(found), curves.items(), strict=True):
        Plain({name: one}).note(chart.note)
    return kinds


@pytest.mark.parametrize(
    ("made", "kinds"),
    [
        ({"days": 9, "curves": 2, "cut": 99}, "untested tested"),
        ({"curves": 18}, "event tested"),
        ({"curves": 6, "cut": 99}, "none tested"),
        ({"curves": 1, "cut": 99}, "none tested"),
    ],
)
def test_the_sentences_of_a_history_hold(tmp_path: Path, made: dict[str, int], kinds: str) -> None:
    found = history(tmp_path, **made)
    assert set(held(found, drawn(found.curves), tmp_path)) == {*kinds.split(), "began", "period", "legend"}


def test_states_of_the_machine_are_explained(tmp_path: Path) -> None:
    names = ("SHM (60 ns apart)", "SHM (300 ns apart)")
    made = [curve(noise(40, seed=n), key(name, f"bandwidth at {n} B")) for n, name in enumerate(names)]
    found = overview_of(made, tmp_path, (40, 0, 0))
    assert held(found, drawn(found.curves), tmp_path)["tested"] == 2


def test_what_was_tested_stays_tested_where_the_last_tick_has_other_curves(tmp_path: Path) -> None:
    """As after an edit of the campaign file: before, no curve was said to be tested."""
    old, new = curve(noise(40)), curve(noise(41), key("SHM-1", "bandwidth at 2 KiB"))
    new = replace(new, points=new.points[-1:])
    found = overview_of([old, new], tmp_path, (41, 0, 0))
    assert held(found, drawn(found.curves), tmp_path)["none"] == 2


def test_the_sentences_hold_of_the_curves_that_are_asked_for(tmp_path: Path) -> None:
    every = history(tmp_path)
    asked = Namespace(benchmark=[], host_group=[], placement=["SHM-1"], metric=[], since=None)
    found = filtered(every, asked)
    assert held(found, drawn(found.curves), tmp_path)["none"] == 2 and len(found.curves) == 9
    asked.placement, asked.since = [], "2026-02-09"
    days = [
        [curve.points[change.index].time for curve in history.curves for change in curve.changes]
        for history in (every, filtered(every, asked))
    ]
    assert days[0] == days[1] == ["2026-03-03T04:00:00Z"] * 9


@pytest.mark.parametrize("slower", [1.0, 1.06])
def test_the_sentences_of_a_history_from_cron_hold(tmp_path: Path, slower: float) -> None:
    """A repeat a night, in one series; the values are read from the outputs."""
    nights = noise(40, slower, 25, level=150)  # rounded to 0.01 µs in the output
    write_ticks(tmp_path, nights)
    write_records(tmp_path / "records.jsonl", Header("c"), collect_own(plan_of(tmp_path), tmp_path))
    log, names = TickLog(tmp_path), {"kernel", "microcode"}
    for _ in nights:
        log.add(BEGAN)
    points = []
    for evidence in (tmp_path / "runs").rglob("result.txt"):
        said = evidence.read_text()
        value = float(said.split()[-1]) / 1e6
        seen = {name: text for name, text in re.findall(r"node n1 (\w+)=(.*)", said) if name in names}
        points.append(At(said.partition("started=")[2].split()[0], value, seen))
    curves = {"MPI Latency: latency at 1 B": Drawn("TCP", "TCP", lower=True, points=tuple(sorted(points)))}
    kinds = held(overview(tmp_path), curves, tmp_path)
    assert set(kinds) == {"none" if slower == 1 else "event", "tested", "began", "period", "legend"}


# ---- the command


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A campaign's folder with three finished series and an open one."""
    store_of(tmp_path, 3)
    write_runs(tmp_path, 3, latency=3.0)
    write_records(tmp_path / "records.jsonl", Header("c"), collect_own(plan_of(tmp_path), tmp_path))
    return tmp_path


def call(capsysbinary: pytest.CaptureFixture[bytes], *arguments: object) -> tuple[int, str]:
    status = main(["history", *map(str, arguments)])
    out, err = capsysbinary.readouterr()
    return status, (out + err).decode()


def test_the_command_shows_filters_and_writes(
    results: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    status, text = call(capsysbinary, "--results", results)
    assert status == 0 and "fewer than 15 points" in text and name_of(3) in text
    _, text = call(capsysbinary, "--results", results, "--format", "csv", "--since", "2026-01-21")
    lines = list(csv.DictReader(io.StringIO(text)))
    assert [line["tick"] for line in lines] == [name_of(number) for number in (1, 2, 3)]
    assert float(lines[0]["median"]) == pytest.approx(1.615e-6)


def test_errors_of_the_command(results: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    def said(*options: str) -> str:
        status, text = call(capsysbinary, "--results", results, *options)
        return f"{status} {text}"

    golden_messages.check("mistakes/history", said)


def test_no_history_yet_says_what_to_do(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    status, text = call(capsysbinary, "--results", tmp_path)
    assert status == 2 and "no history yet\n    run the campaign, or call mpicampaign tick" in text


@pytest.mark.parametrize(
    ("form", "output", "message"),
    [
        ("terminal", "campaign.yaml", "this file exists already"),
        ("json", "series.json", "one of the results"),
    ],
)
def test_no_output_replaces_a_campaign_file_or_results(
    results: Path, capsysbinary: pytest.CaptureFixture[bytes], form: str, output: str, message: str
) -> None:
    path = results / output
    if not path.exists():
        path.write_text("precious")
    before = path.read_bytes()
    status, text = call(capsysbinary, "--results", results, "--format", form, "-o", path)
    assert status == 2 and message in text and path.read_bytes() == before


def test_curves_that_scatter_too_much_promise_no_change() -> None:
    """A rate can not fall by 100 % or more."""
    wild, calm = (replace(curve([1e9] * 20), smallest=smallest) for smallest in (10.0, 0.05))
    assert no_change_text([wild]) == "No change could be found: the values scatter too much."
    said = no_change_text([calm, wild])
    assert "one of about 5 % or more" in said and "; in 1 curve the values scatter too much." in said


# ---- the page


@pytest.mark.slow
@pytest.mark.skipif(MAY_SKIP, reason="no chromium on this machine")
def test_the_page_in_a_browser(tmp_path: Path) -> None:
    write_history_page(tmp_path / "history.html", history(tmp_path), "<i>title</i>")
    with browser() as page:
        page.open((tmp_path / "history.html").as_uri())
        page.wait("performance.getEntriesByName('drawn').length")
        assert page.complaints == [] and len(page.requests) == 1
        assert page.value("document.title") == "<i>title</i>: history"
        assert page.value("document.querySelectorAll('img, i').length") == 0
        assert "since 3 March, with kernel 5.14.0-427" in page.value(
            "document.querySelector('#answers li').textContent"
        )
        assert page.value("[...document.querySelectorAll('table')].every((table) => table.caption)")
        assert page.value("document.querySelectorAll('.chart .line > path').length") == 18
        notes = "[...document.querySelectorAll('.chart .legend')].map((note) => note.textContent)"
        texts = page.value(notes)
        assert all(text.startswith("Changes: 3 March") for text in texts[::2])
        assert all(text.startswith("No change was found: one of about ") for text in texts[1::2])
        reads(page)
        compares(page)
        page.resize(390, 844, phone=True)
        assert page.value("document.documentElement.scrollWidth") == 390


def reads(page: Browser) -> None:
    """A name in the table leads to the curve; arrow keys read single ticks."""
    page.click("document.querySelector('a[href=\"#curve-3\"]')")
    assert "bandwidth at 3 B" in page.value("document.querySelector(':target h3').textContent")
    page.value("void document.querySelector(':target svg').focus()")
    for arrow in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        page.key(arrow)
    value, name, *rest = page.value("document.querySelector(':target .tip').textContent").splitlines()
    assert re.fullmatch(rf"[\d.]+ MB/s at 2026-01-20 04:00 {name_of(0)}", value)
    assert name.endswith("bandwidth at 3 B") and rest == []


def compares(page: Browser) -> None:
    page.value(
        "document.getElementById('earlier').selectedIndex = 0;"
        "document.getElementById('later').selectedIndex = 50;"
        "document.getElementById('later').dispatchEvent(new Event('change'))"
    )
    rows = page.value(
        "[...document.querySelectorAll('#compared tbody tr')].map((r) => r.lastChild.textContent)"
    )
    assert len(rows) == 18
    ratios = [float(text) for text in rows]
    assert all(ratio < 0.98 for ratio in ratios[::2]) and all(ratio > 0.95 for ratio in ratios[1::2])
