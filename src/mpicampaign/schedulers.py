"""What differs between schedulers in a job script: directives and the job's id. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpicampaign.campaign import HostGroup


@dataclass(frozen=True, slots=True)
class Scheduler:
    """``job_id`` and ``script`` are shell text: how a running script knows its id and its own file."""

    template: str
    job_id: str
    script: str
    how_to_run: str
    group_options: Callable[[HostGroup], list[tuple[str, str]]]


def hours_minutes(seconds: int) -> str:
    """LSF's form of a time limit, rounded up to the minute: 2700 -> 0:45."""
    minutes = -(-seconds // 60)
    return f"{minutes // 60}:{minutes % 60:02d}"


def _slurm_options(group: HostGroup) -> list[tuple[str, str]]:
    options = {
        "partition": group.partition,
        "constraint": group.constraint,
        "nodelist": ",".join(group.hosts),
        "reservation": group.reservation,
        "account": group.account,
        "qos": group.qos,
    }
    return [(name, value) for name, value in options.items() if value]


def _lsf_options(group: HostGroup) -> list[tuple[str, str]]:
    options = {"-m": " ".join(group.hosts), "-U": group.reservation, "-P": group.account}
    return [(name, value) for name, value in options.items() if value]


def _no_options(group: HostGroup) -> list[tuple[str, str]]:
    return []


SCHEDULERS = {
    "slurm": Scheduler(
        "slurm.sh.j2", "${SLURM_JOB_ID:-$$}", '"$0"', "Submit with: sbatch job.sh", _slurm_options
    ),
    # LSF runs a copy with lines of its own around the script, so the rendered file is looked at instead.
    "lsf": Scheduler(
        "lsf.sh.j2", "${LSB_JOBID:-$$}", '"$run_folder/job.sh"', "Submit with: bsub < job.sh", _lsf_options
    ),
    "none": Scheduler("shell.sh.j2", "$$", '"$0"', "Run with: bash job.sh", _no_options),
}
