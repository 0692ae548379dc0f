"""The unit of an axis: that in which tables and texts write metrics of the dimension, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.dimension import COUNT, Unit

if TYPE_CHECKING:
    from mpicampaign.dimension import Dimension


def unit_for(dimension: Dimension, bandwidth_unit: str) -> Unit:
    """The unit with its size in that of the records (s, B/s, 1); a count has no name."""
    unit = dimension.unit(bandwidth_unit)
    return Unit("", unit.size) if dimension == COUNT else unit
