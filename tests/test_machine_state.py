"""What the evidence library measures of the machine, and what is read of it; without MPI."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path

import build_records as make
import pytest
from test_evidence_launch import folder

from mpicampaign.base.records import (
    CLOCK_RATE,
    CONTRADICTED,
    COPY,
    ROUND_TRIP,
    Record,
)
from mpicampaign.compare.compare import compare
from mpicampaign.evidence.evidence import HEADER, Evidence, read_evidence
from mpicampaign.evidence.machine_state import mark_distances, probes, undivided
from mpicampaign.report.summary import notices

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
    texts = [text for text in notices(compare([record])) if "as near as" in text]
    assert (
        texts
        == [
            "On n1, CPUs of two sockets are as near as those of one (260 and 250 ns for 8 B in core_pairs): "
            "only what the machine says tells them apart."
        ]
        * said
    )
