"""Links between nodes, from rounds of disjoint pairs: which switch, which node, and which link is slow.

The logarithm of a pair's cost is the sum of what the round, its class of distance, both nodes and the link
add. So switches come first, then nodes, then links, each without what was found before.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.statistics.comparisons import LEVEL
from mpicampaign.statistics.slow_members import TOLERANCE, Search

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Pair = tuple[str, str]  # two nodes, in order of their names


class PairRound(NamedTuple):
    """A stretch of time in which disjoint pairs were measured side by side; ``costs`` as in `Round`."""

    number: int
    costs: Mapping[Pair, float]


class LinkSearch(NamedTuple):
    """Members of ``links`` are written ``a+b``; so are those of `Search.confirm`.

    ``switches``: ``None`` where no topology is known. ``classes``: of distance, as given or found.
    """

    nodes: Search = Search()
    links: Search = Search()
    switches: Search | None = None
    classes: Mapping[Pair, str] = MappingProxyType({})


def search_links(
    rounds: Sequence[PairRound],
    screen: int,
    leaves: Mapping[str, str] = MappingProxyType({}),
    classes: Mapping[Pair, str] = MappingProxyType({}),
    tolerance: float = TOLERANCE,
    level: float = LEVEL,
    seed: int = 0,
) -> LinkSearch:
    """What the rounds say so far. ``links.confirm`` has the pairs due in each round after the sweeps.

    Parameters
    ----------
    rounds : numbered from 1
    screen : how many of the first are the two sweeps over all pairs
    leaves : the leaf switch of each node, where it is known
    classes : of pairs; from ``leaves`` or the data if empty
    level : the chance that any switch, node or link is named wrongly
    """
    return LinkSearch()
