"""tree_gather: a sweep of sizes for each tree."""

from __future__ import annotations

from mpicampaign.suites.kernels.frame import Kernel
from mpicampaign.suites.kernels.sweep import BASELINE, BASELINE_SENDS, GATHER_SENDS, sweep_layout

KERNEL = Kernel(
    name="tree_gather",
    version=3,
    layout=lambda: sweep_layout("tree"),
    quick=("--max-size", "1KiB", "--tree", "all", "--budget", "0.1"),
    sends={"tree_gather": GATHER_SENDS, BASELINE: BASELINE_SENDS},
)
