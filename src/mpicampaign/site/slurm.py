"""Slurm as the doctor meets it: its commands as tokens, and their output as facts. No I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.site.facts import NodeClass, Queue, UnreadableError
from mpicampaign.yaml_lines import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

# One line for each node in each partition; %P marks the default partition with a star, %R does not.
NODES = ("sinfo", "--noheader", "--Node", "--format=%N|%R|%P|%a|%l|%f|%X|%Y|%Z|%T")
PARTITIONS = ("scontrol", "--oneliner", "show", "partition")
_FIELDS = 10
# Nodes that sleep (powered_down) are woken for a job.
_OUT_OF_USE = re.compile(
    r"(?<!powered_)(?<!powering_)(?<!power_)down|drain|fail|maint|inval|unk|future", re.I
)
WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SUSPENDED", "RESIZING")
RUNNING = ("RUNNING", "COMPLETING", "STAGE_OUT", "SIGNALING", "STOPPED")


@dataclass(frozen=True, slots=True)
class NodeLine:
    """A node in a partition, as sinfo tells it."""

    node: str
    queue: Queue
    features: tuple[str, ...]
    sockets: int
    cores: int
    in_use: bool


def read_nodes(output: str) -> list[NodeLine]:
    """The lines of ``NODES``.

    Raises
    ------
    UnreadableError
        with the first line that is not as asked for.
    """
    lines = [_node_line(line) for line in output.splitlines() if line.strip()]
    if not lines:
        raise UnreadableError("sinfo names no node in any partition")
    return lines


def _node_line(line: str) -> NodeLine:
    fields = [field.strip() for field in line.split("|")]
    numbers = fields[6:9]
    if len(fields) != _FIELDS or not all(re.fullmatch(r"[0-9]{1,6}", number) for number in numbers):
        raise UnreadableError(f"sinfo printed a line that is not as asked for: {printable(line)[:200]!r}")
    node, name, marked, state, limit, features = fields[:6]
    queue = Queue(name, marked == f"{name}*", state == "up", limit)
    sockets, each, _ = map(int, numbers)
    names = () if features in ("", "(null)") else tuple(sorted(features.split(",")))
    return NodeLine(node, queue, names, sockets, sockets * each, not _out_of_use(fields[9]))


def _out_of_use(state: str) -> bool:
    # A star: it does not respond. Other marks (~ asleep, # waking) are nodes that a job may get.
    return state.endswith("*") or _OUT_OF_USE.search(state) is not None


def queues_of(lines: Sequence[NodeLine]) -> list[Queue]:
    """The partitions, the default one first."""
    found = {line.queue.name: line.queue for line in lines}
    return sorted(found.values(), key=lambda queue: (not queue.default, not queue.open, queue.name))


def node_classes(lines: Sequence[NodeLine], wanted: Sequence[str] = ()) -> list[NodeClass]:
    """Like nodes: the same partition, features, sockets and cores.

    A node of several partitions is taken in the first of ``wanted``, or of the default one and those
    that are open: it is one node, and one host group is enough for it.
    """
    order = list(wanted) or [queue.name for queue in queues_of(lines) if queue.open]
    kinds: dict[tuple[str, tuple[str, ...], int, int], dict[str, bool]] = {}
    seen: set[str] = set()
    for name in order:
        members = [line for line in lines if line.queue.name == name and line.node not in seen]
        for line in members:
            kind = (name, line.features, line.sockets, line.cores)
            kinds.setdefault(kind, {})[line.node] = line.in_use
        seen |= {line.node for line in members}
    features_in = _features_in_partitions(lines)
    return [_node_class(kind, nodes, features_in[kind[0]]) for kind, nodes in kinds.items()]


Kinds = dict[tuple[str, ...], set[tuple[int, int]]]


def _features_in_partitions(lines: Sequence[NodeLine]) -> dict[str, Kinds]:
    """For each partition its sets of features, with the shapes (sockets, cores) of nodes that have them."""
    found: dict[str, Kinds] = {}
    for line in lines:
        kinds = found.setdefault(line.queue.name, {})
        kinds.setdefault(line.features, set()).add((line.sockets, line.cores))
    return found


def _node_class(
    kind: tuple[str, tuple[str, ...], int, int], nodes: dict[str, bool], neighbours: Kinds
) -> NodeClass:
    queue, features, sockets, cores = kind
    constraint, alone = _constraint(features, neighbours)
    notes = () if alone else ("no feature tells these nodes from others of the partition",)
    return NodeClass(queue, tuple(nodes), sum(nodes.values()), features, sockets, cores, constraint, notes)


def _constraint(features: tuple[str, ...], neighbours: Kinds) -> tuple[str, bool]:
    """The shortest constraint that selects nodes with these features, and whether it selects only them."""
    others = [set(other) for other in neighbours if other != features]
    like = len(neighbours[features]) == 1
    if not others:
        return "", like
    for feature in features:
        if not any(feature in other for other in others):
            return feature, like
    return "&".join(features), like and not any(other.issuperset(features) for other in others)


def partition_notes(output: str) -> dict[str, tuple[str, ...]]:
    """What a partition demands beyond its name, from ``PARTITIONS``; nothing where that cannot be read."""
    found = {}
    for line in output.splitlines():
        values = dict(re.findall(r"(\w+)=(\S*)", line))
        notes = []
        for key, words in (
            ("AllowAccounts", "accounts"),
            ("AllowQos", "QOS"),
            ("AllowGroups", "user groups"),
        ):
            if values.get(key, "ALL") not in ("ALL", "(null)"):
                notes.append(f"open to these {words} only: {values[key]}")
        if values.get("ReqResv") == "YES":
            notes.append("needs a reservation")
        found[values.get("PartitionName", "")] = tuple(notes)
    return found


def submit_command(nodes: NodeClass, job_name: str, log: str, script: Sequence[str]) -> list[str]:
    """sbatch for a script with its arguments: one node, one minute."""
    constraint = [f"--constraint={nodes.constraint}"] if nodes.constraint else []
    shape = ["--nodes=1", "--ntasks=1", "--time=1", "--no-requeue"]
    place = [f"--partition={nodes.queue}", *constraint]
    return [
        "sbatch",
        "--parsable",
        *shape,
        f"--job-name={job_name}",
        *place,
        f"--output={log.replace('%', '%%')}",
        *script,
    ]


def job_id(output: str) -> str:
    """The number of a job that was just submitted.

    Raises
    ------
    UnreadableError
        when there is none.
    """
    found = re.search(r"^([0-9]+)(;.*)?$", output, re.MULTILINE)  # ID or ID;CLUSTER
    if not found:
        raise UnreadableError(f"sbatch did not print a job's number: {printable(output.strip())[:200]!r}")
    return found[1]


def states_command(jobs: Sequence[str]) -> list[str]:
    """squeue for these jobs, finished ones included."""
    return ["squeue", "--noheader", "--states=all", f"--jobs={','.join(jobs)}", "--format=%i|%T|%r"]


def read_states(output: str) -> dict[str, tuple[str, str]]:
    """State and reason of each job; what cannot be read is left out."""
    rows = [line.strip().split("|", 2) for line in output.splitlines()]
    return {row[0]: (row[1], row[2]) for row in rows if len(row) == 3}


def cancel_command(job: str) -> list[str]:
    """scancel for one job."""
    return ["scancel", job]
