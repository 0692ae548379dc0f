"""How readers want results shown: which of them, and how each number is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from mpicampaign.base.dimension import BANDWIDTH_UNITS, COUNT, Dimension
from mpicampaign.base.presentation import TABLE_SIZES, Presentation
from mpicampaign.base.units import format_size
from mpicampaign.statistics.medians import Interval

_LARGEST = 10  # factor that is told: repeats that need more find nothing


@dataclass(frozen=True, slots=True)
class Filter:
    """Names of what to show; everything where there is none."""

    benchmarks: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    host_groups: tuple[str, ...] = ()
    placements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """What is shown and how; made once, from the options of a call and its campaign.

    ``unit``: of bandwidths. ``table_sizes``, ``by``: as in `Presentation`.
    """

    unit: str = BANDWIDTH_UNITS[0]
    only: Filter = field(default_factory=Filter)
    table_sizes: tuple[int, ...] = TABLE_SIZES
    by: str = ""

    def number(self, value: float, dimension: Dimension) -> str:
        """The value without its unit."""
        return dimension.number(value, self.unit)

    def quantity(self, value: float, dimension: Dimension) -> str:
        """The value with its unit."""
        return quantity(value, dimension, self.unit)

    def bounds(self, interval: Interval | None, dimension: Dimension) -> str:
        """``[0.241, 0.270]``; empty where there is no interval."""
        if interval is None:
            return ""
        return f"[{self.number(interval.low, dimension)}, {self.number(interval.high, dimension)}]"

    def unit_of(self, dimension: Dimension) -> str:
        """The unit in which numbers are written."""
        return dimension.unit(self.unit).name


DEFAULT = View()


def view_of(presentation: Presentation) -> View:
    """As a campaign file, or the map of an import, wants its results shown."""
    shown = presentation
    return View(shown.unit, table_sizes=shown.table_sizes, by=shown.by)


def quantity(value: float, dimension: Dimension, bandwidth_unit: str = "MB/s") -> str:
    """The value with its unit: ``0.246 µs``; a count alone."""
    if dimension is COUNT:
        return dimension.number(value)
    return f"{dimension.number(value, bandwidth_unit)} {dimension.unit(bandwidth_unit).name}"


def percent(fraction: float) -> str:
    """``96.9 %`` for 0.96875."""
    return f"{100 * fraction:.1f} %"


def rough_percent(fraction: float) -> str:
    """``3.2 %``, ``12 %`` or ``10000 %``."""
    return f"{100 * fraction:.{0 if fraction >= 0.0995 else 1}f} %"


def rough_amount(fraction: float) -> str:
    """``0.8 %``, ``20 %``, ``a factor of 3``: one digit, by a spread that is known no better."""
    if fraction < 0.95:
        return f"{float(f'{100 * fraction:.0e}'):g} %"
    factor = float(f"{1 + fraction:.0e}")
    return f"a factor of {factor:g}" if factor <= _LARGEST else f"a factor of more than {_LARGEST}"


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
