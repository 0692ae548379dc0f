"""Benchmarks on each member of a host group, in rounds; then on nodes that are measured again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Generic

from mpicampaign.base.grouping import grouped
from mpicampaign.base.plan_file import RunEntry
from mpicampaign.base.records import defined_name
from mpicampaign.base.waves import ROUNDS, WaveScreen
from mpicampaign.campaign.each import SCREEN, GroupMember, hosts_of, screen
from mpicampaign.schemes.unit import C, CaseDue, Due, RepeatUnit, Results

if TYPE_CHECKING:
    from mpicampaign.campaign.model import Each

REPEATS_AGAIN = 1000  # more than a member has rounds: those of a node that is measured again come behind them


def due(unit: RepeatUnit[C], each: Each, results: Results) -> Due[C]:
    """The rounds of all members, and of each node that is measured again beside its controls."""
    group = unit.campaign.host_groups[unit.candidates[0].case.host_group]
    cases = [*_on_hosts(unit, each, results, unit.candidates, hosts_of(group), 0)]
    for number, again in enumerate(results.again(), start=1):
        if again.name.partition(":")[0] == defined_name(group.name):
            named = [candidate.named(again.name) for candidate in unit.candidates]
            cases += _on_hosts(unit, each, results, named, again.hosts, number * REPEATS_AGAIN)
    return Due(cases)


def _on_hosts(
    unit: RepeatUnit[C],
    each: Each,
    results: Results,
    benchmarks: Sequence[C],
    hosts: Sequence[str],
    earlier: int,
) -> Iterator[CaseDue[C]]:
    """Benchmarks on each of these hosts, or their pairs, in the rounds that are due by the results.

    ``earlier``: how many repeats were left to earlier rounds.
    """
    rounds = screen(hosts, each.unit, unit.campaign.seed)
    first = {number: [member.name for member in rounds[number]] for number in rounds}
    waves = _waves(first, results.waves(benchmarks[0].case), earlier)
    on = [_OnMembers(candidate) for candidate in benchmarks]
    available = [members.__getitem__ for members in on if members.candidate.is_made_here]
    due = (results.rounds if available else partial(Results.rounds, results))(each, waves, available)
    runs = grouped((run for wave in waves for run in wave.numbered(due)), itemgetter(0))
    for members in on:
        for name, of_member in runs.items():
            member = members[name]
            repeats = tuple(
                RunEntry(
                    repeat, member.identities[repeat], further=number % ROUNDS > len(rounds), round=number
                )
                for _, number, repeat in of_member
            )
            stopped = _stopped(member, results, unit.entry.time_limit)
            yield CaseDue(member, repeats, closes=stopped, whole=members.candidate.case)


def _waves(
    first: Mapping[int, Collection[str]], further: Sequence[Mapping[str, int]], earlier: int
) -> list[WaveScreen]:
    waves = [WaveScreen(first, {name: earlier for names in first.values() for name in names})]
    for number, before in enumerate(further, start=1):
        numbers = range(number * ROUNDS + 1, number * ROUNDS + SCREEN + 1)
        waves.append(WaveScreen(dict.fromkeys(numbers, tuple(before)), before))
    return waves


def _stopped(member: C, results: Results, time_limit: int) -> Callable[[int], bool]:
    def is_stopped(repeat: int) -> bool:
        identity = member.identities[repeat]
        return results.is_stopped(member.kept, repeat, identity, member.benchmark, time_limit)

    return is_stopped


class _OnMembers(dict[str, C], Generic[C]):
    """A case on the members of its host group, by their names."""

    def __init__(self, candidate: C) -> None:
        super().__init__()
        self.candidate = candidate

    def __missing__(self, name: str) -> C:
        self[name] = self.candidate.on(GroupMember(tuple(name.split("+"))))
        return self[name]
