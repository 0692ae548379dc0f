"""The unit of an axis: the one place where charts learn by what a recorded value is divided."""

from __future__ import annotations

from typing import NamedTuple

from mpicampaign.dimension import COUNT
from mpicampaign.units import MB, MIB
from mpicampaign.wording import unit_of

_SIZES = {"µs": 1e-6, "MB/s": MB, "MiB/s": MIB, "%": 0.01, "Gflop/s": 1e9, "Mupdate/s": 1e6}


class Unit(NamedTuple):
    """A unit with its size in that of the records (s, B/s, 1)."""

    name: str
    size: float


def unit_for(dimension: str, bandwidth_unit: str) -> Unit:
    """The unit in which tables and texts write metrics of this dimension, too; a count has none."""
    name = unit_of(dimension, bandwidth_unit)
    return Unit("" if dimension == COUNT else name, _SIZES.get(name, 1.0))
