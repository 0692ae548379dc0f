"""The page and the command of a history: in a real browser, in the terminal, as data and figures."""

from __future__ import annotations

import csv
import io
import os
import re
from pathlib import Path

import pytest
from browser import CHROMIUM, Browser, browser
from history_data import curve, key, name_of, noise, store_of, write_runs

from mpicampaign.cli import main
from mpicampaign.collect.campaign import collect_own, plan_of
from mpicampaign.history.changes import analyse_curves, events
from mpicampaign.history.overview import Overview, SeriesEntry, overview
from mpicampaign.records import Header, write_records
from mpicampaign.show.history import sparkline
from mpicampaign.show.report.history import write_history_page

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
    analysis = analyse_curves(made, folder / "changes.jsonl")
    series = [SeriesEntry(p.tick, p.time, curves, curves, False, False) for p in made[0].points]
    found = tuple(events(analysis.curves))
    return Overview(
        "c", tuple(series), analysis.curves, found, analysis.new, analysis.tested, (days, 1, 2), ()
    )


def test_bars_show_a_change(tmp_path: Path) -> None:
    bars = sparkline(history(tmp_path).curves[2])
    assert len(bars) == 16 and set(bars[:9]) <= set("▅▆▇█▄") and set(bars[12:]) <= set("▁▂▃")


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


def test_the_open_series_follows_the_finished_ones(results: Path) -> None:
    found = overview(results)
    assert [series.name for series in found.series] == [name_of(number) for number in range(4)]
    assert [series.is_open for series in found.series] == [False, False, False, True]
    assert {(series.runs, series.counted) for series in found.series} == {(2, 2)}
    [one] = found.curves
    assert [round(point.value * 1e6, 3) for point in one.points] == [1.515, 1.615, 1.715, 3.015]
    assert found.not_judged == {"too short": 1}


def test_the_command_shows_filters_and_writes(
    results: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    status, text = call(capsysbinary, "--results", results)
    assert status == 0 and "fewer than 15 points" in text and name_of(3) in text
    _, text = call(capsysbinary, "--results", results, "--format", "csv", "--since", "2026-01-21")
    lines = list(csv.DictReader(io.StringIO(text)))
    assert [line["tick"] for line in lines] == [name_of(number) for number in (1, 2, 3)]
    assert float(lines[0]["median [unit]"]) == pytest.approx(1.615e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--benchmark", "latence"],
            "--benchmark: no curve has this name (found latence)\n    did you mean 'latency'?",
        ),
        (["--since", "yesterday"], "--since: not a date such as 2026-03-01"),
        (["--since", "2027-01-01"], "no point matches all filters"),
        (["--merge", "nowhere"], "--merge: no such folder (found nowhere)"),
    ],
)
def test_errors_of_the_command(
    results: Path, capsysbinary: pytest.CaptureFixture[bytes], options: list[str], message: str
) -> None:
    status, text = call(capsysbinary, "--results", results, *options)
    assert status == 2 and message in text


def test_no_history_yet_says_what_to_do(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    status, text = call(capsysbinary, "--results", tmp_path)
    assert status == 2 and "no history yet\n    run the campaign, or call mpicampaign tick" in text


def test_a_merged_pack_with_wrong_content_is_named(
    results: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    other = store_of(tmp_path / "other", 1, first=10)
    other.pack(name_of(10)).rename(other.pack(name_of(11)))
    status, text = call(capsysbinary, "--results", results, "--merge", tmp_path / "other")
    assert status == 1 and f"{name_of(11)}.tar.gz is damaged (it holds the series {name_of(10)})" in text


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
        assert set(texts[1::2]) == {"No change was found."}
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
