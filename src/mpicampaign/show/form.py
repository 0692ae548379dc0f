"""The form in which tables are shown: format, layout, and how figures are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

from mpicampaign.dimension import BANDWIDTH
from mpicampaign.show.numbers import number, unit_of

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

    ``decimals``: ``None`` for as many as the number's size asks for. ``si``: data hold SI units in full.
    """

    unit: str = "MB/s"
    statistic: str = "median"
    decimals: int | None = None
    si: bool = True

    def figure(self, value: float, dimension: Dimension) -> str:
        """The figure without its unit."""
        if self.decimals is None:
            return number(value, dimension, self.unit)
        return rounded(dimension.unit(self.unit).of(value), self.decimals)

    def unit_of(self, dimension: Dimension) -> str:
        """The unit in which `figure` writes."""
        return unit_of(dimension, self.unit)

    def value(self, value: float, dimension: Dimension) -> float:
        """The value as data hold it."""
        if self.si:
            return value
        shown = dimension.unit(self.unit).of(value)
        return shown if self.decimals is None else float(rounded(shown, self.decimals))

    def data_unit(self, dimension: Dimension) -> str:
        """The unit of `value`."""
        return dimension.si_unit if self.si else self.unit_of(dimension)

    def interval(self, interval: Interval | None, dimension: Dimension) -> str:
        """``[0.241, 0.270]``; empty where there is none."""
        if interval is None:
            return ""
        low, high = (self.figure(value, dimension) for value in (interval.low, interval.high))
        return f"[{low}, {high}]"

    def rate(self, bytes_per_second: float) -> str:
        """A bandwidth with its unit."""
        return f"{self.figure(bytes_per_second, BANDWIDTH)} {self.unit}"

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


def rounded(value: float, decimals: int) -> str:
    """Half away from zero, as spreadsheets and people do, of the decimal number that is meant.

    12 significant digits take away what binary arithmetic adds: 0.1 + 0.2 is 0.3, and 2.675 is no less.
    """
    exact = Decimal(f"{value:.12g}")
    return f"{exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP):f}"
