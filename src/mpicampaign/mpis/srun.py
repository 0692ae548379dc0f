"""srun: Slurm's own way to start the ranks of any MPI library that has a PMI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.mpis.mpi import Launcher

if TYPE_CHECKING:
    from mpicampaign.mpis.mpi import Launch


def _tokens(launch: Launch) -> list[str]:
    pmi = [f"--mpi={launch.pmi}"] if launch.pmi else []
    counts = [f"--nodes={launch.nodes}", f"--ntasks={launch.ranks}"]
    bind = [] if launch.binds else ["--cpu-bind=none"]
    per_node = f"--ntasks-per-node={launch.ranks_per_node}"
    return ["srun", *pmi, *counts, per_node, *bind, "--kill-on-bad-exit=1"]


SRUN = Launcher("srun", "SLURM_PROCID", "SLURM_LOCALID", _tokens, ("srun",))
