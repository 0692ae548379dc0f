"""GPUs of ranks and nodes, and the outputs of nccl-tests and OSU on them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from build_campaigns import write_campaign
from conftest import completed
from evidence_texts import CLAIM, RUN, evidence_text, rank_lines, read
from printed_outputs import osu_table
from test_rank_wrapper import on_node, record_topology

from mpicampaign.base.errors import UserError
from mpicampaign.campaign.file import load_campaign
from mpicampaign.evidence.findings import CONTRADICTS, LACKS, SUPPORTS
from mpicampaign.evidence.gpus import gpu_findings
from mpicampaign.imports.draft import draft_map
from mpicampaign.imports.facts import read_facts
from mpicampaign.suites import SUITES, parse
from mpicampaign.suites.suite import Request

# As NVIDIA's driver and amdgpu describe them; the minor numbers need not be in the order of the addresses.
NVIDIA = """\
Model: \t\t NVIDIA A100-SXM4-40GB
IRQ:   \t\t 101
GPU UUID: \t GPU-{number:08x}-aaaa-bbbb-cccc-0123456789ab
Video BIOS: \t 92.00.45.00.03
Bus Type: \t PCIe
DMA Size: \t 47 bits
DMA Mask: \t 0x7fffffffffff
Bus Location: \t {address}
Device Minor: \t {minor}
GPU Excluded:\t No
"""
AMD = "cpu_cores_count 0\nsimd_count 440\nlocation_id {location}\ndomain 0\ndrm_render_minor {minor}\n"
AMD += "unique_id 1585{number}\ngfx_target_version 90010\n"
ADDRESSES = ("0000:07:00.0", "0000:0f:00.0", "0000:47:00.0", "0000:c1:00.0")


def machine(root: Path, numa: tuple[int, ...]) -> None:
    """A node of two sockets of four cores with an NVIDIA GPU on each of these NUMA nodes."""
    record_topology(root / "sys", 2, 4)
    for cpu in range(8):
        (root / f"sys/devices/system/cpu/cpu{cpu}/node{cpu // 4}").mkdir()
    (root / "sys/dev").mkdir()
    (root / "sys/dev/nvidiactl").touch()
    for number, (address, node) in enumerate(zip(ADDRESSES, numa, strict=False)):
        minor = len(numa) - 1 - number
        folder = root / "sys/proc/driver/nvidia/gpus" / address
        folder.mkdir(parents=True)
        text = NVIDIA.format(number=number, address=address, minor=minor)
        (folder / "information").write_text(text)
        (root / f"sys/dev/nvidia{minor}").touch()
        add_numa(root, address, node)


def add_numa(root: Path, address: str, node: int) -> None:
    (root / "sys/bus/pci/devices" / address).mkdir(parents=True)
    (root / "sys/bus/pci/devices" / address / "numa_node").write_text(f"{node}\n")


def given(root: Path, command: str = "lacks", visible: str = "", **placement: object) -> list[str]:
    """The GPUs of each local rank, and the lines of a command; ``visible``: those that a scheduler gave."""
    variables = {"HOSTNAME": "n1", **({"CUDA_VISIBLE_DEVICES": visible} if visible else {})}
    show = 'read_gpus; choose_gpus; echo "${rank_gpus[*]}"'
    wanted = {"gpus_per_node": 4, "ranks_per_node": 4, "sockets": 2, **placement}
    return on_node(root / "sys", "0-7", f"{show}; {command}", variables=variables, **wanted).splitlines()


@pytest.mark.parametrize(
    ("binding", "ranks", "expected"),
    [
        ("rank", 4, "0 1 2 3"),
        ("rank", 2, "0,1 2,3"),
        ("closest", 4, "1 3 0 2"),  # ranks 0 and 1 are on NUMA node 0
        ("closest", 2, "1,3 0,2"),
        ("3,0", 2, "3 0"),
        ("none", 2, "0,1,2,3 0,1,2,3"),
    ],
)
def test_gpus_of_ranks(tmp_path: Path, binding: str, ranks: int, expected: str) -> None:
    machine(tmp_path, (1, 0, 1, 0))
    assert given(tmp_path, gpu_binding=binding, ranks_per_node=ranks) == [expected]


def test_a_rank_without_a_gpu_of_its_own_numa_node_takes_none_of_anothers(tmp_path: Path) -> None:
    machine(tmp_path, (1, 1, 1, 0))
    assert given(tmp_path, gpu_binding="closest") == ["3 2 0 1"]


def test_gpus_are_those_that_the_scheduler_gave_by_number_or_uuid(tmp_path: Path) -> None:
    machine(tmp_path, (1, 0, 1, 0))
    for visible, expected in (("2,3", "3 2"), ("GPU-00000002,GPU-00000003", "GPU-00000003 GPU-00000002")):
        placement = {"gpu_binding": "closest", "gpus_per_node": 2, "ranks_per_node": 2}
        assert given(tmp_path, visible=visible, **placement) == [expected]
    assert given(tmp_path, visible="2,3")[1:] == ["gpus: needs 4 GPUs; n1 offers 2 to this job"]


def test_gpus_of_other_jobs_are_not_counted(tmp_path: Path) -> None:
    machine(tmp_path, (0, 0, 1, 1))
    (tmp_path / "sys/dev/nvidia3").unlink()  # as in a container; a control group makes it unreadable
    shown = given(tmp_path, 'echo "${gpus[0]}"; lacks', gpus_per_node=3, ranks_per_node=3, gpu_binding="rank")
    assert shown == [
        "0 1 2",
        f"{ADDRESSES[1]} GPU-00000001-aaaa-bbbb-cccc-0123456789ab 0 NVIDIA A100-SXM4-40GB",
    ]


def test_amd_gpus_are_in_the_order_of_the_kernel(tmp_path: Path) -> None:
    machine(tmp_path, ())
    nodes = tmp_path / "sys/class/kfd/kfd/topology/nodes"
    (tmp_path / "sys/dev/kfd").touch()
    (tmp_path / "sys/dev/dri").mkdir()
    for node, (location, numa) in enumerate([(0, 0), (0xC100, 1), (0x0700, 0)]):
        (nodes / str(node)).mkdir(parents=True)
        (nodes / str(node) / "gpu_id").write_text(f"{location}\n")  # 0: a CPU
        (nodes / str(node) / "properties").write_text(
            AMD.format(location=location, minor=128 + node, number=node)
        )
        (tmp_path / f"sys/dev/dri/renderD{128 + node}").touch()
        add_numa(tmp_path, f"0000:{location >> 8:02x}:00.0", numa)
    wanted = {"gpus_per_node": 2, "ranks_per_node": 2, "gpu_binding": "closest"}
    shown = given(tmp_path, 'printf "%s\\n" "${gpus[@]}" "$gpu_variable"', **wanted)
    assert shown == [
        "1 0",
        "0000:c1:00.0 GPU-0000000000003deb 1 AMD gfx_target_version 90010",
        "0000:07:00.0 GPU-0000000000003dec 0 AMD gfx_target_version 90010",
        "ROCR_VISIBLE_DEVICES",
    ]
    start = (
        "export HIP_VISIBLE_DEVICES=1,0; number=0 local_number=0; give_gpus /dev/null; env | grep _VISIBLE_"
    )
    assert given(tmp_path, start, gpu_binding="rank", gpus_per_node=2, ranks_per_node=2)[1:] == [
        "ROCR_VISIBLE_DEVICES=1"
    ]


def test_a_node_without_gpus_says_what_is_not_there(tmp_path: Path) -> None:
    machine(tmp_path, ())
    (tmp_path / "sys/dev/nvidiactl").unlink()
    dev = tmp_path / "sys/dev"
    reason = f"gpus: no NVIDIA or AMD GPU on n1: {dev}/nvidiactl and {dev}/kfd are not there"
    assert given(tmp_path)[1:] == [reason]


def test_a_rank_starts_with_its_gpus_and_a_node_records_all(tmp_path: Path) -> None:
    machine(tmp_path, (1, 0, 1, 0))
    start = 'number=6 local_number=2; give_gpus /dev/stdout; env | grep -E "^(CUDA|NCCL)_" | sort'
    shown = given(tmp_path, start, gpu_binding="closest")[1:]
    assert shown == [
        "rank 6 launch.gpus=CUDA_VISIBLE_DEVICES=0",
        "CUDA_DEVICE_ORDER=PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES=0",
        "NCCL_TESTS_DEVICE=0",
    ]
    more = "number=9 local_number=4; (give_gpus /dev/null) 2>&1; echo $?"
    assert given(tmp_path, more)[1:] == ["rank 9: the launcher started more than 4 ranks on n1", "71"]
    record = 'record() { echo "$1"; }; fact() { :; }; record_gpus'
    lines = given(tmp_path, record, gpu_binding="rank")[1:]
    assert (
        lines[0]
        == f"node n1 gpu.0={ADDRESSES[0]} GPU-00000000-aaaa-bbbb-cccc-0123456789ab 1 NVIDIA A100-SXM4-40GB"
    )
    assert lines[4:] == ["node n1 gpu_models=NVIDIA A100-SXM4-40GB"]


# ---- the verdict

GPU_CLAIM = CLAIM.replace("transport=shm", "transport=any").replace("sockets=1", "sockets=")
FILES = "/usr/lib64/libcuda.so.550.54.14 /opt/nccl/lib/libnccl.so.2.20.5"


def judged(binding: str = "rank", **changed: str) -> tuple[str, str]:
    """Outcome and reason of two ranks on two NUMA nodes with a GPU each; ``changed``: other lines."""
    lines = {
        "claim": f"claim gpus_per_node=2\nclaim gpu_binding={binding}\n",
        "node": "".join(f"node blue1 gpu.{n}={ADDRESSES[n]} GPU-0{n} {n} NVIDIA A100\n" for n in (0, 1)),
        "first": rank_of(0, "0", ADDRESSES[0]),
        "second": rank_of(1, "1", ADDRESSES[1].upper()),
        **changed,
    }
    ranks = rank_lines(0, "blue1", 0) + rank_lines(1, "blue1", 4, socket=1)
    [found] = gpu_findings(read(evidence_text(GPU_CLAIM, RUN, ranks, *lines.values())))
    return found.outcome, found.reason


def rank_of(rank: int, visible: str, used: str, started: str = "", files: str = FILES) -> str:
    """What a rank records of its GPUs."""
    lines = [f"launch.gpus=CUDA_VISIBLE_DEVICES={started or visible}"]
    lines += [f"start.env.CUDA_VISIBLE_DEVICES={visible}", "start.variables=1"]
    lines += [f"end.gpu={used}"] if used else []
    lines += [f"end.gpu_libraries={files}", "end.nccl_version=22005"] if files else []
    return "".join(f"rank {rank} {line}\n" for line in lines)


def test_gpus_as_claimed_support_the_label() -> None:
    said = "2 on each node, none used by two ranks (libcuda.so.550.54.14, libnccl.so.2.20.5, NCCL 22005)"
    assert judged() == judged("closest") == (SUPPORTS, said)
    by_uuid = rank_of(1, "GPU-01", ADDRESSES[1])
    assert judged(second=by_uuid) == (SUPPORTS, said)
    everything = {"first": rank_of(0, "0,1", ADDRESSES[0]), "second": rank_of(1, "0,1", ADDRESSES[1])}
    assert judged("none", **everything) == (SUPPORTS, said)
    by_srun = {"first": rank_of(0, "0", ADDRESSES[0]), "second": rank_of(1, "0", ADDRESSES[1])}
    assert judged("library", **by_srun) == (SUPPORTS, said)  # with device constraints each has a number 0


A, B = ADDRESSES[:2]
BOTH_ALL = rank_of(0, "0,1", A)


@pytest.mark.parametrize(
    ("binding", "first", "second", "outcome", "reason"),
    [
        ("rank", "", rank_of(1, "0", A), CONTRADICTS, "the ranks of blue1 had 1 GPU, claimed: 2"),
        ("rank", "", rank_of(1, "0,1", B), CONTRADICTS, f"ranks 0 and 1 both had GPU {A}"),
        ("rank", "", rank_of(1, "1", A), CONTRADICTS, f"rank 1 used GPU {A} of blue1, and had {B}"),
        ("rank", "", rank_of(1, "1", B, "0"), CONTRADICTS, "rank 1 was started with CUDA_VISIBLE"),
        ("rank", "", rank_of(1, "1", ""), LACKS, f"nothing shows that rank 1 used one: it mapped {FILES}"),
        (
            "rank",
            "",
            rank_of(1, "1", "", files=""),
            LACKS,
            "nothing shows that rank 1 used one: it mapped nei",
        ),
        ("rank", "", rank_of(1, "MIG-7", B), LACKS, "what rank 1 had is not known: its node recorded 2 GPUs"),
        (
            "closest",
            rank_of(0, "1", B),
            rank_of(1, "0", A),
            CONTRADICTS,
            f"rank 0 on NUMA node 0 had GPU {B}",
        ),
        ("library", "", rank_of(1, "0", A), CONTRADICTS, f"ranks 0 and 1 both used GPU {A} of blue1"),
        ("library", "", rank_of(1, "0", ""), LACKS, "nothing shows that rank 1 used one"),
        ("none", BOTH_ALL, rank_of(1, "0,1", A), CONTRADICTS, f"ranks 0 and 1 both used GPU {A} of blue1"),
    ],
)
def test_gpus_against_the_label(binding: str, first: str, second: str, outcome: str, reason: str) -> None:
    found = judged(binding, second=second, **({"first": first} if first else {}))
    assert found[0] == outcome and found[1].startswith(reason), found


def test_ranks_without_a_variable_have_all_and_unrecorded_variables_prove_nothing() -> None:
    bare = [f"rank {rank} start.variables=0\nrank {rank} end.gpu={ADDRESSES[rank]}\n" for rank in (0, 1)]
    assert judged("none", first=bare[0], second=bare[1])[0] == SUPPORTS
    unrecorded = rank_of(1, "1", B).replace("start.", "start.other.")
    assert judged(second=unrecorded)[1].endswith("recorded 2 GPUs, its program no CUDA_VISIBLE_DEVICES")


def test_amd_s_variable_and_unknown_numa_nodes() -> None:
    script = "job env.CUDA_VISIBLE_DEVICES=0,1\n"
    ranks = [
        rank_of(rank, str(rank), ADDRESSES[rank]).replace("CUDA_", "ROCR_")
        + f"rank {rank} start.unset.CUDA_VISIBLE_DEVICES=\n"
        for rank in (0, 1)
    ]
    assert judged(first=ranks[0], second=script + ranks[1])[0] == SUPPORTS
    nodes = "".join(f"node blue1 gpu.{n}={ADDRESSES[n]} GPU-0{n} - A\n" for n in (0, 1))
    assert judged("closest", node=nodes) == (LACKS, "the NUMA node of rank 0 or of its GPUs is not known")


# ---- campaign files and scripts


def problems(folder: Path, ranks: object = 2, group: dict[str, Any] | None = None, **placement: Any) -> str:
    gpu = {"nodes": 1, "ranks_per_node": ranks, "transport": "any", **placement}
    path = write_campaign(
        folder / "c.yaml",
        system={"scheduler": "slurm", "mpi": "openmpi5"},
        group={"cores": 8, **(group or {})},
        placements={"GPU": gpu},
        benchmarks="osu_latency",
    )
    with pytest.raises(UserError) as raised:
        load_campaign(path)
    return str(raised.value)


def test_impossible_gpus_are_refused(tmp_path: Path) -> None:
    cases: list[tuple[str, dict[str, Any]]] = [
        ("exclude those for device memory", {"transport": "shm"}),
        ("3 ranks cannot have equal shares of 4 GPUs", {"ranks": 3}),
        ("each GPU once, from 0 to 3", {"gpu_binding": "0,4"}),
        ("each GPU once, from 0 to 3", {"gpu_binding": "1,1"}),
        ("gpu_binding: none", {"ranks": "cores"}),
        ("binding: core", {"gpu_binding": "closest", "binding": "none"}),
        ("library needs", {"gpu_binding": "library"}),
        ("must be rank, closest", {"gpu_binding": "near"}),
        ("both gpus_per_node and gres of host group", {"group": {"gres": "gpu:4"}}),
    ]
    assert "the placement has no gpus_per_node" in problems(tmp_path, gpu_binding="closest")
    for message, keys in cases:
        assert message in problems(tmp_path, gpus_per_node=4, **keys), message


CASES = {
    "osu_bw": ("D D", 2, ""),
    "osu_xccl_bw": ("-d cuda", 4, "osu_xccl_bw needs exactly 2 ranks"),
    "all_reduce_perf": ("-b 8 -e 1G", 4, ""),
    "sendrecv_perf": ("-g 4 -b 8", 1, ""),
    "alltoall_perf": ("--ngpus=2 -t2", 1, ""),
    "gather_perf": ("-b 8", 2, "the ranks of a node use 2 GPUs, and the placement has 4"),
}


@pytest.mark.parametrize("program", CASES)
def test_programs_in_a_placement_with_four_gpus(program: str) -> None:
    arguments, ranks, reason = CASES[program]
    suite = SUITES["osu" if program.startswith("osu") else "nccl_tests"]
    asked = Request(program, tuple(arguments.split()), {}, (), 1, ranks, gpus=4)
    found = [suite.lacks(asked), *(refusal.message for refusal in suite.refuses(asked))]
    assert "".join(found).startswith(reason) if reason else not any(found)
    assert suite.lacks(asked._replace(gpus=0)).endswith("the placement has no gpus_per_node")


def test_imb_for_gpus_in_a_placement_without_them_is_warned_of() -> None:
    asked = Request("IMB-MPI1-GPU", ("PingPong",), {}, (), 1, 2)
    assert list(SUITES["imb"].warns(asked)) == [
        "IMB-MPI1-GPU without GPUs: the placement has no gpus_per_node"
    ]
    assert not [*SUITES["imb"].warns(asked._replace(gpus=2))]


@pytest.mark.skipif(
    not any(map(os.path.exists, ("/dev/nvidiactl", "/dev/kfd"))),
    reason="no NVIDIA or AMD GPU: /dev/nvidiactl and /dev/kfd are not there",
)
def test_a_gpu_of_this_machine(tmp_path: Path) -> None:
    """The library's list is that of nvidia-smi, where there is one."""
    command = "read_gpus; printf '%s\\n' \"${gpus[@]}\""
    found = on_node(Path("/sys"), "0", command, gpus_per_node=1, ranks_per_node=1).splitlines()
    assert found
    if found[0].partition(" ")[2].startswith("GPU-") and Path("/dev/nvidiactl").exists():
        query = ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"]
        listed = completed(query, check=True, timeout=60).stdout.split()
        assert [line.split()[1] for line in found] == listed


