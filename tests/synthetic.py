"""Invented records for tests: a small campaign with every state that a run can end in."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from mpicampaign.base.records import (
    CONTRADICTED,
    FAILED,
    MISSING,
    NOT_AVAILABLE,
    OK,
    UNVERIFIED,
    VERIFIED,
    Case,
    Record,
    Series,
)

SIZES = [0.0] + [float(2**power) for power in range(23)]
HOSTILE = 'ev|l <b>"name"</b> =cmd()\x1b[31m $x^2$ `a` \u202e宽\nline'


def pingpong(latency: float, bandwidth: float, sizes: list[float] | None = None) -> Series:
    """A series in which a message takes latency plus size / bandwidth."""
    sizes = SIZES if sizes is None else sizes
    times: list[float | None] = [latency + size / bandwidth for size in sizes]
    rates: list[float | None] = [size / time for size, time in zip(sizes, times, strict=True) if time]
    return Series("PingPong", 2, {"size": list(sizes), "time": times, "bandwidth": rates})


def collective(name: str, latency: float, bandwidth: float, ranks: int = 4) -> Series:
    """A series with times and no bandwidth."""
    times: list[float | None] = [latency + size / bandwidth for size in SIZES]
    return Series(name, ranks, {"size": list(SIZES), "time": times})


def tree_gather(tree: str, latency: float, bandwidth: float) -> Series:
    """A kernel's series of 4 ranks: 3 blocks are useful, 4 cross the wire."""
    sizes = [float(2**power) for power in range(10, 23)]
    times: list[float | None] = [latency + 4 * size / bandwidth for size in sizes]
    useful: list[float | None] = [3 * size / (latency + 4 * size / bandwidth) for size in sizes]
    wire: list[float | None] = [4 * size / (latency + 4 * size / bandwidth) for size in sizes]
    columns = {"size": list(sizes), "time": times, "bandwidth": useful, "bandwidth_wire": wire}
    return Series("tree_gather", 4, columns, {"tree": tree})


def mpi_gather(latency: float, bandwidth: float) -> Series:
    """The kernels' baseline: every block crosses the wire once."""
    sizes = [float(2**power) for power in range(10, 23)]
    rates: list[float | None] = [3 * size / (latency + 3 * size / bandwidth) for size in sizes]
    return Series("MPI_Gather", 4, {"size": list(sizes), "bandwidth": rates, "bandwidth_wire": list(rates)})


def run(case: Case, repeat: int, *series: Series, suite: str = "imb") -> Record:
    """A complete, verified run; a repeat of all cases each minute."""
    begin = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC) + timedelta(minutes=repeat - 1)
    return Record(
        case,
        suite,
        repeat,
        OK,
        verdict=VERIFIED,
        verdict_reasons=("hosts: node1 (2 ranks)", "binding: one core per rank"),
        series=series,
        hosts=("node1",),
        job_id=str(1000 + repeat),
        started=f"{begin:%Y-%m-%dT%H:%M:%SZ}",
        ended=f"{begin + timedelta(seconds=4):%Y-%m-%dT%H:%M:%SZ}",
        exit_status=0,
        metadata={"node1: cpu_model": "Invented CPU"},
    )


def case_runs(case: Case, latency: float, bandwidth: float, repeats: int = 6, seed: int = 1) -> list[Record]:
    """PingPong runs of a case with a scatter of a few per cent."""
    noise = random.Random(f"{case}{seed}")
    return [
        run(case, n, pingpong(latency * noise.uniform(0.97, 1.03), bandwidth * noise.uniform(0.95, 1.02)))
        for n in range(1, repeats + 1)
    ]


def kernel_runs(case: Case, latency: float, bandwidth: float, repeats: int = 6) -> list[Record]:
    """tree_gather runs of a case, two trees and the baseline."""
    noise = random.Random(str(case))
    records = []
    for repeat in range(1, repeats + 1):
        fast, slow, base = (bandwidth * factor * noise.uniform(0.96, 1.04) for factor in (1.0, 0.7, 0.8))
        series = (tree_gather("max-inter", latency, fast), tree_gather("min-inter", latency, slow))
        records.append(run(case, repeat, *series, mpi_gather(latency, base), suite="kernel"))
    return records


