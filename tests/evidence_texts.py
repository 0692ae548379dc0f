"""Evidence of an honest run on two cores of one socket, as text; tests alter it."""

from __future__ import annotations

from typing import Any

from mpicampaign.base.identity import canonical, identity, run_path
from mpicampaign.base.records import Case
from mpicampaign.evidence.evidence import Evidence, read_evidence

INTEL_SHM = "[0] MPI startup(): Intel(R) MPI Library, Version 2021.18.1\n"
INTEL_TCP = INTEL_SHM + "[0] MPI startup(): libfabric provider: tcp\n"

DECLARED = {
    "system": "here",
    "host_group": "blue",
    "placement": "SHM-1",
    "benchmark": "tree_gather",
    "arguments": ["--budget", "3"],
    "repeat": 1,
}
_CLAIM = """\
claim scripts=abc123 abc124
claim nodes=1
claim ranks=2
claim ranks_per_node=2
claim sockets=1
claim binding=core
claim transport=shm
claim interface=
claim device=
claim mpi=intelmpi
claim members=blue*
claim evidence=on
claim program_sha256=5555
claim launch=mpirun -n 2
claim arguments=--budget 3
claim settings=1
claim setting.I_MPI_FABRICS=shm
"""
_RUN = """\
job run={path}
job launch=mpirun -n 2
job arguments=--budget 3
job script_sha256=abc123
job program_sha256=5555
job env.I_MPI_FABRICS=shm
node blue1 cores=8
node blue1 numa_maps=yes
node blue1 before.net.eth0.rx_bytes=1000
node blue1 before.net.eth0.tx_bytes=1000
node blue1 before.net.lo.rx_bytes=5
node blue1 before.net.lo.tx_bytes=5
node blue1 after.net.eth0.rx_bytes=2000
node blue1 after.net.eth0.tx_bytes=2000
node blue1 after.net.lo.rx_bytes=5
node blue1 after.net.lo.tx_bytes=5
"""
NAMES = ("system", "host_group", "placement", "benchmark")


def claim_of(declared: dict[str, Any]) -> str:
    """The lines of the claim of a run with this declaration."""
    lines = [(name, declared[name]) for name in (*NAMES, "repeat")]
    lines += [("identity", identity(declared)), ("declared", canonical(declared))]
    return "".join(f"claim {key}={value}\n" for key, value in lines) + _CLAIM


def folder_of(declared: dict[str, Any]) -> str:
    """The folder of that run, below that of its campaign."""
    return run_path(Case(*(declared[name] for name in NAMES)), declared["repeat"], identity(declared))


def run_of(declared: dict[str, Any]) -> str:
    """The lines of the job and its node."""
    return _RUN.format(path=folder_of(declared).removeprefix("runs/"))


CLAIM, RUN, IDENTITY = claim_of(DECLARED), run_of(DECLARED), identity(DECLARED)
TCP_CLAIM = (
    CLAIM.replace("nodes=1", "nodes=2")
    .replace("ranks_per_node=2", "ranks_per_node=1")
    .replace("sockets=1", "sockets=")
    .replace("transport=shm", "transport=tcp")
    .replace("interface=\n", "interface=eth0\n")
    .replace("FABRICS=shm", "FABRICS=ofi")
)


def split(text: str) -> tuple[str, str]:
    """The texts of the two files, evidence and claim, from one list of lines."""
    lines = [f"{line}\n" for line in text.removesuffix("\n").split("\n")]
    claim = [line for line in lines if line.startswith("claim ")]
    evidence = [line for line in lines if not line.startswith("claim ")]
    return "".join(evidence), "".join(["#mpicampaign-claim 1\n", *claim])


def read(text: str) -> Evidence:
    """What a run claims and recorded, from the lines of both."""
    return read_evidence(*split(text))


def rank_lines(rank: int, host: str, cpu: int, allowed: str = "", socket: int = 0) -> str:
    lines = [f"rank {rank} launch.host={host}"]
    for moment in ("start", "end"):
        lines += [
            f"rank {rank} {moment}.host={host}",
            f"rank {rank} {moment}.cpu={cpu}",
            f"rank {rank} {moment}.allowed={allowed or cpu}",
            f"rank {rank} {moment}.socket={socket}",
            f"rank {rank} {moment}.numa={socket}",
            f"rank {rank} {moment}.memory=N0=900,N1=100",
        ]
    return "\n".join(lines) + "\n"


def evidence_text(*parts: str) -> str:
    return "#mpicampaign-evidence 2\n" + "".join(parts) + "job exit_status=0\nend of evidence\n"
