"""What changed since an earlier series: the same campaign on another date.

Values are matched by case, series label, number of ranks and metric; no others are compared.
`mpicampaign.statistics.medians.difference` judges whether a change is real, or the repeats are too few.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.compare.compare import compare
from mpicampaign.errors import Problem, UserError
from mpicampaign.records import OK, RECORDS, read_records, write_records
from mpicampaign.statistics.medians import difference

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Cell, Row
    from mpicampaign.compare.tables import Comparison
    from mpicampaign.records import Record
    from mpicampaign.statistics.medians import Difference

EARLIER_FILE = "earlier.jsonl"  # beside records.jsonl

_Key = tuple[object, ...]


class Change(NamedTuple):
    """A metric and its earlier value; the difference's ratio is median now / median then."""

    earlier: Cell
    difference: Difference


@dataclass(frozen=True, slots=True)
class Changes:
    """All values of an earlier series, found by those of the later one; ``since``: the day it ended."""

    since: str
    _cells: dict[_Key, Cell]

    def of(self, row: Row, metric: Metric) -> Change | None:
        """How a metric changed; ``None`` where either series lacks it."""
        now, earlier = row.cell(metric), self._cells.get(_key(row, metric))
        if row.disturbed or earlier is None or not earlier.values or not now.values:
            return None
        return Change(earlier, difference(earlier.values, now.values))


def changes_since(earlier: Comparison) -> Changes:
    """The values of an earlier series, to look up those of a later one."""
    rows = [row for table in earlier.tables for row in table.rows if not row.disturbed]
    cells = {_key(row, cell.metric): cell for row in rows for cell in row.cells}
    return Changes(_last_start(earlier.records)[:10], cells)


def earlier_series(folder: Path, sizes: Sequence[int]) -> Changes | None:
    """The runs that those of a campaign's folder replaced, if there are any; sizes in B."""
    path = folder / EARLIER_FILE
    if not path.is_file():
        return None
    return changes_since(compare(read_records(path)[1], sizes))


def keep_earlier(folder: Path, now: Sequence[Record], lines: Collection[str]) -> None:
    """Before the records are rewritten, keep the complete runs that runs of a later day have replaced.

    Each case and repeat is kept once, in its last state. An unreadable records file has no series.

    Parameters
    ----------
    lines : those of the records now: old ones that are among them were not replaced
    """
    path, kept = folder / RECORDS, folder / EARLIER_FILE
    try:
        header, old = read_records(path, without=set(lines))
    except (FileNotFoundError, UserError):
        return
    days = {(run.case, run.repeat): run.started[:10] for run in now if run.status == OK}
    replaced = [r for r in old if r.status == OK and "" < r.started[:10] < days.get((r.case, r.repeat), "")]
    if replaced:
        before = read_records(kept)[1] if kept.is_file() else []
        write_records(kept, header, {(r.case, r.repeat): r for r in (*before, *replaced)}.values())


def check_earlier(file: str, now: Sequence[Record], earlier: Sequence[Record]) -> None:
    """Refuse a series that is not an earlier one.

    Raises
    ------
    UserError
        when it holds the very same runs, or its last run began after that of the later series.
    """
    if _runs(earlier) and _runs(earlier) == _runs(now):
        raise UserError(Problem("these are the same runs, no earlier series", file=file))
    if _last_start(earlier) > _last_start(now):
        message = f"its last run began at {_last_start(earlier)}, that of this series at {_last_start(now)}"
        raise UserError(Problem(message, file=file, hint="give the earlier series to --since"))


def _key(row: Row, metric: Metric) -> _Key:
    return (row.case, row.label, row.ranks, metric.column, metric.size, metric.baseline, metric.bound)


def _last_start(records: Sequence[Record]) -> str:
    """When the last complete run began (UTC, ISO 8601); empty if none is known."""
    return max((record.started for record in records if record.status == OK), default="")


def _runs(records: Sequence[Record]) -> set[tuple[object, ...]]:
    return {(r.case, r.repeat, r.started, r.identity, r.job_id) for r in records if r.status == OK}
