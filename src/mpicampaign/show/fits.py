"""Hockney fits as lines of text, the same in every table and in the report: a line for each segment."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.compare.hockney import FASTER_THAN_SIZE, NO_GROWTH, WITHIN_SCATTER, fits
from mpicampaign.dimension import BANDWIDTH, TIME
from mpicampaign.show.document import text_grid
from mpicampaign.show.names import row_name
from mpicampaign.show.numbers import percent, size_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.compare.hockney import Segment
    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Comparison, Table
    from mpicampaign.show.document import Grid

LEGEND = (
    "Hockney's model, time = latency + size / bandwidth, fitted to the median curve over ranges of sizes "
    "that it finds itself. Half length: the size that reaches half of the asymptotic bandwidth. Error: "
    "typical relative error of the model; poor above 10 %."
)
_DOUBTS = {
    NO_GROWTH: "the time does not grow with size: no bandwidth",
    FASTER_THAN_SIZE: "the time grows faster than size: no latency",
    WITHIN_SCATTER: "the time grows by no more with size than it scatters: no bandwidth",
}
_LEAST_ERROR = 0.001  # what is shown in full
_UNITS = ("B", "KiB", "MiB", "GiB")


class FitLine(NamedTuple):
    """One segment of a row as text; ``first``: of its row. ``doubt``: why its values are doubtful."""

    first: bool
    name: str
    values: tuple[str, str, str, str, str]  # sizes, latency, bandwidth, half length, error
    doubt: str


def fit_lines(comparison: Comparison, table: Table, unit: str = "MB/s") -> list[FitLine]:
    """The fits of all rows; none where times are not those of one message."""
    lines = []
    for row in table.rows:
        name = row_name(comparison, table, row)
        for index, segment in enumerate(fits(row)):
            lines.append(FitLine(not index, name, _values(segment, unit), _doubt(row, segment)))
    return lines


def fit_heads(unit: str = "MB/s") -> tuple[str, str, str, str, str]:
    """The headings of the values."""
    bandwidth = f"bandwidth ({BANDWIDTH.unit(unit).name})"
    return ("sizes", f"latency ({TIME.unit().name})", bandwidth, "half length", "error")


def fit_grid(found: Sequence[FitLine], unit: str, *, brief: bool = False) -> Grid:
    """The lines as a grid; a brief one names each row once."""
    lines = [(line.name if line.first or not brief else "", *line.values, line.doubt) for line in found]
    header = ("host group, placement", *fit_heads(unit), "" if brief else "doubts")
    return text_grid(1, header, lines, remarks=1)


def _values(segment: Segment, unit: str) -> tuple[str, str, str, str, str]:
    latency, bandwidth, half = segment.latency, segment.bandwidth, segment.half_length
    return (
        size_range((segment.first, segment.last)),
        "none" if latency is None else TIME.number(latency),
        "none" if bandwidth is None else BANDWIDTH.number(bandwidth, unit),
        "none" if half is None else _length(half),
        "< 0.1 %" if segment.residual < _LEAST_ERROR else percent(segment.residual),
    )


def _length(size: float) -> str:
    """A size that no power of two need be: ``8.43 KiB``."""
    power = 0
    while size >= 1000 and power + 1 < len(_UNITS):
        size, power = size / 1024, power + 1
    return f"{size:.0f} B" if power == 0 else f"{size:#.3g} {_UNITS[power]}"


def _doubt(row: Row, segment: Segment) -> str:
    parts = ["poor"] if segment.poor else []
    parts += [_DOUBTS[segment.doubt]] if segment.doubt else []
    parts += ["several modes"] if row.has_modes else []
    return "; ".join(parts)