MADE = Path(__file__).parent / "fixtures/made"
OF_2022 = (MADE / "nccl_tests_2022.out").read_text()


def test_the_program_is_that_of_the_job_script_where_the_output_names_none() -> None:
    assert "benchmark" not in read_facts("a/run.out", OF_2022)
    script = "#!/bin/bash\nsrun ./all_gather_perf -b 8\n"
    assert read_facts("a/run.out", OF_2022, script)["benchmark"] == "all_gather_perf"


def test_a_draft_names_unknown_programs_by_their_files(tmp_path: Path) -> None:
    unnamed = OF_2022.replace("  sum", " none")
    for number, text in enumerate((unnamed, unnamed + "RCCL version 2.18.3\n"), start=1):
        (tmp_path / f"all_gather.{number}.log").write_text(text)
    for name in ("alltoall", "sendrecv"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.log").write_text(unnamed)
    draft = draft_map([tmp_path], "old")
    assert "label: {placement: '{name1}', benchmark: '{name1}'}" in draft
    names = re.findall("placement: ([^,]*), .*benchmark: all_gather}", draft)
    assert [name.endswith("{nccl}'") for name in names] == [True, False]  # the first rule that fits counts


@pytest.mark.parametrize(
    ("title", "program"),
    [
        ("MPI-CUDA Latency", "osu_latency"),
        ("MPI-CUDA MANAGED Allreduce Latency", "osu_allreduce"),
        ("MPI-ROCM Bi-Directional Bandwidth", "osu_bibw"),
        ("NCCL-CUDA Allreduce Latency", "osu_xccl_allreduce"),
        ("RCCL-ROCM All-to-All Personalized Exchange Latency", "osu_xccl_alltoall"),
    ],
)
def test_osu_on_devices(title: str, program: str) -> None:
    heading = "Latency (us)" if title.endswith("Latency") else "Bandwidth (MB/s)"
    text = osu_table(title, heading, [(1, 4.06), (2, 4.26)], "7.5")
    head, _, rows = text.partition("\n")
    told = f"#Using NCCL\n{head}\n# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)\n{rows}"
    facts = read_facts("a/b.out", told)
    assert (facts["benchmark"], facts["buffers"]) == (program, "D H")
    parsed = parse("osu", told)
    assert parsed.metadata["buffers"] == "D H" and parsed.series[0].columns["size"] == [1, 2]
    name, first = ("time", 4.06e-6) if title.endswith("Latency") else ("bandwidth", 4.06e6)
    assert parsed.series[0].columns[name][0] == pytest.approx(first)
