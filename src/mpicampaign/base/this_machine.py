"""What this machine offers to the ranks: cores and memory, and the part of it that a scheduler gave us."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mpicampaign.base.yaml_lines import printable

_GIB = 1 << 30
_LOCK = "/tmp/mpicampaign-measuring"


def measuring_lock() -> Path:
    """The folder that a job script locks while it measures: one for all results folders and users here.

    A folder, as each user can open it: of a file in a sticky folder such as /tmp, Linux refuses that to all
    but its owner (fs.protected_regular). MPICAMPAIGN_LOCK names another one, as for tests.
    """
    return Path(os.environ.get("MPICAMPAIGN_LOCK", _LOCK))


@cache  # each case of a campaign asks
def physical_cores() -> int:
    """Physical cores of this machine; hyper-threads count once."""
    cpus = Path("/sys/devices/system/cpu").glob("cpu[0-9]*/topology/thread_siblings_list")
    return len({path.read_text() for path in cpus}) or (os.cpu_count() or 1)


@cache
def memory() -> int | None:
    """Memory of this machine (B), in whole GiB: what the kernel takes for itself differs with its version."""
    try:
        installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None
    return installed // _GIB * _GIB or installed


class Allocation(NamedTuple):
    """A job of a scheduler that this process runs in.

    ``variables``: prefixes of those that the scheduler sets there. ``cpus``: how many of this node's CPUs the
    job has, as far as is known.
    """

    scheduler: str
    number: str
    variables: tuple[str, ...]
    cpus: int

    @property
    def text(self) -> str:
        """Which one this is, and whether runs have the machine to themselves there."""
        here = f"inside allocation {printable(self.number)} of {self.scheduler}"
        in_all = os.cpu_count() or self.cpus
        if self.cpus >= in_all:
            return f"{here}, which has all CPUs of this node: no other job should use them"
        free_cpus = in_all - self.cpus
        others = f"the other {free_cpus}" if free_cpus > 1 else "the other one"
        return f"{here}, which has {self.cpus} of this node's {in_all} CPUs: others may use {others}"


# A variable with the job's number, one with its CPUs on each node, and prefixes of all.
_SCHEDULERS = {
    "Slurm": ("SLURM_JOB_ID", "SLURM_JOB_CPUS_PER_NODE", ("SLURM", "SRUN_", "PMI_", "PMIX_")),
    "LSF": ("LSB_JOBID", "LSB_MCPU_HOSTS", ("LSB_",)),
    "PBS": ("PBS_JOBID", "NCPUS", ("PBS_", "PALS_", "PMI_")),
}
# As each of them writes it where all nodes have as many: 4, 4(x2); n1 4.
_CPUS = re.compile(r"(?:\S+ )?([0-9]{1,9})(?:\(x[0-9]+\))? *")


def allocation() -> Allocation | None:
    """The allocation that this process runs in, by the variables of its environment; None outside of any."""
    for scheduler, (number, cpus, variables) in _SCHEDULERS.items():
        if os.environ.get(number):
            allowed = len(os.sched_getaffinity(0))
            told = _CPUS.fullmatch(os.environ.get(cpus, ""))
            has = min(allowed, int(told[1])) if told else allowed
            return Allocation(scheduler, os.environ[number], variables, has)
    return None
