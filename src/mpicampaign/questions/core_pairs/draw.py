"""Maps of all pairs of ranks: latency and bandwidth, with latency classes and what the system says."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from mpicampaign.base.dimension import BANDWIDTH, TIME, Dimension
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import Record, Series
from mpicampaign.base.text import counted
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Table
from mpicampaign.show.charts.model import CoreMap, Field
from mpicampaign.show.charts.scene import Scene, left_out
from mpicampaign.statistics.medians import median

_FEWEST_RANKS = 4  # from here on core_pairs finds classes
_BANDWIDTH_BYTES = 2_000_000  # of the messages whose time is pairs_bandwidth_seconds
# What two ranks share at most, as core_pairs numbers it: a core, a NUMA node, a socket, a node, nothing.
_NUMA_NODE, _SOCKET, _NODE = 1, 2, 3

_Pair = tuple[int, int]
_Values = dict[_Pair, float]  # by the pair's ranks, from and to


class _Pairs(NamedTuple):
    """What one run printed of its pairs."""

    run: Record
    latency: _Values  # s
    bandwidth: _Values  # B/s
    classes: _Values
    levels: _Values


def core_maps(scene: Scene) -> Iterator[CoreMap]:
    """Two for each host group and placement of core_pairs."""
    for table in scene.comparison.tables:
        for row in table.rows:
            maps = [_pairs(run, series) for run, series in row.curves if "pairs_from" in series.columns]
            if maps and len(_ranks(maps[0])) >= _FEWEST_RANKS:
                yield from _maps(scene, table, row, maps)


def _pairs(run: Record, series: Series) -> _Pairs:
    sides = (series.columns["pairs_from"], series.columns["pairs_to"])
    keys = [(int(a), int(b)) for a, b in zip(*sides, strict=True) if a is not None and b is not None]

    def known(name: str) -> _Values:
        values = zip(keys, series.columns[f"pairs_{name}"], strict=True)
        return {key: value for key, value in values if value is not None}

    seconds = known("bandwidth_seconds")
    bandwidth = {key: _BANDWIDTH_BYTES / value for key, value in seconds.items() if value > 0}
    return _Pairs(run, known("latency_seconds"), bandwidth, known("class"), known("level"))


def _ranks(pairs: _Pairs) -> list[int]:
    return sorted({rank for key in (*pairs.latency, *pairs.bandwidth) for rank in key})


def _maps(scene: Scene, table: Table, row: Row, runs: Sequence[_Pairs]) -> Iterator[CoreMap]:
    """The medians of the runs whose ranks lie as in the first one."""
    first = runs[0]
    alike = [pairs for pairs in runs if pairs.levels == first.levels and _ranks(pairs) == _ranks(first)]
    name = scene.name(table, row)
    layout = _layout_text(first, alike, runs) + left_out(scene, [row])
    latency = _medians([pairs.latency for pairs in alike])
    bandwidth = _medians([pairs.bandwidth for pairs in alike])
    if latency:
        yield _map(scene, f"latency of 8 B between ranks, {name}", first, latency, TIME, layout)
    if bandwidth:
        title = f"bandwidth of {_BANDWIDTH_BYTES} B between ranks, {name}"
        yield _map(scene, title, first, bandwidth, BANDWIDTH, layout)


def _medians(runs: Sequence[_Values]) -> _Values:
    by_pair = grouped(((key, value) for run in runs for key, value in run.items()), lambda pair: pair[0])
    return {key: median([value for _, value in pairs]) for key, pairs in by_pair.items()}


def _map(
    scene: Scene, title: str, first: _Pairs, values: _Values, dimension: Dimension, layout: str
) -> CoreMap:
    paths = _paths(_ranks(first), first.levels)
    ranks = sorted(paths, key=paths.__getitem__)
    low, high = min(values.values()), max(values.values())
    best, worst = (low, high) if dimension.lower_is_better else (high, low)

    def field(key: _Pair) -> Field | None:
        if key not in values:
            return None
        text = scene.view.number(values[key], dimension)
        share = math.log(values[key] / worst) / math.log(best / worst) if low < high else 1.0
        return Field(text, values[key], share)

    classes = {key: int(of_pair) for key, of_pair in first.classes.items()}
    title = f"core_pairs: {title}"
    ends = (scene.view.quantity(best, dimension), scene.view.quantity(worst, dimension))
    return CoreMap(
        title,
        f"From the rank at the left to the rank above.{layout}",
        f"{title}: from {ends[0]} to {ends[1]} between {len(ranks)} ranks.{_classes_text(scene, first)}",
        scene.view.unit_of(dimension),
        tuple(ranks),
        tuple(tuple(field((a, b)) for b in ranks) for a in ranks),
        tuple(tuple(classes.get((a, b)) for b in ranks) for a in ranks),
        _edges([paths[rank] for rank in ranks]),
        *ends,
    )


def _paths(ranks: Sequence[int], levels: Mapping[_Pair, float]) -> dict[int, tuple[int, ...]]:
    """Node, socket and NUMA node of each rank by the lowest rank there, then the rank itself.

    A rank of which nothing is known is a node of its own.
    """

    def lowest(rank: int, level: int) -> int:
        return min(other for other in ranks if other == rank or levels.get((rank, other), math.inf) <= level)

    if not levels:
        return {rank: (rank,) for rank in ranks}
    return {rank: (*(lowest(rank, level) for level in (_NODE, _SOCKET, _NUMA_NODE)), rank) for rank in ranks}


def _edges(paths: Sequence[tuple[int, ...]]) -> dict[int, int]:
    """How large a part ends before each place: the first part in which two neighbours differ."""
    edges = {}
    for place, (path, other) in enumerate(pairwise(paths), 1):
        part = next(part for part in range(len(path)) if path[part] != other[part])
        if part < len(path) - 1:
            edges[place] = _NODE - part
    return edges


def _layout_text(first: _Pairs, alike: Sequence[_Pairs], runs: Sequence[_Pairs]) -> str:
    """What the order of the ranks and the classes rest on, and which repeats."""
    ordered = (
        "in the order of nodes, sockets and NUMA nodes" if first.levels else "by number: no place is known"
    )
    text = f" Ranks are {ordered}. Medians of {counted(len(alike), 'repeat')}."
    if len(runs) > len(alike):
        text += f" Left out: {len(runs) - len(alike)} with ranks on other cores."
    if first.classes:
        text += f" Classes are those of repeat {first.run.repeat}{_agreement(first.run)}."
    return text


def _agreement(run: Record) -> str:
    """How far classes and topology agree, as the kernel counted it."""
    agreeing, _, known = run.metadata.get("topology_agreement", "").partition("/")
    if not (agreeing.isdecimal() and known.isdecimal()):
        return ""
    return f"; {agreeing} of {known} pairs are at the most frequent level of their class"


def _classes_text(scene: Scene, first: _Pairs) -> str:
    """The median latency of each class."""
    members = grouped(first.classes.items(), lambda pair: int(pair[1]))
    medians = []
    for which, pairs in sorted(members.items()):
        known = [first.latency[key] for key, _ in pairs if key in first.latency]
        medians += [f"class {which} {scene.view.quantity(median(known), TIME)}"] if known else []
    return f" Latency by class: {', '.join(medians)}." if medians else ""
