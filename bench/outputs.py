"""Invented outputs and evidence of finished runs, in the real formats."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

# 0 B, then 1 B to 4 MiB: 24 rows; fewer repetitions above 64 KiB, as in IMB.
SIZES = (0, *(2**power for power in range(23)))
REPETITIONS = tuple(1000 if size <= 65536 else 65536 * 1000 // size for size in SIZES)
SECONDS, MOMENT = timedelta(seconds=9), "%Y-%m-%dT%H:%M:%SZ"  # of a run
PAYLOAD = sum(size * count for size, count in zip(SIZES, REPETITIONS, strict=True))

HEAD = """\
#----------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.11, MPI-1 part
#----------------------------------------------------------------
# Date                  : Thu Jan  1 00:00:00 2026
# MPI Version           : 3.1

# Calling sequence was: 

# IMB-MPI1 PingPong 

# Minimum message length in bytes:   0
# Maximum message length in bytes:   4194304
#
# List of Benchmarks to run:

# PingPong

#---------------------------------------------------
# Benchmarking PingPong 
# #processes = 2 
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
"""  # noqa: W291  IMB ends these lines with blanks
TAIL = "\n\n# All processes entering MPI_Finalize\n\n"


def pingpong(noise: random.Random) -> str:
    """An IMB PingPong output of 24 rows."""
    latency, rate = 0.3 * noise.uniform(0.97, 1.05), 9000 * noise.uniform(0.9, 1.02)
    return HEAD + "".join(_row(size, count, latency, rate) for size, count in _points()) + TAIL


def _points() -> list[tuple[int, int]]:
    return list(zip(SIZES, REPETITIONS, strict=True))


def _row(size: int, count: int, latency: float, rate: float) -> str:
    time = round(latency + size / rate, 2)
    return f"{size:>13}{count:>13}{time:>13.2f}{size / time:>13.2f}\n"


def report(transport: str) -> str:
    """Intel MPI's own report with I_MPI_DEBUG=5."""
    provider = "[0] MPI startup(): libfabric provider: tcp\n" if transport == "tcp" else ""
    return f"[0] MPI startup(): Intel(R) MPI Library, Version 2021.18.1\n{provider}"


def evidence(
    name: str,
    claims: dict[str, str],
    raw: dict[str, str],
    hosts: Sequence[str] = ("node1",),
    begin: datetime = datetime(2026, 1, 1, tzinfo=UTC),
) -> str:
    """The evidence file of a run of two ranks that matches its claim, with these raw files.

    ``name``: the run's folder below runs/.
    """
    lines = ["#mpicampaign-evidence 2", f"job run={name}", f"job script_sha256={claims['scripts']}"]
    lines += [f"job {key}={claims[key]}" for key in ("launch", "arguments", "program_sha256")]
    lines += [f"job env.{k.removeprefix('setting.')}={v}" for k, v in claims.items() if "setting." in k]
    lines += [f"job started={begin:{MOMENT}}", f"job host={hosts[0]}", "job id=1", "job env.PATH=/usr/bin"]
    lines += [line for host in hosts for line in _node(host, claims)]
    lines += [line for rank in (0, 1) for line in _rank(rank, hosts[rank % len(hosts)], claims)]
    lines += [f"job sha256.{name}={hashlib.sha256(raw[name].encode()).hexdigest()}" for name in raw]
    end = (f"job ended={begin + SECONDS:{MOMENT}}", "job exit_status=0", "end of evidence")
    return "\n".join([*lines, *end]) + "\n"


def _node(host: str, claims: dict[str, str]) -> list[str]:
    facts = ("kernel=Linux 6.1", "cpu_model=Invented CPU", "cores=8")
    moved = PAYLOAD if claims["transport"] == "tcp" else 0
    return [f"node {host} {fact}" for fact in (*facts, *_counters(moved))]


def _counters(moved: int) -> list[str]:
    lines = []
    for moment, loopback in (("before", 1000), ("after", 1000 + 2 * moved)):
        lines.append(f"{moment}.load=0.10 0.20 0.30")
        for name, count in (("eth0", 5000), ("eth1", 0), ("lo", loopback)):
            lines += [f"{moment}.net.{name}.{way}_bytes={count}" for way in ("rx", "tx")]
    return lines


def _rank(rank: int, host: str, claims: dict[str, str]) -> list[str]:
    socket = rank if claims["sockets"] == "2" else 0
    lines = [f"rank {rank} launch.host={host}"]
    for moment in ("start", "end"):
        facts = {
            "host": host,
            "cpu": rank,
            "allowed": "0-7" if claims["binding"] == "none" else rank,
            "socket": socket,
            "numa": socket,
            "memory": f"N{socket}=900",
        }
        lines += [f"rank {rank} {moment}.{key}={value}" for key, value in facts.items()]
    return lines
