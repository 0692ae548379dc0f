"""The whole machine, with `each`: the nodes of a host group one by one, or its pairs, in rounds.

A member is a node or a pair; its runs are those of a host group that lists just its hosts. A round is
measured side by side: no host is in two of its members.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from math import ceil, log2
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.base.host_lists import expand
from mpicampaign.base.records import PAIR

if TYPE_CHECKING:
    from mpicampaign.campaign.model import HostGroup

MOST_IN_ALL_PAIRS = 128  # hosts; of more, a sweep has random pairs
SCREEN = 2  # rounds of all nodes, sweeps of pairs, before suspects are measured again


class GroupMember(NamedTuple):
    """The hosts of a member, the first of which starts its ranks."""

    hosts: tuple[str, ...]

    @property
    def name(self) -> str:
        """``n001``, or ``n001+n002``: what a host group of just these hosts is kept as."""
        return "+".join(self.hosts)


def hosts_of(group: HostGroup) -> list[str]:
    """The hosts that a group lists, ranges expanded.

    Raises
    ------
    ValueError
        where a range cannot be read.
    """
    return [host for entry in group.hosts for host in expand(entry)]


def screen(hosts: Sequence[str], unit: str, seed: int) -> dict[int, list[GroupMember]]:
    """The first rounds by their numbers: they have all nodes, or sweep over the pairs."""
    rounds = [[GroupMember((host,)) for host in hosts]] * SCREEN
    if unit == PAIR:
        sweeps = (_sweep(hosts, random.Random(f"{seed} {sweep}")) for sweep in range(SCREEN))
        rounds = [pairs for sweep in sweeps for pairs in sweep]
    return dict(enumerate(rounds, start=1))


def _sweep(hosts: Sequence[str], generator: random.Random) -> Iterator[list[GroupMember]]:
    """Rounds of disjoint pairs: of all pairs, or of random ones."""
    if len(hosts) <= MOST_IN_ALL_PAIRS:
        return _all_pairs(_shuffled(hosts, generator))
    return (_paired(_shuffled(hosts, generator)) for _ in range(ceil(log2(len(hosts)))))


def _shuffled(hosts: Sequence[str], generator: random.Random) -> list[str]:
    return generator.sample(hosts, len(hosts))


def _all_pairs(order: list[str]) -> Iterator[list[GroupMember]]:
    """The circle method: the first stays, the others move on; of an odd number one rests."""
    first, *others = order + [""] * (len(order) % 2)
    for turn in range(len(others)):
        circle = [first, *others[turn:], *others[:turn]]
        half = len(circle) // 2
        facing = zip(circle[:half], reversed(circle[half:]), strict=True)
        yield _paired([host for pair in facing if all(pair) for host in pair])


def _paired(order: Sequence[str]) -> list[GroupMember]:
    """Neighbours as pairs, each in the order of their names."""
    return [GroupMember(tuple(sorted(pair))) for pair in zip(order[::2], order[1::2], strict=False)]
