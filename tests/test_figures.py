"""Figures: which are drawn, their axes, texts and colours, and the same bytes for the same records."""

from __future__ import annotations

import hashlib
import re
import sys
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import build_records as make
import pytest
from conftest import PROJECT, completed

from mpicampaign.base.records import Case
from mpicampaign.cli import main
from mpicampaign.compare.compare import compare
from mpicampaign.report.draw_figures import MADE, Figure, draw_all
from mpicampaign.show.charts.looks import COLOURS, SEQUENCE, TEXT_CONTRAST, contrast, ink_on, luminance, shade
from mpicampaign.show.figures.axes import panel_grid
from mpicampaign.show.figures.converted import to_pdf, to_png
from mpicampaign.show.figures.page import FORMATS, WIDTH


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> list[Figure]:
    return draw_all(compare(make.campaign()), tmp_path_factory.mktemp("figures") / "new", formats=FORMATS)


def test_hostile_names_are_drawn_as_text(tmp_path: Path) -> None:
    case = Case(*[make.HOSTILE] * 4)
    runs = make.case_runs(case)
    runs += make.not_available(replace(case, placement="$\\frac{"), "$_$")
    figures = draw_all(compare(runs), tmp_path, formats=FORMATS)
    assert len(figures) == 3
    for figure in figures:
        assert all(path.stat().st_size > 1000 for path in figure.files)
        assert figure.files[0].parent == tmp_path
        assert set(figure.files[0].stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
        ElementTree.parse(figure.files[0])


def test_an_interrupted_drawing_leaves_no_file_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mpicampaign.report.draw_figures._write", lambda _page, _drawn, path: path.touch())
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
    there = completed(call, env=bare, check=True)
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


@pytest.mark.parametrize(("count", "across"), [(1, 1), (4, 2), (7, 3)])
def test_panels_lie_on_the_page_beside_each_other(count: int, across: int) -> None:
    grid = panel_grid(count, across, 2.0, 0.8)
    assert all(place.left > 0 and place.right + 0.8 <= WIDTH for place in grid.places)
    assert all(place.bottom > 0 and place.top <= grid.height for place in grid.places)
    for one, other in pairwise(grid.places):
        assert other.left >= one.right + 0.8 or other.top <= one.bottom
    assert sum(grid.lowest(index) for index in range(count)) == min(count, across)


# Machado, Oliveira and Fernandes 2009, severity 1, for linear RGB.
SIGHT = {
    "normal": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
TO_XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
WHITE = (0.9505, 1.0, 1.089)


def times(matrix: tuple[tuple[float, ...], ...], vector: list[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def lab(colour: str, sight: str) -> list[float]:
    """CIE L*a*b* of a colour as seen with this sight."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    seen = [min(max(part, 0.0), 1.0) for part in times(SIGHT[sight], linear)]
    x, y, z = (
        value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116
        for value in (part / white for part, white in zip(times(TO_XYZ, seen), WHITE, strict=True))
    )
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_are_distinguishable(sight: str) -> None:
    for one, other in combinations(COLOURS, 2):
        apart = sum((a - b) ** 2 for a, b in zip(lab(one, sight), lab(other, sight), strict=True)) ** 0.5
        assert apart > 10, (one, other)


def test_neighbours_differ_in_grey_print() -> None:
    """Colours further apart in the list differ in line and marker."""
    for one, other in pairwise(COLOURS):
        assert abs(lab(one, "normal")[0] - lab(other, "normal")[0]) > 9, (one, other)


def test_the_sequence_rises_in_lightness_and_text_is_readable_on_all_of_it() -> None:
    steps = [shade(n / 50) for n in range(51)]
    assert all(luminance(a) < luminance(b) for a, b in pairwise(steps))
    assert (steps[0], steps[-1]) == (SEQUENCE[0], SEQUENCE[-1])
    assert min(contrast(ink_on(step), step) for step in steps) >= TEXT_CONTRAST
