"""Figures: which are drawn, their texts, and the same bytes for the same records."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import build_records as make
import pytest
from conftest import PROJECT

from mpicampaign.base.records import Case, Record
from mpicampaign.cli import main
from mpicampaign.compare.compare import compare
from mpicampaign.report.draw_figures import MADE, Figure, draw_all
from mpicampaign.show.figures.converted import to_pdf, to_png
from mpicampaign.show.figures.page import FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

LONG = "a name of sixty characters and more, as some people give them "


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> list[Figure]:
    return draw_all(compare(make.campaign()), tmp_path_factory.mktemp("figures") / "new", formats=FORMATS)


@pytest.fixture
def unwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are empty files, to save time."""

    monkeypatch.setattr("mpicampaign.report.draw_figures._write", lambda _page, _drawn, path: path.touch())


def named(figures: list[Figure], part: str) -> Figure:
    """The one figure with this text in its title."""
    (found,) = (figure for figure in figures if part in figure.title)
    return found


def many(groups: int, placements: Sequence[str]) -> list[Record]:
    """PingPong on this many host groups; the last placement is n/a on every third."""
    records = []
    for number, placement in product(range(groups), placements):
        case = make.case(placement, group=f"group{number}")
        if number % 3 == 1 and placement == placements[-1] and len(placements) > 1:
            records += make.not_available(case, "no such device", 3)
            continue
        factor = 1 + number + 10 * placements.index(placement)
        records += make.case_runs(case, factor * 1e-7, 1e10 / factor, 3)
    return records


def test_alternative_texts_hold_the_values(drawn: list[Figure]) -> None:
    assert "local SHM-1 0.253 µs" in drawn[0].alt
    assert "local TCP-loopback 277.6 MB/s, 1143 MB/s, 1712 MB/s, 2049 MB/s" in drawn[1].alt
    assert "local TCP-loopback at most 2049 MB/s at 4 MiB" in drawn[2].alt


def test_hostile_names_are_drawn_as_text(tmp_path: Path) -> None:
    case = Case(*[make.HOSTILE] * 4)
    runs = make.case_runs(case)
    runs += make.not_available(replace(case, placement="$\\frac{"), "$_$")
    figures = draw_all(compare(runs), tmp_path, formats=FORMATS)
    assert len(figures) == 3
    for figure in figures:
        assert all(path.stat().st_size > 1000 for path in figure.files)
        assert figure.svg.parent == tmp_path
        assert set(figure.svg.stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
        ElementTree.parse(figure.svg)


@pytest.mark.usefixtures("unwritten")
def test_titles_that_differ_only_in_signs_have_their_own_files(tmp_path: Path) -> None:
    runs = [
        make.run(make.case("SHM", name), repeat, replace(make.pingpong(1e-6), benchmark=name))
        for name in ("Ping-Pong", "Ping Pong")
        for repeat in (1, 2)
    ]
    names = [figure.name for figure in draw_all(compare(runs), tmp_path)]
    assert len(names) == len(set(names)) == 6


@pytest.mark.usefixtures("unwritten")
def test_no_figures_without_data(tmp_path: Path) -> None:
    assert draw_all(compare([]), tmp_path) == []
    absent = make.not_available("IBV", "no device")
    assert draw_all(compare(absent), tmp_path) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("unwritten")
def test_an_interrupted_drawing_leaves_no_file_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("mpicampaign.report.questions.at_sizes", interrupt)
        draw_all(compare(make.campaign()), tmp_path)
    assert len(list(tmp_path.glob("*.svg"))) == 1
    assert draw_all(compare([]), tmp_path) == []
    assert [path.name for path in tmp_path.iterdir()] == [MADE]


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.usefixtures("unwritten")
def test_benchmarks_without_sizes_have_a_figure_for_each_headline(tmp_path: Path) -> None:
    cases = [make.case(placement, "HPL", group) for group in ("a", "b") for placement in ("SHM", "TCP")]
    runs = [
        make.run(case, n, make.series("HPL", 4, flops=1e11 + n * 1e9, time=60.0), suite="hpl")
        for case in cases
        for n in (1, 2, 3)
    ]
    figures = draw_all(compare(runs), tmp_path)
    assert [figure.title for figure in figures] == ["HPL: flop rate by placement"]
    assert figures[0].alt == "flop rate: " + "; ".join(
        f"{c.host_group} {c.placement} 102.0 Gflop/s" for c in cases
    )
    assert "begins at 0" in figures[0].caption


def test_zeros_and_single_sizes_are_drawn_as_far_as_they_can(tmp_path: Path) -> None:
    nothing = make.series("PingPong", size=[0.0, 1024.0], time=[0.0, 0.0], bandwidth=[0.0, 0.0])
    zero = [make.run("SHM", n, nothing) for n in (1, 2)]
    assert draw_all(compare(zero), tmp_path) == []
    single = [make.run("SHM", n, make.pingpong(1e-6, sizes=[1024.0])) for n in (1, 2)]
    assert len(draw_all(compare(zero[:1] + single[1:]), tmp_path)) == 2
    assert len(draw_all(compare(single), tmp_path)) == 3


PICTURE = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 90 20' width='90pt' height='20pt'"
    " font-family='DejaVu Sans'><text x='5' y='15' font-size='9'>{}</text></svg>"
)


