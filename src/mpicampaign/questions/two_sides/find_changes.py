"""What changed since an earlier series: the same campaign on another date.

Values are matched by case, series label, number of ranks, metric and state of the machine; no others are
compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.records import EARLIER_FILE, OK, RECORDS, STATE, read_records, write_records
from mpicampaign.compare.compare import compare
from mpicampaign.compare.states import NOT_PROBED, UNKNOWN, states_of_both
from mpicampaign.questions.two_sides.find import both_sides

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from mpicampaign.base.records import Record
    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Cell, Row
    from mpicampaign.compare.states import States
    from mpicampaign.questions.two_sides.find import Both

_Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """All values of an earlier series, found by those of the later one; ``since``: the day it ended."""

    since: str
    _cells: dict[_Key, tuple[Row, Cell]]
    _states: States

    def of(self, row: Row, metric: Metric) -> Both | None:
        """How a metric changed; ``None`` where either series lacks it."""
        now, earlier = row.cell(metric), self._cells.get(_key(row, metric, self._states))
        return both_sides(earlier, (row, now)) if earlier and now.values and not row.disturbed else None


def changes_since(earlier: Sequence[Record], now: Sequence[Record], sizes: Sequence[int]) -> Changes:
    """The values of an earlier series, to look up those of a later one; sizes in B."""
    states = states_of_both(earlier, now)
    every = (row for table in compare(earlier, sizes).tables for row in table.rows)
    rows = [row for row in every if not (row.disturbed or _state(row) in (UNKNOWN, NOT_PROBED))]
    cells = {_key(row, cell.metric, states): (row, cell) for row in rows for cell in row.cells if cell.values}
    return Changes(_last_start(earlier)[:10], cells, states)


def earlier_series(folder: Path, now: Sequence[Record], sizes: Sequence[int]) -> Changes | None:
    """The runs that those of a campaign's folder replaced, if there are any; sizes in B."""
    path = folder / EARLIER_FILE
    return changes_since(read_records(path)[1], now, sizes) if path.is_file() else None


def keep_earlier(folder: Path, now: Sequence[Record], lines: Collection[bytes]) -> None:
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


def _key(row: Row, metric: Metric, states: States) -> _Key:
    """``states``: of both series; each names its own, and one of them without its name."""
    case, name = row.case, _state(row)
    place = case.system, case.host_group, case.placement.replace(f" ({name})", ""), case.benchmark
    state = name if name in (UNKNOWN, NOT_PROBED) else frozenset(states.name_of(run) for run, _ in row.curves)
    return (*place, state, row.label, row.ranks, metric.column, metric.size, metric.baseline, metric.bound)


def _state(row: Row) -> str:
    """Its state's name, where that is part of its placement's."""
    return next((run.metadata[STATE] for run, _ in row.curves if STATE in run.metadata), "")


def _last_start(records: Sequence[Record]) -> str:
    """When the last complete run began (UTC, ISO 8601); empty if none is known."""
    return max((record.started for record in records if record.status == OK), default="")


def _runs(records: Sequence[Record]) -> set[tuple[object, ...]]:
    return {(r.case, r.repeat, r.started, r.identity, r.job_id) for r in records if r.status == OK}
