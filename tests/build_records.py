"""Invented records, for all tests: ``import build_records as make``.

`case`, `series` and `run` make one thing each, with defaults for what does not matter; `runs` makes repeats
with given latencies, `case_runs` repeats that scatter about one. Fields of the records follow as keywords:
``make.runs("TCP", [1e-6, 1.1e-6], condition=QUIET)``. A field may be a function of the repeat's number:
``started=lambda n: f"2026-01-0{n}T00:00:00Z"``. ``metadata`` is added to that of all runs. `campaign` has
every state that a run can end in. `write_result` writes the files of a run.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

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
BLOCK_SIZES = [float(2**power) for power in range(10, 23)]
OSU_OUTPUT = "# OSU MPI Latency Test v7.4\n# Size Latency (us)\n1 0.50\n"
HOSTILE = 'ev|l <b>"name"</b> =cmd()\x1b[31m $x^2$ `a` \u202e宽\nline'


def case(placement: str = "SHM", benchmark: str = "PingPong", group: str = "g", system: str = "s") -> Case:
    return Case(system, group, placement, benchmark)


def series(
    benchmark: str, ranks: int | None = 2, /, metrics: Any = None, qualifiers: Any = None, **columns: Any
) -> Series:
    """A table; a column is a sequence of values, or the only value."""
    lists = {name: [*of] if isinstance(of, Iterable) else [of] for name, of in columns.items()}
    return Series(benchmark, ranks, lists, qualifiers or {}, metrics or {})


def pingpong(latency: float, bandwidth: float = 1e9, sizes: Sequence[float] = SIZES) -> Series:
    """A series in which a message takes latency plus size / bandwidth."""
    times = [latency + size / bandwidth for size in sizes]
    rates = [size / time for size, time in zip(sizes, times, strict=True) if time]
    return series("PingPong", size=sizes, time=times, bandwidth=rates)


def collective(name: str, latency: float, bandwidth: float = 1e9, ranks: int = 4) -> Series:
    """A series with times and no bandwidth."""
    return series(name, ranks, size=SIZES, time=[latency + size / bandwidth for size in SIZES])


def tree_gather(tree: str, latency: float, bandwidth: float) -> Series:
    """A kernel's series of 4 ranks: 3 blocks are useful, 4 cross the wire."""
    times = [latency + 4 * size / bandwidth for size in BLOCK_SIZES]
    useful, wire = ([n * size / time for size, time in zip(BLOCK_SIZES, times, strict=True)] for n in (3, 4))
    columns = {"size": BLOCK_SIZES, "time": times, "bandwidth": useful, "bandwidth_wire": wire}
    return series("tree_gather", 4, qualifiers={"tree": tree}, **columns)


def mpi_gather(latency: float, bandwidth: float) -> Series:
    """The kernels' baseline: every block crosses the wire once."""
    rates = [3 * size / (latency + 3 * size / bandwidth) for size in BLOCK_SIZES]
    return series("MPI_Gather", 4, size=BLOCK_SIZES, bandwidth=rates, bandwidth_wire=rates)


def run(of: Case | str, repeat: int = 1, *tables: Series, suite: str = "imb", **fields: Any) -> Record:
    """A complete, verified run of a case, or of PingPong in a placement; repeats are a minute apart."""
    begin = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC) + timedelta(minutes=repeat - 1)
    known = {"node1: cpu_model": "Invented CPU"}
    fields = {name: value(repeat) if callable(value) else value for name, value in fields.items()}
    common = {
        "verdict": VERIFIED,
        "verdict_reasons": ("hosts: node1 (2 ranks)", "binding: one core per rank"),
        "hosts": ("node1",),
        "job_id": str(1000 + repeat),
        "started": f"{begin:%Y-%m-%dT%H:%M:%SZ}",
        "ended": f"{begin + timedelta(seconds=4):%Y-%m-%dT%H:%M:%SZ}",
        "exit_status": 0,
        **fields,
        "metadata": known | fields.get("metadata", {}),
    }
    of_case = case(of) if isinstance(of, str) else of
    return Record(of_case, suite, repeat, common.pop("status", OK), series=tables, **common)


def runs(of: Case | str, latencies: Iterable[float], bandwidth: float = 1e9, **fields: Any) -> list[Record]:
    """PingPong runs of a case, or in a placement, with these latencies (s)."""
    return [run(of, n, pingpong(time, bandwidth), **fields) for n, time in enumerate(latencies, 1)]


