"""Slurm, after the manuals of sbatch, squeue, scancel, sinfo and scontrol (Slurm 20 to 24). No I/O."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from mpicampaign.base.errors import UnreadableError
from mpicampaign.base.host_lists import expand, fold, short
from mpicampaign.base.yaml_lines import printable
from mpicampaign.schedulers.scheduler import (
    CANCELLED,
    DONE,
    FAILED,
    HELD,
    LAUNCH_FAILED,
    NODE_FAIL,
    NOT_STARTED,
    OUT_OF_MEMORY,
    PREEMPTED,
    QUEUED,
    RUNNING,
    TIMEOUT,
    UNKNOWN,
    BatchScheduler,
    Node,
    NodeClass,
    Queue,
    QueuedJob,
    by_native_state,
    is_job,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_OWN_OPTIONS = {
    *("-N", "--nodes", "-n", "--ntasks", "--ntasks-per-node", "-t", "--time"),
    *("-J", "--job-name", "-o", "--output", "-a", "--array", "--export"),
}
# One argument may hold several letters; the last may have a value: -HN7 is -H -N 7.
_SHORT_OPTION = re.compile(r"-[hHIOQsvVW]*([A-Za-z])")
_STATES = {
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
_STATE_OF = by_native_state(_STATES)
# Reasons of pending jobs that do not start without help. After a launch failure, which is the node's fault,
# Slurm requeues the job and holds it.
_HOLDS = {
    "launch failed requeued held": LAUNCH_FAILED,
    "job requeued in held state": HELD,
    "JobHeldUser": HELD,
    "JobHeldAdmin": HELD,
    "JobHoldMaxRequeue": HELD,
}
# A job in the output of scontrol; the number of a task that ended is not that of its array.
_SHOWN = re.compile(
    r"JobId=(?P<id>\d+) (?:ArrayJobId=(?P<array>\d+) ArrayTaskId=(?P<task>\S+) )?"
    r".*?JobName=(?P<name>.*?) UserId=.*? JobState=(?P<state>\S+) Reason=(?P<reason>\S*)"
    r" .*?ExitCode=(?P<exit>\d+):"
)
# The node could not start the script, such as when it can't open its log.
_NEVER_STARTED = ("FAILED", "JobLaunchFailure")
# One line per node and partition; %P marks the default partition with a star, %R does not.
_NODES = ("sinfo", "--noheader", "--Node", "--format=%N|%R|%P|%a|%l|%f|%X|%Y|%Z|%m|%T")
_PARTITIONS = ("scontrol", "--oneliner", "show", "partition")
_FIELDS = 11
_HEADER = re.compile(r"JOBID\|STATE\|REASON\|NAME\s*|NODELIST\|PARTITION\|.*\|STATE\s*")
_NO_MEMORY = 1  # in MB: Slurm's default for nodes without RealMemory
_RESTRICTIONS = {"AllowAccounts": "accounts", "AllowQos": "QOS", "AllowGroups": "user groups"}
# Nodes in power saving (powered_down) are powered up for a job.
_LIMIT = re.compile(r"(?:([0-9]{1,5})-)?(?:([0-9]{1,3}):)?([0-9]{1,2}):[0-9]{2}")
_OUT_OF_USE = re.compile(
    r"(?<!powered_)(?<!powering_)(?<!power_)down|drain|fail|maint|inval|unk|future", re.I
)
_OUTPUT_NAME = re.compile(r"slurm-(\d+(?:_\d+(?!\w))?).*")  # of arrays %A_%a
# Features and nodes under names that need no quotes, and are no operators of a constraint.
_FEATURE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@%+=:/-]*")
_MOST_ALTERNATIVES = 4  # features in a constraint such as rack1|rack2
_LONGEST_DIRECTIVE = 1000  # characters that a campaign file takes
_NUMBERS = {"%j": r"(\d+)", "%A": r"(\d+)", "%A_%a": r"(\d+_\d+)"}


class Slurm(BatchScheduler):
    """Slurm, with srun as a launcher."""

    name = "slurm"
    title = "Slurm"
    queue_term = "partition"

    header = Path(__file__).with_name("slurm.sh.j2")
    job_id = "${SLURM_ARRAY_JOB_ID:-${SLURM_JOB_ID:-$$}}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}"
    task = "${SLURM_ARRAY_TASK_ID:-1}"
    rounds = Path(__file__).with_name("slurm.rounds.sh.j2")
    rounds_directives = ("--no-kill",)
    minutes_first = True
    how_to_run = "Submit with: sbatch job.sh"
    # srun inherits sbatch's --export, and so does an mpirun that uses srun
    environment: ClassVar[Mapping[str, str]] = {"SLURM_EXPORT_ENV": "ALL"}
    selectors = frozenset(
        {
            *("partition", "constraint", "qos", "licenses", "reservation", "account", "exclusive", "hint"),
            *("threads_per_core", "memory", "gres", "gpu_type", "switches", "requeue", "directives"),
        }
    )
    either = (("hint", "threads_per_core"),)

    launcher = "srun"
    rank_variable = "SLURM_PROCID"
    local_rank_variable = "SLURM_LOCALID"

    submit = ("sbatch", "--parsable")
    drain = "scontrol update nodename={node} state=drain reason={reason}"
    cancel = "scancel"
    release = "scontrol release"
    job_query = ("scontrol", "--oneliner", "show", "job")
    # Slurm 22.05 exports no constraint; some sites do.
    granted: ClassVar[Mapping[str, str]] = {
        **{"partition": "SLURM_JOB_PARTITION", "account": "SLURM_JOB_ACCOUNT", "qos": "SLURM_JOB_QOS"},
        **{"reservation": "SLURM_JOB_RESERVATION", "constraint": "SLURM_JOB_CONSTRAINTS"},
        "hosts": "SLURM_JOB_NODELIST",
    }
    granted_hosts = "SLURM_JOB_NODELIST"
    # SLURM_ variables reach a job whatever --export says; some are options of sbatch, too (SLURM_HINT).
    steering = (
        *("SBATCH_", "SRUN_", "SALLOC_", "SLURM_", "SLURMD_"),
        *("SQUEUE_", "SINFO_", "SCANCEL_", "SCONTROL_", "SACCT_"),
    )
    where = frozenset({"SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_CLUSTERS", "SLURM_JWT"})

    site_questions = (_NODES, _PARTITIONS)
    site_helps = frozenset({"scontrol"})

    directive = "SBATCH"
    long_names: ClassVar[Mapping[str, str]] = {
        **{"A": "account", "a": "array", "C": "constraint", "c": "cpus-per-task", "e": "error", "G": "gpus"},
        **{"J": "job-name", "m": "distribution", "N": "nodes", "n": "ntasks", "o": "output"},
        **{"p": "partition", "q": "qos", "t": "time", "w": "nodelist", "x": "exclude"},
    }
    name_option = "job-name"
    queue_option = "partition"
    script_endings = (".slurm", ".sbatch")
    cluster_variables = ("SLURM_CLUSTER_NAME",)

    def options(self, group: Mapping[str, Any]) -> list[tuple[str, str]]:
        options = {
            "partition": group["partition"],
            "constraint": group["constraint"],
            "nodelist": ",".join(group["hosts"]),
            "reservation": group["reservation"],
            "account": group["account"],
            "qos": group["qos"],
            "licenses": group["licenses"],
            "hint": group["hint"],
            "threads-per-core": str(group["threads_per_core"] or ""),
            "mem": group["memory"],
            "gres": ",".join(filter(None, (group["gres"], _gpus(group)))),
            "switches": group["switches"],
        }
        given = [(f"--{name}", value) for name, value in options.items() if value]
        given += [("--exclusive", "")] if group["exclusive"] else []
        requeue = {None: [], True: [("--requeue", "")], False: [("--no-requeue", "")]}
        return given + requeue[group["requeue"]]

    def own_option(self, token: str) -> str:
        name = token.split("=")[0]
        if name.startswith("--"):  # sbatch accepts abbreviations
            return min((own for own in _OWN_OPTIONS if len(name) > 2 and own.startswith(name)), default="")
        short = _SHORT_OPTION.match(token)
        option = f"-{short[1]}" if short else ""
        return option if option in _OWN_OPTIONS else ""

    def launch(self, nodes: int, ranks_per_node: int, *, pmi: str, bind: bool, threads: int = 1) -> list[str]:
        kind = [f"--mpi={pmi}"] if pmi else []
        counts = [f"--nodes={nodes}", f"--ntasks={nodes * ranks_per_node}"]
        binding = [] if bind else ["--cpu-bind=none"]
        counts += [f"--ntasks-per-node={ranks_per_node}"]
        counts += [f"--cpus-per-task={threads}"] if threads > 1 else []  # since 22.05 not taken from sbatch
        return ["srun", *kind, *counts, *binding, "--kill-on-bad-exit=1"]

    def query(self, user: str) -> list[str]:
        return ["squeue", "--noheader", "--array", "--states=all", f"--user={user}", "--format=%i|%T|%r|%j"]

    def read_queue(self, text: str) -> list[QueuedJob]:
        """A job's name comes last, since it may contain bars."""
        return [_queued_job(line) for line in _rows("squeue", text)]

    def state_query(self, hosts: Sequence[str]) -> list[str]:
        return ["sinfo", "--noheader", "--Node", f"--nodes={','.join(hosts)}", "--format=%N|%T|%E"]

    def usable(self, native_state: str) -> bool:
        return not _out_of_use(native_state)

    def longest_query(self, queue: str) -> list[str]:
        return ["sinfo", "--noheader", *([f"--partition={queue}"] if queue else []), "--format=%P|%l"]

    def read_longest(self, text: str) -> int | None:
        """From ``all*|1-12:00:00``, a star for the default one, ``short|30:00``, or ``all|infinite``."""
        lines = [line.strip().partition("|") for line in text.splitlines()]
        lines = [line for line in lines if line[0].endswith("*")] or lines
        limits = [limit for _, _, text in lines if (limit := _LIMIT.fullmatch(text))]
        return min((_minutes(*limit.groups(default="0")) for limit in limits), default=None)

    def read_topology(self, text: str) -> dict[str, str]:
        """From scontrol: ``SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[1-4]``."""
        leaves = re.findall(r"^SwitchName=(\S+) Level=0 .*?Nodes=(\S+)", text, re.MULTILINE)
        return {host: switch for switch, nodes in leaves for host in self.read_hosts(nodes)}

    def read_hosts(self, text: str) -> list[str]:
        """From ``n[1-2,7],m1``."""
        try:
            return [short(host) for host in expand(text)]
        except ValueError:
            return []

    def read_jobs(self, text: str) -> list[QueuedJob]:
        """A line for each job; waiting tasks of an array share one, with their range as the task's number."""
        return [_shown_job(line) for line in _rows("scontrol", text)]

    def read_submitted(self, text: str) -> str:
        """``4711``, or ``4711;cluster``."""
        match = re.search(r"^([0-9]+)(;\S*)?\s*$", text, re.MULTILINE)
        return match[1] if match else ""

    def queues(self, answers: Mapping[str, str]) -> list[Queue]:
        notes = partition_notes(answers["scontrol"])
        queues = queues_of(read_nodes(answers["sinfo"]))
        return [replace(queue, notes=notes.get(queue.name, ())) for queue in queues]

    def nodes(self, answers: Mapping[str, str], wanted: Sequence[str] = ()) -> dict[str, list[Node]]:
        lines = read_nodes(answers["sinfo"])
        names = wanted or [queue.name for queue in queues_of(lines) if queue.open]
        return {name: [line.node for line in lines if line.queue.name == name] for name in names}

    def host_group(self, nodes: NodeClass) -> dict[str, Any]:
        """Without a constraint other nodes are avoided by name: ``--nodelist`` asks for all that it lists."""
        constraint = constraint_of(nodes)
        excluded = "" if constraint else _exclusion(nodes)
        directives = [excluded] if 0 < len(excluded) <= _LONGEST_DIRECTIVE else []
        return {"partition": nodes.queue, "constraint": constraint, "directives": directives}

    def probe(self, nodes: NodeClass, job_name: str, log: str, script: Sequence[str]) -> list[str]:
        constraint = constraint_of(nodes)
        selection = f"--constraint={constraint}" if constraint else _exclusion(nodes)
        shape = ["--nodes=1", "--ntasks=1", "--time=1", "--no-requeue", f"--job-name={job_name}"]
        place = [f"--partition={nodes.queue}", *filter(None, [selection])]
        return [*self.submit, *shape, *place, f"--output={log.replace('%', '%%')}", *script]

    def job_of_file(self, name: str, directives: Mapping[str, str]) -> str:
        """Such as 1234_7 of an array; in Slurm's default name, or as the script's ``--output`` has it."""
        parts = re.split(r"(%A_%a|%.)", directives.get("output", "").rpartition("/")[2])
        each = (_NUMBERS.get(part, ".*?" if part.startswith("%") else re.escape(part)) for part in parts)
        pattern = re.compile("".join(each)) if _NUMBERS.keys() & parts else _OUTPUT_NAME
        match = pattern.fullmatch(name) or _OUTPUT_NAME.fullmatch(name)
        return match[1] if match else ""


