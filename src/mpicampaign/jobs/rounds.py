"""The rounds of a case that is measured on each node, or on each pair, of its host group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import Case
from mpicampaign.base.text import counted
from mpicampaign.jobs.run import Run

WAITS = "a job waits until all its nodes are free"


def steps_of(runs: Iterable[Run]) -> list[list[Run]]:
    """The runs that are started at once, in the order of the rounds: no more than the campaign allows."""
    steps = []
    of_rounds = grouped(
        sorted(runs, key=lambda run: (run.round, run.order)), lambda run: (run.round, run.whole)
    )
    for _, several in sorted(of_rounds.items(), key=lambda item: (item[0][0], item[1][0].order)):
        at_once = (several[0].each and several[0].each.at_once) or len(several)
        count = -(-len(several) // at_once)
        steps += [several[number::count] for number in range(count)]
    return steps


class Rounds(NamedTuple):
    """``case``: of the whole host group; ``members``: how many nodes or pairs it has."""

    case: Case
    unit: str
    members: int
    runs: tuple[Run, ...]
    not_available: str = ""

    def only(self, identities: Collection[str]) -> Rounds:
        """The rounds with these runs alone."""
        return self._replace(runs=tuple(run for run in self.runs if run.identity in identities))

    def __str__(self) -> str:
        """``milan NODE stream: 64 nodes, 2 rounds of at most 64: 128 runs, at most 21.33 node-hours``."""
        case, members = self.case, counted(self.members, self.unit)
        name = f"{case.host_group} {case.placement} {case.benchmark}: {members}"
        if self.not_available:
            return f"{name}: n/a: {self.not_available}"
        sizes = Counter(run.round for run in self.runs)
        rounds = f"{counted(len(sizes), 'round')} of at most {max(sizes.values(), default=0)}"
        hours = sum(run.node_seconds for run in self.runs) / 3600
        waits = f"; {WAITS}" if any(run.waits_for_all for run in self.runs[:1]) else ""
        return f"{name}, {rounds}: {len(self.runs)} runs, at most {hours:.2f} node-hours{waits}"
