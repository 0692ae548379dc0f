"""Scales, ticks and texts of figures: round values, no overlaps, long names cut."""

from __future__ import annotations

from itertools import pairwise

import pytest

from mpicampaign.show.charts.scales import Scale, plain, scale_for, size_ticks
from mpicampaign.show.figures.axes import panel_grid
from mpicampaign.show.figures.page import WIDTH, fitting, spread, width_of


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


def test_long_names_lose_their_middle() -> None:
    names = [f"a name that is much too long for its place, {n}" for n in (1, 2)]
    cut = [fitting(name, 0.9, 8) for name in names]
    assert all(width_of(words, 8) <= 0.9 and words.startswith("a na") for words in cut)
    assert [words[-1] for words in cut] == ["1", "2"]
    assert fitting("short", 0.9, 8) == "short"


@pytest.mark.parametrize(("count", "across"), [(1, 1), (4, 2), (7, 3)])
def test_panels_lie_on_the_page_beside_each_other(count: int, across: int) -> None:
    grid = panel_grid(count, across, 2.0, 0.8)
    assert all(place.left > 0 and place.right + 0.8 <= WIDTH for place in grid.places)
    assert all(place.bottom > 0 and place.top <= grid.height for place in grid.places)
    for one, other in pairwise(grid.places):
        assert other.left >= one.right + 0.8 or other.top <= one.bottom
    assert sum(grid.lowest(index) for index in range(count)) == min(count, across)
