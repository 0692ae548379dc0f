"""What the doctor reads: outputs of Slurm, LSF, module and the probe, and which nodes it takes for alike.

Slurm's are as the test cluster prints them (test_doctor_campaign.py runs the commands); LSF's were
written by hand after the documentation of its tables and stand in for a real one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from mpicampaign.base.errors import UnreadableError
from mpicampaign.schedulers import lsf, slurm
from mpicampaign.schedulers.listings import Node, NodeClass
from mpicampaign.site.facts import Interface, NodeGroup, NodeProbe, Port
from mpicampaign.site.names import module_names, mpi_modules
from mpicampaign.site.node_types import joined, node_classes, parts
from mpicampaign.site.probe import read_probe

TWO_KINDS = """\
n1|all|all*|up|1:00:00|blue|1|2|1|1|idle
n1|blue|blue|up|1:00:00|blue|1|2|1|1|idle
n2|all|all*|up|1:00:00|blue|1|2|1|1|down*
n3|all|all*|up|1:00:00|red|2|1|1|1|mixed
n3|old|old|down|infinite|red|2|1|1|1|mixed
n4|night|night|up|infinite|(null)|2|16|2|262144|allocated
"""


# ---- Slurm


def test_demands_of_partitions() -> None:
    output = (
        "PartitionName=open AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL ReqResv=NO\n"
        "PartitionName=closed AllowGroups=ALL AllowAccounts=chem,phys AllowQos=ALL ReqResv=YES\n"
    )
    notes = slurm.partition_notes(output)
    assert notes["open"] == ()
    assert notes["closed"] == ("open to these accounts only: chem,phys", "needs a reservation")
    assert slurm.partition_notes("slurm_load_partitions error: …") == {"": ()}


# ---- LSF: stand-ins

BQUEUES = """\
QUEUE_NAME      PRIO STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN  SUSP
priority         43  Open:Active       -    -    -    -     0     0     0     0
normal           30  Open:Active       -    -    -    -    12     4     8     0
night            20  Open:Inact        -    -    -    -     0     0     0     0
"""
LSHOSTS = """\
HOST_NAME                       type       model  cpuf ncpus maxmem maxswp server RESOURCES
bw001                         X86_64 Intel_E5_v4  15.0    32   128G      - Yes    (mg)
bw002                         X86_64 Intel_E5_v4  15.0    32   128G      - Yes    (mg)
rm001                         X86_64    AMD_Rome  15.0    64   256G      - Yes    (mg bigmem)
client1                       X86_64    AMD_Rome  15.0     -      -      - No     ()
"""
BHOSTS = """\
HOST_NAME          STATUS          JL/U    MAX  NJOBS    RUN  SSUSP  USUSP    RSV
bw001              ok                 -     32      0      0      0      0      0
bw002              closed_Adm         -     32      0      0      0      0      0
rm001              closed_Full        -     64     64     64      0      0      0
"""


def lsf_answers(hosts: str = LSHOSTS, states: str = BHOSTS, queues: str = BQUEUES) -> dict[str, str]:
    return {"lshosts": hosts, "bhosts": states, "bqueues": queues, "bparams": "Default Queues: normal\n"}


def lsf_nodes(**answers: str) -> list[Node]:
    [nodes] = lsf.SCHEDULER.nodes(lsf_answers(**answers), ["normal"]).values()
    return nodes


@pytest.mark.parametrize(
    "answers",
    [
        lsf_answers(hosts=""),
        lsf_answers(states="No hosts\n"),
        lsf_answers(queues=BQUEUES.replace("Open", "Closed")),
        lsf_answers(hosts="a b\n"),
    ],
)
def test_what_lsf_should_not_print_is_refused(answers: dict[str, str]) -> None:
    with pytest.raises(UnreadableError):
        lsf.SCHEDULER.nodes(answers)


# ---- Modules


def test_modules_of_both_kinds() -> None:
    lmod = "/apps/modules/all:\nOpenMPI/\nOpenMPI/4.1.5-GCC-12.3.0\nimpi/2021.9(default)\ngcc/13.2\n"
    tcl = "/etc/modulefiles:\nmpich/4.1\nmvapich2/2.3.7(default)\nopenmpi/5.0.3\nnull\n"
    assert [(each.mpi, each.module) for each in mpi_modules(module_names(lmod))] == [
        ("openmpi4", "OpenMPI/4.1.5-GCC-12.3.0"),
        ("intelmpi", "impi/2021.9"),
    ]
    assert [(each.mpi, each.module) for each in mpi_modules(module_names(tcl))] == [
        ("mpich-ofi", "mpich/4.1"),
        ("", "mvapich2/2.3.7"),
        ("openmpi5", "openmpi/5.0.3"),
    ]


# ---- The probe


WHOLE = "#mpicampaign-probe 1\nhost\tn1\ntopology\t1\t2\t2\nend of probe\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        WHOLE.removesuffix("end of probe\n"),
        WHOLE.replace("end of probe", "host\tn2"),
        WHOLE.replace("probe 1", "probe 2"),
        WHOLE.replace("1\t2\t2", "1\t2"),
        WHOLE.replace("1\t2\t2", "0\t0\t0"),
        WHOLE.replace("1\t2\t2", "2\t1\t1"),
        WHOLE.replace("1\t2\t2", "1\t²\t2"),
        WHOLE.replace("topology\t1\t2\t2\n", ""),
        WHOLE.replace("host", "ghost"),
        WHOLE.replace("end of", "memory\t1\t2\nend of"),
    ],
)
def test_outputs_of_the_probe_that_are_not_whole_are_refused(text: str) -> None:
    assert read_probe(WHOLE).host == "n1"
    with pytest.raises(UnreadableError):
        read_probe(text)


# ---- Headers, blank lines and sections, as listings of several clusters have them

HEADED = """\
CLUSTER: dawn
NODELIST|PARTITION|PARTITION|AVAIL|TIMELIMIT|AVAIL_FEATURES|SOCKETS|CORES|THREADS|MEMORY|STATE
"""
QUEUE = "CLUSTER: dawn\nJOBID|STATE|REASON|NAME\n7_1|RUNNING|None|a\n\n"


def test_headers_blank_lines_and_the_heading_of_a_cluster_are_no_rows() -> None:
    assert slurm.read_nodes(f"{HEADED}\n{TWO_KINDS}\n") == slurm.read_nodes(TWO_KINDS)
    assert [job.id for job in slurm.SCHEDULER.read_queue(QUEUE)] == ["7_1"]
    states = slurm.SCHEDULER.read_states("CLUSTER: dawn\nNODELIST|STATE|REASON\nn1|idle|none\n")
    assert {name: state.usable for name, state in states.items()} == {"n1": True}
    again = BHOSTS.partition("\n")[0]
    split = f"the batch system of dawn\n\n{BHOSTS}\n{again}\nrm002 ok - 64 0 0 0 0 0\n"
    assert lsf_nodes(states=split) == lsf_nodes()
    hosts = lsf.SCHEDULER.read_states(split)
    assert "rm002" in hosts and "HOST_NAME" not in hosts
    headed = "\nJOBID|STAT|EXIT_REASON|JOB_NAME|PEND_REASON\n7|RUN|-|a|-\n"
    assert [job.id for job in lsf.SCHEDULER.read_queue(headed)] == ["7"]
    assert [job.id for job in lsf.SCHEDULER.read_queue("\nJOBID STAT JOB_NAME\n\n7 RUN a\n")] == ["7"]


@pytest.mark.parametrize("text", [TWO_KINDS, "", "\n"])
def test_several_clusters_are_refused_by_name(text: str) -> None:
    for read in (slurm.read_nodes, slurm.SCHEDULER.read_queue, slurm.SCHEDULER.read_jobs):
        with pytest.raises(UnreadableError, match=r"several clusters \(dawn, dusk\): let SLURM_CLUSTERS"):
            read(f"CLUSTER: dawn\n{text}\nCLUSTER: dusk\n{text}")


def test_the_heading_of_a_section_is_no_host_of_lsf() -> None:
    with pytest.raises(UnreadableError, match=r"bhosts printed an unexpected line: '\[Resource Lease"):
        lsf_nodes(states=f"{BHOSTS}\n[Resource Lease Information]\nREMOTE_CLUSTER STATUS\n")


GIB = 2**30


def nodes(names: Iterable[str], *features: str, cores: int = 64, memory: int = 256 * GIB) -> list[Node]:
    return [Node(name, True, tuple(sorted(features)), 2, cores, 2 * cores, memory) for name in names]


def grouped(*kinds: list[Node]) -> list[NodeClass]:
    return node_classes({"p": [node for kind in kinds for node in kind]}, once=True)


# ---- As probes find them

PROBE = NodeProbe(
    "n1",
    2,
    64,
    128,
    (Interface("eno1", True, 25000, True, True), Interface("eno2", False, None, True, False)),
    (Port("mlx5_0", "1", True, 100.0),),
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


def test_parts_that_do_not_answer_count_as_alike_with_a_note() -> None:
    (group,) = joined([probed(halves(), "all are busy", PROBE)])
    assert group.nodes.names == ("n3", "n4", "n1", "n2") and group.seen_on == ("n3",)
    (note,) = group.nodes.notes
    assert note.startswith("2 of these nodes are assumed to be like the others") and "all are busy" in note


def test_parts_that_do_not_answer_are_a_group_of_their_own_where_others_differ() -> None:
    (group,) = grouped(nodes(["a1", "a2"], "x"), nodes(["b1", "b2"], "y"), nodes(["c1", "c2"], "z"))
    found = joined([probed(parts(group, 4), PROBE, replace(PROBE, sockets=1), "busy")])
    assert [(each.nodes.names[0], each.unknown) for each in found] == [("a1", ""), ("b1", ""), ("c1", "busy")]
