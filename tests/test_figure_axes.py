"""Scales, ticks and texts of figures: round values, no overlaps, long names whole."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.show.charts.scales import Scale, plain, scale_for, size_ticks
from mpicampaign.show.figures.axes import panel_grid
from mpicampaign.show.figures.draw import draw_all
from mpicampaign.show.figures.page import WIDTH, Page, fitted, spread, width_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0.11, 90], ["0.1", "1", "10", "100"]),
        ([0.25, 3.2], ["0.3", "1", "3"]),
        ([0.9, 1.1], ["0.8", "0.9", "1", "1.1", "1.2"]),
        ([5e-4, 1e6], ["0.001", "0.1", "10", "1000", "100000"]),
    ],
)
def test_logarithmic_ticks_are_round(values: list[float], words: list[str]) -> None:
    scale = scale_for(values, logarithmic=True)
    assert scale is not None
    assert [plain(tick) for tick in scale.ticks()] == words
    assert all(0 < scale(value) < 1 for value in values)


def test_scales_begin_at_zero_unless_values_differ_tenfold() -> None:
    assert scale_for([35.0, 185.0]) == Scale(0.0, 185.0 * 1.05, logarithmic=False)
    assert scale_for([1.0, 10.0]) is not None
    found = scale_for([1.0, 10.0])
    assert found is not None and found.logarithmic
    assert Scale(0.0, 194.0, logarithmic=False).ticks() == [0, 50, 100, 150]


def test_zeros_have_no_place_on_a_logarithmic_scale() -> None:
    assert scale_for([0.0], logarithmic=True) is None
    assert scale_for([]) is None
    assert scale_for([0.0]) == Scale(0.0, 1.0, logarithmic=False)
    assert not Scale(1.0, 10.0).shows(0.0)


def test_sizes_are_named_evenly() -> None:
    assert size_ticks(0.7, 2.0**24, 5) == [
        (1.0, "1 B"),
        (32.0, "32 B"),
        (1024.0, "1 KiB"),
        (32768.0, "32 KiB"),
        (1048576.0, "1 MiB"),
    ]


def test_labels_are_moved_apart_and_stay_in_order() -> None:
    placed = spread([0.5, 0.51, 0.52, 0.99, 1.0], 0.06)
    assert all(b - a >= 0.06 - 1e-9 for a, b in pairwise(placed))
    assert placed[-1] <= 1.0 and placed[0] == 0.5


@pytest.mark.parametrize("name", ["cluster-of-the-north/" * 3, "x" * 60, "a name of several words " * 3])
@pytest.mark.parametrize(("room", "tall"), [(1.6, 0.14), (0.9, 0.3), (7.2, 0.17)])
def test_long_names_go_on_in_the_next_line_and_lose_nothing(name: str, room: float, tall: float) -> None:
    text, size = fitted(name, room, tall, 8)
    lines = text.split("\n")
    assert "".join(text.split()) == "".join(name.split())
    assert all(width_of(line, size) <= room for line in lines)
    assert len(lines) * size / 72 <= tall
    assert fitted("short", 0.9, 0.17, 8) == ("short", 8)


def test_what_would_be_illegible_ends_in_an_ellipsis() -> None:
    text, size = fitted("x" * 5000, 1.0, 0.2, 8)
    assert text.endswith("…") and size == 3


LONG = "a-host-group-of-the-cluster-in-the-north-with-a-long-name-{:02d}"


@pytest.mark.parametrize("count", [2, pytest.param(14, marks=pytest.mark.slow)])
def test_every_figure_holds_names_of_60_characters_whole_and_on_its_page(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    pages: list[Page] = []
    monkeypatch.setattr(Page, "write_file", lambda page, path: pages.append(page))
    groups = [LONG.format(number) for number in range(1, count + 1)]
    records = [run for group in groups for run in synthetic.campaign(host_group=group)]
    records += [run for group in groups for run in synthetic.hpcc_runs(group, 1.5)]
    draw_all(compare(records), tmp_path, few=False)
    written = "".join("".join(text.get_text().split()) for page in pages for text in page._figure.texts)
    assert len(pages) > 5 and "…" not in written
    assert all(group in written for group in groups)
    for page in pages:
        renderer = FigureCanvasAgg(page._figure).get_renderer()
        wide, high = page._figure.bbox.width, page._figure.bbox.height
        for text in page._figure.texts:
            box = text.get_window_extent(renderer)
            assert box.x0 >= -1 and box.x1 <= wide + 1, (page.title, text.get_text())
            assert box.y0 >= -1 and box.y1 <= high + 1, (page.title, text.get_text())


@pytest.mark.parametrize(("count", "across"), [(1, 1), (4, 2), (7, 3)])
def test_panels_lie_on_the_page_beside_each_other(count: int, across: int) -> None:
    grid = panel_grid(count, across, 2.0, 0.8)
    assert all(place.left > 0 and place.right + 0.8 <= WIDTH for place in grid.places)
    assert all(place.bottom > 0 and place.top <= grid.height for place in grid.places)
    for one, other in pairwise(grid.places):
        assert other.left >= one.right + 0.8 or other.top <= one.bottom
    assert sum(grid.lowest(index) for index in range(count)) == min(count, across)
