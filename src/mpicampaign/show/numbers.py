"""Numbers as people read them; scale, unit and digits are those of their dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.dimension import COUNT
from mpicampaign.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpicampaign.dimension import Dimension


def quantity(
    value: float, dimension: Dimension, bandwidth_unit: str = "MB/s", decimals: int | None = None
) -> str:
    """The value with its unit: ``0.246 µs``; a count alone."""
    if dimension is COUNT:
        return dimension.number(value)
    return f"{dimension.number(value, bandwidth_unit, decimals)} {dimension.unit(bandwidth_unit).name}"


def percent(fraction: float) -> str:
    """``96.9 %`` for 0.96875."""
    return f"{100 * fraction:.1f} %"


def rough_percent(fraction: float) -> str:
    """``3.2 %``, ``12 %`` or ``10000 %``."""
    return f"{100 * fraction:.{0 if fraction >= 0.0995 else 1}f} %"


def probability(p: float) -> str:
    """``p = 0.0022``, or ``p < 0.0001``."""
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"


def size_range(sizes: Iterable[int]) -> str:
    """``4 MiB``, or ``512 KiB-4 MiB`` or ``2-4 MiB`` where several sizes are meant."""
    ordered = sorted(set(sizes))
    if not ordered:
        return ""
    low, high = format_size(ordered[0]), format_size(ordered[-1])
    if low == high:
        return low
    unit = high.split()[-1]
    return f"{low.removesuffix(f' {unit}')}-{high}"
