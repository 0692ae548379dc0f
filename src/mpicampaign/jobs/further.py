"""Further repeats: a run that others disturbed is repeated with the next number of its case.

They follow from the results on disk alone, so that a killed campaign goes on by the same command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.records import DISTURBED, RANKED

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpicampaign.campaign.model import Campaign, MatrixEntry
    from mpicampaign.records import Case


class Repeats(NamedTuple):
    """The repeats of a case: how many are planned, further ones, and how many of all were disturbed."""

    planned: int
    further: int
    disturbed: int

    @property
    def all(self) -> int:
        return self.planned + self.further


def no_results(_case: Case, _repeat: int, _identity: str) -> str:
    """The conditions of a campaign without results."""
    return ""


def limit_of(campaign: Campaign, entry: MatrixEntry) -> int:
    """How many further repeats a case may have; none where disturbed runs count."""
    if campaign.busy_machine == RANKED:
        return 0
    return entry.repeats if campaign.further_repeats is None else campaign.further_repeats


def repeats_of(planned: int, limit: int, condition_of_repeat: Callable[[int], str]) -> Repeats:
    """A further repeat for each disturbed run, further ones among them, up to the limit."""
    total = disturbed = seen = 0
    if limit:
        total = planned
    while seen < total:
        seen += 1
        disturbed += condition_of_repeat(seen) == DISTURBED
        total = planned + min(limit, disturbed) if seen >= planned else total
    return Repeats(planned, max(total - planned, 0), disturbed)