def case_runs(
    of: Case | str,
    latency: float = 1e-6,
    bandwidth: float = 1e9,
    repeats: int = 6,
    seed: int = 1,
    **fields: Any,
) -> list[Record]:
    """PingPong runs of a case, or in a placement, with a scatter of a few per cent."""
    of = case(of) if isinstance(of, str) else of
    noise = random.Random(f"{of}{seed}")
    factors = [(noise.uniform(0.97, 1.03), noise.uniform(0.95, 1.02)) for _ in range(repeats)]
    return [
        run(of, n, pingpong(latency * slower, bandwidth * faster), **fields)
        for n, (slower, faster) in enumerate(factors, 1)
    ]


def kernel_runs(of: Case | str, latency: float, bandwidth: float, repeats: int = 6) -> list[Record]:
    """tree_gather runs of a case, or in a placement, two trees and the baseline."""
    of = case(of, "tree_gather") if isinstance(of, str) else of
    noise = random.Random(str(of))
    records = []
    for repeat in range(1, repeats + 1):
        fast, slow, base = (bandwidth * factor * noise.uniform(0.96, 1.04) for factor in (1.0, 0.7, 0.8))
        trees = (tree_gather("max-inter", latency, fast), tree_gather("min-inter", latency, slow))
        records.append(run(of, repeat, *trees, mpi_gather(latency, base), suite="kernel"))
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
    return series("HPCC", ranks, qualifiers={"N": str(order), "NB": "80", "grid": f"1 x {ranks}"}, **columns)


def hpcc_runs(system: str, factor: float, ranks: int = 4) -> list[Record]:
    """HPCC runs of a system; the second repeat is the median, the first and third 10 % beside it."""
    of = case(benchmark="HPCC", group="nodes", system=system)
    made = (hpcc(factor * scatter, ranks) for scatter in (0.9, 1.0, 1.1))
    return [run(of, repeat, table, suite="hpcc") for repeat, table in enumerate(made, 1)]


def not_available(of: Case | str, reason: str, repeats: int = 6, suite: str = "imb") -> list[Record]:
    """The records of a case, or of PingPong in a placement, that is not available on the machine."""
    of = case(of) if isinstance(of, str) else of
    return [Record(of, suite, repeat, NOT_AVAILABLE, reason) for repeat in range(1, repeats + 1)]


def campaign(system: str = "this-machine", host_group: str = "local", factor: float = 1.0) -> list[Record]:
    """A campaign on one host group: PingPong and tree_gather in four placements, with every state."""

    def of(placement: str, benchmark: str = "PingPong") -> Case:
        return case(placement, benchmark, host_group, system)

    absent = "needs 2 sockets, node1 has 1"
    records = case_runs(of("SHM-1"), 0.25e-6 * factor, 9.1e9 / factor) + not_available(of("SHM-2"), absent)
    unbound = case_runs(of("SHM"), 0.28e-6 * factor, 9.0e9 / factor)
    slow = case_runs(of("SHM"), 0.52e-6 * factor, 5.0e9 / factor)
    doubt = ("memory: no kernel support",)
    unbound[1:4] = [replace(record, verdict=UNVERIFIED, verdict_reasons=doubt) for record in slow[1:4]]
    tcp = case_runs(of("TCP-loopback"), 3.2e-6 * factor, 2.1e9 / factor, repeats=7)
    reasons = ("MPI library's report: it used shm, claimed: tcp",)
    tcp[2] = replace(tcp[2], verdict=CONTRADICTED, verdict_reasons=reasons)
    tcp[3] = replace(tcp[3], status=FAILED, reason="output.txt: ends after 12 rows", verdict=None, series=())
    tcp[4] = replace(tcp[4], status=MISSING, reason="not run yet", verdict=None, series=())
    tcp[6] = replace(tcp[6], started=tcp[3].started)  # instead of the one that failed
    records += unbound + tcp
    for placement, latency, bandwidth in (("SHM-1", 0.5e-6, 8e9), ("TCP-loopback", 6e-6, 2e9)):
        records += kernel_runs(of(placement, "tree_gather"), latency * factor, bandwidth / factor)
    return records + not_available(of("SHM-2", "tree_gather"), absent, suite="kernel")


def write_result(file: Path, *evidence: str, output: str = OSU_OUTPUT, errors: str = "") -> None:
    """The file of a result or an attempt, with evidence of these lines."""
    text = "\n".join(["#mpicampaign-evidence 2", *evidence, "end of evidence", ""])
    for name, part in (("stderr", errors), ("output", output)):
        text += f"\n==> {name}.txt, {len(part.encode())} bytes <==\n{part}"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
