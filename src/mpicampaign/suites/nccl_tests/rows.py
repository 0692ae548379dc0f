"""The rows of an output, whether printed as text or as JSON, and the checks of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.suites.reading import MICROSECOND, OutputError, between, rates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_GB = 1e9
COLUMNS = {  # heading -> column and factor to SI; nothing is kept of others
    "time": ("time", MICROSECOND),
    "cputime": ("cpu_time", MICROSECOND),
    "algbw": ("algorithm_bandwidth", _GB),
    "busbw": ("bandwidth", _GB),
    "i_min": ("time_min", MICROSECOND),
    "i_max": ("time_max", MICROSECOND),
    "i_p99": ("time_p99", MICROSECOND),
}
RATES = ("algbw", "busbw")
ABOUT = {"type": "datatype", "redop": "redop", "op": "redop", "root": "root"}
PLACES = ("out-of-place", "in-place")


class Number(NamedTuple):
    """A printed number, and half of its last digit."""

    value: float
    slack: float


class Half(NamedTuple):
    """The values of a row in one place, by heading. ``wrong``: why they do not count."""

    place: str
    values: Mapping[str, Number | None]
    checked: bool
    wrong: str = ""


class Row(NamedTuple):
    """``where``: its line; ``about``: its datatype, operation and root, as far as they are printed."""

    where: str
    size: int
    about: dict[str, str]
    halves: Sequence[Half]


@dataclass(slots=True)
class Output:
    """What a text or a JSON file holds. ``faults``: of damaged rows and aborted programs."""

    version: str = ""
    threads: int = 1
    one_size: bool = False
    metadata: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    out_of_bounds: int = 0
    mean: Number | None = None


class Shares(NamedTuple):
    """What bandwidths count, as shares: of the size by the algorithm's, of that by the bus's; from, to.

    Some operations leave out the part of one rank; the bus of an all-reduce carries almost twice the size.
    """

    algorithm: Sequence[tuple[float, float]]
    bus: Sequence[tuple[float, float]]


def shares_of(ranks: int, program: str) -> Shares:
    """``ranks``: 0 where unknown. Alltoallv prints the size of all ranks with the bandwidth of one."""
    part = (ranks - 1) / ranks if ranks else 0.0
    algorithm = [(1, 1), (part, part)] if ranks else [(0.5, 1)]
    bus = [(1, 1), (part, part), (2 * part, 2 * part)] if ranks else [(0, 2)]
    return Shares([(0, inf)] if program.startswith("alltoallv") else algorithm, bus)


def check_row(row: Row, shares: Shares) -> None:
    """Refuse a row whose size, time and bandwidths contradict each other."""
    for half in row.halves:
        time, algorithm, bus = (half.values.get(name) for name in ("time", *RATES))
        fits = True
        if algorithm and time:
            fits = _fits(algorithm, rates(row.size / 1000, *time), shares.algorithm)
        if algorithm and bus:
            span = (algorithm.value - algorithm.slack, algorithm.value + algorithm.slack)
            fits &= _fits(bus, span, shares.bus)
        if not fits:
            raise OutputError(
                f"{row.where}: size, time and bandwidths contradict each other {half.place}: damaged"
            )


def _fits(rate: Number, span: tuple[float, float], shares: Sequence[tuple[float, float]]) -> bool:
    """Whether a rate is one of the shares of another, known from low to high."""
    low, high = span
    return any(between(*rate, low * least, high * most) for least, most in shares)
