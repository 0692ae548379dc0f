"""Candidates that are repeated until it is decided which may be the best: what the planned looks showed.

Each look takes the first rows, by the times of the runs, of those that have not left. What decides is the
first metric that is ranked. A candidate that never gave a value is out: the others do not wait for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from statistics import fmean

import numpy as np

from mpicampaign.base.expectation import LOOKS, looks_to_decide
from mpicampaign.base.grouping import grouped
from mpicampaign.base.planned_looks import Decided, Stage
from mpicampaign.base.presentation import TABLE_SIZES
from mpicampaign.base.records import DECIDED_IN_BLOCKS, DECIDED_WITH, LOOKS_SINCE, Case, Record
from mpicampaign.compare.candidates import (
    MeasuredSeries,
    candidate_names,
    gave_nothing,
    measured_series,
    series_label,
)
from mpicampaign.compare.metrics import Metric, choose_metrics
from mpicampaign.compare.rows import Row
from mpicampaign.compare.timed_runs import seconds, timed_run
from mpicampaign.verdicts.compare import PairVerdict
from mpicampaign.verdicts.looks import OF_LOOK, Decision, LookedAt, look_by_look, pairs_at_looks
from mpicampaign.verdicts.rows import TimedRun, rows_of
from mpicampaign.verdicts.smallest import smallest_difference, spread_of


@dataclass(frozen=True)
class ByLooks:
    """Candidates that share rows, and what the looks at these decided.

    ``cases``: of the ``candidates`` those with values; ``out``: the others. ``by``: the metric that decides;
    ``None`` before any value. ``runs``: of each case, those that count. ``were_planned``: whether the looks
    were planned before the first run.
    """

    candidates: tuple[Case, ...]
    cases: tuple[Case, ...]
    out: tuple[Case, ...]
    by: MeasuredSeries | None
    runs: tuple[tuple[TimedRun, ...], ...]
    were_planned: bool

    @cached_property
    def _looked(self) -> LookedAt:
        k, after = len(self.cases), -math.inf
        if k < 2:
            nothing = Decision((), tuple(range(k)), 0, looks_to_decide(2)[0], {})
            return LookedAt(np.empty((0, k, 1)), nothing, [])
        of_places = {
            self.candidates.index(case): runs for case, runs in zip(self.cases, self.runs, strict=True)
        }

        def rows_behind(running: list[int], _repeat: int, due: int) -> tuple[Iterable[int], np.ndarray]:
            nonlocal after  # by the times of the runs: rows may mix repeats
            later = [[run for run in of_places[place] if (run.begin or 0.0) > after] for place in running]
            rows = rows_of(later, range(len(running)))[:due]
            after = max(run.begin or 0.0 for run in rows[-1]) if rows else after
            costs = np.array([[run.cost for run in row] for row in rows]).reshape(-1, len(running), 1)
            return (run.order for row in rows for run in row), costs

        return look_by_look(list(of_places), 1, rows_behind)

    @property
    def decision(self) -> Decision:
        """What the last look decided."""
        return self._looked.decision

    @property
    def stages(self) -> list[Stage]:
        """The stages so far, and the one that is due."""
        everyone = frozenset(range(len(self.candidates)))
        return self._looked.stages or [
            Stage(everyone, looks_to_decide(max(len(everyone), 2))[0], 0, frozenset())
        ]

    @property
    def rows(self) -> int:
        """How many rows the remaining candidates have so far."""
        return len(self._looked.costs)

    @property
    def ended(self) -> bool:
        """Whether nothing more is due."""
        return len(self.cases) < 2 or not self.decision.running

    @property
    def due(self) -> Decided:
        """How many rows there should be."""
        decision, first = self.decision, looks_to_decide(max(len(self.cases) + len(self.out), 2))[0]
        last = decision.due if self.cases else first
        rows = {case: decision.left_after.get(place, last) for place, case in enumerate(self.cases)}
        running = frozenset(self.cases[place] for place in decision.running)
        lacking = 0 if self.ended else decision.due - self.rows
        return Decided({**dict.fromkeys(self.out, first), **rows}, running, lacking)

    @cached_property
    def p(self) -> Mapping[tuple[Case, Case], float]:
        """The p of each pair, corrected for all pairs and looks so far; empty before the first look."""
        pairs = pairs_at_looks(self._looked.costs, self.decision) if self.decision.rows else {}
        return {(self.cases[a], self.cases[b]): p for (a, b), p in pairs.items()}

    def decides(self, row: Row, metric: Metric) -> bool:
        """Whether it is by this metric of the row."""
        if self.by is None or metric != self.by.metric:
            return False
        return series_label(row.case, row.label) == self.by.label and row.ranks in (self.by.ranks, None)

    def is_about(self, row: Row, metric: Metric) -> bool:
        """Whether it says what this metric of the row shows: before the first look nothing else does."""
        return row.case in self.cases and (not self.decision.rows or self.decides(row, metric))

    def seen(self, metric: Metric, rows: Sequence[Row], pair: PairVerdict) -> tuple[float | None, int, bool]:
        """The p of two, in how many rows, and whether the worse one left.

        Of other metrics its own, corrected for the number of looks: nobody leaves by them. Nothing is shown
        where the better one left, and the other did not.
        """
        better, worse = rows[pair.better].case, rows[pair.worse].case
        if not self.decides(rows[pair.better], metric):
            return None if pair.p is None else min(pair.p * len(LOOKS), 1.0), pair.rows, False
        p = next((self.p[both] for both in ((better, worse), (worse, better)) if both in self.p), None)
        seen = min(self.left.get(case, self.decision.rows) for case in (better, worse))
        turns = p is not None and better in self.left and worse not in self.left
        return 1.0 if turns else p, seen, worse in self.left

    @property
    def remaining(self) -> tuple[Case, ...]:
        """The candidates that may be the best, the best first."""
        if not self.decision.cells:
            return self.cases
        [cell] = self.decision.cells
        first = sorted(cell.remaining, key=lambda place: place != cell.best)
        return tuple(self.cases[place] for place in first)

    @property
    def left(self) -> Mapping[Case, int]:
        """After how many rows others left."""
        return {self.cases[place]: rows for place, rows in self.decision.left_after.items()}

    @property
    def smallest_seen(self) -> float | None:
        """The smallest difference of those that remain that the last look finds in 8 of 10 cases."""
        costs, decision, _ = self._looked
        pairs = [*combinations(decision.cells[0].remaining, 2)] if decision.rows else []
        if not pairs:
            return None
        seen = costs[: decision.rows, :, 0]
        spread = fmean(spread_of(seen[:, b] - seen[:, a]) for a, b in pairs)
        level = 1 - (1 - OF_LOOK) ** min(2 / len(decision.cells[0].remaining), 1)
        return smallest_difference(decision.rows, spread, level, within=True) or None

    @property
    def names(self) -> Mapping[Case, str]:
        """The name of each candidate, by what it differs in; also of those that left."""
        return candidate_names([*self.cases, *self.out])


def decided(records: Iterable[Record]) -> tuple[ByLooks, ...]:
    """All decisions; the records are those of all planned runs, in the plan's order."""
    looked_at = (record for record in records if DECIDED_WITH in record.metadata)
    together = grouped(looked_at, lambda record: (record.case.machine, record.metadata[DECIDED_WITH]))
    return tuple(decide_by(list(grouped(runs, lambda run: run.case).values())) for runs in together.values())


