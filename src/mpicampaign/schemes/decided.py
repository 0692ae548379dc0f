"""Candidates in rows until it is decided which may be the best: at planned looks others leave.

Rows are made by time. Where a run was disturbed, or the machine rested within a row, there are fewer rows
than repeats: then those that are left get further ones.
"""

from __future__ import annotations

from itertools import count, takewhile
from typing import Generic

from mpicampaign.base.expectation import looks_to_decide
from mpicampaign.base.planned_looks import NOTHING_DECIDED
from mpicampaign.schemes.repeats import repeats_of
from mpicampaign.schemes.unit import C, CaseDue, Due, RepeatUnit, Results, entries, limit_of


def due(unit: RepeatUnit[C], results: Results) -> Due[C]:
    """The repeats up to the next look, of those that have not left."""
    here = [candidate for candidate in unit.candidates if candidate.is_made_here]
    decided = results.decided(here, unit.ranked) if len(here) > 1 else NOTHING_DECIDED
    rows = [decided.rows.get(candidate.case, unit.planned) for candidate in unit.candidates]
    repeats = [
        _Repeats(candidate, of_candidate, unit, results)
        for candidate, of_candidate in zip(unit.candidates, rows, strict=True)
    ]
    running = [case for case in repeats if case.candidate.case in decided.running]
    beyond = max((case.beyond for case in running), default=0)
    if decided.lacking and all(case.made >= case.planned + beyond for case in running):
        beyond += decided.lacking
    return Due([case.due(beyond if case in running else case.beyond) for case in repeats])


class _Repeats(Generic[C]):
    """The repeats of a candidate: planned, with those for disturbed runs, and made beyond that."""

    def __init__(self, candidate: C, rows: int, unit: RepeatUnit[C], results: Results) -> None:
        self.candidate, self._unit, self._results = candidate, unit, results
        made_only = unit.ranked or bool(candidate.not_available)
        self._count = repeats_of(rows, limit_of(unit.campaign, rows), self._condition, made_only)
        self.planned = self._count.all
        conditions = (self._condition(number) for number in count(1))
        self.made = sum(1 for _ in takewhile(bool, conditions))
        self.beyond = max(self.made - self.planned, 0)

    def _condition(self, number: int) -> str:
        return self._results.condition_of(self.candidate.kept, number, self.candidate.identities[number])

    def due(self, beyond: int) -> CaseDue[C]:
        """The case, with this number of repeats beyond the planned ones."""
        looks = looks_to_decide(len(self._unit.candidates))
        most = looks[-1] + limit_of(self._unit.campaign, looks[-1])
        last = max(min(self.planned + beyond, most), self.planned, self.made)
        return CaseDue(
            self.candidate,
            entries(self._unit, self.candidate, last, ()),
            self._count.disturbed,
            addable=max(most - last, 0) if self.candidate.is_made_here else 0,
            rows=self._count.rows,
            stand_ins=self._count.rows,
        )
