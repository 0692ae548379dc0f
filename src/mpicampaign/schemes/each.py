"""Benchmarks on each member of a host group, in rounds; then on nodes that are measured again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache

from mpicampaign.base.plan_file import RunEntry
from mpicampaign.base.records import defined_name
from mpicampaign.base.waves import ROUNDS
from mpicampaign.campaign.each import GroupMember, hosts_of, screen
from mpicampaign.campaign.model import Each
from mpicampaign.schemes.unit import C, CaseDue, Due, RepeatUnit, Results

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
    due: Mapping[int, Collection[str]] = {n: [member.name for member in rounds[n]] for n in rounds}
    on = [_on_members(candidate) for candidate in benchmarks]
    if available := [of for of, candidate in zip(on, benchmarks, strict=True) if candidate.is_made_here]:
        due = results.rounds(each, due, available, earlier)
    rounds_of: dict[str, list[int]] = {}
    for number, name in ((n, name) for n in sorted(due) for name in due[n]):
        rounds_of.setdefault(name, []).append(number)
    for members in on:
        for name, numbers in rounds_of.items():
            member = members(name)
            repeats = tuple(
                RunEntry(
                    repeat, member.identities[repeat], further=number % ROUNDS > len(rounds), round=number
                )
                for repeat, number in enumerate(numbers, start=earlier + 1)
            )
            stopped = _stopped(member, results, unit.entry.time_limit)
            yield CaseDue(member, repeats, closes=stopped)


def _stopped(member: C, results: Results, time_limit: int) -> Callable[[int], bool]:
    def is_stopped(repeat: int) -> bool:
        identity = member.identities[repeat]
        return results.is_stopped(member.kept, repeat, identity, member.benchmark, time_limit)

    return is_stopped


def _on_members(candidate: C) -> Callable[[str], C]:
    """A case on the members of its host group, by their names."""
    return cache(lambda name: candidate.on(GroupMember(tuple(name.split("+")))))
