"""Which nodes of a site are alike: by what the scheduler reports, then by what probe jobs find. No I/O.

Features do not make nodes different: at many sites they name racks, owners or the very node. They show
where a probe may find other hardware.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from mpicampaign.schedulers.listings import Node, NodeClass
from mpicampaign.site.facts import NodeGroup, NodeProbe

T = TypeVar("T")

# Nodes of one kind report memory that differs by a few MB; that of two kinds differs by a quarter or more.
_LIKE_MEMORY = 1.1


def node_classes(queues: Mapping[str, Sequence[Node]], *, once: bool) -> list[NodeClass]:
    """Nodes of one queue that are alike as the scheduler reports them.

    ``once``: a node of several queues counts in the first of them only.
    """
    classes: list[NodeClass] = []
    seen: set[str] = set()
    for queue, nodes in queues.items():
        of_queue = NodeClass(queue, tuple(nodes))
        unseen = [node for node in nodes if node.name not in seen]
        classes += [of_queue.only(members) for members in _gathered(unseen, _reported_alike)]
        seen |= set(of_queue.names) if once else set()
    return classes


def parts(nodes: NodeClass, most: int) -> list[NodeClass]:
    """Nodes of like features, in at most so many parts: a probe of each part shows whether they are one kind.

    Features that divide the nodes most evenly come first. What one node alone has, or lacks, is its name.
    """
    usable = [node for node in nodes.members if node.usable] or nodes.members
    chosen = [usable[0]]
    for feature in _dividing(usable):
        has = {feature in node.features for node in chosen}
        if len(chosen) < most and len(has) == 1:
            chosen.append(next(node for node in usable if (feature in node.features) not in has))
    features = [set(node.features) for node in chosen]
    members: dict[int, list[Node]] = {}
    for node in nodes.members:
        unlike = [len(of_chosen.symmetric_difference(node.features)) for of_chosen in features]
        members.setdefault(unlike.index(min(unlike)), []).append(node)
    return [nodes.only(like) for _, like in sorted(members.items())]


def _dividing(nodes: Sequence[Node]) -> list[str]:
    counts = Counter(feature for node in nodes for feature in node.features)
    smaller = {feature: min(count, len(nodes) - count) for feature, count in counts.items()}
    dividing = [feature for feature, count in smaller.items() if count > 1]
    return sorted(dividing, key=lambda feature: (-smaller[feature], feature))


def joined(kinds: Iterable[Sequence[NodeGroup]]) -> list[NodeGroup]:
    """Groups of like hardware, from the parts of each kind of nodes that the scheduler reports."""
    groups = [group for of_kind in kinds for group in _joined_parts(of_kind)]
    return [_one(like) for like in _gathered(groups, _probed_alike)]


def _joined_parts(of_kind: Sequence[NodeGroup]) -> list[NodeGroup]:
    """Nodes whose probe failed join the others if all probed nodes match; else they are a group apart."""
    answered = _gathered([part for part in of_kind if part.probe], _probed_alike)
    silent = [part for part in of_kind if not part.probe]
    if len(answered) != 1:
        return [_one(like) for like in [*answered, silent] if like]
    for part in silent:
        why = f"of these nodes are assumed to be like the others, since their probe failed:  {part.unknown}"
        notes = (*part.nodes.notes, f"{len(part.nodes.members)} {why}")
        answered[0].append(replace(part, nodes=replace(part.nodes, notes=notes)))
    return [_one(answered[0])]


def _one(like: Sequence[NodeGroup]) -> NodeGroup:
    """One group of like ones; the first, which answered if any did, speaks for all."""
    first = like[0]
    nodes = first.nodes.only(node for group in like for node in group.nodes.members)
    notes = dict.fromkeys(note for group in like for note in group.nodes.notes)
    seen_on = tuple(host for group in like for host in group.seen_on)
    return replace(first, nodes=replace(nodes, notes=tuple(notes)), seen_on=seen_on)


def _gathered(items: Iterable[T], alike: Callable[[T, T], bool]) -> list[list[T]]:
    """Each item is put to the first list that begins with one like it."""
    lists: list[list[T]] = []
    for item in items:
        like = next((items_alike for items_alike in lists if alike(items_alike[0], item)), None)
        if like is None:
            lists.append([item])
        else:
            like.append(item)
    return lists


def _reported_alike(one: Node, other: Node) -> bool:
    """Whether the scheduler reports one model, the same counts, and about the same memory."""
    reported = [(node.model, node.sockets, node.cores, node.cpus) for node in (one, other)]
    return reported[0] == reported[1] and _like_memory(one.memory, other.memory)


def _probed_alike(one: NodeGroup, other: NodeGroup) -> bool:
    """Whether probes saw the same hardware, and as many CPUs for jobs: the scheduler gives no more."""
    counts = [(group.nodes.members[0].cores, group.nodes.members[0].cpus) for group in (one, other)]
    if counts[0] != counts[1] or one.nodes.queue != other.nodes.queue or not one.probe or not other.probe:
        return False
    same = _hardware(one.probe) == _hardware(other.probe)
    return same and _like_memory(one.probe.memory, other.probe.memory)


def _hardware(probe: NodeProbe) -> tuple[object, ...]:
    """All that must be the same, but for memory. A campaign file names interfaces and devices."""
    interfaces = {(card.name, card.hardware and card.megabits) for card in probe.fabrics}
    ports = set(probe.active_ports)
    places = probe.sockets, probe.numa_domains, probe.l3_caches, probe.cores, probe.cpus
    return *places, probe.model, interfaces, ports


def _like_memory(one: int | None, other: int | None) -> bool:
    if one is None or other is None:
        return one is other
    return max(one, other) <= min(one, other) * _LIKE_MEMORY
