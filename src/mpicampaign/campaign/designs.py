"""Block designs: the cases of a matrix entry that are measured side by side, with `blocks`.

A block is one repeat of them all, on the same nodes. Cases share a design if they are on one host group of
one defined system, with whichever of its MPI libraries, and take as many nodes.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.base.expectation import UNTIL_DECIDED
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import RACE_WITHIN, TO_DECIDE, Case, defined_name
from mpicampaign.base.text import counted

if TYPE_CHECKING:
    from mpicampaign.campaign.model import Campaign, MatrixEntry, Race

_NAMED = 3  # candidates in a design's name


class Design(NamedTuple):
    """Cases in blocks; ``candidates``: those of each benchmark, by its defined name, the reference first."""

    name: str
    compared: str
    nodes: int
    candidates: dict[str, list[Case]]


def cases_of(campaign: Campaign, entry: MatrixEntry) -> list[Case]:
    """The cases of an entry of the matrix."""
    return [
        Case(campaign.host_groups[group].system, group, placement, benchmark)
        for group in entry.host_groups
        for placement in entry.placements
        for benchmark in entry.benchmarks
    ]


def designs_of(campaign: Campaign, entry: MatrixEntry, taken: Collection[str] = ()) -> list[Design]:
    """The block designs of an entry; their names are none of those that are ``taken``."""
    designs: list[Design] = []

    def together(case: Case) -> tuple[object, ...]:
        return *case.machine, campaign.placements[case.placement].nodes

    cases = cases_of(campaign, entry) if entry.blocks else []
    for (_, group, nodes), alike in grouped(cases, together).items():
        first = _name(str(group), alike, int(str(nodes)))
        used = {*taken, *(design.name for design in designs)}
        name = next(
            free_name
            for free_name in (first, *(f"{first} ({n})" for n in range(2, 1000)))
            if free_name not in used
        )
        candidates = grouped(alike, lambda case: defined_name(case.benchmark))
        compared = TO_DECIDE if entry.repeats == UNTIL_DECIDED else entry.blocks
        compared = _race_rules(campaign, entry.race, alike[0].machine) if entry.race else compared
        designs.append(Design(name, compared, int(str(nodes)), candidates))
    return designs


def decided_together(campaign: Campaign, entry: MatrixEntry) -> list[list[Case]]:
    """The cases of an entry outside blocks, those together of which `until decided` finds the best.

    They differ in placement and MPI library, and have as many ranks.
    """

    def alike(case: Case) -> tuple[object, ...]:
        return case.machine, case.benchmark, campaign.placements[case.placement].ranks

    return list(grouped(cases_of(campaign, entry), alike).values())


def _race_rules(campaign: Campaign, race: Race, machine: tuple[str, str]) -> str:
    """The races of a host group share one error, since a job there may load the settings of all."""
    races = {
        (place, campaign.placements[case.placement].nodes)
        for place, entry in enumerate(campaign.matrix)
        if entry.race
        for case in cases_of(campaign, entry)
        if case.machine == machine
    }
    return f"{RACE_WITHIN}{race.tolerance:.6f}" + (f", one of {len(races)}" if len(races) > 1 else "")


def _name(group: str, cases: list[Case], nodes: int) -> str:
    """``milan TCP, TCP with openmpi5, 2 nodes``."""
    names = list(dict.fromkeys(" with ".join(filter(None, (case.placement, case.library))) for case in cases))
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return f"{group} {', '.join([*names[:_NAMED], *more])}, {counted(nodes, 'node')}"
