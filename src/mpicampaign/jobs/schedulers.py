"""What differs between schedulers: directives, commands, and what their outputs say. No I/O.

Sources: the manuals of sbatch, squeue and scancel (Slurm 20 to 24), and of bsub, bjobs and bkill: pages of
the command reference of IBM Spectrum LSF 10.1, which are named where they are used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpicampaign.campaign.model import HostGroup

# What a job is doing, whatever its scheduler calls it. Anything not known is UNKNOWN, never a success.
QUEUED, RUNNING, DONE, UNKNOWN = "queued", "running", "done", "unknown"
FAILED, CANCELLED, TIMEOUT, OUT_OF_MEMORY = "failed", "cancelled", "timeout", "out of memory"
NODE_FAIL, PREEMPTED, LAUNCH_FAILED = "node failure", "preempted", "launch failure"
HELD = "held"  # waits for somebody's release
ACTIVE = (QUEUED, RUNNING, HELD)


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A job as the scheduler lists it. ``said``: its own words for state and reason."""

    id: str
    name: str
    state: str
    said: str


class QueueError(Exception):
    """The scheduler's answer can't be understood; the message says which line."""


@dataclass(frozen=True, slots=True)
class Commands:
    """How jobs are submitted, listed and cancelled.

    ``submit`` is followed by the script's path, or reads it as standard input; ``query`` lists all jobs of
    a user, ended ones too as long as the scheduler knows them; ``release``: what lets a held job start;
    ``no_jobs``: what it says, on either stream and whatever its exit status, when there are none.
    """

    submit: tuple[str, ...]
    script_on_stdin: bool
    query: Callable[[str], list[str]]
    cancel: str
    release: str
    read_submitted: Callable[[str], str]
    read_queue: Callable[[str], list[QueuedJob]]
    no_jobs: str = ""


@dataclass(frozen=True, slots=True)
class Scheduler:
    """``job_id`` and ``script`` are shell text: how a running script knows its id and its own file.

    ``header``: the template of its directives. ``options`` of a host group as directives, those without a
    value with an empty one. ``environment``: what each job script exports. ``commands``: none where job
    scripts run on this very machine.
    """

    header: str
    job_id: str
    script: str
    how_to_run: str
    options: Callable[[HostGroup], list[tuple[str, str]]]
    environment: dict[str, str]
    commands: Commands | None = None


# Modules, evidence and the end of a run take time beyond the benchmark's own limit: the scheduler must not
# kill first.
SECONDS_OF_SETUP = 300


