"""Further repeats: a run that others disturbed is repeated with the next number of its case.

Candidates in blocks are repeated together. Where the machine alternates between states, all cases are, until
each has its repeats in one common state. All follows from the results on disk alone, so that a killed
campaign goes on by the same command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.expectation import REPEAT_STAGES
from mpicampaign.records import DISTURBED

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpicampaign.campaign.model import Benchmark, Campaign
    from mpicampaign.records import Case

# Conditions of a part of a block, beside DISTURBED: all its runs count; one cannot be made; it is repeated,
# up to the limit; it was left and is made anew, however often.
WHOLE, ENDED, AGAIN, LEFT = "whole", "ended", "again", "left"


class Stage(NamedTuple):
    """So many blocks of those candidates of a race, by their places, behind the repeat ``after``.

    ``counted``: the repeats that count so far.
    """

    running: frozenset[int]
    blocks: int
    after: int
    counted: frozenset[int] = frozenset()


class Repeats(NamedTuple):
    """The repeats of a case: how many are planned, further ones, and how many of all were disturbed.

    ``left``: of how many the block was left.
    """

    planned: int
    further: int
    disturbed: int
    left: int = 0

    @property
    def all(self) -> int:
        return self.planned + self.further


class Racer(NamedTuple):
    """A case of a race; ``kept``: the names under which its runs are kept."""

    case: Case
    kept: Case
    benchmark: Benchmark
    identity_of: Callable[[int], str]


class Again(NamedTuple):
    """A node that is measured again, and its controls; ``name``: in place of the group's, `milan:n037`."""

    name: str
    hosts: tuple[str, ...]


if TYPE_CHECKING:
    RacerOf = Callable[[str], Racer]  # of a benchmark on the members of a host group, by their names


class Repeated(NamedTuple):
    """A case as the blocks for states see it.

    ``kept``: the names under which its runs are kept; ``planned``: with those that stand in for blocks that
    were left; ``limit``: of its further repeats; ``identity_of`` a repeat; ``absent``: those without a result
    that are not made.
    """

    case: Case
    kept: Case
    planned: int
    limit: int
    identity_of: Callable[[int], str]
    absent: frozenset[int] = frozenset()


def limit_of(campaign: Campaign, planned: int) -> int:
    """How many further repeats a case may have."""
    return planned if campaign.further_repeats is None else campaign.further_repeats


def limit_in_states(campaign: Campaign, planned: int) -> int:
    """How many there may be where the machine alternates between states: simulated, 18 of 6 are enough."""
    return 2 * planned if campaign.further_repeats is None else campaign.further_repeats


def until_known(repeats_for: Callable[[int], Repeats], is_known: Callable[[Repeats], bool | None]) -> Repeats:
    """The repeats up to the stage that is due: the next one follows where the case is not known well enough.

    ``repeats_for``: with further ones, for a planned number. ``is_known``: None while results are missing.
    """
    for planned in REPEAT_STAGES[:-1]:
        repeats = repeats_for(planned)
        if is_known(repeats) is not False:
            return repeats
    return repeats_for(REPEAT_STAGES[-1])


def repeats_of(
    planned: int, limit: int, condition_of_repeat: Callable[[int], str], made_only: bool = False
) -> Repeats:
    """A further repeat for each disturbed run, further ones among them, up to the limit.

    ``condition_of_repeat``: empty without a result. ``made_only``: for disturbed runs only further repeats
    that have one.
    """
    conditions = [condition_of_repeat(repeat) for repeat in range(1, planned + 1)]
    while True:
        left, again = conditions.count(LEFT), conditions.count(AGAIN)
        disturbed, further = again + conditions.count(DISTURBED), len(conditions) - planned
        if further >= left + min(limit, disturbed):
            return Repeats(planned, further, disturbed, left)
        condition = condition_of_repeat(len(conditions) + 1)
        if made_only and not condition and further >= left + min(limit, again):
            return Repeats(planned, further, disturbed, left)
        conditions.append(condition)
