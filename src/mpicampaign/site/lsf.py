"""LSF as the doctor meets it: its commands as tokens, and their output as facts. No I/O.

Written after the documentation of LSF 10.1 (bqueues -w, lshosts -w, bhosts -w, bparams); never run on an LSF.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from mpicampaign.site.facts import NodeClass, Queue, UnreadableError
from mpicampaign.yaml_lines import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

QUEUES = ("bqueues", "-w")
PARAMETERS = ("bparams",)
HOSTS = ("lshosts", "-w")
STATES = ("bhosts", "-w")
WAITING = ("PEND", "PSUSP", "WAIT")
RUNNING = ("RUN", "USUSP", "SSUSP", "PROV")
# Closed by jobs or load, not by an administrator; without a reason, full is the usual one.
_IN_USE = ("ok", "closed", "closed_Full", "closed_Excl", "closed_cu_Excl", "closed_Busy")


def default_queues(output: str) -> list[str]:
    """The default queues that bparams names; none where it names none."""
    found = re.search(r"^Default Queues?:\s*(.*)$", output, re.MULTILINE)
    return found[1].split() if found else []


def read_queues(output: str, defaults: Sequence[str] = ()) -> list[Queue]:
    """The queues of ``QUEUES``, default ones first.

    Raises
    ------
    UnreadableError
        when the table has no columns QUEUE_NAME and STATUS.
    """
    rows = _table(output, "bqueues", "QUEUE_NAME", "STATUS")
    queues = [
        Queue(row["QUEUE_NAME"], row["QUEUE_NAME"] in defaults, row["STATUS"] == "Open:Active")
        for row in rows
    ]
    return sorted(queues, key=lambda queue: (not queue.default, not queue.open))


def node_classes(hosts: str, states: str, queues: Sequence[str]) -> list[NodeClass]:
    """Like hosts: the same model, CPUs and resources, for the first of the queues that are to be used.

    Which queue serves which hosts is not asked: the probe job shows it.

    Raises
    ------
    UnreadableError
        when lshosts or bhosts printed another table than documented.
    """
    if not queues:
        raise UnreadableError("bqueues shows no queue that is open and active")
    state = {row["HOST_NAME"]: row["STATUS"] for row in _table(states, "bhosts", "HOST_NAME", "STATUS")}
    kinds: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for row in _table(hosts, "lshosts", "HOST_NAME", "model", "ncpus"):
        if row["HOST_NAME"] in state and state[row["HOST_NAME"]] != "unavail":
            kind = (row["model"], row["ncpus"], row["RESOURCES"])
            kinds.setdefault(_kind(*kind), []).append(row["HOST_NAME"])
    return [
        NodeClass(
            queue,
            tuple(members),
            sum(state[member] in _IN_USE for member in members),
            (kind[0], *kind[2]),
            notes=(f"model {kind[0]}, {kind[1]} CPUs as LSF counts them",),
        )
        for queue in queues
        for kind, members in kinds.items()
    ]


def _kind(model: str, cpus: str, resources: str) -> tuple[str, str, tuple[str, ...]]:
    return model, cpus, tuple(sorted(resources.strip("()").split()))


def _table(output: str, command: str, *needed: str) -> list[dict[str, str]]:
    """The rows of a table whose first line names its columns; RESOURCES, the last, may hold spaces."""
    lines = [line for line in output.splitlines() if line.strip()]
    columns = lines[0].split() if lines else []
    if any(name not in columns for name in needed):
        first = printable(lines[0])[:200] if lines else ""
        raise UnreadableError(f"{command} printed no columns {', '.join(needed)}: {first!r}")
    rows = []
    for line in lines[1:]:
        words = line.split(None, len(columns) - 1)
        if len(words) >= max(columns.index(name) for name in needed) + 1:
            row = dict.fromkeys(columns, "") | dict(zip(columns, words, strict=False))
            rows.append(row | {"RESOURCES": row.get("RESOURCES", "").strip()})
    return rows


def submit_command(nodes: NodeClass, job_name: str, log: str, script: Sequence[str]) -> list[str]:
    """bsub for a script with its arguments: one slot, one minute. LSF hands the command to a shell."""
    place = ["-q", nodes.queue, "-m", " ".join(nodes.nodes)]
    return ["bsub", "-n", "1", "-W", "1", "-J", job_name, "-o", log, *place, shlex.join(["bash", *script])]


def job_id(output: str) -> str:
    """The number of a job that was just submitted.

    Raises
    ------
    UnreadableError
        when there is none.
    """
    found = re.search(r"^Job <([0-9]+)> is submitted", output, re.MULTILINE)
    if not found:
        raise UnreadableError(f"bsub did not print a job's number: {printable(output.strip())[:200]!r}")
    return found[1]


def states_command(jobs: Sequence[str]) -> list[str]:
    """bjobs for these jobs, finished ones included."""
    return ["bjobs", "-a", "-w", *jobs]


def read_states(output: str) -> dict[str, tuple[str, str]]:
    """The state of each job, no reason; what cannot be read is left out."""
    rows = [line.split() for line in output.splitlines()]
    return {row[0]: (row[2], "") for row in rows if len(row) > 2 and row[0].isdigit()}


def cancel_command(job: str) -> list[str]:
    """bkill for one job."""
    return ["bkill", job]
