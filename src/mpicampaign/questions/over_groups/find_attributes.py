"""Host groups by their attributes: which level is better, and what else differs between the two."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, cycle, islice
from statistics import fmean
from typing import NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import CLAIMED_TRANSPORT, WITH
from mpicampaign.base.text import visible
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Table
from mpicampaign.compare.timed_runs import why_untested
from mpicampaign.questions.over_groups.find_settings import too_few
from mpicampaign.statistics.medians import median
from mpicampaign.verdicts.rank_tests import rank_sum_and_welch, signed_ranks

_SHM = "shm"  # a claimed transport
# In the names that users chose for what connects nodes, which ranks within a node do not use.
_NETWORK = re.compile(
    r"infiniband|ethernet|fabric|network|interconnect|adapter|switch|slingshot|omni-?path|roce"
    r"|(?<![a-z])(ib|opa|hca|nic|link|rail)s?(?![a-z])",
    re.IGNORECASE,
)


class AttributeLevel(NamedTuple):
    """One value of the attribute, with that of each of its host groups."""

    name: str
    values: tuple[tuple[str, float], ...]

    @property
    def median(self) -> float:
        """The middle host group's value."""
        return median([value for _, value in self.values])


class LevelPair(NamedTuple):
    """Two levels: how many times better the first is, in the geometric mean.

    ``matched``: between host groups alike in all else; otherwise ``also`` differs between the levels, too,
    and may be the cause. ``p``: for all pairs of levels; ``None`` where it is not tested, for the reason
    ``untested``.
    """

    better: str
    worse: str
    factor: float
    matched: bool
    also: tuple[str, ...]
    p: float | None
    untested: str


class ByAttribute(NamedTuple):
    """The host groups of one placement by an attribute, best level first.

    ``with_modes``: host groups left out, since their repeats fall into several modes.
    """

    metric: Metric
    attribute: str
    placement: str
    ranks: int | None
    levels: tuple[AttributeLevel, ...]
    pairs: tuple[LevelPair, ...]
    with_modes: tuple[str, ...]


def by_attributes(table: Table) -> Iterator[ByAttribute]:
    """For each headline metric, attribute, placement and number of ranks with several levels."""
    for metric in table.headlines:
        rows = _rows(table, metric)
        for attribute in dict.fromkeys(name for row in rows for name in _attributes(row)):
            having = [row for row in rows if attribute in _attributes(row)]
            for (placement, ranks), own in grouped(having, lambda row: (_placement(row), row.ranks)).items():
                modes = tuple(_host_group(row) for row in own if row.has_modes_in(metric))
                levels, pairs = _levels(metric, attribute, own)
                if pairs:
                    yield ByAttribute(metric, attribute, placement, ranks, levels, pairs, modes)


def _rows(table: Table, metric: Metric) -> list[Row]:
    return [row for row in table.rows if row.ranked and row.median(metric) > 0]


def _placement(row: Row) -> str:
    return visible(WITH.join(filter(None, (row.case.placement, row.case.library))))


def _host_group(row: Row) -> str:
    return visible(row.case.machine[1])


def _levels(
    metric: Metric, attribute: str, rows: Sequence[Row]
) -> tuple[tuple[AttributeLevel, ...], tuple[LevelPair, ...]]:
    """The best level first, and all pairs."""
    plain = [row for row in rows if not row.has_modes_in(metric)]
    of = grouped(plain, lambda row: _attributes(row)[attribute])
    every = [
        AttributeLevel(name, tuple((_host_group(row), row.median(metric)) for row in own))
        for name, own in of.items()
    ]
    levels = sorted(every, key=lambda level: level.median, reverse=not metric.lower_is_better)
    both = list(combinations((level.name for level in levels), 2))
    pairs = (_pair(metric, attribute, names, of, len(both)) for names in both)
    return tuple(levels), tuple(pairs)


def _pair(
    metric: Metric, attribute: str, names: tuple[str, str], of: Mapping[str, Sequence[Row]], tests: int
) -> LevelPair:
    sides = [of[name] for name in names]

    def gain(row: Row) -> float:
        """Logarithm of what should be high."""
        return -metric.cost(row.median(metric))

    def rest(row: Row) -> tuple[object, ...]:
        """All but the attribute."""
        return row.case.system, *sorted(item for item in _attributes(row).items() if item[0] != attribute)

    a, b = ([*map(gain, side)] for side in sides)
    alike = [grouped(side, rest) for side in sides]
    gains = [
        fmean(map(gain, alike[0][key])) - fmean(map(gain, alike[1][key]))
        for key in alike[0]
        if key in alike[1]
    ]
    least, of_all = 2.0 ** (1 - len(gains)), 2 / math.comb(len(a) + len(b), len(a))
    matched = not too_few(least, tests)
    # each host group with one of the other side
    rows = islice(zip(*map(cycle, sides), strict=False), max(map(len, sides)))
    untested = why_untested(rows) or too_few(least if matched else of_all, tests)
    p = None if untested else signed_ranks(gains) if matched else rank_sum_and_welch(a, b)
    factor = math.exp(fmean(gains) if matched else fmean(a) - fmean(b))
    also = () if matched else _also(attribute, *sides)
    return LevelPair(*names, factor, matched, also, p and min(1.0, p * tests), untested)


def _also(attribute: str, a: Sequence[Row], b: Sequence[Row]) -> tuple[str, ...]:
    """What else is not spread alike over the two."""
    names = dict.fromkeys(name for row in (*a, *b) for name in _attributes(row) if name != attribute)

    def shares(side: Sequence[Row], name: str) -> dict[str | None, float]:
        levels = Counter(_attributes(row).get(name) if name else row.case.system for row in side)
        return {level: count / len(side) for level, count in levels.items()}

    return tuple(name or "system" for name in (*names, "") if shares(a, name) != shares(b, name))


# Which attributes can matter


def _attributes(row: Row) -> Mapping[str, str]:
    within = all(len(run.hosts) == 1 or run.metadata.get(CLAIMED_TRANSPORT) == _SHM for run, _ in row.curves)
    return {name: level for name, level in row.attributes.items() if not (within and _NETWORK.search(name))}


def not_compared(table: Table) -> dict[str, list[str]]:
    """The attributes of the network by which placements within a node are not compared, with these."""
    rows = [row for metric in table.headlines[:1] for row in _rows(table, metric)]
    pairs = [
        (name, _placement(row)) for row in rows for name in row.attributes.keys() - _attributes(row).keys()
    ]
    of = grouped(pairs, lambda pair: pair[0])
    return {name: list(dict.fromkeys(placement for _, placement in of[name])) for name in sorted(of)}
