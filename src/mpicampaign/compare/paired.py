"""Placements compared where repeats are too few for a test: paired over sizes, counted over settings.

A setting is a system, host group and suite with both placements at the same number of ranks; with several MPI
libraries or clusters there are several. In one setting the two are paired at each message size in each
benchmark. Sizes of one run are not independent, so that only settings are counted. The test asks how often as
many would agree, with their best limit, if the two placements were exchanged at random in each setting.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.compare.metrics import curve
from mpicampaign.grouping import grouped
from mpicampaign.statistics.comparisons import FEWEST
from mpicampaign.statistics.medians import median

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Comparison, Table

_MOST_EXCHANGES = 1024  # all of up to 10 settings
FEWEST_SETTINGS = 3  # of two settings half of all exchanges agree
FEWEST_SIZES = 3  # above the limit, in each setting that is counted

Setting = tuple[str, str, str]  # system, host group, suite
Ratios = dict[int, float]  # by message size (B): logarithm of how many times better the first one is


class SettingResult(NamedTuple):
    """A setting in which one placement is better at every size above the limit, and by how much there."""

    setting: Setting
    factor: float


@dataclass(frozen=True, slots=True)
class Paired:
    """Two placements with the settings in which the first is better at every message size above ``above``
    (B).

    ``above``: -1 where it is better at every size. ``settings``: how many have both. ``p``: the chance that
    as many agree on either placement.
    """

    better: str
    worse: str
    ranks: int | None
    above: int
    found: tuple[SettingResult, ...]
    settings: int
    repeats: int
    p: float


def paired_placements(comparison: Comparison) -> list[Paired]:
    """Pairs of placements of few repeats of which one is better in most settings, of three or more."""
    rows = [(table, row) for table in comparison.tables if not table.is_baseline for row in table.rows]
    few = [(table, row) for table, row in rows if row.ranked and row.counted < FEWEST]
    found = []
    for ranks, same in grouped(few, lambda one: one[1].ranks).items():
        for a, b in combinations(dict.fromkeys(row.case.placement for _, row in same), 2):
            settings = _ratios(same, a, b)
            repeats = max(row.counted for _, row in same if row.case.placement in (a, b))
            for better, worse, sign in ((a, b, 1), (b, a, -1)):
                limit, agreeing = _above(settings, sign)
                if len(settings) >= FEWEST_SETTINGS and 2 * len(agreeing) > len(settings):
                    p = _exchanged(settings, len(agreeing))
                    found.append(Paired(better, worse, ranks, limit, agreeing, len(settings), repeats, p))
    return found


def _ratios(rows: Iterable[tuple[Table, Row]], a: str, b: str) -> dict[Setting, Ratios]:
    """By setting and size: the median over the benchmarks of the logarithm of how many times better a is."""
    by_setting = grouped(rows, lambda one: (one[1].case.system, one[1].case.host_group, one[0].suite))
    found = {}
    for setting, own in by_setting.items():
        ratios: dict[int, list[float]] = {}
        for same in grouped(own, lambda one: (one[0].benchmark, one[0].label)).values():
            of = {row.case.placement: row for _, row in same}
            if a in of and b in of:
                for size, ratio in _of_table(same[0][0], of[a], of[b]):
                    ratios.setdefault(size, []).append(ratio)
        if len(ratios) >= FEWEST_SIZES:
            found[setting] = {size: median(ratios[size]) for size in sorted(ratios)}
    return found


def _of_table(table: Table, a: Row, b: Row) -> Iterator[tuple[int, float]]:
    metric = next((metric for metric in table.metrics if metric.headline), None)
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


def _above(settings: Mapping[Setting, Ratios], sign: int) -> tuple[int, tuple[SettingResult, ...]]:
    """The lowest limit above which one placement is better at every size in the most settings."""
    found = [(limit, _agreeing(settings, sign, limit)) for limit in _limits(settings)]
    return max(found, key=lambda one: len(one[1]))


def _limits(settings: Mapping[Setting, Ratios]) -> list[int]:
    return sorted({-1, *(size for ratios in settings.values() for size in ratios)})


def _agreeing(settings: Mapping[Setting, Ratios], sign: int, limit: int) -> tuple[SettingResult, ...]:
    found = []
    for setting, ratios in settings.items():
        beyond = [sign * ratio for size, ratio in ratios.items() if size > limit]
        if len(beyond) >= FEWEST_SIZES and min(beyond) > 0:
            found.append(SettingResult(setting, math.exp(median(beyond))))
    return tuple(found)


def _exchanged(settings: Mapping[Setting, Ratios], agreeing: int) -> float:
    """The share of exchanges of the two placements within settings after which as many agree on either."""
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