def test_a_machine_without_fonts_makes_the_same_pictures(tmp_path: Path) -> None:
    code = f"""if True:
        from hashlib import sha256
        from mpicampaign.show.figures.converted import to_pdf, to_png
        print(*(sha256(made).hexdigest() for made in (to_png({PICTURE!r}), to_pdf({PICTURE!r}, "µ"))))"""
    bare = {"PATH": "/nowhere", "HOME": str(tmp_path), "FONTCONFIG_FILE": "/dev/null"}
    call = [sys.executable, "-c", code]
    there = subprocess.run(call, env=bare, capture_output=True, text=True, check=True)
    here = [hashlib.sha256(made).hexdigest() for made in (to_png(PICTURE), to_pdf(PICTURE, "µ"))]
    assert there.stdout.split() == here


def test_the_fonts_of_a_pdf_are_in_it(drawn: list[Figure]) -> None:
    for figure in drawn:
        content = next(path for path in figure.files if path.suffix == ".pdf").read_bytes()
        fonts = re.findall(rb"/BaseFont /([^ ]+)", content)
        assert fonts and all(font.endswith((b"+DejaVuSans", b"+DejaVuSans-Bold")) for font in fonts)
        assert content.count(b"/FontFile2") == len(set(fonts))


def test_signs_of_figures_are_no_boxes() -> None:
    box = to_png(PICTURE.format("宽"))
    drawn = {to_png(PICTURE.format(sign)) for sign in "†µ×–±≥≤−→½…Łńßλя"}
    assert len(drawn) == 16 and box not in drawn


def test_converters_are_loaded_only_for_their_files(tmp_path: Path) -> None:
    code = f"""if True:
        import sys, pathlib, build_records as make
        from mpicampaign.compare.compare import compare
        from mpicampaign.report.draw_figures import draw_all
        assert draw_all(compare(make.campaign()), pathlib.Path({str(tmp_path)!r}))
        sys.exit(sorted({{"resvg_py", "svglib", "reportlab"}} & sys.modules.keys()) or 0)"""
    tests = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    assert subprocess.run([sys.executable, "-c", code], env=tests, check=False).returncode == 0


def test_png_and_pdf_without_their_converters_name_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "svglib.svglib", None)
    assert main(["report", "--figures", "pdf", str(PROJECT / "campaign.yaml")]) == 2
    said = capsys.readouterr().err
    assert "PNG and PDF: " in said and "the extra figures: pip install 'mpicampaign[figures]'" in said
