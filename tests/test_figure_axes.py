"""Scales, ticks and texts of figures: round values, no overlaps, long names whole."""

from __future__ import annotations

from itertools import pairwise

import pytest

from mpicampaign.show.charts.scales import Scale, scale_for
from mpicampaign.show.figures.axes import panel_grid
from mpicampaign.show.figures.page import WIDTH, fitted


def test_scales_begin_at_zero_unless_values_differ_tenfold() -> None:
    assert scale_for([35.0, 185.0]) == Scale(0.0, 185.0 * 1.05, logarithmic=False)
    assert scale_for([1.0, 10.0]) is not None
    found = scale_for([1.0, 10.0])
    assert found is not None and found.logarithmic
    assert Scale(0.0, 194.0, logarithmic=False).ticks() == [0, 50, 100, 150]


def test_what_would_be_illegible_ends_in_an_ellipsis() -> None:
    text, size = fitted("x" * 5000, 1.0, 0.2, 8)
    assert text.endswith("…") and size == 3


@pytest.mark.parametrize(("count", "across"), [(1, 1), (4, 2), (7, 3)])
def test_panels_lie_on_the_page_beside_each_other(count: int, across: int) -> None:
    grid = panel_grid(count, across, 2.0, 0.8)
    assert all(place.left > 0 and place.right + 0.8 <= WIDTH for place in grid.places)
    assert all(place.bottom > 0 and place.top <= grid.height for place in grid.places)
    for one, other in pairwise(grid.places):
        assert other.left >= one.right + 0.8 or other.top <= one.bottom
    assert sum(grid.lowest(index) for index in range(count)) == min(count, across)