def minutes(time_limit: int) -> int:
    """The time to ask the scheduler for, in minutes; ``time_limit`` of the benchmark in seconds."""
    return -(-(time_limit + SECONDS_OF_SETUP) // 60)


def hours_minutes(minutes: int) -> str:
    """LSF's form of a time limit: 45 -> 0:45."""
    return f"{minutes // 60}:{minutes % 60:02d}"


def _slurm_options(group: HostGroup) -> list[tuple[str, str]]:
    options = {
        "partition": group.partition,
        "constraint": group.constraint,
        "nodelist": ",".join(group.hosts),
        "reservation": group.reservation,
        "account": group.account,
        "qos": group.qos,
        "licenses": group.licenses,
        "hint": group.hint,
        "threads-per-core": str(group.threads_per_core or ""),
        "mem": group.memory,
        "gres": group.gres,
        "switches": group.switches,
    }
    given = [(f"--{name}", value) for name, value in options.items() if value]
    given += [("--exclusive", "")] if group.exclusive else []
    requeue = {None: [], True: [("--requeue", "")], False: [("--no-requeue", "")]}
    return given + requeue[group.requeue]


def _lsf_options(group: HostGroup) -> list[tuple[str, str]]:
    options = {
        "-q": group.queue,
        "-m": " ".join(group.hosts),
        "-U": group.reservation,
        "-P": group.account,
    }
    given = [("-x", "")] if group.exclusive else []
    given += [(name, value) for name, value in options.items() if value]
    requeue = {None: [], True: [("-r", "")], False: [("-rn", "")]}
    return given + requeue[group.requeue]


def _no_options(group: HostGroup) -> list[tuple[str, str]]:
    return []


_SLURM_STATES = {
    QUEUED: "PENDING CONFIGURING REQUEUED REQUEUE_FED",
    HELD: "REQUEUE_HOLD RESV_DEL_HOLD SPECIAL_EXIT",
    RUNNING: "RUNNING COMPLETING RESIZING SIGNALING STAGE_OUT STOPPED SUSPENDED",
    DONE: "COMPLETED",
    FAILED: "FAILED",
    CANCELLED: "CANCELLED REVOKED",
    TIMEOUT: "TIMEOUT DEADLINE",
    OUT_OF_MEMORY: "OUT_OF_MEMORY",
    NODE_FAIL: "NODE_FAIL BOOT_FAIL LAUNCH_FAILED RECONFIG_FAIL",
    PREEMPTED: "PREEMPTED",
}
# Reasons of pending jobs that do not start by themselves. After a launch failure the node was to blame: Slurm
# has put the job back, and holds it.
_SLURM_HOLDS = {
    "launch failed requeued held": LAUNCH_FAILED,
    "job requeued in held state": HELD,
    "JobHeldUser": HELD,
    "JobHeldAdmin": HELD,
    "JobHoldMaxRequeue": HELD,
}
# Page "LSF terms and concepts". EXIT is for any exit status but 0, a kill by the user and a limit alike; the
# reason tells which. A job of a host that does not answer is UNKWN, and goes on when it does; it is ZOMBI
# once someone has killed it meanwhile, and EXIT when the host answers: nothing is to be tried again then.
_LSF_STATES = {
    QUEUED: "PEND WAIT",
    HELD: "PSUSP",
    RUNNING: "RUN USUSP SSUSP UNKWN PROV",
    DONE: "DONE",
    FAILED: "EXIT",
    CANCELLED: "ZOMBI",
}
# Page "Termination reasons displayed by bacct, bhist, and bjobs"; those that are not here are failures.
_LSF_EXITS = {
    "TERM_RUNLIMIT": TIMEOUT,
    "TERM_CPULIMIT": TIMEOUT,
    "TERM_DEADLINE": TIMEOUT,
    "TERM_MEMLIMIT": OUT_OF_MEMORY,
    "TERM_SWAP": OUT_OF_MEMORY,
    "TERM_OWNER": CANCELLED,
    "TERM_ADMIN": CANCELLED,
    "TERM_FORCE_OWNER": CANCELLED,
    "TERM_FORCE_ADMIN": CANCELLED,
    "TERM_PREEMPT": PREEMPTED,
    "TERM_ZOMBIE": NODE_FAIL,
    "TERM_UNKNOWN": NODE_FAIL,
    "TERM_REMOVE_HUNG_JOB": NODE_FAIL,
}


def _by_word(states: dict[str, str]) -> dict[str, str]:
    return {word: state for state, words in states.items() for word in words.split()}


def _is_job(line: str) -> bool:
    """Whether a line begins with a job's number, be it of an array (12_[0-3,7%2]) or a part (12+1)."""
    return re.match(r"[0-9][0-9_+\[\],%-]*\s*\|", line) is not None


def read_squeue(text: str) -> list[QueuedJob]:
    """The output of ``squeue --noheader --format=%i|%T|%r|%j``; a name may hold more of the bars.

    Raises
    ------
    QueueError
        at a line of another form: a message among the lines means that the list may not be whole.
    """
    states = _by_word(_SLURM_STATES)
    found: list[QueuedJob] = []
    for line in filter(str.strip, text.splitlines()):
        fields = line.split("|", 3)
        if not _is_job(line) or len(fields) != 4:
            raise QueueError(f"not a line of the job list: {line[:100]!r}")
        number, word, reason, name = (field.strip() for field in fields)
        said = word if reason in ("", "None") else f"{word} ({reason})"
        state = _SLURM_HOLDS.get(reason.replace("_", " ")) if word == "PENDING" else None
        found.append(QueuedJob(number, name, state or states.get(word, UNKNOWN), said))
    return found


def read_bjobs(text: str) -> list[QueuedJob]:
    """The output of ``bjobs -noheader -o "jobid stat exit_reason job_name pend_reason delimiter='|'"``.

    Page "-o" of bjobs: a field without a width is not cut, an empty one is a hyphen. A pending reason may
    go on over several lines, and comes last for that.

    Raises
    ------
    QueueError
        where the list does not begin with a job.
    """
    states = _by_word(_LSF_STATES)
    found: list[QueuedJob] = []
    for line in filter(str.strip, text.splitlines()):
        fields = [field.strip() for field in line.split("|", 4)]
        if not _is_job(line) or len(fields) != 5:
            if not found:
                raise QueueError(f"not a line of the job list: {line[:100]!r}")
            continue
        number, word, ended, name, pending = fields
        state = states.get(word, UNKNOWN)
        if state == FAILED:
            state = next((known for term, known in _LSF_EXITS.items() if term in ended), FAILED)
        reason = next((said for said in (ended, pending) if said not in ("", "-")), "")
        found.append(QueuedJob(number, name, state, f"{word} ({reason})" if reason else word))
    return found


def read_sbatch(text: str) -> str:
    """The job's id from ``sbatch --parsable``: ``4711``, or ``4711;cluster``; empty where there is none."""
    match = re.search(r"^([0-9]+)(;\S*)?\s*$", text, re.MULTILINE)
    return match[1] if match else ""


def read_bsub(text: str) -> str:
    """The job's id from bsub, in a line that begins with ``Job <4711> is submitted``; else empty.

    "to queue <normal>." or "to default queue <normal>." follows, and a site's own lines may stand around.
    """
    match = re.search(r"^Job <([0-9]+)> is submitted", text, re.MULTILINE)
    return match[1] if match else ""


SLURM_COMMANDS = Commands(
    submit=("sbatch", "--parsable"),
    script_on_stdin=False,
    query=lambda user: ["squeue", "--noheader", "--states=all", f"--user={user}", "--format=%i|%T|%r|%j"],
    cancel="scancel",
    release="scontrol release",
    read_submitted=read_sbatch,
    read_queue=read_squeue,
)
LSF_COMMANDS = Commands(
    submit=("bsub",),
    script_on_stdin=True,
    query=lambda user: [
        *("bjobs", "-a", "-u", user, "-noheader", "-o"),
        "jobid stat exit_reason job_name pend_reason delimiter='|'",
    ],
    cancel="bkill",
    release="bresume",
    read_submitted=read_bsub,
    read_queue=read_bjobs,
    no_jobs="No job found",
)

SCHEDULERS = {
    "slurm": Scheduler(
        "slurm.sh.j2",
        "${SLURM_JOB_ID:-$$}",
        "$0",
        "Submit with: sbatch job.sh",
        _slurm_options,
        # srun takes over what sbatch was asked to export, and so does an mpirun that starts by srun
        {"SLURM_EXPORT_ENV": "ALL"},
        SLURM_COMMANDS,
    ),
    # LSF runs a copy with lines of its own around the script, so the rendered file is looked at instead.
    "lsf": Scheduler(
        "lsf.sh.j2",
        "${LSB_JOBID:-$$}",
        "$run/job.sh",
        "Submit with: bsub < job.sh",
        _lsf_options,
        {},
        LSF_COMMANDS,
    ),
    "none": Scheduler("", "$$", "$0", "Run with: bash job.sh", _no_options, {}),
}
