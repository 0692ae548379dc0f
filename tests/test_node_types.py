"""Which nodes the doctor takes for alike: by what the scheduler reports, and by what probes find."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from mpicampaign.host_lists import expand, fold
from mpicampaign.schedulers.scheduler import Node, NodeClass
from mpicampaign.schedulers.slurm import SCHEDULER as SLURM
from mpicampaign.schedulers.slurm import constraint_of
from mpicampaign.site.facts import Interface, NodeGroup, NodeProbe, Port
from mpicampaign.site.node_types import joined, node_classes, parts

GIB = 2**30


def nodes(names: Iterable[str], *features: str, cores: int = 64, memory: int = 256 * GIB) -> list[Node]:
    return [Node(name, True, tuple(sorted(features)), 2, cores, 2 * cores, memory) for name in names]


def numbered(first: int, last: int) -> list[str]:
    return [f"n{number}" for number in range(first, last + 1)]


def grouped(*kinds: list[Node]) -> list[NodeClass]:
    return node_classes({"p": [node for kind in kinds for node in kind]}, once=True)


def sizes(found: Iterable[NodeClass]) -> list[int]:
    return [len(each.names) for each in found]


# ---- As the scheduler reports them


def test_a_feature_per_node_makes_one_group_that_needs_no_selection() -> None:
    (group,) = grouped([each for name in numbered(1, 40) for each in nodes([name], name, f"rack{name[-1]}")])
    assert (len(group.names), constraint_of(group)) == (40, "")
    assert SLURM.host_group(group) == {"partition": "p", "constraint": "", "directives": []}


def test_a_few_megabytes_make_no_other_kind() -> None:
    lines = [each for mb in (256_000, 255_990, 257_100) for each in nodes([f"m{mb}"], memory=mb * 2**20)]
    large = nodes(["l1"], memory=512_000 * 2**20)
    unknown = [replaced._replace(memory=None) for replaced in nodes(["u1", "u2"])]
    assert sizes(grouped(lines, large, unknown)) == [3, 1, 2]


@pytest.mark.parametrize(
    "field", [{"sockets": 1}, {"cores": 32}, {"cpus": 64}, {"memory": 128 * GIB}, {"model": "other"}]
)
def test_whatever_hardware_the_scheduler_reports_makes_another_kind(field: dict[str, Any]) -> None:
    other = [node._replace(**field) for node in nodes(["b1"])]
    assert sizes(grouped(nodes(["a1"]), other)) == [1, 1]


# ---- What selects them, Slurm


@pytest.mark.parametrize(
    ("features", "constraint"),
    [
        ((["milan"], ["milan", "new"], ["rome"]), "milan"),
        ((["ib", "milan"], ["ib", "milan"], ["eth", "milan"], ["ib", "rome"]), "ib&milan"),
        ((["rack1"], ["rack2"], ["rack3"]), "rack1|rack2"),
        ((["milan"], ["milan"], ["milan", "gpu"]), ""),
        ((["milan"], [], ["rome"]), ""),
        ((["a b"], ["a b"], ["rome"]), ""),
        ((["a|b"], ["a|b"], []), ""),
    ],
)
def test_a_constraint_takes_all_of_the_group_and_no_other(
    features: tuple[list[str], ...], constraint: str
) -> None:
    """The first two are the group."""
    every = [each for number, of_one in enumerate(features) for each in nodes([f"n{number}"], *of_one)]
    group = NodeClass("p", tuple(every)).only(every[:2])
    assert constraint_of(group) == constraint
    expected = [] if constraint else [f"--exclude={fold(node.name for node in every[2:])}"]
    assert SLURM.host_group(group)["directives"] == expected


def test_other_nodes_are_avoided_by_name_where_no_feature_separates_them() -> None:
    small, large = grouped(nodes(numbered(1, 900), "x"), nodes(numbered(901, 1000), "x", memory=GIB))
    assert SLURM.host_group(small)["directives"] == ["--exclude=n[901-999],n1000"]
    command = SLURM.probe(large, "job", "log", ["probe.sh"])
    assert "--exclude=n[1-9],n[10-99],n[100-900]" in command


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


# ---- Parts, for probes


def test_features_that_divide_the_nodes_are_probed_apart() -> None:
    """skylake hides in two of many racks: it divides more nodes than a rack does."""
    racks = [each for rack in range(20) for each in nodes(numbered(rack * 10, rack * 10 + 9), f"rack{rack}")]
    hidden = [
        each
        for rack in (20, 21)
        for each in nodes(numbered(rack * 10, rack * 10 + 9), f"rack{rack}", "skylake")
    ]
    (group,) = grouped(racks, hidden)
    found = parts(group, 4)
    assert len(found) == 4 and sum(sizes(found)) == 220
    assert [each.names for each in found if "skylake" in each.features] == [tuple(numbered(200, 219))]
    assert all(len(each.names) + len(each.others) == 220 for each in found)


def test_names_of_nodes_are_not_a_reason_for_more_probes() -> None:
    (group,) = grouped([each for name in numbered(1, 1000) for each in nodes([name], name, "all")])
    assert sizes(parts(group, 4)) == [1000]


def test_nodes_that_cannot_be_used_are_not_a_reason_for_a_probe() -> None:
    down = [node._replace(usable=False) for node in nodes(["n1", "n2"], "y", "lab")]
    (group,) = grouped(down, nodes(["n3", "n4"], "x"), nodes(["n5", "n6"], "y"))
    assert [each.names for each in parts(group, 4)] == [("n3", "n4"), ("n1", "n2", "n5", "n6")]


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


@pytest.mark.parametrize("other", OTHERS)
def test_nodes_with_other_hardware_are_split_and_selected_by_what_separates_them(other: NodeProbe) -> None:
    found = joined([probed(halves(), PROBE, other)])
    assert [each.nodes.names for each in found] == [("n1", "n2"), ("n3", "n4")]
    assert [constraint_of(each.nodes) for each in found] == ["x", "y"]


def test_parts_with_the_same_hardware_are_one_group() -> None:
    """A few MB, programs, and interfaces that are down do not matter."""
    like = replace(PROBE, memory=255 * GIB, programs={"mpirun": "/x"}, interfaces=PROBE.interfaces[:1])
    (group,) = joined([probed(halves(), PROBE, like)])
    assert (group.nodes.names, group.seen_on) == (("n1", "n2", "n3", "n4"), ("n1", "n3"))
    assert constraint_of(group.nodes) == "" and group.probe and group.probe.host == "n1"


def test_what_the_scheduler_reports_differently_is_one_group_if_the_hardware_is_the_same() -> None:
    """Such as memory that the administrators gave for some of the nodes only."""
    kinds = grouped(nodes(["n1"]), [node._replace(memory=None) for node in nodes(["n2"])])
    (group,) = joined(probed([kind], PROBE) for kind in kinds)
    assert group.nodes.names == ("n1", "n2") and group.nodes.others == ()


def test_nodes_of_which_the_scheduler_gives_fewer_cpus_are_not_alike() -> None:
    kinds = grouped(nodes(["n1"]), nodes(["n2"], cores=32))
    assert len(joined(probed([kind], PROBE) for kind in kinds)) == 2


def test_nodes_of_two_partitions_stay_two_groups() -> None:
    kinds = node_classes({"p": nodes(["n1"]), "q": nodes(["n2"])}, once=True)
    assert len(joined(probed([kind], PROBE) for kind in kinds)) == 2


def test_parts_that_do_not_answer_count_as_alike_with_a_note() -> None:
    (group,) = joined([probed(halves(), "all are busy", PROBE)])
    assert group.nodes.names == ("n3", "n4", "n1", "n2") and group.seen_on == ("n3",)
    (note,) = group.nodes.notes
    assert note.startswith("2 of these nodes are taken to be like the others") and "all are busy" in note


def test_parts_that_do_not_answer_are_a_group_of_their_own_where_others_differ() -> None:
    (group,) = grouped(nodes(["a1", "a2"], "x"), nodes(["b1", "b2"], "y"), nodes(["c1", "c2"], "z"))
    found = joined([probed(parts(group, 4), PROBE, OTHERS[0], "busy")])
    assert [(each.nodes.names[0], each.unknown) for each in found] == [("a1", ""), ("b1", ""), ("c1", "busy")]


def test_where_no_part_answers_they_are_one_group() -> None:
    (group,) = joined([probed(halves(), "busy", "busy")])
    assert (len(group.nodes.names), group.probe, group.unknown) == (4, None, "busy")
