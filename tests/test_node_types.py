"""Which nodes the doctor takes for alike: by what the scheduler reports, and by what probes find."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from mpicampaign.base.host_lists import expand, fold
from mpicampaign.schedulers.scheduler import Node, NodeClass
from mpicampaign.schedulers.slurm import SCHEDULER as SLURM
from mpicampaign.site.facts import Interface, NodeGroup, NodeProbe, Port
from mpicampaign.site.node_types import joined, node_classes, parts

GIB = 2**30


def nodes(names: Iterable[str], *features: str, cores: int = 64, memory: int = 256 * GIB) -> list[Node]:
    return [Node(name, True, tuple(sorted(features)), 2, cores, 2 * cores, memory) for name in names]


def numbered(first: int, last: int) -> list[str]:
    return [f"n{number}" for number in range(first, last + 1)]


def grouped(*kinds: list[Node]) -> list[NodeClass]:
    return node_classes({"p": [node for kind in kinds for node in kind]}, once=True)


# ---- What selects them, Slurm


def test_a_list_of_names_that_no_directive_takes_is_left_out_of_the_campaign_file_only() -> None:
    odd = [name for name in numbered(10_001, 11_000) if int(name[1:]) % 2]
    group, _ = grouped(nodes(["n1"]), nodes(odd, cores=32))
    assert SLURM.host_group(group)["directives"] == []
    assert any(word.startswith("--exclude=n[10001,10003,") for word in SLURM.probe(group, "j", "l", ["s"]))


def test_folded_names_are_these_names() -> None:
    names = ["n9", "n10", "n11", "cn08", "cn09", "cn10", "r1-n1a", "r1-n2a", "login"]
    folded = fold(reversed(names))
    assert folded == "n9,n[10-11],cn[08-10],r1-n[1-2]a,login"
    lists = ("cn[08-10]", "n[10-11]", "n9", "r1-n[1-2]a", "login")
    assert sorted(name for text in lists for name in expand(text)) == sorted(names)


# ---- As probes find them

PROBE = NodeProbe(
    "n1",
    2,
    64,
    128,
    (Interface("eno1", True, 25000, True, True), Interface("eno2", False, None, True, False)),
    (Port("mlx5_0", "1", True, "InfiniBand", 100.0),),
    model="EPYC 7543",
    memory=256 * GIB,
)


def probed(of_kind: Iterable[NodeClass], *probes: NodeProbe | str) -> list[NodeGroup]:
    """A text is the reason why there is no answer."""
    return [
        NodeGroup("", part, unknown=probe)
        if isinstance(probe, str)
        else NodeGroup("", part, replace(probe, host=part.names[0]), seen_on=part.names[:1])
        for part, probe in zip(of_kind, probes, strict=True)
    ]


def halves() -> list[NodeClass]:
    (group,) = grouped(nodes(["n1", "n2"], "x"), nodes(["n3", "n4"], "y"))
    return parts(group, 4)


OTHERS = [
    replace(PROBE, sockets=1),
    replace(PROBE, cores=32),
    replace(PROBE, cpus=64),
    replace(PROBE, model="EPYC 7763"),
    replace(PROBE, memory=128 * GIB),
    replace(PROBE, memory=None),
    replace(PROBE, interfaces=(Interface("eno1", True, 10000, True, True),)),
    replace(PROBE, interfaces=(Interface("eno7", True, 25000, True, True),)),
    replace(PROBE, ports=()),
    replace(PROBE, ports=(Port("mlx5_0", "1", False, "InfiniBand", 100.0),)),
]


def test_parts_that_do_not_answer_count_as_alike_with_a_note() -> None:
    (group,) = joined([probed(halves(), "all are busy", PROBE)])
    assert group.nodes.names == ("n3", "n4", "n1", "n2") and group.seen_on == ("n3",)
    (note,) = group.nodes.notes
    assert note.startswith("2 of these nodes are taken to be like the others") and "all are busy" in note


def test_parts_that_do_not_answer_are_a_group_of_their_own_where_others_differ() -> None:
    (group,) = grouped(nodes(["a1", "a2"], "x"), nodes(["b1", "b2"], "y"), nodes(["c1", "c2"], "z"))
    found = joined([probed(parts(group, 4), PROBE, OTHERS[0], "busy")])
    assert [(each.nodes.names[0], each.unknown) for each in found] == [("a1", ""), ("b1", ""), ("c1", "busy")]