def _rows(command: str, text: str) -> list[str]:
    """The lines of a listing without blank ones, its header, and the heading of a cluster.

    Raises
    ------
    UnreadableError
        where it has several clusters: a job's number, or a partition's name, may be of each.
    """
    clusters = {line for line in text.splitlines() if line.startswith("CLUSTER: ")}
    if len(clusters) > 1:
        names = printable(", ".join(sorted(line.partition(" ")[2].strip() for line in clusters)))[:200]
        raise UnreadableError(f"{command} lists several clusters ({names}): let SLURM_CLUSTERS name one")
    lines = (line for line in text.splitlines() if line.strip() and line not in clusters)
    return [line for line in lines if not _HEADER.fullmatch(line)]


def _gpus(group: Mapping[str, Any]) -> str:
    """``gpu:a100:4``, of each node; by default each step of the job has all of them."""
    number = str(group["gpus_per_node"] or "")
    return ":".join(filter(None, ("gpu", group["gpu_type"], number))) if number else ""


def _queued_job(line: str) -> QueuedJob:
    fields = line.split("|", 3)
    if not is_job(line) or len(fields) != 4:
        raise UnreadableError(f"not a line of the job list: {line[:100]!r}")
    number, native, reason, name = (field.strip() for field in fields)
    return _job(number, name, native, reason)


