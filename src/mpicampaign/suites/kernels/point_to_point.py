"""point_to_point: a sweep of sizes, and the times of each pair."""

from __future__ import annotations

from dataclasses import replace

from mpicampaign.suites.kernels.frame import Kernel, Layout
from mpicampaign.suites.kernels.sweep import sweep_layout
from mpicampaign.suites.suite import Active, Sends, UsefulBandwidth


def _layout() -> Layout:
    """The sweep's layout with rows of ``pairs_seconds``, which are checked and stay in the raw output."""
    sweep = sweep_layout("pairs")
    times = frozenset({"seconds_min", "seconds_median", "seconds_max"})
    rows = {"pairs_seconds": frozenset({"operation", "pairs", "size", "from", "to"}) | times}
    return replace(sweep, needed={**sweep.needed, **rows}, seconds=sweep.seconds | times)


_SENDS = Sends(Active.SOME, least=False, one_way=True, useful=UsefulBandwidth("message"))

KERNEL = Kernel(
    name="point_to_point",
    version=3,
    layout=_layout,
    quick=("--max-size", "1KiB", "--budget", "0.1"),
    sends={"point_to_point": _SENDS},
)
