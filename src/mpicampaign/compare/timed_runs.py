"""The runs behind a cell with the times at which they began: what a verdict on several rows is made of."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache

from mpicampaign.base.records import BLOCK, Record
from mpicampaign.compare.rows import Cell, Row
from mpicampaign.verdicts import compare as verdicts
from mpicampaign.verdicts.rows import TimedRun


def timed_runs(row: Row, cell: Cell, logarithms: bool = True) -> list[TimedRun]:
    """The runs that gave the cell's values, each with its cost: what should be low.

    Parameters
    ----------
    logarithms : of the values, which are positive; else the values themselves
    """
    metric, records = cell.metric, {record.repeat: record for record, _ in row.curves}
    of_plain = float if metric.lower_is_better else operator.neg
    cost = metric.cost if logarithms else of_plain
    return [timed_run(records[repeat], cost(value)) for repeat, value in cell.by_repeat.items()]


def why_untested(pairs: Iterable[tuple[Row, Row]]) -> str:
    """Why no test over pairs is valid; empty where one is."""

    def runs(row: Row) -> list[TimedRun]:
        timed = (timed_run(record, 0.0) for record, _ in row.curves)
        return [run._replace(allocation="") for run in timed]  # host groups share none

    return verdicts.why_untested((runs(row), runs(other)) for row, other in pairs)


def timed_run(record: Record, cost: float) -> TimedRun:
    """A run with its begin; candidates of a block only stand beside those of its allocation."""
    allocation = record.job_id if BLOCK in record.metadata else ""
    return TimedRun(seconds(record.started), cost, allocation, record.order or 0, record.looks)


@lru_cache(maxsize=20_000)
def seconds(time: str) -> float | None:
    """Since the epoch, of ISO 8601; ``None`` where that is unknown. Without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(time)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