def _shown_job(line: str) -> QueuedJob:
    match = _SHOWN.match(line)
    if match is None:
        raise UnreadableError(f"scontrol printed no line of a job: {printable(line)[:100]!r}")
    number = f"{match['array']}_{match['task']}" if match["array"] else match["id"]
    job = _job(number, match["name"], match["state"], match["reason"])
    return job._replace(exit_status=int(match["exit"]))


def _job(number: str, name: str, native: str, reason: str) -> QueuedJob:
    reason = "" if reason == "None" else reason
    hold = _HOLDS.get(reason.replace("_", " ")) if native == "PENDING" else None
    state = NOT_STARTED if (native, reason) == _NEVER_STARTED else _STATE_OF.get(native, UNKNOWN)
    return QueuedJob(number, name, hold or state, native, reason)


class NodeLine(NamedTuple):
    """A node in a partition, as sinfo reports it."""

    node: Node
    queue: Queue


def read_nodes(output: str) -> list[NodeLine]:
    """The lines of sinfo, see `Slurm.site_questions`.

    Raises
    ------
    UnreadableError
        with the first unexpected line.
    """
    lines = [_node_line(line) for line in _rows("sinfo", output)]
    if not lines:
        raise UnreadableError("sinfo names no node in any partition")
    return lines


