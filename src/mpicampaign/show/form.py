"""The form in which tables are shown: format, layout, and how numbers are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpicampaign.show.numbers import bounds, quantity
from mpicampaign.units import rounded

if TYPE_CHECKING:
    from mpicampaign.dimension import Dimension
    from mpicampaign.statistics.medians import Interval, Summary

LONG = "long"
MATRIX = "matrix"
LAYOUTS = (LONG, MATRIX)
STATISTICS = ("median", "mean")


@dataclass(frozen=True, slots=True)
class View:
    """How numbers are written.

    ``decimals``: ``None`` for the digits of each dimension. ``si``: data hold SI units in full.
    """

    unit: str = "MB/s"
    statistic: str = "median"
    decimals: int | None = None
    si: bool = True

    def number(self, value: float, dimension: Dimension) -> str:
        """The value without its unit."""
        return dimension.number(value, self.unit, self.decimals)

    def quantity(self, value: float, dimension: Dimension) -> str:
        """The value with its unit."""
        return quantity(value, dimension, self.unit, self.decimals)

    def bounds(self, interval: Interval | None, dimension: Dimension) -> str:
        """``[0.241, 0.270]``; empty where there is no interval."""
        return bounds(interval, dimension, self.unit, self.decimals)

    def unit_of(self, dimension: Dimension) -> str:
        """The unit in which numbers are written."""
        return dimension.unit(self.unit).name

    def value(self, value: float, dimension: Dimension) -> float:
        """The value as data hold it."""
        if self.si:
            return value
        shown = dimension.unit(self.unit).of(value)
        return shown if self.decimals is None else float(rounded(shown, self.decimals))

    def data_unit(self, dimension: Dimension) -> str:
        """The unit of `value`."""
        return dimension.si_unit if self.si else self.unit_of(dimension)

    def chosen(self, summary: Summary) -> float:
        """The statistic of a summary that is asked for."""
        return summary.mean if self.statistic == "mean" else summary.median


@dataclass(frozen=True, slots=True)
class Form:
    """How tables are shown.

    ``columns``: those of the long layout, all in use where empty. ``every_metric``: matrices also of metrics
    that are neither ranked nor at a table size.
    """

    format: str = "terminal"
    layout: str = LONG
    view: View = field(default_factory=View)
    columns: tuple[str, ...] = ()
    every_metric: bool = False
