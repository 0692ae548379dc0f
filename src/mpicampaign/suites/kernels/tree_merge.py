"""tree_merge: a sweep of sizes for each tree, and where the time of its ranks goes."""

from __future__ import annotations

from collections import defaultdict

from mpicampaign.suites.kernels.frame import Kernel, Row
from mpicampaign.suites.kernels.sweep import BASELINE, BASELINE_SENDS, GATHER_SENDS, OfSize, sweep_layout


def _seconds(levels: list[Row]) -> OfSize:
    """Seconds of communication and of merging, summed over the levels of the rank that spent most."""
    longest: OfSize = {}
    for what, name in (("communication", "receive_seconds"), ("merge", "merge_seconds")):
        by_rank: dict[int, float] = defaultdict(float)
        for row in levels:
            by_rank[int(row["rank"])] += float(row[name])
        longest[what] = max(by_rank.values(), default=None)
    return longest


KERNEL = Kernel(
    name="tree_merge",
    version=3,
    layout=lambda: sweep_layout("tree", {"tree_merge": _seconds}),
    quick=("--max-size", "1KiB", "--tree", "all", "--key", "uint64", "--budget", "0.1"),
    sends={"tree_merge": GATHER_SENDS, BASELINE: BASELINE_SENDS},
)