def _node_line(line: str) -> NodeLine:
    fields = [field.strip() for field in line.split("|")]
    numbers = fields[6:10]
    if len(fields) != _FIELDS or not all(re.fullmatch(r"[0-9]{1,9}", number) for number in numbers):
        raise UnreadableError(f"sinfo printed an unexpected line: {printable(line)[:200]!r}")
    name, queue_name, marked, state, limit, features = fields[:6]
    queue = Queue(queue_name, marked == f"{queue_name}*", state == "up", limit)
    sockets, each, threads, memory = map(int, numbers)
    names = () if features in ("", "(null)") else tuple(sorted(features.split(",")))
    cores = sockets * each
    size = memory * 2**20 if memory > _NO_MEMORY else None
    usable = not _out_of_use(fields[10])
    return NodeLine(Node(name, usable, names, sockets, cores, cores * threads, size), queue)


def _minutes(days: str, hours: str, minutes: str) -> int:
    return (int(days) * 24 + int(hours)) * 60 + int(minutes)


def _out_of_use(state: str) -> bool:
    # A star: the node does not respond. Nodes with other marks (~ powered down, # powering up) get jobs.
    return state.endswith("*") or _OUT_OF_USE.search(state) is not None


def queues_of(lines: Sequence[NodeLine]) -> list[Queue]:
    """The partitions, the default one first."""
    queues = {line.queue.name: line.queue for line in lines}
    return sorted(queues.values(), key=lambda queue: (not queue.default, not queue.open, queue.name))


