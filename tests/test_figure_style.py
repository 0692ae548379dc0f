"""Colours: distinguishable for colour-blind readers and in grey print, with readable text on them."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from mpicampaign.show.charts.looks import (
    COLOURS,
    SEQUENCE,
    TEXT_CONTRAST,
    contrast,
    ink_on,
    luminance,
    shade,
)

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
