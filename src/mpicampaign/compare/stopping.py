"""Over launches: whether the repeats are enough, judged at stages of 6, 10, 15 and 20 of them.

A case is known well enough when the order-statistic interval of its median extends at most 5 % to each side.
Several stages, with a stop as soon as one suffices, have less confidence than each states. So the stages
after the first ask for more (97.5 %), and `STOPPED_COVERAGE` is stated for them: at least this share of last
intervals, at the stop or after 20 repeats, holds the true median in simulations
(``tests/test_statistics.py::test_coverage_after_stopping``, marked full). Where the scatter is so large
(10 %) that few cases stop at all (4 %), a stop is luck: only 83 % of those intervals hold it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mpicampaign.base.expectation import REPEAT_STAGES
from mpicampaign.base.records import Record
from mpicampaign.statistics.medians import Interval, median, order_statistic_interval

ENOUGH = 0.05  # of the median, on either side
_FIRST, _LATER = 0.95, 0.975
# Over normal, exponential, log-normal and two-mode repeats with scatters from 0.5 to 30 %.
STOPPED_COVERAGE = 0.96


@dataclass(frozen=True, slots=True)
class InterimPrecision:
    """The repeats so far. ``reach``: relative distance from the median to the further end of the interval."""

    n: int
    interval: Interval | None
    reach: float | None
    enough: bool
    next_stage: int | None

    @property
    def coverage(self) -> float | None:
        """The confidence of the interval, less for earlier stages."""
        if self.interval is None or self.n <= REPEAT_STAGES[0]:
            return self.interval.coverage if self.interval else None
        return min(self.interval.coverage, STOPPED_COVERAGE)


def precision(values: Sequence[float]) -> InterimPrecision:
    """Whether to stop with these repeats, one value each.

    Raises
    ------
    ValueError
        when there is no value, or one is not finite.
    """
    n = len(values)
    interval = order_statistic_interval(values, _FIRST if n <= REPEAT_STAGES[0] else _LATER)
    middle = median(values)
    reach = None
    if interval is not None and middle > 0:
        reach = max(interval.high - middle, middle - interval.low) / middle
    enough = n >= REPEAT_STAGES[0] and reach is not None and reach <= ENOUGH
    return InterimPrecision(
        n, interval, reach, enough, next((count for count in REPEAT_STAGES if count > n), None)
    )


def is_known(records: Sequence[Record]) -> bool:
    """Whether the repeats of one case are enough for each metric that is ranked."""
    from mpicampaign.compare.compare import compare

    cells = [cell for table in compare(records).tables for row in table.rows for cell in row.cells]
    ranked = [cell for cell in cells if cell.metric.headline]
    return bool(ranked) and all(bool(cell.values) and precision(cell.values).enough for cell in ranked)
