"""Rows of too few repeats for a test of their own: two candidates in each setting, over all message sizes.

A setting of placements is a host group and suite, of host groups a placement and suite. There each benchmark
has a curve of ratios over message size, with the most ranks that it ran with (fewer may leave a node idle).
Sizes of one run depend on each other, so that a setting counts by the median over benchmarks and sizes. A
median hides curves that say the opposite: these are the exceptions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, product
from typing import NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.base.text import visible
from mpicampaign.compare.rows import Row
from mpicampaign.questions.crossings.find import by_size
from mpicampaign.questions.over_groups.find_settings import OverSettings, Setting, judged
from mpicampaign.questions.ranking.find import HOST_GROUPS, LIBRARIES, PLACEMENTS, Contestant, Ranking
from mpicampaign.statistics.comparisons import FEWEST
from mpicampaign.statistics.medians import median
from mpicampaign.verdicts.compare import TIE

FEWEST_SETTINGS = 3
FEWEST_SIZES = 3  # in each setting that is counted

Ratios = dict[int, float]  # by message size (B): logarithm of how many times better the first one is


class Opposite(NamedTuple):
    """Neighbouring sizes (B) at which the other one is better in a benchmark, by at most ``factor``."""

    place: str
    benchmark: str
    ranks: int | None
    sizes: tuple[int, ...]
    factor: float


class OfFew(NamedTuple):
    """Two of a kind of ranking over settings.

    ``opposites``: where the other is better at any size, the largest first; where neither leads in any
    setting, those of both. ``curves``: how many benchmarks there are in all settings.
    """

    kind: str
    pair: OverSettings
    repeats: int
    opposites: tuple[Opposite, ...]
    curves: int


class _Curve(NamedTuple):
    """The ratios of two in a benchmark and a setting, its place and suite."""

    kind: str
    names: tuple[str, str]
    setting: tuple[str, str]
    benchmark: str
    ranks: int | None
    ratios: Ratios
    rows: tuple[Row, Row]


def pairs_of_few(rankings: Iterable[tuple[str, str, Ranking]]) -> tuple[OfFew, ...]:
    """All pairs with three settings or more: of placements, host groups, MPI libraries.

    Parameters
    ----------
    rankings : by the first headline metric of a table, with its suite and benchmark
    """
    of_kind = grouped(_curves(rankings), lambda one: one.kind)
    kinds = (PLACEMENTS, HOST_GROUPS, LIBRARIES)
    return tuple(pair for kind in kinds for pair in _pairs(kind, of_kind.get(kind, [])))


def _curves(rankings: Iterable[tuple[str, str, Ranking]]) -> Iterator[_Curve]:
    for suite, benchmark, ranking in rankings:
        for pair in ranking.pairs:
            a, b = sorted((pair.better, pair.worse), key=lambda one: one.name)
            if max(a.row.counted, b.row.counted) < FEWEST:
                where, names, what = (ranking.place, suite), (a.name, b.name), visible(benchmark)
                yield _Curve(ranking.kind, names, where, what, ranking.ranks, _ratios(a, b), (a.row, b.row))


def _pairs(kind: str, curves: Sequence[_Curve]) -> Iterator[OfFew]:
    every = {names: _of_most_ranks(own) for names, own in grouped(curves, lambda one: one.names).items()}
    of = {names: (own, _settings(own)) for names, own in every.items()}
    of = {names: both for names, both in of.items() if len(both[1]) >= FEWEST_SETTINGS}
    pairs = [
        OverSettings(
            *names,
            tuple(
                Setting(", ".join(setting), math.exp(median([*ratios.values()])))
                for setting, ratios in settings.items()
            ),
        )
        for names, (_, settings) in of.items()
    ]
    rows = [[one.rows for one in own] for own, _ in of.values()]
    for (names, (own, _)), pair in zip(of.items(), judged(pairs, rows), strict=True):
        sign = 1 if pair.better == names[0] else -1
        repeats = max(row.counted for one in own for row in one.rows)
        opposites = _opposites(own, [sign] if pair.leads else [sign, -sign])
        yield OfFew(kind, pair, repeats, opposites, len(own))


def _of_most_ranks(curves: Sequence[_Curve]) -> list[_Curve]:
    """Those of each setting with the most ranks, or all where these are not known."""
    settings = grouped(curves, lambda one: one.setting)
    most = {setting: max(one.ranks or 0 for one in own) for setting, own in settings.items()}
    return [one for one in curves if one.ranks in (None, most[one.setting])]


def _ratios(a: Contestant, b: Contestant) -> Ratios:
    left, right = ({size: median(values) for size, values in by_size(one).items()} for one in (a, b))
    sign = -1 if a.cell.metric.lower_is_better else 1
    sizes = [size for size in left if left[size] > 0 and right.get(size, 0.0) > 0]
    return {size: sign * math.log(left[size] / right[size]) for size in sizes}


def _settings(curves: Sequence[_Curve]) -> dict[tuple[str, str], Ratios]:
    """The median over the benchmarks of each setting and size."""
    medians = {}
    for setting, own in grouped(curves, lambda one: one.setting).items():
        sizes = sorted({size for one in own for size in one.ratios})
        if len(sizes) >= FEWEST_SIZES:
            medians[setting] = {
                size: median([one.ratios[size] for one in own if size in one.ratios]) for size in sizes
            }
    return medians


def _opposites(curves: Sequence[_Curve], signs: Sequence[int]) -> tuple[Opposite, ...]:
    """Neighbouring sizes at which the other (of either sign) is better by more than a tie, in any curve."""
    opposites = []
    for one, sign in product(curves, signs):
        behind = {size: -sign * ratio for size, ratio in one.ratios.items()}
        for is_lead, items in groupby(behind.items(), lambda item: item[1] >= math.log1p(TIE)):
            if is_lead:
                of = dict(items)
                factor = math.exp(max(of.values()))
                opposites.append(Opposite(one.setting[0], one.benchmark, one.ranks, tuple(of), factor))
    return tuple(sorted(opposites, key=lambda opposite: -opposite.factor))
