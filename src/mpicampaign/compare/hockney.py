"""Hockney's model of a message, t = latency + size / bandwidth, fitted to each protocol segment of a curve.

MPI libraries change the protocol with message size (eager, rendezvous, pipelined), so one line does not fit.
`fit` looks for the segments itself: least squares of the relative error in each, the borders that make
the sum smallest (dynamic programming over the sizes), and as many segments as the Bayesian information
criterion asks for. The half-performance length n½ = latency · bandwidth is the size that reaches half of
the segment's asymptotic bandwidth. Model: R. W. Hockney, The communication challenge for MPP, Parallel
Computing 20 (1994).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.compare.metrics import curve
from mpicampaign.statistics.medians import median
from mpicampaign.suites import printed_resolution, sends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.compare.rows import Row
    from mpicampaign.records import Record, Series

# Why a segment has no bandwidth or latency.
NO_GROWTH = "no growth"  # the time does not grow with size: no bandwidth
FASTER_THAN_SIZE = "faster than size"  # the time grows faster than size: no latency
WITHIN_SCATTER = "within scatter"  # the time grows by no more with size than it scatters: no bandwidth

LEAST_SIZES = 3  # of a segment; two always fit
MOST_SEGMENTS = 6
POOR_FIT = 0.1  # typical relative residual above which a segment's values are doubtful
_TELLING = 3.0  # residuals by which the time must grow over a segment for its bandwidth to mean anything
# Of a segment: latency, bandwidth, its border; and two for having chosen the border among all sizes: with
# three in all a quarter of curves of one protocol with 3 % of noise had a second segment, with five 1 %.
_PARAMETERS = 5
_EXACT = 0.005  # relative residual below which a fit is not preferred to another: no clock is better
_LEAST_TIME = 1e-15  # s: no message is faster


@dataclass(frozen=True, slots=True)
class Segment:
    """The model over neighbouring message sizes (B), both ends included.

    ``latency`` (s), ``bandwidth`` (B/s, asymptotic), ``half_length`` (B): ``None`` where the segment does not
    determine it, for the reason in ``doubt``. ``residual``: root mean square of the relative errors.
    """

    first: int
    last: int
    points: int
    latency: float | None
    bandwidth: float | None
    residual: float
    doubt: str = ""

    @property
    def half_length(self) -> float | None:
        """The message size (B) that reaches half of the asymptotic bandwidth."""
        return None if self.latency is None or self.bandwidth is None else self.latency * self.bandwidth

    @property
    def poor(self) -> bool:
        """Whether the model does not describe the segment."""
        return self.residual > POOR_FIT


class _FittedLine(NamedTuple):
    latency: float
    slope: float
    squares: float
    doubt: str


def _one_way(run: Record, series: Series) -> bool:
    sent = sends(run.suite, series.benchmark)
    return sent is not None and sent.one_way


def fits(row: Row) -> tuple[Segment, ...]:
    """The segments of a row's median curve over its repeats; none where the time is not that of one message.

    Where the repeats fall into modes, no run may have had this curve; the row then has a note.
    """
    if not row.curves or row.disturbed or not _one_way(*row.curves[0]):
        return ()
    resolution = printed_resolution(row.curves[0][0].suite, "time")
    curves = [curve(series, "time") for _, series in row.curves]
    sizes = sorted(set.intersection(*(set(points) for points in curves)))
    times = [median([points[size] for points in curves]) for size in sizes]
    return fit(sizes, times, resolution)


def fit(sizes: Sequence[int], times: Sequence[float], resolution: float = 0.0) -> tuple[Segment, ...]:
    """The segments of a curve; none where fewer than `LEAST_SIZES` sizes have a time.

    Parameters
    ----------
    sizes : message sizes (B), ascending
    times : of a message of that size, one way (s)
    resolution : of printed times (s); no fit is preferred for following its steps
    """
    points = [(size, time) for size, time in zip(sizes, times, strict=True) if time > _LEAST_TIME]
    if len(points) < LEAST_SIZES:
        return ()
    lines = _all_lines(points)
    n = len(points)
    floor = sum(max(_EXACT, resolution / time / math.sqrt(12)) ** 2 for _, time in points)
    choices = _best_borders(lines, n)
    scores = {
        count: n * math.log(max(squares, floor) / n) + _PARAMETERS * count * math.log(n)
        for count, (squares, _) in choices.items()
    }
    _, borders = choices[min(scores, key=scores.__getitem__)]
    return tuple(_segment(points, start, end, lines[start, end]) for start, end in borders)


def _all_lines(points: Sequence[tuple[int, float]]) -> dict[tuple[int, int], _FittedLine]:
    """The best line for every range of points, from running sums of the weighted moments."""
    found = {}
    for start in range(len(points) - LEAST_SIZES + 1):
        w = x = y = xx = xy = 0.0
        for end, (size, time) in enumerate(points[start:], start=start + 1):
            weight = 1 / time / time  # relative errors
            w, x, y = w + weight, x + weight * size, y + weight * time
            xx, xy = xx + weight * size * size, xy + weight * size * time
            if end - start >= LEAST_SIZES:
                a, b, doubt = _line(w, x, y, xx, xy)
                squares = w * a * a + 2 * a * b * x + b * b * xx - 2 * (a * y + b * xy) + end - start
                found[start, end] = _FittedLine(a, b, max(squares, 0.0), doubt)
    return found


def _line(w: float, x: float, y: float, xx: float, xy: float) -> tuple[float, float, str]:
    """Latency and time per byte, neither negative, and why one of them is not known."""
    spread = w * xx - x * x
    slope = (w * xy - x * y) / spread if spread > 1e-12 * w * xx else 0.0
    latency = (y - slope * x) / w
    if slope <= 0:
        return y / w, 0.0, NO_GROWTH
    if latency < 0:
        return 0.0, xy / xx, FASTER_THAN_SIZE
    return latency, slope, ""


def _squares(points: Sequence[tuple[int, float]], latency: float, slope: float) -> float:
    return math.fsum(((latency + slope * size) / time - 1) ** 2 for size, time in points)


def _best_borders(
    lines: dict[tuple[int, int], _FittedLine], n: int
) -> dict[int, tuple[float, list[tuple[int, int]]]]:
    """For each number of segments the smallest sum of squares, and the ranges that give it."""
    best: dict[tuple[int, int], tuple[float, list[tuple[int, int]]]] = {(0, 0): (0.0, [])}
    for count in range(1, min(MOST_SEGMENTS, n // LEAST_SIZES) + 1):
        for end in range(count * LEAST_SIZES, n + 1):
            options = [
                (best[count - 1, start][0] + lines[start, end].squares, start)
                for start in range(end - LEAST_SIZES + 1)
                if (count - 1, start) in best
            ]
            if options:
                squares, start = min(options)
                best[count, end] = (squares, [*best[count - 1, start][1], (start, end)])
    return {count: found for (count, end), found in best.items() if end == n and count > 0}


def _segment(points: Sequence[tuple[int, float]], start: int, end: int, line: _FittedLine) -> Segment:
    own = points[start:end]
    first, last = own[0][0], own[-1][0]
    residual = math.sqrt(_squares(own, line.latency, line.slope) / len(own))
    doubt = line.doubt
    if not doubt and line.slope * (last - first) < _TELLING * residual * line.latency:
        doubt = WITHIN_SCATTER
    return Segment(
        first=first,
        last=last,
        points=len(own),
        latency=line.latency or None,
        bandwidth=None if doubt and line.latency else 1 / line.slope,
        residual=residual,
        doubt=doubt,
    )
