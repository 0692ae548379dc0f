"""What metrics measure: the SI unit in which they are kept, and how people read them.

The one place for scale, unit, direction and digits. A new dimension is one more constant here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial

from mpicampaign.base.units import MB, MIB, SIZE_UNITS, TIME_UNITS, format_significant

BANDWIDTH_UNITS = ("MB/s", "MiB/s")  # 10^6 and 2^20 B/s


@dataclass(frozen=True, eq=False)
class Unit:
    """A unit as shown; ``size``: how many SI units it is."""

    name: str
    size: float

    def of(self, value: float) -> float:
        """An SI value in this unit; small units multiply, since 1e-6 is not exact in binary and 1e6 is."""
        return value / self.size if self.size >= 1 else value * self._of_one

    @cached_property
    def _of_one(self) -> int:
        return round(1 / self.size)


@dataclass(frozen=True, eq=False)
class Dimension:
    """What metrics of one kind have in common.

    ``units``: as shown, the usual one first. ``digits``: writes a number in one of them.
    """

    name: str
    si_unit: str
    units: tuple[Unit, ...]
    digits: Callable[[float], str]
    lower_is_better: bool | None = False  # None: neither is known to be better

    def __str__(self) -> str:
        return self.name

    def unit(self, wanted: str = "") -> Unit:
        """The wanted unit where the dimension has several, else its only one.

        Raises
        ------
        ValueError
            when it has several, and the wanted one is none of them.
        """
        if len(self.units) == 1 or not wanted:
            return self.units[0]
        for unit in self.units:
            if unit.name == wanted:
                return unit
        known = ", ".join(unit.name for unit in self.units)
        raise ValueError(f"unknown unit {wanted!r} for {self.name}; known: {known}")

    def number(self, value: float, unit: str = "") -> str:
        """The value without its unit: ``0.246`` for 246 ns, ``9121`` for 9.121e9 B/s.

        In the digits of this dimension, and more where they would show nothing.
        """
        scaled = self.unit(unit).of(value)
        text = self.digits(scaled)
        return text if text.strip("-0.") or not scaled else f"{scaled:.3g}"


def _printed(digits: int) -> Callable[[float], str]:
    """So many significant digits; no third decimal where IMB and OSU, which print two, showed none."""

    def write(value: float) -> str:
        text = format_significant(value, digits)
        is_printed = text[-4:-3] == "." and math.isclose(value, float(text[:-1]), rel_tol=1e-9)
        return text[:-1] if is_printed else text

    return write


def _fixed(decimals: int) -> Callable[[float], str]:
    return lambda value: f"{value:.{decimals}f}"


def _ratio(value: float) -> str:
    return f"{value:.0f}" if value >= 99.95 else f"{value:#.3g}"


def _seconds(value: float) -> str:
    """Four significant digits, also of times far below a second: ``0.0003851``."""
    return format_significant(value, digits=4) if value >= 1 or value <= 0 else f"{value:.4g}"


_FOUR = partial(format_significant, digits=4)


def _prefixed(value: float) -> str:
    """Four significant digits; of large numbers before a prefix of their unit: ``111.2 M``."""
    for prefix, size in (("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if abs(value) >= size:
            return f"{_FOUR(value / size)} {prefix}"
    return _FOUR(value)


_TIMES = (Unit("×", 1),)

TIME = Dimension("time", "s", (Unit("µs", 1e-6),), _printed(3), lower_is_better=True)
# A time of seconds to hours.
DURATION = Dimension("duration", "s", (Unit("s", 1),), _seconds, lower_is_better=True)
BANDWIDTH = Dimension(
    "bandwidth", "B/s", tuple(map(Unit, BANDWIDTH_UNITS, (float(MB), float(MIB)))), _printed(4)
)
CLOCK = Dimension("clock rate", "Hz", (Unit("GHz", 1e9),), partial(format_significant, digits=4))
MESSAGE_RATE = Dimension("message rate", "1/s", (Unit("msg/s", 1),), _prefixed)
FRACTION = Dimension("fraction", "1", (Unit("%", 1e-2),), _fixed(1))
RATIO = Dimension("ratio", "1", _TIMES, _ratio)
SLOWDOWN = Dimension("slowdown", "1", _TIMES, _ratio, lower_is_better=True)  # a ratio of times
COUNT = Dimension("count", "1", (Unit("number", 1),), _fixed(0))
FLOPS = Dimension("flop rate", "flop/s", (Unit("Gflop/s", 1e9),), _FOUR)
# Bytes moved for each operation: the balance of HPCC's paper.
BALANCE = Dimension("balance", "byte/flop", (Unit("byte/kflop", 1e-3),), _FOUR)
# Of random places in memory.
UPDATE_RATE = Dimension("update rate", "1/s", (Unit("Mupdate/s", 1e6),), _FOUR)


@dataclass(frozen=True, eq=False)
class OwnDimension(Dimension):
    """The dimension of a metric of one's own; ``factor``: from the printed unit to the SI unit.

    ``column``: the common column of a series that holds such values over message sizes; or empty.
    """

    factor: float = 1.0
    column: str = ""


_PREFIXES = ("", "k", "M", "G", "T", "P")
_KNOWN = {
    **{name: (TIME, size) for name, size in TIME_UNITS.items()},
    **{f"{name}/s": (BANDWIDTH, float(size)) for name, size in SIZE_UNITS.items() if name},
    **{f"{prefix}flop/s": (FLOPS, 1000.0**power) for power, prefix in enumerate(_PREFIXES)},
}


@cache  # a metric is known by its dimension
def own_dimension(unit: str, better: str) -> OwnDimension:
    """What a metric of one's own measures: time, bandwidth, a rate of operations, or what its unit says."""
    known, factor = _KNOWN.get(unit, (None, 1.0))
    lower = better == "lower" if better else None
    if known is None:
        return OwnDimension(unit, unit, (Unit(unit, 1),), _prefixed, lower)
    shown = (Unit(unit, factor),) if known is TIME else known.units
    digits = _FOUR if known is TIME else known.digits
    column = {TIME: "time" if lower else "", BANDWIDTH: "" if lower else "bandwidth"}.get(known, "")
    return OwnDimension(known.name, known.si_unit, shown, digits, lower, factor, column)
