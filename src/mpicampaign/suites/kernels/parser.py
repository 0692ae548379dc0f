"""Raw outputs of the bundled kernels; the format is described in docs/kernels.md."""

from __future__ import annotations

from mpicampaign.suites.kernels.b_eff import b_eff_layout
from mpicampaign.suites.kernels.core_pairs import core_pairs_layout
from mpicampaign.suites.kernels.frame import Frame
from mpicampaign.suites.kernels.latency_bandwidth import latency_bandwidth_layout
from mpicampaign.suites.kernels.point_to_point import point_to_point_layout
from mpicampaign.suites.kernels.sweep import sweep_layout
from mpicampaign.suites.reading import ParsedOutput

SUITE = "kernel"

# By the name in the header.
_LAYOUTS = {
    "tree_gather": sweep_layout("tree"),
    "tree_merge": sweep_layout("tree"),
    "point_to_point": point_to_point_layout(),
    "core_pairs": core_pairs_layout(),
    "b_eff": b_eff_layout(),
    "latency_bandwidth": latency_bandwidth_layout(),
}


def parse_kernel(text: str) -> ParsedOutput:
    """Read the raw output of one kernel run.

    Raises
    ------
    OutputError
        when the closing line is missing, rows are missing or damaged, or verification failed.
    """
    frame = Frame(text, _LAYOUTS)
    series = frame.layout.series(frame)
    return ParsedOutput(SUITE, frame.header.get("version", ""), frame.header, series)
