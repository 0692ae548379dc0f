"""Further repeats: a run that others disturbed is repeated with the next number of its case.

Where the machine alternates between states, all cases are repeated together, in whole blocks, until each has
its repeats in one common state. Both follow from the results on disk alone, so that a killed campaign goes on
by the same command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.expectation import REPEAT_STAGES
from mpicampaign.records import DISTURBED

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpicampaign.campaign.model import Campaign
    from mpicampaign.records import Case


class Repeats(NamedTuple):
    """The repeats of a case: how many are planned, further ones, and how many of all were disturbed."""

    planned: int
    further: int
    disturbed: int

    @property
    def all(self) -> int:
        return self.planned + self.further


class Repeated(NamedTuple):
    """A case as the blocks for states see it.

    ``kept``: the names under which its runs are kept; ``limit``: of its further repeats; ``identity_of`` a
    repeat.
    """

    case: Case
    kept: Case
    planned: int
    limit: int
    identity_of: Callable[[int], str]


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

    ``condition_of_repeat``: empty without a result. ``made_only``: only further repeats that have one.
    """
    conditions = [condition_of_repeat(repeat) for repeat in range(1, planned + 1)]
    while len(conditions) - planned < min(limit, conditions.count(DISTURBED)):
        condition = condition_of_repeat(len(conditions) + 1)
        if made_only and not condition:
            break
        conditions.append(condition)
    return Repeats(planned, len(conditions) - planned, conditions.count(DISTURBED))
