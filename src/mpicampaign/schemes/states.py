"""Further repeats of all cases where the machine moves between states, until each has its repeats in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mpicampaign.base.plan_file import RunEntry
from mpicampaign.base.records import Case
from mpicampaign.campaign.model import Campaign
from mpicampaign.schemes.unit import C, CaseDue, CaseInStates, Results, limit_in_states


def further_in_states(
    campaign: Campaign, cases: Sequence[CaseDue[C]], results: Results
) -> Mapping[Case, int]:
    """How many further repeats there are of each case that is made here, members and races apart."""
    return results.blocks([_in_states(campaign, case) for case in cases])


def extended(case: CaseDue[C], count: int) -> CaseDue[C]:
    """The case with so many further repeats, those that it has for disturbed runs among them."""
    planned = sum(not run.further for run in case.repeats)
    identities = case.candidate.identities
    more = tuple(
        RunEntry(n, identities[n], further=True, left=case.closes(n))
        for n in range(len(case.repeats) + 1, planned + case.lost + count + 1)
    )
    return replace(case, repeats=(*case.repeats, *more), addable=max(case.addable - len(more), 0))


def _in_states(campaign: Campaign, case: CaseDue[C]) -> CaseInStates:
    planned = sum(not run.further for run in case.repeats)
    limit = limit_in_states(campaign, planned)
    absent = frozenset(filter(case.closes, range(1, len(case.repeats) + limit + 1)))
    candidate = case.candidate
    identity_of = candidate.identities.__getitem__
    return CaseInStates(candidate.case, candidate.kept, planned + case.lost, limit, identity_of, absent)
