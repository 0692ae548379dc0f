"""Placements and host groups compared where repeats are too few for a test: paired over sizes.

Two placements are paired in each setting, a host group and suite; two host groups likewise, in each placement
and suite. There each benchmark has a curve of ratios over message size, with the most ranks that it ran with
(fewer may leave a node idle). Sizes of one run are not independent, so that settings are counted, by the
median over their curves. The test asks how often as many would agree, with their best limit, if the two were
exchanged at random in each setting. A median hides curves that say the opposite: these are the exceptions.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from itertools import combinations, groupby, product
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.compare.in_turn import any_in_turn
from mpicampaign.compare.metrics import curve
from mpicampaign.compare.ranking import HOST_GROUPS, LIBRARIES, PLACEMENTS, TIE
from mpicampaign.grouping import grouped
from mpicampaign.statistics.medians import median
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Row

_MOST_EXCHANGES = 1024  # all of up to 10 settings
FEWEST_SETTINGS = 3  # of two settings half of all exchanges agree
FEWEST_SIZES = 3  # above the limit, in each setting that is counted

Setting = tuple[str, str]  # host group or placement, and suite
Ratios = dict[int, float]  # by message size (B): logarithm of how many times better the first one is


class SettingResult(NamedTuple):
    """A setting in which one is better at every size above the limit, and by how much there."""

    setting: Setting
    factor: float


class Opposite(NamedTuple):
    """Neighbouring sizes (B) at which the other one is better in a benchmark, by at most ``factor``."""

    place: str
    benchmark: str
    ranks: int | None
    sizes: tuple[int, ...]
    factor: float


@dataclass(frozen=True, slots=True)
class Paired:
    """Two placements or host groups, with the settings in which the first is better above ``above`` (B).

    ``kind``: that of their rankings. ``above``: -1 where it is better at every size. ``None`` where neither
    is better at every size above any limit in most settings: those ``found`` are then by the median over all
    sizes, and there is no ``p``; nor is there one where any two were measured ``in_turn``.
    ``against``: settings in which the other one is better likewise. ``settings``: how many have both. ``p``:
    the chance that as many agree on either one. ``opposites``: where the other is better at any size, the
    largest first; where neither leads in any setting, those of both. ``curves``: how many benchmarks there
    are in all settings.
    """

    kind: str
    better: str
    worse: str
    above: int | None
    found: tuple[SettingResult, ...]
    against: int
    settings: int
    repeats: int
    p: float | None
    opposites: tuple[Opposite, ...]
    curves: int
    in_turn: bool | None


class _Curve(NamedTuple):
    """The ratios of a benchmark in a setting."""

    setting: Setting
    benchmark: str
    ranks: int | None
    ratios: Ratios
    rows: tuple[Row, Row]


class InTable(NamedTuple):
    """A row of few repeats, with what its table and comparison say of it.

    ``metric``: the first that is ranked; ``place``: its host group; ``machine``: without MPI library.
    """

    row: Row
    suite: str
    title: str
    benchmark: str
    metric: Metric | None
    place: str
    machine: str


class _Placed(NamedTuple):
    """The same with its number among all, its name in pairs, and the place in which it is paired."""

    number: int
    of: InTable
    name: str
    place: str


def paired(few: Sequence[InTable]) -> tuple[Paired, ...]:
    """All pairs with three settings or more: of placements, host groups, MPI libraries."""
    alone = [one for one in few if not one.row.in_blocks]
    of_libraries = [one for one in alone if one.row.case.library]
    return (
        *_pairs(PLACEMENTS, alone, name=lambda one: _placement(one.row), place=lambda one: one.place),
        *_pairs(
            HOST_GROUPS, few, name=lambda one: one.machine, place=lambda one: _placement_and_library(one.row)
        ),
        *_pairs(
            LIBRARIES,
            of_libraries,
            name=lambda one: visible(one.row.case.library),
            place=lambda one: f"{one.machine} {_placement(one.row)}",
        ),
    )


def _placement(row: Row) -> str:
    return visible(row.case.placement)


def _placement_and_library(row: Row) -> str:
    return visible(", ".join(filter(None, (row.case.placement, row.case.library))))


def _pairs(
    kind: str, rows: Sequence[InTable], name: Callable[[InTable], str], place: Callable[[InTable], str]
) -> Iterator[Paired]:
    placed = [_Placed(number, one, name(one), place(one)) for number, one in enumerate(rows)]
    of_name = grouped(placed, lambda one: one.name)
    settings_of = {each: {(one.place, one.of.suite) for one in own} for each, own in of_name.items()}
    for a, b in combinations(of_name, 2):
        if len(settings_of[a] & settings_of[b]) < FEWEST_SETTINGS:
            continue
        both = sorted(of_name[a] + of_name[b], key=lambda one: one.number)
        curves = _of_most_ranks(_curves(both, (a, b)))
        settings = _settings(curves)
        repeats = max(one.of.row.counted for one in both)
        if len(settings) < FEWEST_SETTINGS:
            continue
        limit, sign = _best_limit(settings)
        agreeing, against = (_agreeing(settings, side, limit) for side in (sign, -sign))
        in_turn = any_in_turn(curve.rows for curve in curves)
        p = None if limit is None or in_turn else _exchanged(settings, len(agreeing))
        better, worse = (a, b) if sign > 0 else (b, a)
        counts = len(against), len(settings), repeats, p
        opposites = _opposites(curves, [sign] if agreeing else [sign, -sign])
        yield Paired(kind, better, worse, limit, agreeing, *counts, opposites, len(curves), in_turn)


def _curves(rows: Iterable[_Placed], names: tuple[str, str]) -> Iterator[_Curve]:
    """By setting, benchmark and ranks: the logarithm of how many times better the first one is, by size."""
    by_curve = grouped(rows, lambda one: (one.place, one.of.title, one.of.row.ranks))
    for (where, _, ranks), same in by_curve.items():
        first, of = same[0].of, {one.name: one.of.row for one in same}
        if of.keys() == set(names):
            both = of[names[0]], of[names[1]]
            ratios = dict(sorted(_of_metric(first.metric, *both)))
            yield _Curve((where, first.suite), visible(first.benchmark), ranks, ratios, both)


def _of_most_ranks(curves: Iterable[_Curve]) -> list[_Curve]:
    """Those of each setting with the most ranks; where these are not known, all."""
    most_ranks = []
    for own in grouped(curves, lambda curve: curve.setting).values():
        most = max(curve.ranks or 0 for curve in own)
        most_ranks += [curve for curve in own if curve.ranks in (None, most)]
    return most_ranks


def _settings(curves: Iterable[_Curve]) -> dict[Setting, Ratios]:
    """By setting and size: the median over its benchmarks."""
    medians = {}
    for setting, own in grouped(curves, lambda curve: curve.setting).items():
        sizes = sorted({size for curve in own for size in curve.ratios})
        if len(sizes) >= FEWEST_SIZES:
            medians[setting] = {
                size: median([curve.ratios[size] for curve in own if size in curve.ratios]) for size in sizes
            }
    return medians


def _opposites(curves: Iterable[_Curve], signs: Sequence[int]) -> tuple[Opposite, ...]:
    """Neighbouring sizes at which the other (of either sign) is better by more than a tie, in any curve."""
    opposites = []
    for one, sign in product(curves, signs):
        behind = {size: -sign * ratio for size, ratio in one.ratios.items()}
        for run in _runs(behind):
            factor = math.exp(max(behind[size] for size in run))
            opposites.append(Opposite(one.setting[0], one.benchmark, one.ranks, run, factor))
    return tuple(sorted(opposites, key=lambda opposite: -opposite.factor))


def _runs(ratios: Ratios) -> list[tuple[int, ...]]:
    """The neighbouring sizes at which a ratio is no tie."""
    shown = groupby(ratios, lambda size: ratios[size] >= math.log1p(TIE))
    return [tuple(sizes) for larger, sizes in shown if larger]


def _of_metric(metric: Metric | None, a: Row, b: Row) -> Iterator[tuple[int, float]]:
    if metric is None:
        return
    left, right = (_medians(row, metric.column) for row in (a, b))
    for size in left.keys() & right.keys():
        if left[size] > 0 and right[size] > 0:
            ratio = math.log(left[size] / right[size])
            yield size, -ratio if metric.lower_is_better else ratio


def _medians(row: Row, column: str) -> dict[int, float]:
    curves = [curve(series, column) for _, series in row.curves]
    common = set.intersection(*map(set, curves)) if curves else set()
    return {size: median([one[size] for one in curves]) for size in common}


def _best_limit(settings: Mapping[Setting, Ratios]) -> tuple[int | None, int]:
    """The lowest limit above which one is better at every size in the most settings, and which (sign).

    No limit where these are not most settings: then the one that is better in more by the median over sizes.
    """
    limits = _limits(settings)
    counts = [(len(_agreeing(settings, sign, limit)), limit, sign) for sign in (1, -1) for limit in limits]
    count, limit, sign = max(counts, key=lambda one: one[0])
    if 2 * count > len(settings):
        return limit, sign
    return None, max((1, -1), key=lambda side: len(_agreeing(settings, side, None)))


def _limits(settings: Mapping[Setting, Ratios]) -> list[int]:
    return sorted({-1, *(size for ratios in settings.values() for size in ratios)})


def _agreeing(settings: Mapping[Setting, Ratios], sign: int, limit: int | None) -> tuple[SettingResult, ...]:
    """Those in which one leads above the limit, at every size; without a limit, in the median over sizes."""
    agreeing = []
    for setting, ratios in settings.items():
        beyond = [sign * ratio for size, ratio in ratios.items() if limit is None or size > limit]
        every = limit is None or min(beyond, default=0) > 0
        if len(beyond) >= FEWEST_SIZES and every and median(beyond) >= math.log1p(TIE):
            agreeing.append(SettingResult(setting, math.exp(median(beyond))))
    return tuple(agreeing)


def _exchanged(settings: Mapping[Setting, Ratios], agreeing: int) -> float:
    """The share of exchanges of the two within settings after which as many agree on either."""
    limits = _limits(settings)
    agree = [
        [[bool(_agreeing({setting: ratios}, sign, limit)) for limit in limits] for sign in (1, -1)]
        for setting, ratios in settings.items()
    ]
    exchanges = _exchanges(len(agree))
    as_many = 0
    for exchange in exchanges:
        for way in (0, 1):
            chosen = [own[side ^ way] for own, side in zip(agree, exchange, strict=True)]
            if max(map(sum, zip(*chosen, strict=True))) >= agreeing:
                as_many += 1
                break
    return as_many / len(exchanges)


def _exchanges(settings: int) -> list[tuple[int, ...]]:
    """All exchanges, or of many settings as many at random, always the same ones."""
    if 2**settings <= _MOST_EXCHANGES:
        return list(product((0, 1), repeat=settings))
    source = random.Random(settings)
    return [tuple(source.choices((0, 1), k=settings)) for _ in range(_MOST_EXCHANGES)]
