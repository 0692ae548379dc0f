"""point_to_point: a sweep of sizes, and the times of each pair."""

from __future__ import annotations

from dataclasses import replace

from mpicampaign.suites.kernels.frame import Layout
from mpicampaign.suites.kernels.sweep import sweep_layout


def point_to_point_layout() -> Layout:
    """The sweep's layout with rows of ``pairs_seconds``, which are checked and stay in the raw output."""
    sweep = sweep_layout("pairs")
    times = frozenset({"seconds_min", "seconds_median", "seconds_max"})
    rows = {"pairs_seconds": frozenset({"operation", "pairs", "size", "from", "to"}) | times}
    return replace(sweep, needed={**sweep.needed, **rows}, seconds=sweep.seconds | times)