def decide_by(candidates: Sequence[Sequence[Record]]) -> ByLooks:
    """The looks at the runs of each candidate."""
    having = [runs for runs in candidates if not gave_nothing(runs)]
    measured = measured_series(having, partial(choose_metrics, wanted=TABLE_SIZES))
    headlines = (series for series in measured if series.metric.headline)
    ranked = next((series for series in headlines if series.metric.lower_is_better is not None), None)
    since = seconds(candidates[0][0].metadata.get(LOOKS_SINCE, ""))
    begins = [begin for runs in candidates for run in runs if (begin := seconds(run.started)) is not None]
    return ByLooks(
        tuple(runs[0].case for runs in candidates),
        tuple(runs[0].case for runs in having),
        tuple(runs[0].case for runs in candidates if gave_nothing(runs)),
        ranked,
        tuple(tuple(_timed(runs, place, ranked)) if ranked else () for place, runs in enumerate(having)),
        not begins or (since is not None and since <= min(begins)),
    )


def _timed(runs: Sequence[Record], place: int, ranked: MeasuredSeries) -> Iterable[TimedRun]:
    """The runs of a candidate that count, with their costs."""
    values = ranked.values[place]
    for run in (run for run in runs if run.repeat in values and not run.disturbed):
        block = str(run.repeat) if DECIDED_IN_BLOCKS in run.metadata else ""
        timed = timed_run(run, ranked.metric.cost(values[run.repeat]))
        yield timed._replace(allocation=block, order=run.repeat, looks=0)
