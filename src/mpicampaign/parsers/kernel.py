"""Raw outputs of the bundled kernels; the format is described in docs/kernels.md."""

from __future__ import annotations

from mpicampaign.parsers.kernel_b_eff import b_eff_layout
from mpicampaign.parsers.kernel_core_pairs import core_pairs_layout
from mpicampaign.parsers.kernel_frame import Frame
from mpicampaign.parsers.kernel_latency_bandwidth import latency_bandwidth_layout
from mpicampaign.parsers.kernel_point_to_point import point_to_point_layout
from mpicampaign.parsers.kernel_sweep import sweep_layout
from mpicampaign.parsers.output import ParsedOutput

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
