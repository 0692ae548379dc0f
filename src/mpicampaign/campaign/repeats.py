"""Repeats that are asked for, and what they can decide between so many candidates."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.base.errors import Problem
from mpicampaign.base.expectation import FEWEST_REPEATS, UNTIL_KNOWN, fewest_repeats
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import Case
from mpicampaign.base.yaml_lines import Key, lookup
from mpicampaign.campaign.designs import cases_of

if TYPE_CHECKING:
    from mpicampaign.campaign.model import Campaign


class _Asked(NamedTuple):
    """A case, how many repeats of it are asked for, and where that stands in the file."""

    case: Case
    repeats: int
    place: Key


def too_few(campaign: Campaign) -> list[Problem]:
    """A warning at each number of repeats that cannot decide between the candidates it is asked for."""
    most: dict[tuple[Key, int], int] = {}  # candidates that are compared, by the repeats
    for candidates in _rankings(campaign):
        for place_and_repeats in dict.fromkeys((asked.place, asked.repeats) for asked in candidates):
            most[place_and_repeats] = max(most.get(place_and_repeats, 0), len(candidates))
    return [
        campaign.document.problem(place, *_said(repeats, count))
        for (place, repeats), count in most.items()
        if count > 1 and repeats < fewest_repeats(count)
    ]


def _said(repeats: int, candidates: int) -> tuple[str, str, str]:
    """The message, the value, and what to ask for."""
    if repeats < FEWEST_REPEATS:
        message = f"too few repeats to compare {candidates} candidates"
    else:
        message = f"no difference between {candidates} candidates can be shown unless all repeats agree"
    hint = f"ask for {fewest_repeats(candidates)} repeats, and for more to find a small difference"
    return message, str(repeats), hint


def _rankings(campaign: Campaign) -> Iterator[list[_Asked]]:
    """The cases that are compared with each other: they differ in placement, in library or in host group."""
    asked = list(_asked(campaign))

    def ranks(one: _Asked) -> object:
        return campaign.placements[one.case.placement].ranks

    for common in ("system", "host_group"), ("placement", "machine"), ("placement", "library"):
        in_common = attrgetter("case.benchmark", *(f"case.{name}" for name in common))
        yield from grouped(asked, lambda one: (in_common(one), ranks(one))).values()  # noqa: B023


def _asked(campaign: Campaign) -> Iterator[_Asked]:
    """Cases with a number of repeats; blocks have a rule of their own."""
    for index, entry in enumerate(campaign.matrix):
        if entry.blocks or entry.each or entry.repeats <= UNTIL_KNOWN:
            continue
        own_key: Key = ("matrix", index, "repeats")
        place = ("repeats",) if lookup(campaign.document.data, own_key) is None else own_key
        yield from (_Asked(case, entry.repeats, place) for case in cases_of(campaign, entry))
