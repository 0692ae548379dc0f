"""Raw outputs of the bundled kernels; the format is described in docs/kernels.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.suites.kernels.frame import Frame
from mpicampaign.suites.reading import ParsedOutput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpicampaign.suites.kernels.frame import Layout



def parse_kernel(text: str, layouts: Mapping[str, Layout]) -> ParsedOutput:
    """Read the raw output of one kernel run; ``layouts`` by the name in the header.

    Raises
    ------
    OutputError
        when the closing line is missing, rows are missing or damaged, or verification failed.
    """
    frame = Frame(text, layouts)
    series = frame.layout.series(frame)
    return ParsedOutput(frame.header.get("version", ""), frame.header, series)
