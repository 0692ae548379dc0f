"""Scales: from values to places, with round ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from mpicampaign.base.units import format_size

_TICKS = 6  # at most so many are named, or two more


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to 0 to 1, linear or logarithmic."""

    low: float
    high: float
    logarithmic: bool = True

    def __call__(self, value: float) -> float:
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def shows(self, value: float) -> bool:
        """Whether the value is on the scale: zero is not on a logarithmic one."""
        return value > 0 or not self.logarithmic

    def ticks(self, most: int = _TICKS + 2) -> list[float]:
        """Round values: powers of ten, with 2 and 5 between them where there are few.

        ``most``: how many there is room for; a linear scale may have one more.
        """
        if not self.logarithmic:
            return _round_steps(self.low, self.high, min(most, _TICKS))
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        factors: tuple[float, ...]
        for factors in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7)):
            values = [f * 10.0**power for power in powers for f in factors]
            values = [tick for tick in values if self.low <= tick <= self.high]
            if len(values) >= 3:
                return values[:: -(-len(values) // min(most, _TICKS + 2))]
        return _round_steps(self.low, self.high, min(most, _TICKS))


def scale_for(values: Iterable[float], logarithmic: bool | None = None) -> Scale | None:
    """A scale that holds the values; ``None`` where no value can be shown.

    Parameters
    ----------
    logarithmic : ``None``: where the largest is at least ten times the smallest; a linear one begins at 0.
    """
    values = list(values)
    positive = [value for value in values if value > 0]
    if not positive:
        return Scale(0.0, 1.0, logarithmic=False) if values and not logarithmic else None
    low, high = min(positive), max(positive)
    if logarithmic or (logarithmic is None and high >= 10 * low):
        room = max((high / low) ** 0.06, 1.15)
        return Scale(low / room, high * room)
    return Scale(0.0, high * 1.05, logarithmic=False)


def size_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Message sizes to label: powers of two with a common factor between them."""
    powers = [power for power in range(63) if low <= 2**power <= high]
    step = max(1, -(-len(powers) // most))
    return [(2.0**power, format_size(2**power)) for power in powers[::step]]


def plain(value: float) -> str:
    """A tick as people write it: 1000, not 10^3."""
    return f"{value:.0f}" if value >= 100 else f"{value:.6g}"


def _round_steps(low: float, high: float, most: int) -> list[float]:
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{index * step:.12g}") for index in range(first, last + 1)]
