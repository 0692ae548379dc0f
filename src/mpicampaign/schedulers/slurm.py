"""Slurm, after the manuals of sbatch, squeue, scancel, sinfo and scontrol (Slurm 20 to 24). No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from mpicampaign.base.errors import UnreadableError
from mpicampaign.base.host_lists import expand, fold, short
from mpicampaign.base.yaml_lines import printable
from mpicampaign.schedulers import listings
from mpicampaign.schedulers.listings import MANY, JobState, Node, NodeClass, NodeState, Queue, QueuedJob
from mpicampaign.schedulers.scheduler import BatchScheduler

# Of a host group, in the order of job scripts.
_OPTIONS = (
    *("partition", "constraint", "nodelist", "reservation", "account", "qos", "licenses", "hint"),
    *("threads-per-core", "mem", "gres", "switches"),
)
_SCRIPT_OPTIONS = {
    *("-N", "--nodes", "-n", "--ntasks", "--ntasks-per-node", "-t", "--time"),
    *("-J", "--job-name", "-o", "--output", "-a", "--array", "--export"),
}
# One argument may hold several letters; the last may have a value: -HN7 is -H -N 7.
_SHORT_OPTION = re.compile(r"-[hHIOQsvVW]*([A-Za-z])")
_STATE_OF = listings.by_native_state(
    {
        "queued": "PENDING CONFIGURING REQUEUED REQUEUE_FED",
        "held": "REQUEUE_HOLD RESV_DEL_HOLD SPECIAL_EXIT",
        "running": "RUNNING COMPLETING RESIZING SIGNALING STAGE_OUT STOPPED SUSPENDED",
        "done": "COMPLETED",
        "failed": "FAILED",
        "cancelled": "CANCELLED REVOKED",
        "timeout": "TIMEOUT DEADLINE",
        "out of memory": "OUT_OF_MEMORY",
        "node failure": "NODE_FAIL BOOT_FAIL LAUNCH_FAILED RECONFIG_FAIL",
        "preempted": "PREEMPTED",
    }
)
# Reasons of pending jobs that do not start without help. After a launch failure, which is the node's fault,
# Slurm requeues the job and holds it.
_HOLDS: Mapping[str, JobState] = {
    "launch failed requeued held": "launch failure",
    "job requeued in held state": "held",
    **dict.fromkeys(("JobHeldUser", "JobHeldAdmin", "JobHoldMaxRequeue"), "held"),
}
# A job in the output of scontrol; the number of a task that ended is not that of its array.
_SHOWN = re.compile(
    r"JobId=(?P<id>\d+) (?:ArrayJobId=(?P<array>\d+) ArrayTaskId=(?P<task>\S+) )?"
    r".*?JobName=(?P<name>.*?) UserId=.*? JobState=(?P<state>\S+) Reason=(?P<reason>\S*)"
    r" .*?ExitCode=(?P<exit>\d+):"
)
_CONFIGURED = re.compile(r"\b(MaxArraySize|MaxJobCount|max_array_tasks) *= *(\d+)")
_HEADER = re.compile(r"JOBID\|STATE\|REASON\|NAME\s*|NODELIST\|PARTITION\|.*\|STATE\s*")
_ALL = ("ALL", "(null)")
_RESTRICTIONS = {"AllowAccounts": "accounts", "AllowQos": "QOS", "AllowGroups": "user groups"}
_SUBMITTED = re.compile(r"^([0-9]+)(?:;\S*)?\s*$", re.MULTILINE)
_LIMIT = re.compile(r"(?:([0-9]{1,5})-)?(?:([0-9]{1,3}):)?([0-9]{1,2}):[0-9]{2}")
# A star: the node does not respond. With other marks (~ powered down, # powering up) it gets jobs, as it does
# in power saving (powered_down).
_OUT_OF_USE = re.compile(r"(?<!power_)(?<!ed_)(?<!ing_)down|drain|fail|maint|inval|unk|future|\*$", re.I)
# Features and nodes under names that need no quotes, and are no operators of a constraint.
_FEATURE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@%+=:/-]*")
_LONGEST_DIRECTIVE = 1000  # characters that a campaign file takes
_LONGEST_ARGUMENT = 130_000  # characters; Linux: 128 KiB


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
    unreached = re.compile(
        r"^srun: error: .*(?:Unable to contact slurm controller|Socket timed out on send/recv)", re.M
    )
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
    # SLURM variables reach a job whatever --export says; some are options of sbatch, too (SLURM_HINT).
    steering = ("SBATCH_", "SRUN_", "SALLOC_", "SLURM", "SQUEUE_", "SINFO_", "SCANCEL_", "SCONTROL_")
    where = frozenset({"SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_CLUSTERS", "SLURM_JWT"})

    # One line per node and partition; %P marks the default partition with a star, %R does not.
    site_questions = (
        ("sinfo", "--noheader", "--Node", "--format=%N|%R|%P|%a|%l|%f|%X|%Y|%Z|%m|%T"),
        ("scontrol", "--oneliner", "show", "partition"),
    )
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
    output_option = "output"
    output_numbers: ClassVar[Mapping[str, str]] = {"%j": r"(\d+)", "%A": r"(\d+)", "%A_%a": r"(\d+_\d+)"}
    output_name = re.compile(r"slurm-(\d+(?:_\d+(?!\w))?).*")  # of arrays %A_%a

    def options(self, group: Mapping[str, Any]) -> list[tuple[str, str]]:
        # gpu:a100:4, of each node; by default each step of the job has all of them
        gpus = ":".join(filter(None, ("gpu", group["gpu_type"], str(group["gpus_per_node"] or ""))))
        values = {
            **{name.replace("_", "-"): str(value or "") for name, value in group.items()},
            "nodelist": fold(group["hosts"], inside=False),
            "mem": group["memory"],
            "gres": ",".join(filter(None, (group["gres"], gpus if group["gpus_per_node"] else ""))),
        }
        given = [(f"--{name}", values[name]) for name in _OPTIONS if values[name]]
        given += [("--exclusive", "")] if group["exclusive"] else []
        requeue = {None: [], True: [("--requeue", "")], False: [("--no-requeue", "")]}
        return given + requeue[group["requeue"]]

    def own_option(self, token: str) -> str:
        name = token.split("=")[0]
        if not name.startswith("--"):
            letter = _SHORT_OPTION.match(token)
            return option if letter and (option := f"-{letter[1]}") in _SCRIPT_OPTIONS else ""
        full_names = (option for option in _SCRIPT_OPTIONS if option.startswith(name) and len(name) > 2)
        return min(full_names, default="")  # sbatch accepts abbreviations

    def launch(self, nodes: int, ranks_per_node: int, *, pmi: str, bind: bool, threads: int = 1) -> list[str]:
        kind = [f"--mpi={pmi}"] if pmi else []
        ranks = [f"--ntasks={nodes * ranks_per_node}", f"--ntasks-per-node={ranks_per_node}"]
        counts = [f"--nodes={nodes}", *ranks]
        counts += [f"--cpus-per-task={threads}"] if threads > 1 else []  # since 22.05 not taken from sbatch
        return ["srun", *kind, *counts, *([] if bind else ["--cpu-bind=none"]), "--kill-on-bad-exit=1"]

    def query(self, user: str) -> list[str]:
        return ["squeue", "--noheader", "--array", "--states=all", f"--user={user}", "--format=%i|%T|%r|%j"]

    def read_queue(self, text: str) -> list[QueuedJob]:
        """A job's name comes last, since it may contain bars."""
        return [_job(*listings.job_fields(line, 4)) for line in _rows("squeue", text)]

    def state_query(self, hosts: Sequence[str]) -> list[str]:
        """Of all nodes where their names are too long for an argument: Slurm folds a last number only."""
        names = fold(hosts, inside=False)
        these = [f"--nodes={names}"] if len(names) < _LONGEST_ARGUMENT else []
        return ["sinfo", "--noheader", "--Node", *these, "--format=%N|%T|%E"]

    def usable(self, native_state: str) -> bool:
        return _OUT_OF_USE.search(native_state) is None

    def in_use(self, state: NodeState) -> bool:
        """Not while a job completes, nor where one is planned: another may fit before it."""
        return re.match("alloc|mix", state.native_state, re.I) is not None

    def limit_queries(self, user: str) -> list[list[str]]:
        own = f"assoc user={user} format=Account,DefaultQOS,MaxWall,MaxSubmitJobs,GrpSubmitJobs"
        of_qos = "qos format=Name,MaxWall,MaxSubmitJobsPerUser,MaxSubmitJobsPerAccount,GrpSubmitJobs"
        shown = [f"scontrol --all --oneliner show {what}".split() for what in ("config", "partition")]
        return shown + [f"sacctmgr --noheader --parsable2 show {what}".split() for what in (own, of_qos)]

    def read_limits(self, answers: Sequence[str], queue: str, account: str, qos: str) -> listings.Limits:
        """Those of the partition's QOS, else the job's, else the association's; the partition's time, too.

        Of associations that may be meant the most jobs, as refusals show others, and the least time, as a job
        that is longer waits for ever. Of partitions that may be taken the least. No task has the number
        MaxArraySize. Half of MaxJobCount is left to other users.
        """
        of_site, partitions, associations, qualities = answers
        known = {name: int(number) for name, number in _CONFIGURED.findall(of_site)}
        of_qos = dict(_allowed(line) for line in qualities.splitlines() if "|" in line)
        rows = (line.partition("|") for line in associations.splitlines() if line.count("|") > 1)
        mine = [_allowed(rest) for name, _, rest in rows if account.lower() in ("", name)] or [("", _FREE)]
        pairs = [(of_qos.get(qos.lower() or own or "normal", _FREE), most) for own, most in mine]
        shown = _partitions(partitions)
        named = [row for row in shown if row.get("PartitionName") in queue.split(",")]
        jobs, minutes = _FREE
        for row in named or [row for row in shown if row.get("Default") == "YES"] or shown or [{}]:
            first = of_qos.get(row.get("QoS", "").lower(), _FREE)
            count, longest = zip(*(map(_first_set, first, *pair) for pair in pairs), strict=True)
            jobs, minutes = min(jobs, max(count)), min(minutes, *longest, _minutes(row.get("MaxTime", "")))
        tasks = min(known.get("MaxArraySize", 101) - 1, known.get("max_array_tasks", MANY))
        return listings.Limits(max(1, tasks), min(jobs, known.get("MaxJobCount", MANY) // 2), minutes)

    def read_topology(self, text: str) -> dict[str, str]:
        """The leaf switch of each node, from scontrol: ``SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[1-4]``."""
        leaves = re.findall(r"^SwitchName=(\S+) Level=0 .*?Nodes=(\S+)", text, re.MULTILINE)
        return {host: switch for switch, nodes in leaves for host in self.read_hosts(nodes)}

    def read_hosts(self, text: str) -> list[str]:
        """The hosts in ``n[1-2,7],m1``."""
        try:
            return [short(host) for host in expand(text)]
        except ValueError:
            return []

    def read_jobs(self, text: str) -> list[QueuedJob]:
        """A line for each job; waiting tasks of an array share one, with their range as the task's number."""
        jobs = []
        for line in _rows("scontrol", text):
            shown = _SHOWN.match(line)
            if shown is None:
                raise UnreadableError(f"scontrol printed no line of a job: {printable(line)[:100]!r}")
            number = f"{shown['array']}_{shown['task']}" if shown["array"] else shown["id"]
            job = _job(number, shown["state"], shown["reason"], shown["name"])
            jobs.append(job._replace(exit_status=int(shown["exit"])))
        return jobs

    def read_submitted(self, text: str) -> str:
        """``4711``, or ``4711;cluster``."""
        return listings.first(_SUBMITTED, text)

    def queues(self, answers: Mapping[str, str]) -> list[Queue]:
        notes = partition_notes(answers.get("scontrol", ""))
        queues = {queue.name: queue for queue, _ in read_nodes(answers["sinfo"])}.values()
        noted = (replace(queue, notes=notes.get(queue.name, ())) for queue in queues)
        return sorted(noted, key=lambda queue: (not queue.default, not queue.open, queue.name))

    def nodes(self, answers: Mapping[str, str], wanted: Sequence[str] = ()) -> dict[str, list[Node]]:
        rows = read_nodes(answers["sinfo"])
        names = wanted or [queue.name for queue in self.queues(answers) if queue.open]
        return {name: [node for queue, node in rows if queue.name == name] for name in names}

    def host_group(self, nodes: NodeClass) -> dict[str, Any]:
        """Without a constraint other nodes are avoided by name: ``--nodelist`` asks for all that it lists."""
        constraint, excluded = selection_of(nodes)
        directives = [excluded] if 0 < len(excluded) <= _LONGEST_DIRECTIVE else []
        return {"partition": nodes.queue, "constraint": constraint, "directives": directives}

    def probe(self, nodes: NodeClass, job_name: str, log: str, script: Sequence[str]) -> list[str]:
        constraint, excluded = selection_of(nodes)
        selection = f"--constraint={constraint}" if constraint else excluded
        shape = ["--nodes=1", "--ntasks=1", "--time=1", "--no-requeue", f"--job-name={job_name}"]
        place = [f"--partition={nodes.queue}", *filter(None, [selection])]
        return [*self.submit, *shape, *place, f"--output={log.replace('%', '%%')}", *script]


def _rows(command: str, text: str) -> list[str]:
    """Without blank lines, header and the heading of a cluster; several may have jobs of one number."""
    clusters = {line for line in text.splitlines() if line.startswith("CLUSTER: ")}
    if len(clusters) > 1:
        names = printable(", ".join(sorted(line.partition(" ")[2].strip() for line in clusters)))[:200]
        raise UnreadableError(f"{command} lists several clusters ({names}): let SLURM_CLUSTERS name one")
    lines = (line for line in text.splitlines() if line.strip() and line not in clusters)
    return [line for line in lines if not _HEADER.fullmatch(line)]


_FREE = MANY, MANY  # jobs, minutes


def _allowed(line: str) -> tuple[str, tuple[int, int]]:
    """A name, the most jobs and minutes: ``normal|1-00:00:00||4|100``; with 0, a refusal says it better."""
    name, longest, *numbers = line.split("|")
    jobs = min((int(number) for number in numbers if number.strip("0")), default=MANY)
    return name, (jobs, _minutes(longest))


def _first_set(*limits: int) -> int:
    return next((limit for limit in limits if limit < MANY), MANY)


def _minutes(text: str) -> int:
    """Of ``1-12:00:00``; many where there is no limit."""
    days, hours, minutes = map(int, limit.groups("0")) if (limit := _LIMIT.fullmatch(text)) else (0, 0, 0)
    return (days * 24 + hours) * 60 + minutes or MANY


def _partitions(text: str) -> list[dict[str, str]]:
    """From scontrol, a line each."""
    return [dict(re.findall(r"(\w+)=(\S*)", line)) for line in text.splitlines()]


def _job(number: str, native: str, reason: str, name: str) -> QueuedJob:
    reason = "" if reason == "None" else reason
    hold = _HOLDS.get(reason.replace("_", " ")) if native == "PENDING" else None
    state = _STATE_OF.get(native, "unknown")
    if (native, reason) == ("FAILED", "JobLaunchFailure"):  # such as when its node can't open its log
        state = "script not started"
    return QueuedJob(number, name, hold or state, native, reason)


def read_nodes(output: str) -> list[tuple[Queue, Node]]:
    """The lines of sinfo, see `Slurm.site_questions`: each is a node in a partition."""
    nodes = [_node(line) for line in _rows("sinfo", output)]
    if not nodes:
        raise UnreadableError("sinfo names no node in any partition")
    return nodes


def _node(line: str) -> tuple[Queue, Node]:
    fields = [field.strip() for field in line.split("|")]
    if len(fields) != 11 or not all(re.fullmatch(r"[0-9]{1,9}", number) for number in fields[6:10]):
        raise listings.unexpected("sinfo", line)
    name, partition, marked, state, limit, features = fields[:6]
    sockets, cores_of_socket, threads, memory = map(int, fields[6:10])
    names = () if features in ("", "(null)") else tuple(sorted(features.split(",")))
    cores = sockets * cores_of_socket
    size = memory * 2**20 if memory > 1 else None  # 1 MB is the default for nodes without RealMemory
    node = Node(name, SCHEDULER.usable(fields[10]), names, sockets, cores, cores * threads, size)
    return Queue(partition, marked == f"{partition}*", state == "up", limit), node


def selection_of(nodes: NodeClass) -> tuple[str, str]:
    """The shortest constraint that takes these nodes and no other of the partition; without one the option
    that keeps jobs off the others by name, if it can."""
    constraint = "&".join(nodes.distinguishing(_FEATURE))
    names = [node.name for node in nodes.others]
    excludes = names and not constraint and all(map(_FEATURE.fullmatch, names))
    return constraint, f"--exclude={fold(names)}" if excludes else ""


def partition_notes(output: str) -> dict[str, tuple[str, ...]]:
    """What a partition demands of a job, from scontrol; nothing where its output cannot be read."""
    notes_of = {}
    for values in _partitions(output):
        given = [(name, values.get(key, "ALL")) for key, name in _RESTRICTIONS.items()]
        notes = [f"open to these {name} only: {text}" for name, text in given if text not in _ALL]
        notes += ["needs a reservation"] if values.get("ReqResv") == "YES" else []
        notes_of[values.get("PartitionName", "")] = tuple(notes)
    return notes_of


SCHEDULER = Slurm()
