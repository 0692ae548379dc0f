"""Figures: which are drawn, their texts, and the same bytes for the same records."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.records import Case, Record, Series
from mpicampaign.show.figures.draw import MADE, Figure, draw_all
from mpicampaign.show.figures.page import FORMATS, Page

if TYPE_CHECKING:
    from collections.abc import Sequence

STARTS = {".svg": b"<?xml", ".png": b"\x89PNG\r\n", ".pdf": b"%PDF-"}
SVG = "{http://www.w3.org/2000/svg}"
LONG = "a name of sixty characters and more, as some people give them "


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> list[Figure]:
    return draw_all(
        compare(synthetic.campaign()), tmp_path_factory.mktemp("figures") / "new", formats=FORMATS
    )


@pytest.fixture
def unwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are empty files, to save time."""

    monkeypatch.setattr(Page, "write_file", lambda _, path: path.touch())


def repeats_in(figure: Figure) -> int:
    """The number of lines for single repeats in an SVG."""
    groups = ElementTree.parse(figure.svg).getroot().iter(f"{SVG}g")
    of_repeats = [group for group in groups if group.get("id", "").startswith("repeats-")]
    return sum(len(list(group.iter(f"{SVG}path"))) for group in of_repeats)


def named(figures: list[Figure], part: str) -> Figure:
    """The one figure with this text in its title."""
    (found,) = (figure for figure in figures if part in figure.title)
    return found


def many(groups: int, placements: Sequence[str], name: str = "group", repeats: int = 3) -> list[Record]:
    """PingPong on this many host groups; the last placement is n/a on every third."""
    records = []
    for number, placement in product(range(groups), placements):
        case = Case("s", f"{name}{number}", placement, "PingPong")
        if number % 3 == 1 and placement == placements[-1] and len(placements) > 1:
            records += synthetic.not_available(case, "no such device", repeats)
            continue
        factor = 1 + number + 10 * placements.index(placement)
        records += synthetic.case_runs(case, factor * 1e-7, 1e10 / factor, repeats)
    return records


def test_every_kind_is_drawn_in_all_formats(drawn: list[Figure]) -> None:
    assert [figure.name for figure in drawn] == [
        "pingpong-latency-at-0-b-by-placement",
        "pingpong-bandwidth-at-the-table-sizes-and-maximum",
        "pingpong-bandwidth-over-message-size",
        "pingpong-bandwidth-of-every-repeat-by-placement",
        "tree-gather-useful-and-wire-bandwidth-beside-mpi-gather-local",
    ]
    assert {len(figure.files) for figure in drawn} == {3}
    for path in (path for figure in drawn for path in figure.files):
        assert path.read_bytes().startswith(STARTS[path.suffix])


def test_where_few_are_asked_for_a_table_has_one_figure(drawn: list[Figure], tmp_path: Path) -> None:
    few = draw_all(compare(synthetic.campaign()), tmp_path, few=True)
    assert [figure.name for figure in few] == [drawn[2].name, drawn[4].name]
    groups = draw_all(
        compare(synthetic.campaign("s", "g1") + synthetic.campaign("s", "g2", 1.3)), tmp_path, few=True
    )
    assert [figure.title for figure in groups if "ingPong" in figure.title] == [
        "PingPong: bandwidth of every repeat by placement"
    ]


def test_captions_say_what_is_left_out(drawn: list[Figure]) -> None:
    for figure in drawn[:4]:
        assert "SHM-2" not in figure.caption  # n/a: the page lists it once
        assert "1 contradicted run, 1 failed run" in figure.caption


def test_alternative_texts_hold_the_values(drawn: list[Figure]) -> None:
    assert "local SHM-1 0.253 µs" in drawn[0].alt
    assert "local TCP-loopback 277.6 MB/s, 1143 MB/s, 1712 MB/s, 2049 MB/s" in drawn[1].alt
    assert "local TCP-loopback at most 2049 MB/s at 4 MiB" in drawn[2].alt


def test_each_counted_repeat_is_a_line_and_contradicted_ones_are_not(tmp_path: Path) -> None:
    case = Case("s", "g", "SHM", "PingPong")
    runs = synthetic.case_runs(case, 1e-6, 1e9)
    all_of_them = named(draw_all(compare(runs), tmp_path / "a"), "over message size")
    runs[0] = replace(runs[0], verdict="contradicted")
    without = named(draw_all(compare(runs), tmp_path / "b"), "over message size")
    assert (repeats_in(all_of_them), repeats_in(without)) == (6, 5)