def constraint_of(nodes: NodeClass) -> str:
    """The shortest constraint that takes these nodes and no other of the partition; empty without such."""
    others = {_plain(other) for other in nodes.others}
    return (_all_of(nodes, others) or _any_of(nodes, others)) if others else ""


def _plain(node: Node) -> frozenset[str]:
    """The features that a constraint can name."""
    return frozenset(filter(_FEATURE.fullmatch, node.features))


def _all_of(nodes: NodeClass, others: set[frozenset[str]]) -> str:
    """Features that all these nodes have, and none of the others has together: ``ib&milan``."""
    common = list(filter(_FEATURE.fullmatch, nodes.features))
    chosen: list[str] = []
    while others:
        left = {name: {other for other in others if name in other} for name in common}
        best = min(common, key=lambda name: len(left[name]), default="")
        if not best or left[best] == others:
            return ""
        chosen.append(best)
        others = left[best]
    return "&".join(chosen)


def _any_of(nodes: NodeClass, others: set[frozenset[str]]) -> str:
    """Features of which each of these nodes has one, and none of the others any: ``rack1|rack2``."""
    foreign = frozenset().union(*others)
    left = [_plain(node) - foreign for node in nodes.members]
    chosen: list[str] = []
    while left and len(chosen) < _MOST_ALTERNATIVES:
        counts = Counter(name for names in left for name in names)
        best = min(counts, key=lambda name: (-counts[name], name), default="")
        chosen.append(best)
        left = [names for names in left if best not in names]
    return "" if left or "" in chosen else "|".join(chosen)


def _exclusion(nodes: NodeClass) -> str:
    """The option that keeps jobs off the other nodes of the partition; empty where there are none."""
    names = [node.name for node in nodes.others]
    named = names and all(map(_FEATURE.fullmatch, names))
    return f"--exclude={fold(names)}" if named else ""


def partition_notes(output: str) -> dict[str, tuple[str, ...]]:
    """What a partition demands of a job, from scontrol; nothing where its output cannot be read."""
    notes_of = {}
    for line in output.splitlines():
        values = dict(re.findall(r"(\w+)=(\S*)", line))
        notes = []
        for key, name in _RESTRICTIONS.items():
            if values.get(key, "ALL") not in ("ALL", "(null)"):
                notes.append(f"open to these {name} only: {values[key]}")
        if values.get("ReqResv") == "YES":
            notes.append("needs a reservation")
        notes_of[values.get("PartitionName", "")] = tuple(notes)
    return notes_of


SCHEDULER = Slurm()
