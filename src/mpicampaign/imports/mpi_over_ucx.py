"""Which MPI library used UCX: UCX's own report, which Open MPI and MPICH both cause, does not name its user.

PMIx and Hydra are no evidence: Slurm starts either of them with the one, and Intel MPI has the other, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpicampaign.imports.job_script import JobScript

UCX_REPORT = "mpich-ucx"  # its reader, named after the one MPI library of this program that prints it
_WORDS = {
    "openmpi-ucx": re.compile(r"open[- ]?mpi|hpcx|(?<![a-z])(?:ompi|orte|prte|mca[:_ ])", re.IGNORECASE),
    "mpich-ucx": re.compile(r"(?<![a-z])mpich|MPIR_CVAR", re.IGNORECASE),
}


def mpi_over_ucx(said: str, job: JobScript) -> str:
    """By words, options, variables and modules of either library; empty where they name none, or both."""
    told = "\n".join((said, *job.commands, *job.environment, *job.modules))
    found = [mpi for mpi, words in _WORDS.items() if words.search(told)]
    return found[0] if len(found) == 1 else ""
