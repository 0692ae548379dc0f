"""Figures: which are drawn, their texts, and the same bytes for the same records."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import build_records as make
import pytest
from conftest import PROJECT

from mpicampaign.base.records import Case
from mpicampaign.cli import main
from mpicampaign.compare.compare import compare
from mpicampaign.report.draw_figures import MADE, Figure, draw_all
from mpicampaign.show.figures.converted import to_pdf, to_png
from mpicampaign.show.figures.page import FORMATS


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> list[Figure]:
    return draw_all(compare(make.campaign()), tmp_path_factory.mktemp("figures") / "new", formats=FORMATS)


@pytest.fixture
def unwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are empty files, to save time."""

    monkeypatch.setattr("mpicampaign.report.draw_figures._write", lambda _page, _drawn, path: path.touch())


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


def test_png_and_pdf_without_their_converters_name_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "svglib.svglib", None)
    assert main(["report", "--figures", "pdf", str(PROJECT / "campaign.yaml")]) == 2
    said = capsys.readouterr().err
    assert "PNG and PDF: " in said and "the extra figures: pip install 'mpicampaign[figures]'" in said
