"""Facts about nodes and the state of the machine: recorded by the job library, compared, named as causes."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import build_records as make
import pytest
from conftest import completed
from test_evidence_launch import folder

from mpicampaign.base.records import CLOCK_RATE, CONTRADICTED, COPY, DISTURBED, ROUND_TRIP, Record
from mpicampaign.compare.compare import compare
from mpicampaign.evidence.evidence import HEADER, Evidence, read_evidence
from mpicampaign.evidence.machine_state import mark_distances, probes, undivided
from mpicampaign.evidence.node_facts import node_facts, recorded_network
from mpicampaign.jobs.render import TEMPLATES
from mpicampaign.questions.configurations.find import odd_nodes
from mpicampaign.questions.configurations.say import TITLE
from mpicampaign.questions.machine.find_causes import causes_by_node
from mpicampaign.report.make import to_markdown, to_terminal
from mpicampaign.report.summary import summary, summary_text
from mpicampaign.report.write import write_report

CPU, PORT, NET = "devices/system/cpu", "class/infiniband/mlx5_0/ports/1", "class/net/eth0"
HEALTHY = {
    **{f"{CPU}/cpu{n}/topology/physical_package_id": "0" for n in (0, 1)},
    **{f"{CPU}/cpu{n}/topology/thread_siblings_list": str(n) for n in (0, 1)},
    **{f"{CPU}/cpu{n}/thermal_throttle/core_throttle_count": "7" for n in (0, 1)},
    f"{CPU}/cpu0/thermal_throttle/package_throttle_count": "1",
    f"{CPU}/cpu0/cpufreq/scaling_governor": "performance",
    f"{CPU}/cpu0/cpufreq/scaling_max_freq": "3500000",
    f"{CPU}/intel_pstate/no_turbo": "0",
    f"{CPU}/smt/control": "off",
    f"{CPU}/online": "0-1",
    "devices/system/node/online": "0",
    "devices/system/edac/mc/mc0/ce_count": "0",
    "devices/system/edac/mc/mc0/ue_count": "0",
    "kernel/mm/transparent_hugepage/enabled": "[always] madvise never",
    "class/dmi/id/bios_version": "2.19.1",
    "class/infiniband/mlx5_0/fw_ver": "20.31.1014",
    "class/infiniband/mlx5_0/device/uevent": "DRIVER=mlx5_core\nPCI_ID=15B3:101B",
    "class/infiniband/mlx5_0/device/driver/module/version": "5.8-1",
    f"{PORT}/rate": "100 Gb/sec (4X EDR)",
    f"{PORT}/state": "4: ACTIVE",
    f"{PORT}/link_layer": "InfiniBand",
    "class/infiniband/mlx5_0/node_type": "1: CA",
    "class/infiniband/rdmap0s6/ports/1/hw_counters/tx_bytes": "84417311044934",
    "class/cxi/cxi0/device/telemetry/hni_sts_tx_ok_octets": "1234@1700000000.25",
    f"{PORT}/counters/symbol_error": "3",
    f"{PORT}/counters/link_downed": "1",
    f"{NET}/operstate": "up",
    f"{NET}/speed": "1000",
    f"{NET}/duplex": "full",
    f"{NET}/mtu": "9000",
    f"{NET}/device/uevent": "PCI_ID=8086:1572\nDRIVER=i40e",
    f"{NET}/statistics/rx_errors": "4",
    f"{NET}/carrier_down_count": "1",
}
# What is planted on one node: a file of its /sys, and what is then said of it.
PLANTED = {
    (
        f"{CPU}/cpu0/cpufreq/scaling_governor",
        "powersave",
    ): "governor powersave (3 of 4 nodes have performance)",
    (f"{CPU}/cpu0/cpufreq/scaling_max_freq", "2100000"): (
        "scaling_max_freq 2100000 kHz (3 of 4 nodes have 3500000 kHz)"
    ),
    (f"{CPU}/intel_pstate/no_turbo", "1"): "no_turbo 1 (3 of 4 nodes have 0)",
    (f"{CPU}/smt/control", "on"): "SMT on (3 of 4 nodes have off)",
    (f"{CPU}/online", "0"): "online_cpus 0 (3 of 4 nodes have 0-1)",
    ("devices/system/node/online", "0-1"): "NUMA nodes 0-1 (3 of 4 nodes have 0)",
    ("kernel/mm/transparent_hugepage/enabled", "always madvise [never]"): (
        "transparent_hugepages always madvise [never] (3 of 4 nodes have [always] madvise never)"
    ),
    ("class/dmi/id/bios_version", "2.4.0"): "BIOS 2.4.0 (3 of 4 nodes have 2.19.1)",
    ("class/infiniband/mlx5_0/fw_ver", "16.1"): "firmware of mlx5_0 16.1 (3 of 4 nodes have 20.31.1014)",
    ("class/infiniband/mlx5_0/device/driver/module/version", "4.9"): (
        "driver of mlx5_0 mlx5_core 4.9 (3 of 4 nodes have mlx5_core 5.8-1)"
    ),
    (f"{PORT}/rate", "50 Gb/sec (2X EDR)"): (
        "rate of mlx5_0/1 50 Gb/sec (2X EDR) (3 of 4 nodes have 100 Gb/sec (4X EDR))"
    ),
    (f"{PORT}/state", "1: DOWN"): "state of mlx5_0/1 1: DOWN (3 of 4 nodes have 4: ACTIVE)",
    (f"{NET}/speed", "100"): "speed of eth0 100 Mb/s (3 of 4 nodes have 1000 Mb/s)",
    (f"{NET}/duplex", "half"): "duplex of eth0 half (3 of 4 nodes have full)",
    (f"{NET}/mtu", "1500"): "mtu of eth0 1500 (3 of 4 nodes have 9000)",
}
# After the run: counters of errors.
RISEN = {
    f"{CPU}/cpu1/thermal_throttle/core_throttle_count": "19",
    f"{CPU}/cpu0/thermal_throttle/package_throttle_count": "3",
    f"{NET}/statistics/rx_errors": "1",  # began anew
    "devices/system/edac/mc/mc0/ce_count": "3",
    f"{PORT}/counters/symbol_error": "8",
    f"{PORT}/counters/link_downed": "2",
    f"{NET}/carrier_down_count": "3",
}


def declare(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")


def evidence(folder: Path, host: str, changes: dict[str, str] | None = None) -> str:
    """What the job library records of a node with this /sys, before and after a run that changes files."""
    after = folder.with_name(f"{folder.name}-after")
    declare(
        after,
        {
            **{path: (folder / path).read_text().strip() for path in HEALTHY if (folder / path).exists()},
            **(changes or {}),
        },
    )
    parts = "; ".join(f". {TEMPLATES}/library/{part}.sh" for part in ("rank", "node", "facts"))
    text = f"""{parts}; record() {{ printf '%s\\n' "$1"; }}; HOSTNAME={host}; MPICAMPAIGN_ALLOWED=0-1
        MPICAMPAIGN_SYSFS={folder}; read_topology; record_system; record_node before
        MPICAMPAIGN_SYSFS={after}; record_node after"""
    done = completed(["bash", "-c", text], check=True, timeout=60)
    assert done.stderr == ""
    return f"#mpicampaign-evidence 2\n{done.stdout}end of evidence\n"


def record(host: str, nodes: dict[str, dict[str, str]], repeat: int = 1) -> Record:
    case = make.case("NODE", "stream", f"milan {host}", "here")
    return make.run(case, repeat, make.pingpong(1e-6), hosts=(host,), nodes=nodes)


def group(facts: dict[str, str], *others: dict[str, str]) -> list[Record]:
    """Node n1 with facts of its own, and other nodes."""
    nodes = {f"n{number}": known for number, known in enumerate((facts, *others), 1)}
    return [record(host, {host: known}) for host, known in nodes.items()]


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("sys") / "healthy"
    declare(folder, HEALTHY)
    return node_facts(read_evidence(evidence(folder, "n2")))["n2"]


def test_the_library_records_every_fact_that_can_be_read(healthy: dict[str, str]) -> None:
    assert healthy.items() >= {
        ("governor", "performance"),
        ("driver.mlx5_0", "mlx5_core 5.8-1"),
        ("driver.eth0", "i40e"),
        ("infiniband", "mlx5_0 rdmap0s6"),
        ("link.mlx5_0/1", "InfiniBand"),
        ("speed.eth0", "1000"),
        ("online_cpus", "0-1"),
    }
    assert int(healthy["memory_kb"]) > 1 << 16
    assert healthy["kernel"].startswith("Linux ")
    assert not healthy.keys() & {"boost", "throttled", "ecc_corrected", "link_downed.mlx5_0/1"}


def test_devices_that_count_bytes_are_read_before_and_after(tmp_path: Path) -> None:
    declare(tmp_path / "efa", HEALTHY)
    seen = read_evidence(evidence(tmp_path / "efa", "n1")).nodes["n1"]
    assert seen["before.rdma.rdmap0s6.tx_bytes"] == seen["after.rdma.rdmap0s6.tx_bytes"] == "84417311044934"
    assert seen["after.rdma.cxi0.hni_sts_tx_ok_octets"] == "1234"
    assert recorded_network(seen, "mlx5_0") == "infiniband"


def test_each_planted_difference_is_named(tmp_path: Path, healthy: dict[str, str]) -> None:
    folder = tmp_path / "odd"
    declare(folder, HEALTHY | dict(PLANTED.keys()))
    facts = node_facts(read_evidence(evidence(folder, "n1")))["n1"]
    (odd,) = odd_nodes(group(facts, healthy, healthy, healthy))
    assert odd.nodes == ("n1",)
    assert sorted(map(str, odd.differences)) == sorted(PLANTED.values())


def test_what_is_unknown_is_not_recorded_and_no_difference(tmp_path: Path, healthy: dict[str, str]) -> None:
    folder = tmp_path / "bare"
    unknown = {f"{NET}/speed": "-1", f"{NET}/duplex": "unknown", f"{CPU}/smt/control": ""}
    missing = {"class/dmi/id/bios_version", f"{CPU}/cpu0/cpufreq/scaling_governor", f"{PORT}/rate"}
    declare(folder, {path: text for path, text in (HEALTHY | unknown).items() if path not in missing})
    facts = node_facts(read_evidence(evidence(folder, "n1")))["n1"]
    assert not facts.keys() & {"speed.eth0", "duplex.eth0", "smt", "bios", "governor", "rate.mlx5_0/1"}
    assert odd_nodes(group(facts, healthy, healthy)) == ()


def test_risen_counters_are_causes(tmp_path: Path, healthy: dict[str, str]) -> None:
    folder = tmp_path / "failing"
    declare(folder, HEALTHY)
    facts = node_facts(read_evidence(evidence(folder, "n1", RISEN)))["n1"]
    assert "rx_errors.eth0" not in facts
    runs = [record("n1", {"n1": facts}), record("n1", {"n1": healthy}, 2), record("n2", {"n2": healthy})]
    assert causes_by_node(runs) == {
        "n1": (
            "throttled: its counter rose by 14 in 1 of 2 runs",
            "ECC: corrected errors, 3 in 1 of 2 runs",
            "symbol_error of mlx5_0/1 rose by 5 in 1 of 2 runs",
            "link_downed of mlx5_0/1 rose by 1 in 1 of 2 runs",
            "carrier_down_count of eth0 rose by 2 in 1 of 2 runs",
        )
    }


def test_a_slow_clock_and_a_stray_process_are_causes() -> None:
    why = "rank 0 waited 30% of its time for a CPU; other processes of n1 used 3.1 s of CPU time; "
    why += "python3 (pid 1, uid 0) used 1.0 CPUs"
    slow = replace(
        record("n1", {"n1": {"kernel": "1"}}),
        probes={CLOCK_RATE: {"n1": [3.0e9, 2.58e9]}},
        condition=DISTURBED,
        condition_reason=why,
    )
    other = replace(record("n2", {"n2": {"kernel": "1"}}), probes={CLOCK_RATE: {"n2": [3e9]}})
    said = ("clock rate 14 % below that of the others", "disturbed in 1 of 1 runs, mostly by python3")
    assert causes_by_node([slow, other]) == {"n1": said}


def test_differences_are_shown_and_nothing_where_all_agree(tmp_path: Path) -> None:
    alike = compare(group({"bios": "1"}, {"bios": "1"}, {"bios": "1"}))
    unlike = compare(group({"bios": "\x1b[31m<b>"}, {"bios": "1"}, {"bios": "1"}))
    texts = (to_terminal, to_markdown, summary_text)
    for write in texts:
        assert "configured" not in write(alike)
        assert "1 node of milan is configured unlike the others: n1." in summary_text(unlike)
        assert "\x1b" not in write(unlike)
    assert TITLE in to_terminal(unlike)
    assert "BIOS" in to_markdown(unlike)
    write_report(tmp_path / "report.html", unlike, unlike.records)
    page = (tmp_path / "report.html").read_text()
    assert f"{TITLE}</h3>" in page
    assert "BIOS \\x1b[31m&lt;b&gt; (2 of 3 nodes have 1)" in page


__all__ = ["folder"]
CPUS = sorted(os.sched_getaffinity(0))


def start(folder: Path, rank: int, ranks: int, **variables: str) -> subprocess.Popen[bytes]:
    own = {
        "MPICAMPAIGN_RANK": str(rank + 7),
        "MPICAMPAIGN_LOCAL_RANK": str(rank),
        "MPICAMPAIGN_LOCAL_RANKS": str(ranks),
        "MPICAMPAIGN_EVIDENCE_FILE": str(folder / "ranks" / str(rank)),
        "LD_PRELOAD": str(folder / "evidence.so"),
    }
    (folder / "ranks").mkdir(exist_ok=True)
    cpu = str(CPUS[rank % len(CPUS)])
    command = ["taskset", "-c", cpu, folder / "program"]
    return subprocess.Popen(command, env={"PATH": os.environ["PATH"], **own, **variables})


def ended(folder: Path, started: list[subprocess.Popen[bytes]]) -> Evidence:
    for process in started:
        assert process.wait(timeout=60) == 0
    files = sorted((folder / "ranks").iterdir())
    text = "".join(file.read_text() for file in files)
    for file in files:
        file.unlink()
    return read_evidence(f"{HEADER}\n{text}")


def shared_memory(folder: Path) -> Path:
    """That of the ranks of one run, which others on this machine do not have: kernels/evidence/state.c."""
    number = 14695981039346656037
    for byte in f"{socket.gethostname()}{folder / 'ranks'}".encode():
        number = (number ^ byte) * 1099511628211 % 2**64
    return Path(f"/dev/shm/mpicampaign-{os.geteuid()}-{number:016x}")


@pytest.mark.skipif(len(CPUS) < 2, reason="one CPU")
def test_neighbours_measure_their_distance_and_leave_nothing(folder: Path) -> None:
    evidence = ended(folder, [start(folder, rank, 3) for rank in range(3)])
    for rank, partner in ((7, 8), (8, 9)):
        for moment in ("start", "end"):
            assert evidence.ranks[rank][f"{moment}.round_trip_ns"].endswith(
                (f" to rank {partner}", "not probed")
            )
    assert "start.round_trip_ns" not in evidence.ranks[9]
    pair = ended(folder, [start(folder, rank, 2) for rank in range(2)])
    measured = {
        kind: [value for values in places.values() for value in values]
        for kind, places in probes(pair).items()
    }
    assert all(10e-9 < value < 5e-6 for value in measured.get(ROUND_TRIP, [])), "not through the kernel"
    assert all(0.3e9 < rate < 8e9 for rate in measured[CLOCK_RATE])
    assert (
        sum(f"{moment}.copy_gbs" in seen for seen in pair.ranks.values() for moment in ("start", "end")) == 2
    )
    assert all(0.5e9 < rate < 1e12 for rate in measured[COPY])
    assert not shared_memory(folder).exists()


def test_a_partner_that_never_comes_is_waited_for_briefly(folder: Path) -> None:
    began = time.monotonic()
    waiting = start(folder, 0, 2)
    while not shared_memory(folder).exists():
        assert waiting.poll() is None, "ended without memory for its partner"
    evidence = ended(folder, [waiting])
    assert evidence.ranks[7]["start.round_trip_ns"] == "not probed"
    assert ROUND_TRIP not in probes(evidence)
    assert time.monotonic() - began < 30
    alone = ended(folder, [start(folder, 0, 1)])
    assert "start.round_trip_ns" not in alone.ranks[7] and "start.clock_ghz" in alone.ranks[7]


def test_memory_of_a_killed_run_or_of_another_user_does_no_harm(folder: Path) -> None:
    killed = start(folder, 0, 2)
    time.sleep(0.08)
    killed.kill()
    killed.wait()
    pair = ended(folder, [start(folder, rank, 2) for rank in range(2)])
    assert "end.round_trip_ns" in pair.ranks[7]
    assert not shared_memory(folder).exists()


def test_without_local_ranks_nothing_is_measured(folder: Path) -> None:
    evidence = ended(folder, [start(folder, 0, 1, MPICAMPAIGN_LOCAL_RANKS="")])
    assert "start.clock_ghz" not in evidence.ranks[7] and "start.cpu" in evidence.ranks[7]


def test_a_pair_that_was_once_not_probed_has_no_known_state() -> None:
    lines = "rank 0 start.host=a\n"
    lines += "".join(f"rank {rank} start.socket=0\nrank {rank} start.core={rank}\n" for rank in (0, 1))
    probed = "rank 0 start.round_trip_ns=64.0 to rank 1\nrank 0 end.round_trip_ns="
    known = read_evidence(f"{HEADER}\n{lines}{probed}360.5 to rank 1\n")
    assert probes(known) == {ROUND_TRIP: {"a, same socket": [64e-9, pytest.approx(360.5e-9)]}}
    assert probes(read_evidence(f"{HEADER}\n{lines}{probed}not probed\n")) == {}


def probed(placement: str, place: str, ns: float) -> Record:
    case = make.case(placement, group="local", system="here")
    return make.run(case, hosts=(), probes={ROUND_TRIP: {place: [ns * 1e-9]}})


@pytest.mark.parametrize(
    ("others", "beyond", "contradicted"),
    [
        ([140, 141, 139], [138, 139, 141], 3),
        ([140, 141, 61], [138, 139, 141], 0),  # now and then, as where a hypervisor moves CPUs
        ([120, 121, 119], [138, 139, 141], 0),  # nearer than other sockets
        ([140, 141, 139], [138, 139], 0),  # two runs show no distance
        ([70, 71, 69], [65, 66, 64], 0),  # sockets that only the guest declares
    ],
)
def test_one_socket_as_far_as_two_is_contradicted(
    others: list[float], beyond: list[float], contradicted: int
) -> None:
    records = [probed("A", "n1, same socket", ns) for ns in (60, 62, 61, 60, 61, 63, 60)]
    records += [probed("B", "n1, same socket", ns) for ns in others]
    records += [probed("C", "n1, other socket", ns) for ns in beyond]
    records += [probed("D", "n2, same socket", 300)] * 3  # another node's distances say nothing here
    judged = [record for record in mark_distances(records) if record.verdict == CONTRADICTED]
    assert [record.case.placement for record in judged] == ["B"] * contradicted
    assert bool(undivided(records)) == (beyond[0] < 70)
    assert all("as between sockets (138 ns)" in record.verdict_reasons[0] for record in judged)


@pytest.mark.parametrize(("beyond", "said"), [(0.5e-6, False), (0.26e-6, True)])
def test_core_pairs_says_where_declared_sockets_do_not_show(beyond: float, said: bool) -> None:
    levels = [1.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0, None]
    latencies = [0.25e-6 if level is None or level < 3 else beyond for level in levels]
    pairs = make.series("core_pairs", 4, pairs_level=levels, pairs_latency_seconds=latencies)
    record = make.run(make.case("SHM-2", "core_pairs"), 1, pairs, suite="kernel", hosts=("n1",))
    assert [one.what for one in undivided([record])] == ["8 B in core_pairs"] * said
    texts = [text for text in summary(compare([record])).notices if "as near as" in text]
    assert (
        texts
        == [
            "On n1, CPUs of two sockets are as near as those of one (260 and 250 ns for 8 B in core_pairs): "
            "only what the machine says tells them apart."
        ]
        * said
    )
