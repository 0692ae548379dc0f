"""Jobs, queues and nodes as schedulers list them, and what helps to read their lists. No I/O."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from mpicampaign.base.errors import UnreadableError
from mpicampaign.base.yaml_lines import printable

# The states of a job, whatever its scheduler calls them. Any other state is UNKNOWN, never a success.
QUEUED, RUNNING, DONE, UNKNOWN = "queued", "running", "done", "unknown"
FAILED, CANCELLED, TIMEOUT, OUT_OF_MEMORY = "failed", "cancelled", "timeout", "out of memory"
NODE_FAIL, PREEMPTED, LAUNCH_FAILED = "node failure", "preempted", "launch failure"
NOT_STARTED = "script not started"  # and the job has ended
HELD = "held"  # waits until somebody releases it
_Open = Literal["queued", "running", "held", "unknown", "launch failure"]
_Over = Literal["done", "failed", "cancelled", "timeout", "out of memory", "node failure", "preempted"]
JobState = _Open | _Over | Literal["script not started"]
ACTIVE = (QUEUED, RUNNING, HELD)
# Jobs that may still run, or keep their place in the queue.
IN_THE_QUEUE = (*ACTIVE, LAUNCH_FAILED, UNKNOWN)


class QueuedJob(NamedTuple):
    """A job as the scheduler lists it; ``native_state`` and ``reason`` are in its own terms.

    ``exit_status``: of its script, where the scheduler was asked for this job alone and says it.
    """

    id: str
    name: str
    state: str
    native_state: str
    reason: str = ""
    exit_status: int | None = None

    @property
    def description(self) -> str:
        """State and reason in the scheduler's terms, such as ``PENDING (Resources)``."""
        return f"{self.native_state} ({self.reason})" if self.reason else self.native_state


@dataclass(frozen=True, slots=True)
class Queue:
    """A partition or queue; ``time_limit`` is in the scheduler's format."""

    name: str
    default: bool
    open: bool
    time_limit: str = ""
    notes: tuple[str, ...] = ()


class Node(NamedTuple):
    """A node as the scheduler reports it; what it does not report is None or empty."""

    name: str
    usable: bool = True  # neither down nor drained
    features: tuple[str, ...] = ()
    sockets: int | None = None
    cores: int | None = None
    cpus: int | None = None  # as the scheduler counts them
    memory: int | None = None  # in bytes
    model: str = ""


@dataclass(frozen=True, slots=True)
class NodeClass:
    """Like nodes of one partition or queue; ``others``: its further nodes."""

    queue: str  # partition or queue
    members: tuple[Node, ...]
    others: tuple[Node, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(node.name for node in self.members)

    @property
    def usable(self) -> int:
        """How many can get jobs now."""
        return sum(node.usable for node in self.members)

    @property
    def features(self) -> tuple[str, ...]:
        """The features that all members have."""
        first, *rest = (node.features for node in self.members)
        return tuple(sorted(set(first).intersection(*rest)))

    def distinguishing(self, usable: re.Pattern[str]) -> list[str]:
        """The fewest features of a usable form that only the members have together."""
        members, others = (
            [frozenset(filter(usable.fullmatch, node.features)) for node in part]
            for part in (self.members, self.others)
        )
        common = frozenset.intersection(*members)
        return _cover({common - other for other in others})

    def only(self, members: Iterable[Node]) -> NodeClass:
        """Some nodes of the queue; all other nodes are the others."""
        chosen = tuple(members)
        names = {node.name for node in chosen}
        rest = (node for node in (*self.members, *self.others) if node.name not in names)
        return replace(self, members=chosen, others=tuple(rest))


class NodeState(NamedTuple):
    """Whether a node gets jobs now, its state in the scheduler's terms, and the reason, or empty."""

    usable: bool
    native_state: str
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.native_state} ({self.reason})" if self.reason else self.native_state


MANY = 1_000_000


class Limits(NamedTuple):
    """The most tasks of an array, jobs of a user in the queue and minutes of a job, as far as it is said."""

    tasks: int = 100
    jobs: int = MANY
    minutes: int = MANY


class JobReport(NamedTuple):
    """What a scheduler wrote around a job's output; what it leaves out is empty.

    ``hosts`` are names with slots, in order; ``script`` is the job script, where it is quoted.
    """

    job_id: str
    name: str
    cluster: str
    state: str
    queue: str
    hosts: tuple[tuple[str, int | None], ...]
    started: str
    script: str
    trouble: str


def _cover(sets: Collection[frozenset[str]]) -> list[str]:
    """A few names so that each set has one of them: at each step that of most sets; empty where none do."""
    chosen: list[str] = []
    while sets and all(sets):
        counts = Counter(name for names in sets for name in names)
        chosen.append(min(counts, key=lambda name: (-counts[name], name)))
        sets = [names for names in sets if chosen[-1] not in names]
    return chosen


def by_native_state(states: Mapping[JobState, str]) -> dict[str, JobState]:
    """The state for each of a scheduler's own states, from a list of these for each state."""
    return {native: state for state, natives in states.items() for native in natives.split()}


def is_job(line: str) -> bool:
    """Whether a line begins with a job's number, be it of an array (12_[0-3,7%2]) or a part (12+1)."""
    return re.match(r"[0-9][0-9_+\[\],%-]*\s*(\||\s|$)", line) is not None


def job_fields(line: str, count: int, separator: str | None = "|") -> list[str]:
    """The fields of a line of a job list; the last one, a name, may contain separators.

    Raises
    ------
    UnreadableError
        where it is no such line.
    """
    fields = [field.strip() for field in line.split(separator, count - 1)]
    if len(fields) != count or not is_job(line):
        raise UnreadableError(f"not a line of the job list: {line[:100]!r}")
    return fields


def first(pattern: re.Pattern[str], text: str) -> str:
    """What the pattern's group matches first; empty where it does not."""
    match = pattern.search(text)
    return match[1] if match else ""


def unexpected(command: str, line: str) -> UnreadableError:
    """The error for a line that is not as documented."""
    return UnreadableError(f"{command} printed an unexpected line: {printable(line)[:200]!r}")


def rows_of_table(output: str, command: str, *needed: str) -> list[dict[str, str]]:
    """The rows of a table under the line that names its columns, which may be repeated.

    The last column may contain spaces, or be empty.

    Raises
    ------
    UnreadableError
        where a needed column is missing, or a line has too few fields.
    """
    lines = [line for line in output.splitlines() if line.strip()]
    start = next((n for n, line in enumerate(lines) if {*needed} <= {*line.split()}), None)
    if start is None:
        heading = printable(lines[0])[:200] if lines else ""
        raise UnreadableError(f"{command} printed no columns {', '.join(needed)}: {heading!r}")
    columns, rows = lines[start].split(), []
    for line in (line for line in lines[start:] if line.split() != columns):
        fields = [field.strip() for field in line.split(None, len(columns) - 1)]
        if len(fields) < len(columns) - 1:
            raise unexpected(command, line)
        rows.append(dict.fromkeys(columns, "") | dict(zip(columns, fields, strict=False)))
    return rows