def test_same_records_same_bytes(drawn: list[Figure], tmp_path: Path) -> None:
    again = draw_all(compare(synthetic.campaign()), tmp_path, formats=FORMATS)
    for first, second in zip(drawn, again, strict=True):
        for one, other in zip(first.files, second.files, strict=True):
            assert one.read_bytes() == other.read_bytes()
            assert b"matplotlib" not in one.read_bytes().split(b"<defs>")[0]
            assert b"CreationDate" not in one.read_bytes()


def test_settings_of_a_person_do_not_show(drawn: list[Figure], tmp_path: Path) -> None:
    import matplotlib

    with matplotlib.rc_context({"lines.markeredgewidth": 9, "font.size": 30, "axes.linewidth": 7}):
        again = draw_all(compare(synthetic.campaign()), tmp_path)
        assert matplotlib.rcParams["font.size"] == 30
    assert [figure.svg.read_bytes() for figure in again] == [figure.svg.read_bytes() for figure in drawn]


def test_hostile_names_are_drawn_as_text(tmp_path: Path) -> None:
    case = Case(synthetic.HOSTILE, synthetic.HOSTILE, synthetic.HOSTILE, synthetic.HOSTILE)
    runs = synthetic.case_runs(case, 1e-6, 1e9)
    runs += synthetic.not_available(replace(case, placement="$\\frac{"), "$_$")
    figures = draw_all(compare(runs), tmp_path)
    assert len(figures) == 3
    for figure in figures:
        assert figure.svg.parent == tmp_path
        assert set(figure.svg.stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
        ElementTree.parse(figure.svg)


@pytest.mark.usefixtures("unwritten")
def test_titles_that_differ_only_in_signs_have_their_own_files(tmp_path: Path) -> None:
    cases = [Case("s", "g", "SHM", name) for name in ("Ping-Pong", "Ping Pong")]
    runs = [
        replace(record, series=tuple(replace(series, benchmark=case.benchmark) for series in record.series))
        for case in cases
        for record in synthetic.case_runs(case, 1e-6, 1e9, repeats=2)
    ]
    names = [figure.name for figure in draw_all(compare(runs), tmp_path)]
    assert len(names) == len(set(names)) == 6


@pytest.mark.usefixtures("unwritten")
def test_no_figures_without_data(tmp_path: Path) -> None:
    assert draw_all(compare([]), tmp_path) == []
    absent = synthetic.not_available(Case("s", "g", "IBV", "PingPong"), "no device")
    assert draw_all(compare(absent), tmp_path) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("unwritten")
def test_figures_that_are_no_longer_drawn_are_removed_and_nothing_else_is(tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    cases = [Case("s", "g", "SHM", name) for name in ("PingPong", "Exchange")]
    first, second = (synthetic.case_runs(case, 1e-6, 1e9, repeats=2) for case in cases)
    both = draw_all(compare(first + second), folder)
    foreign = folder / "my-own-figure.svg"
    foreign.write_text("mine")
    outside = tmp_path / "outside.svg"
    outside.write_text("not in the folder")
    with (folder / MADE).open("a") as listed:
        listed.write("../outside.svg\nnotes.txt\n")
    (folder / "notes.txt").write_text("mine, too")
    kept = draw_all(compare(second), folder)
    assert 0 < len(kept) < len(both)
    ours = {path.name for figure in kept for path in figure.files}
    assert {path.name for path in folder.iterdir()} == ours | {foreign.name, "notes.txt", MADE}
    assert outside.read_text() == "not in the folder"
    assert set((folder / MADE).read_text().split()) == ours


@pytest.mark.usefixtures("unwritten")
def test_an_interrupted_drawing_leaves_no_file_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("mpicampaign.show.charts.every.at_sizes", interrupt)
        draw_all(compare(synthetic.campaign()), tmp_path)
    assert len(list(tmp_path.glob("*.svg"))) == 1
    assert draw_all(compare([]), tmp_path) == []
    assert [path.name for path in tmp_path.iterdir()] == [MADE]


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.usefixtures("unwritten")
def test_times_are_drawn_where_there_is_no_bandwidth(tmp_path: Path) -> None:
    case = Case("s", "g", "SHM-full", "Gather")
    runs = [synthetic.run(case, n, synthetic.collective("Gather", 1e-6, 1e9)) for n in (1, 2, 3)]
    titles = [figure.title for figure in draw_all(compare(runs), tmp_path)]
    assert titles == [
        "Gather: time at 1 B by placement",
        "Gather: time at the table sizes",
        "Gather: time over message size",
    ]


@pytest.mark.usefixtures("unwritten")
def test_several_host_groups_share_a_figure(tmp_path: Path) -> None:
    groups = ("local", "other", "third")
    records = [record for group in groups for record in synthetic.campaign(host_group=group)]
    names = [figure.name for figure in draw_all(compare(records), tmp_path)]
    assert names.count("pingpong-bandwidth-over-message-size") == 1


def test_every_repeat_is_drawn_by_placement_where_host_groups_differ_or_repeats_fall_into_bands(
    tmp_path: Path,
) -> None:
    figures = draw_all(compare(many(3, ("SHM", "TCP"))), tmp_path)
    assert repeats_in(named(figures, "every repeat")) == 15
    alone = [figure.title for figure in draw_all(compare(many(1, ("SHM", "TCP"))), tmp_path)]
    assert not any("every repeat" in title for title in alone)
    case = Case("s", "g", "SHM", "PingPong")
    banded = synthetic.case_runs(case, 1e-7, 1e10)[:3] + synthetic.case_runs(case, 3e-7, 4e9)[3:]
    figure = named(draw_all(compare(banded), tmp_path), "every repeat")
    assert repeats_in(figure) == 6
    assert "Several modes: g SHM." in figure.caption


@pytest.mark.usefixtures("unwritten")
def test_benchmarks_without_sizes_have_a_figure_for_each_headline(tmp_path: Path) -> None:
    cases = [Case("s", group, placement, "HPL") for group in ("a", "b") for placement in ("SHM", "TCP")]
    runs = [
        synthetic.run(case, n, Series("HPL", 4, {"flops": [1e11 + n * 1e9], "time": [60.0]}), suite="hpl")
        for case in cases
        for n in (1, 2, 3)
    ]
    figures = draw_all(compare(runs), tmp_path)
    assert [figure.title for figure in figures] == ["HPL: flop rate by placement"]
    assert figures[0].alt == "flop rate: " + "; ".join(
        f"{c.host_group} {c.placement} 102.0 Gflop/s" for c in cases
    )
    assert "begins at 0" in figures[0].caption


@pytest.mark.parametrize(
    ("groups", "placements", "name"),
    [
        (1, ("SHM",), "group"),
        (1, ("SHM", "TCP"), "group"),
        (4, ("SHM",), "group"),
        pytest.param(
            *(13, ("SHM-1", "SHM-2", "SHM", "IBV", "TCP", "TCP-loopback"), "group"), marks=pytest.mark.slow
        ),
        (2, (LONG + "1", LONG + "2"), LONG),
    ],
)
def test_all_shapes_are_drawn(tmp_path: Path, groups: int, placements: tuple[str, ...], name: str) -> None:
    figures = draw_all(compare(many(groups, placements, name)), tmp_path)
    for figure in figures:
        root = ElementTree.parse(figure.svg).getroot()
        assert float(root.get("width", "").removesuffix("pt")) == pytest.approx(7.4 * 72)
    assert len(figures) >= 3


def test_zeros_and_single_sizes_are_drawn_as_far_as_they_can(tmp_path: Path) -> None:
    case = Case("s", "g", "SHM", "PingPong")
    nothing: list[float | None] = [0.0, 0.0]
    columns: dict[str, list[float | None]] = {"size": [0.0, 1024.0], "time": nothing, "bandwidth": nothing}
    zero = [synthetic.run(case, n, Series("PingPong", 2, columns)) for n in (1, 2)]
    assert draw_all(compare(zero), tmp_path) == []
    single = [synthetic.run(case, n, synthetic.pingpong(1e-6, 1e9, [1024.0])) for n in (1, 2)]
    assert len(draw_all(compare(zero[:1] + single[1:]), tmp_path)) == 2
    assert len(draw_all(compare(single), tmp_path)) == 3


def test_plotting_is_imported_only_when_drawing() -> None:
    code = "import sys, mpicampaign.show.figures.draw; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_figure_says_what_its_marks_mean(tmp_path: Path) -> None:
    records = synthetic.campaign("s", "g1") + synthetic.campaign("s", "g2", 1.3)
    figures = {figure.title: figure.svg.read_text() for figure in draw_all(compare(records), tmp_path)}
    assert "stroke: median" in figures["PingPong: latency at 0 B by placement"]
