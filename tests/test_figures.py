"""Figures: which are drawn, what they say, and that they are the same for the same records."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
import synthetic

from mpicampaign.comparison import compare
from mpicampaign.figure_style import spread
from mpicampaign.figures import MADE, Figure, draw_all
from mpicampaign.records import Case

PNG = b"\x89PNG\r\n"


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> list[Figure]:
    return draw_all(compare(synthetic.campaign()), tmp_path_factory.mktemp("figures") / "new")


def lines_of(figure: Figure) -> int:
    """How many lines of the axes an SVG holds."""
    root = ElementTree.parse(figure.svg).getroot()
    groups = root.iter("{http://www.w3.org/2000/svg}g")
    return sum(group.get("id", "").startswith("line2d_") for group in groups)


def test_every_kind_is_drawn_as_svg_and_png(drawn: list[Figure]) -> None:
    assert [figure.name for figure in drawn] == [
        "pingpong-latency-at-0-b-by-placement",
        "pingpong-bandwidth-over-message-size",
        "tree-gather-useful-and-wire-bandwidth-beside-mpi-gather-local",
    ]
    for figure in drawn:
        ElementTree.parse(figure.svg)
        assert figure.png.read_bytes().startswith(PNG)


def test_captions_say_what_is_left_out(drawn: list[Figure]) -> None:
    for figure in drawn[:2]:
        assert "SHM-2 (n/a: needs 2 sockets, node1 has 1)" in figure.caption
        assert "1 contradicted run, 1 failed run" in figure.caption


def test_alternative_texts_hold_the_figures(drawn: list[Figure]) -> None:
    assert "local SHM-1 0.253 µs" in drawn[0].alt
    assert "local TCP-loopback at most 2053 MB/s at 4 MiB" in drawn[1].alt


def test_each_counted_repeat_is_a_line_and_contradicted_ones_are_not(tmp_path: Path) -> None:
    case = Case("s", "g", "SHM", "PingPong")
    runs = synthetic.case_runs(case, 1e-6, 1e9)
    all_of_them = draw_all(compare(runs), tmp_path / "a")[1]
    runs[0] = replace(runs[0], verdict="contradicted")
    without = draw_all(compare(runs), tmp_path / "b")[1]
    assert lines_of(all_of_them) - lines_of(without) == 1


def test_same_records_same_bytes(drawn: list[Figure], tmp_path: Path) -> None:
    again = draw_all(compare(synthetic.campaign()), tmp_path)
    for first, second in zip(drawn, again, strict=True):
        assert first.svg.read_bytes() == second.svg.read_bytes()
        assert first.png.read_bytes() == second.png.read_bytes()


def test_hostile_names_are_drawn_as_text(tmp_path: Path) -> None:
    case = Case(synthetic.HOSTILE, synthetic.HOSTILE, synthetic.HOSTILE, synthetic.HOSTILE)
    runs = synthetic.case_runs(case, 1e-6, 1e9)
    runs += synthetic.not_available(replace(case, placement="$\\frac{"), "$_$")
    figures = draw_all(compare(runs), tmp_path)
    assert len(figures) == 2
    for figure in figures:
        assert figure.svg.parent == tmp_path
        assert set(figure.svg.stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
        ElementTree.parse(figure.svg)


def test_titles_that_differ_only_in_signs_have_their_own_files(tmp_path: Path) -> None:
    cases = [Case("s", "g", "SHM", name) for name in ("Ping-Pong", "Ping Pong")]
    runs = [
        replace(record, series=tuple(replace(series, benchmark=case.benchmark) for series in record.series))
        for case in cases
        for record in synthetic.case_runs(case, 1e-6, 1e9, repeats=2)
    ]
    names = [figure.name for figure in draw_all(compare(runs), tmp_path)]
    assert len(names) == len(set(names)) == 4


def test_no_figures_without_data(tmp_path: Path) -> None:
    assert draw_all(compare([]), tmp_path) == []
    absent = synthetic.not_available(Case("s", "g", "IBV", "PingPong"), "no device")
    assert draw_all(compare(absent), tmp_path) == []
    assert list(tmp_path.iterdir()) == []


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
    named = {path.name for figure in kept for path in (figure.svg, figure.png)}
    assert {path.name for path in folder.iterdir()} == named | {foreign.name, "notes.txt", MADE}
    assert outside.read_text() == "not in the folder"
    assert set((folder / MADE).read_text().split()) == named


def test_an_interrupted_drawing_leaves_no_file_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("mpicampaign.figures._Drawing.curves", interrupt)
        draw_all(compare(synthetic.campaign()), tmp_path)
    assert len(list(tmp_path.glob("*.svg"))) == 1
    assert draw_all(compare([]), tmp_path) == []
    assert [path.name for path in tmp_path.iterdir()] == [MADE]


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_times_are_drawn_where_there_is_no_bandwidth(tmp_path: Path) -> None:
    case = Case("s", "g", "SHM-full", "Gather")
    runs = [synthetic.run(case, n, synthetic.collective("Gather", 1e-6, 1e9)) for n in (1, 2, 3)]
    titles = [figure.title for figure in draw_all(compare(runs), tmp_path)]
    assert titles == ["Gather: time at 1 B by placement", "Gather: time over message size"]


def test_several_host_groups_share_a_figure(tmp_path: Path) -> None:
    groups = ("local", "other", "third")
    records = [record for group in groups for record in synthetic.campaign(host_group=group)]
    names = [figure.name for figure in draw_all(compare(records), tmp_path)]
    assert names.count("pingpong-bandwidth-over-message-size") == 1


def test_labels_are_moved_apart_and_stay_in_order() -> None:
    placed = spread([0.5, 0.51, 0.52, 0.99, 1.0], 0.06)
    assert all(b - a >= 0.06 - 1e-9 for a, b in pairwise(placed))
    assert placed[-1] <= 1.0 and placed[0] == 0.5


def test_plotting_is_imported_only_when_drawing() -> None:
    code = "import sys, mpicampaign.figures; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
