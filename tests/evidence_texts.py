"""Evidence of an honest run on two cores of one socket, as text; tests alter it."""

from __future__ import annotations

INTEL_SHM = "[0] MPI startup(): Intel(R) MPI Library, Version 2021.18.1\n"
INTEL_TCP = INTEL_SHM + "[0] MPI startup(): libfabric provider: tcp\n"

CLAIM = """\
claim system=here
claim host_group=blue
claim placement=SHM-1
claim benchmark=tree_gather
claim repeat=1
claim script_hash=abc123
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
claim program_sha256=5555
claim settings=1
claim setting.I_MPI_FABRICS=shm
"""
RUN = """\
job script_hash=abc123
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
    return "#mpicampaign-evidence 1\n" + "".join(parts) + "job exit_status=0\nend of evidence\n"
