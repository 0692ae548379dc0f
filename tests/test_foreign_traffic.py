"""Honest runs beside other people's traffic, which a node's counters see and the ranks' accounts do not."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from build_campaigns import of_debian, write_campaign
from conftest import ProjectCopy
from minicluster import MiniCluster
from on_cluster import cluster_project

from mpicampaign.base.records import DECLARED, OK, VERIFIED, Record, read_records
from mpicampaign.collect.runs import evidence_in
from mpicampaign.evidence.counters import NOISE_BYTES, counter_findings, payload, traffic
from mpicampaign.evidence.evidence import Evidence
from mpicampaign.evidence.findings import SUPPORTS

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

# ADDRESS RATE SECONDS: sends that many bytes per second to whoever connects, for a bounded time.
SERVER = """
import socket, sys, time
address, rate, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
server = socket.create_server((address, 7777))
server.settimeout(seconds)
client, _ = server.accept()
start, sent = time.monotonic(), 0
while (now := time.monotonic() - start) < seconds:
    if sent < rate * now:
        sent += client.send(bytes(600_000))
    else:
        time.sleep(0.005)
"""
# ADDRESS SECONDS STOP: takes what the server sends, until there is a file STOP; for ever where it is empty.
CLIENT = """
import os, socket, sys, time
end = time.monotonic() + float(sys.argv[2])
while True:
    try:
        server = socket.create_connection((sys.argv[1], 7777), 1)
        break
    except OSError:
        assert time.monotonic() < end
        time.sleep(0.05)
print("ready", flush=True)
while server.recv(1 << 20) and not os.path.exists(sys.argv[3]):
    pass
"""
SECONDS = "200"  # at most; a test ends the traffic with its runs


@contextmanager
def loopback_traffic() -> Iterator[None]:
    """60 MB/s."""
    server = [sys.executable, "-c", SERVER, "127.0.0.1", "60000000", SECONDS]
    client = [sys.executable, "-c", CLIENT, "127.0.0.1", SECONDS, ""]
    with (
        subprocess.Popen(server) as sends,
        subprocess.Popen(client, stdout=subprocess.PIPE, text=True) as takes,
    ):
        try:
            assert takes.stdout is not None
            assert takes.stdout.readline() == "ready\n"
            yield
        finally:
            takes.kill()
            sends.kill()


def evidence_of(results: Path, record: Record) -> Evidence:
    return evidence_in(results / record.files["output"])


def counters_support(evidence: Evidence, record: Record) -> bool:
    seen = {host: traffic(evidence, host) for host in evidence.hosts}
    found = counter_findings(evidence, seen, payload(evidence, record.series))
    return {each.outcome for each in found} == {SUPPORTS}


def run_beside_loopback_traffic(project: ProjectCopy, benchmark: str, arguments: str, **library: Any) -> None:
    write_campaign(
        project.folder / "neighbours.yaml",
        seed=3,
        repeats=8,
        busy_machine="rank",
        time_limit="1 min",
        placements="SHM-1",
        benchmarks={benchmark: {"arguments": arguments}},
        **library,
    )
    with loopback_traffic():
        done = project.call("run", "--campaign", "neighbours.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    results = project.folder / "results/neighbours"
    _, records = read_records(results / "records.jsonl")
    assert [record.status for record in records] == [OK] * 8
    for record in records:
        assert record.verdict == VERIFIED, record.verdict_reasons
        assert "the ranks sent each other 0 B over TCP" in " ".join(record.verdict_reasons)
    seen = [evidence_of(results, record) for record in records]
    # The traffic was there, and the counters alone could not tell it from the ranks'.
    assert min(traffic(each, host).interfaces["lo"] for each in seen for host in each.hosts) > NOISE_BYTES
    assert not all(map(counters_support, seen, records))


@pytest.mark.full
def test_shared_memory_of_intel_mpi_beside_loopback_traffic(project: ProjectCopy, imb: str) -> None:
    run_beside_loopback_traffic(project, "PingPong", "-iter 700 -time 5 -msglog 0:16 PingPong")


@pytest.mark.full
@pytest.mark.parametrize("mpi", ["openmpi4", pytest.param("mpich-ucx", marks=pytest.mark.soak)])
def test_shared_memory_of_other_libraries_beside_loopback_traffic(project: ProjectCopy, mpi: str) -> None:
    arguments = "--tree natural --min-size 1B --max-size 64KiB --budget 1"
    run_beside_loopback_traffic(project, "tree_gather", arguments, **of_debian(mpi))


@contextmanager
def download(cluster: MiniCluster, source: str, target: str) -> Iterator[None]:
    """100 MB/s over the second network, in one direction."""
    address = cluster.nodes[source].addresses[1]
    stop = cluster.home / "stop"
    calls: Sequence[tuple[str, list[str]]] = (
        (source, [SERVER, address, "100000000", SECONDS]),
        (target, [CLIENT, address, SECONDS, str(stop)]),
    )
    threads = [
        threading.Thread(
            target=cluster.call_on, args=(node, [sys.executable, "-c", *arguments], float(SECONDS) + 10)
        )
        for node, arguments in calls
    ]
    for thread in threads:
        thread.start()
    try:
        before = cluster.counters(target)["eth1"]
        cluster.wait_for(lambda: cluster.counters(target)["eth1"] > before + NOISE_BYTES, 60, "a download")
        yield
    finally:
        stop.touch()
        for thread in threads:
            thread.join()


@pytest.mark.full
def test_runs_beside_a_download_over_another_interface(minicluster: MiniCluster, imb: str) -> None:
    made = cluster_project(minicluster, "download", ("blue", ["SHM", "TCP-first"], "PingPong"), repeats=4)
    with download(minicluster, "n3", "n1"):
        records = made.run()
    assert [(record.status, record.verdict) for record in records] == [(OK, DECLARED)] * 8, [
        record.verdict_reasons for record in records
    ]
    seen = [evidence_of(made.results, record) for record in records]
    assert min(traffic(each, "n1").interfaces["eth1"] for each in seen) > NOISE_BYTES
    assert not all(map(counters_support, seen, records))
