"""The whole machine: a map of its nodes, rack by rack, and of pairs a map from node to node."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import NODE
from mpicampaign.base.text import visible
from mpicampaign.questions.machine.find import ABSENT, NO_VALUE, Machine
from mpicampaign.questions.machine.find_searches import (
    ALL_PAIRS,
    SLOW_ONE,
    UNDECIDED,
    MachineSearch,
    nodes_of,
)
from mpicampaign.questions.machine.say import below, machine_title, metric_title, slower
from mpicampaign.show.charts.looks import GREY, INK, SLOW
from mpicampaign.show.charts.model import CoreMap, Field, NodeBox, NodeFrame, NodeMap
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.view import percent

_FRAMES = {
    SLOW_ONE: NodeFrame(SLOW, 1.6, "orange frame: shown to be slow"),
    UNDECIDED: NodeFrame(INK, 0.8, "black frame: not decided"),
    ABSENT: NodeFrame(GREY, 0.4, "grey: not measured"),
    NO_VALUE: NodeFrame(GREY, 0.4, "grey: without a value"),
}
_WIDEST = 40  # boxes in a line
_ROUND = (8, 10, 16, 20, 32)  # boxes in a line of nodes without racks
_SCALE = (4, 0.3)  # the darkest box: at least so many tolerances, and at most so much slower


def machine_maps(scene: Scene) -> Iterator[NodeMap | CoreMap]:
    """A map for each metric of a benchmark, and for probes that show a slow node."""
    for machine in scene.comparison.machines:
        for search in machine.searches:
            if search.costs and (not search.is_probe or any(part.named for part in search.parts)):
                in_pairs = search.subject.unit != NODE and len(machine.nodes) <= ALL_PAIRS
                yield _pair_map(scene, machine, search) if in_pairs else _node_map(machine, search)


def _node_map(machine: Machine, search: MachineSearch) -> NodeMap:
    slowdowns = search.node_slowdowns
    most = max(_SCALE[0] * search.tolerance, min(_SCALE[1], max(slowdowns.values(), default=0.0)))

    def box(name: str) -> NodeBox:
        frame, slowdown = _FRAMES.get(machine.verdict(search, name)), slowdowns.get(name)
        share = None if slowdown is None else math.log1p(slowdown) / math.log1p(most)
        fraction = None if share is None else min(1.0, max(0.0, share))
        named = next((slow for slow in search.found.nodes.named if slow.member == name), None)
        text = below(search.metric, named.slower) if named and math.isfinite(named.slower) else ""
        return NodeBox(visible(name), fraction, frame, text or ("failed" if named else ""))

    title = f"{machine_title(machine)}: {metric_title(machine, search)}"
    rounds_of = "its rounds" if search.subject.unit == NODE else "its pairs"
    values = ", ".join(
        f"{visible(slow.member)} {slower(search.metric, slow.slower)}" for slow in search.found.nodes.named
    )
    return NodeMap(
        title,
        f"Each box is a node: the median of {rounds_of}, against the median of all in the same round. "
        f"{len(slowdowns)} of {len(machine.nodes)} nodes have values.",
        f"{title}: {len(machine.nodes)} nodes. Shown to be slow: {values or 'none'}.",
        tuple(tuple(box(name) if name else None for name in line) for line in lines_of(machine.nodes)),
        f"{percent(most)} slower, or more (by the logarithm)",
        [*_FRAMES.values()],
        section="machine",
    )


# Lines of nodes


def in_order(names: Iterable[str]) -> list[str]:
    """Names in the order of their numbers: n2 before n10."""
    return sorted(
        names,
        key=lambda name: [
            (not part.isdecimal(), int(part) if part.isdecimal() else 0, part)
            for part in re.split(r"([0-9]+)", name)
            if part
        ],
    )


def lines_of(names: Iterable[str]) -> list[list[str]]:
    """Racks, as the names tell them, after each other, an empty name between two in a line."""
    ordered = in_order(names)
    racks = [*grouped(ordered, lambda name: re.sub(r"[0-9]+(?=[^0-9]*$)", "#", name)).values()]
    if 2 * len(racks) > len(ordered):  # names that tell nothing
        racks = [ordered]
    if len(racks) == 1:
        columns = next((size for size in _ROUND if size * size >= len(ordered)), _ROUND[-1])
        return [ordered[start : start + columns] for start in range(0, len(ordered), columns)]
    lines: list[list[str]] = [[]]
    for rack in racks:
        for start in range(0, len(rack), _WIDEST):
            part = rack[start : start + _WIDEST]
            if lines[-1] and len(lines[-1]) + 1 + len(part) <= _WIDEST:
                lines[-1] += ["", *part]
            else:
                lines.append(part)
    return [line for line in lines if line]


# Pairs


def _pair_map(scene: Scene, machine: Machine, search: MachineSearch) -> CoreMap:
    """From the better to the worse values of pairs; a bad line is a node, a bad field a link."""
    names = in_order(machine.nodes)
    places = {name: place for place, name in enumerate(names)}
    fields: dict[tuple[int, int], Field] = {}
    slowdowns = {member: value for member, value in search.slowdowns.items() if member in search.values}
    least, most = (end(slowdowns.values(), default=0.0) for end in (min, max))
    for member, slowdown in slowdowns.items():
        a, b = (places[node] for node in nodes_of(member))
        value = search.values[member]
        share = math.log((1 + slowdown) / (1 + least)) / (math.log((1 + most) / (1 + least)) or 1.0)
        fields[a, b] = fields[b, a] = Field(
            scene.view.number(value, search.metric.dimension), value, 1 - share
        )
    title = f"{machine_title(machine)}: {metric_title(machine, search)} between nodes"
    named = [slow.member for part in search.parts for slow in part.named]
    return CoreMap(
        title,
        "Each box is a pair of nodes: the median of its rounds, against the median of all pairs in the same "
        "round. A dark line is a slow node, a dark box a slow link.",
        f"{title}: {len(slowdowns)} pairs of {len(names)} nodes. Shown to be slow: "
        f"{', '.join(map(visible, named)) or 'none'}.",
        scene.view.unit_of(search.metric.dimension),
        tuple(map(visible, names)),
        tuple(tuple(fields.get((a, b)) for b in range(len(names))) for a in range(len(names))),
        tuple((None,) * len(names) for _ in names),
        {},
        slower(search.metric, least),
        f"{slower(search.metric, most)} most pairs",
        "node",
        frozenset(_marked(search, places)),
        section="machine",
    )


def _marked(search: MachineSearch, places: dict[str, int]) -> Iterator[tuple[int, int]]:
    """A slow node's line, a slow link's two fields."""
    for part in search.parts:
        for slow in part.named:
            at = [places[node] for node in nodes_of(slow.member) if node in places]
            if len(at) == 1:
                yield at[0], at[0]
            elif at:
                yield from ((at[0], at[1]), (at[1], at[0]))