def hpcc(factor: float = 1.0, ranks: int = 4, order: int = 1000, **other: float | None) -> Series:
    """HPCC's values of a system of 10 Gflop/s times ``factor``; ``other`` replaces columns."""
    columns = {
        "hpl_flops": 1e10 * factor,
        "dgemm_star_flops": 3e9 * factor,
        "fft_flops": 1e9 * factor**0.5,
        "ptrans_bandwidth": 2e9 * factor**0.5,
        "stream_copy_star": 5e9,
        "stream_triad_star": 6e9,
        "random_access_rate": 1e7 * factor**0.25,
        "random_ring_latency": 4e-6,
        "ping_pong_latency": 2e-6,
        "random_ring_bandwidth": 2e8 * factor,
        "natural_ring_bandwidth": 4e8 * factor,
        "ping_pong_bandwidth": 1e9 * factor,
        **other,
    }
    qualifiers = {"N": str(order), "NB": "80", "grid": f"1 x {ranks}"}
    return Series("HPCC", ranks, {name: [value] for name, value in columns.items()}, qualifiers)


def hpcc_runs(
    system: str, factor: float, ranks: int = 4, order: int = 1000, repeats: int = 3
) -> list[Record]:
    """HPCC runs of a system; the second repeat is the median, the first and third 10 % beside it."""
    case = Case(system, "nodes", "SHM", "HPCC")
    scatter = (0.9, 1.0, 1.1)
    return [
        run(case, repeat, hpcc(factor * scatter[(repeat - 1) % 3], ranks, order), suite="hpcc")
        for repeat in range(1, repeats + 1)
    ]


def not_available(case: Case, reason: str, repeats: int = 6, suite: str = "imb") -> list[Record]:
    """The records of a case that is not available on the machine."""
    return [Record(case, suite, repeat, NOT_AVAILABLE, reason) for repeat in range(1, repeats + 1)]


def campaign(system: str = "this-machine", host_group: str = "local", factor: float = 1.0) -> list[Record]:
    """A campaign on one host group: PingPong and tree_gather in four placements, with every state."""
    cases = {p: Case(system, host_group, p, "PingPong") for p in ("SHM-1", "SHM-2", "SHM", "TCP-loopback")}
    records = case_runs(cases["SHM-1"], 0.25e-6 * factor, 9.1e9 / factor)
    records += not_available(cases["SHM-2"], "needs 2 sockets, node1 has 1")
    unbound = case_runs(cases["SHM"], 0.28e-6 * factor, 9.0e9 / factor)
    slow = case_runs(cases["SHM"], 0.52e-6 * factor, 5.0e9 / factor)
    doubt = ("memory: no kernel support",)
    unbound[1:4] = [replace(record, verdict=UNVERIFIED, verdict_reasons=doubt) for record in slow[1:4]]
    records += unbound
    tcp = case_runs(cases["TCP-loopback"], 3.2e-6 * factor, 2.1e9 / factor, repeats=7)
    reasons = ("MPI library's report: it used shm, claimed: tcp",)
    tcp[2] = replace(tcp[2], verdict=CONTRADICTED, verdict_reasons=reasons)
    tcp[3] = replace(tcp[3], status=FAILED, reason="output.txt: ends after 12 rows", verdict=None, series=())
    tcp[4] = replace(tcp[4], status=MISSING, reason="not run yet", verdict=None, series=())
    tcp[6] = replace(tcp[6], started=tcp[3].started)  # instead of the one that failed
    records += tcp
    for placement, latency, bandwidth in (("SHM-1", 0.5e-6, 8e9), ("TCP-loopback", 6e-6, 2e9)):
        case = Case(system, host_group, placement, "tree_gather")
        records += kernel_runs(case, latency * factor, bandwidth / factor)
    case = Case(system, host_group, "SHM-2", "tree_gather")
    return records + not_available(case, "needs 2 sockets, node1 has 1", suite="kernel")
