"""A case by itself: its repeats, a further one for each that was disturbed, or repeats until it is known.

All follows from the results on disk alone, so that a killed campaign goes on by the same command.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from mpicampaign.base.expectation import REPEAT_STAGES, UNTIL_KNOWN
from mpicampaign.base.records import DISTURBED
from mpicampaign.schemes.block import AGAIN, LEFT
from mpicampaign.schemes.unit import (
    C,
    CaseDue,
    Due,
    RepeatUnit,
    RequestedRun,
    Results,
    entries,
    limit_in_states,
    limit_of,
    requested_runs,
)


class Repeats(NamedTuple):
    """The repeats of a case: how many are planned, further ones, and how many of all were disturbed.

    ``lost``: of how many the block was left. ``rows``: in which row each is made that stands in for another.
    """

    planned: int
    further: int
    disturbed: int
    lost: int = 0
    rows: Mapping[int, int] = MappingProxyType({})

    @property
    def all(self) -> int:
        return self.planned + self.further


def due(unit: RepeatUnit[C], results: Results) -> Due[C]:
    """The repeats of the only case of a unit."""
    [candidate] = unit.candidates
    requested = requested_runs(results, [candidate])
    # no further repeats are asked for where disturbed runs count, but those that were made do
    made_only = unit.ranked or bool(candidate.not_available)

    def condition_of(number: int) -> str:
        return results.condition_of(candidate.kept, number, candidate.identities[number])

    def repeats_for(planned: int) -> Repeats:
        return repeats_of(planned, limit_of(unit.campaign, planned), condition_of, made_only, requested)

    def is_known(repeats: Repeats) -> bool | None:
        numbers = range(1, repeats.all + 1)
        named = [candidate.identities[number] for number in numbers]
        made = all(map(condition_of, numbers))
        return results.is_known(candidate.kept, candidate.benchmark, named) if made else None

    until_known = unit.entry.repeats == UNTIL_KNOWN
    count = _until_known(repeats_for, is_known) if until_known else repeats_for(unit.planned)
    more = candidate.is_made_here and not unit.ranked
    most = REPEAT_STAGES[-1] if until_known else count.planned
    limit = limit_of if until_known else limit_in_states
    case = CaseDue(
        candidate,
        entries(unit, candidate, count.all, requested),
        count.disturbed,
        addable=max(most + limit(unit.campaign, most) - count.all, 0) if more else 0,
        rows=rows_of_repeats(requested, count.rows),
        stand_ins=count.rows,
    )
    return Due([case])


def rows_of_repeats(requested: Collection[RequestedRun], stand_ins: Mapping[int, int]) -> dict[int, int]:
    """The rows of runs that were requested, and of those that stand in for others."""
    return {run.repeat: run.row for run in requested} | dict(stand_ins)


def _until_known(
    repeats_for: Callable[[int], Repeats], is_known: Callable[[Repeats], bool | None]
) -> Repeats:
    """The repeats up to the stage that is due: the next one follows where the case is not known well enough.

    ``repeats_for``: with further ones, for a planned number. ``is_known``: None while results are missing.
    """
    for planned in REPEAT_STAGES[:-1]:
        repeats = repeats_for(planned)
        if is_known(repeats) is not False:
            return repeats
    return repeats_for(REPEAT_STAGES[-1])


def repeats_of(
    planned: int,
    limit: int,
    condition_of_repeat: Callable[[int], str],
    made_only: bool = False,
    requested: Collection[RequestedRun] = (),
) -> Repeats:
    """A further repeat for each disturbed run, further ones among them, up to the limit.

    ``condition_of_repeat``: empty without a result. ``made_only``: for disturbed runs only further repeats
    that have one. ``requested``: runs beside the planned ones.
    """
    rows = {number: number for number in range(1, planned + 1)} | {run.repeat: run.row for run in requested}
    planned += sum(run.new for run in requested)
    conditions = [condition_of_repeat(repeat) for repeat in range(1, max(planned, *rows) + 1)]
    counts = Counter(conditions)
    while True:
        lost, again = counts[LEFT], counts[AGAIN]
        disturbed, further_repeats = again + counts[DISTURBED], len(conditions) - planned
        enough = further_repeats >= lost + min(limit, disturbed)
        condition = "" if enough else condition_of_repeat(len(conditions) + 1)
        if enough or (made_only and not condition and further_repeats >= lost + min(limit, again)):
            return Repeats(planned, further_repeats, disturbed, lost, _stand_ins(conditions, rows))
        conditions.append(condition)
        counts[condition] += 1


def _stand_ins(conditions: Sequence[str], rows: Mapping[int, int]) -> dict[int, int]:
    """The repeats beyond the ``rows``, each with the row of the one for which it stands in."""
    beyond = iter([number for number in range(1, len(conditions) + 1) if number not in rows])
    stand_ins: dict[int, int] = {}
    for number, condition in enumerate(conditions, start=1):
        if condition in (LEFT, AGAIN, DISTURBED) and (instead := next(beyond, 0)):
            stand_ins[instead] = stand_ins.get(number) or rows.get(number, number)
    return stand_ins
