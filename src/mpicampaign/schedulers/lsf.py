"""LSF, after the IBM Spectrum LSF 10.1 command reference; comments name its pages. No I/O.

The doctor's commands (bqueues -w, lshosts -w, bhosts -w, bparams) were never tested on a real LSF.

LSF writes a report around a job's output: who ran where, how the job ended, the job script. Most of it stands
above the output, a short part (``PS:``) below. Any part may be missing: reports are mailed, cut and edited.
Dates may be empty (``Started at Results reported on``).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from mpicampaign.base.errors import UnreadableError
from mpicampaign.base.host_lists import short
from mpicampaign.base.text import line_of
from mpicampaign.schedulers import listings
from mpicampaign.schedulers.listings import JobReport, Node, NodeClass, NodeState, Queue, QueuedJob, first
from mpicampaign.schedulers.scheduler import BatchScheduler

_PLAIN = ["jobid", "stat", "job_name"]
_SCRIPT_OPTIONS = {"-n", "-W", "-J", "-o", "-oo", "-e", "-eo"}
# Page "LSF terms and concepts". EXIT covers any exit status but 0, kills and limits; the exit reason has the
# details. A job whose host does not answer is UNKWN, and goes on when the host is back. If it is killed
# meanwhile, it is ZOMBI, and EXIT when the host is back: such a job is not tried again.
_STATE_OF = listings.by_native_state(
    {
        "queued": "PEND WAIT",
        "held": "PSUSP",
        "running": "RUN USUSP SSUSP UNKWN PROV",
        "done": "DONE",
        "failed": "EXIT",
        "cancelled": "ZOMBI",
    }
)
# Page "Termination reasons displayed by bacct, bhist, and bjobs"; any other reason is a failure.
_END_OF = listings.by_native_state(
    {
        "timeout": "TERM_RUNLIMIT TERM_CPULIMIT TERM_DEADLINE",
        "out of memory": "TERM_MEMLIMIT TERM_SWAP",
        "cancelled": "TERM_OWNER TERM_ADMIN TERM_FORCE_OWNER TERM_FORCE_ADMIN",
        "preempted": "TERM_PREEMPT",
        "node failure": "TERM_ZOMBIE TERM_UNKNOWN TERM_REMOVE_HUNG_JOB",
    }
)
_ELEMENT = re.compile(r"(?P<name>.*)\[(?P<index>[0-9]+)\]")
# Closed by jobs or load, not by an administrator; without a reason it is usually full.
_IN_USE = ("ok", "closed", "closed_Full", "closed_Excl", "closed_cu_Excl", "closed_Busy")
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_CONFIGURED = re.compile(r"\bMAX_(JOB_ARRAY_SIZE|PEND_JOBS)\s*=\s*(\d+)")
_START = re.compile(r"^Sender: LSF|^Subject: Job \d+", re.MULTILINE)
_SUBJECT = re.compile(
    r"^Subject: Job (?P<id>\d+(?:\[\d+\])?): <(?P<name>.*?)>(?: in cluster <(?P<cluster>[^>\n]*)>)? "
    r"(?P<state>\w+)\s*$",
    re.MULTILINE | re.DOTALL,
)
_REPORT = re.compile(r"^(?:Sender: LSF.*\n)?Subject: Job (\d+)", re.MULTILINE)
_ABOVE = "The output (if any) is above this job summary"
# None of these is the first line of a report. With the newline above, a search is many times as fast as one
# for the begin of a line.
_EXECUTED = re.compile(r"\nJob was executed on host\(s\) (.*?)^(?:<|Started at)", re.MULTILINE | re.DOTALL)
_HOST = re.compile(r"<(?:(\d+)\*)?([^<>\s]+)>")
_QUEUE = re.compile(r"in queue <([^<>\n]*)>")
_STARTED = re.compile(r"\nStarted at (\S.*?)\s*$", re.MULTILINE)
_SCRIPT = re.compile(r"\n# LSBATCH: User input\n(.*?)\n-{20,}$", re.MULTILINE | re.DOTALL)
_OUTPUT = re.compile(r"\nThe output \(if any\) (?:follows|is above this job summary)[:.]\s*$", re.MULTILINE)
_EXITED = re.compile(r"\nExited with exit code (\d+)")
_TERMINATED = re.compile(r"\n(TERM_\w+)(?:: *(.*?))?\s*$", re.MULTILINE)


class Lsf(BatchScheduler):
    """IBM Spectrum LSF."""

    name = "lsf"
    title = "LSF"

    header = Path(__file__).with_name("lsf.sh.j2")
    job_id = "${LSB_JOBID:-$$}_${LSB_JOBINDEX:-0} job=${job%_0}"  # the index is 0 outside of arrays
    task = "$((${LSB_JOBINDEX:-0} ? LSB_JOBINDEX : 1))"
    rounds = Path(__file__).with_name("lsf.rounds.sh.j2")
    script = "$run/job.sh"  # LSF runs a copy, with its own lines added
    how_to_run = "Submit with: bsub < job.sh"
    selectors = frozenset(
        ("queue", "reservation", "account", "exclusive", "gpu_type", "requeue", "directives")
    )

    submit = ("bsub",)
    drain = "badmin hclose -C {reason} {node}"
    script_on_stdin = True
    cancel = "bkill"
    release = "bresume"
    no_jobs = "No job found"
    job_query = ("bjobs", "-o", " ".join(_PLAIN))  # as volclava takes it, too
    granted: ClassVar[Mapping[str, str]] = {"queue": "LSB_QUEUE", "account": "LSB_PROJECT_NAME"}
    granted_hosts = "LSB_MCPU_HOSTS"
    # Such as LSB_DEFAULTQUEUE, LSB_BJOBS_FORMAT and BSUB_QUIET, which hides the job's number; LSF_ variables
    # say where LSF is.
    steering = ("LSB_", "BSUB_")

    site_questions = (("bqueues", "-w"), ("bparams",), ("lshosts", "-w"), ("bhosts", "-w"))
    site_helps = frozenset({"bparams"})

    directive = "BSUB"
    letters_take_values = False  # -app is one option
    name_option = "J"
    queue_option = "q"
    script_endings = (".lsf", ".bsub")
    cluster_variables = ("LSB_CLUSTER_NAME", "LSF_CLUSTER_NAME")
    report_done = "Done"

    def options(self, group: Mapping[str, Any]) -> list[tuple[str, str]]:
        """GPUs as on page "-gpu" of bsub: no other job shares them."""
        model = f":gmodel={group['gpu_type']}" if group["gpu_type"] else ""
        gpus = f"num={group['gpus_per_node']}/host:j_exclusive=yes{model}" if group["gpus_per_node"] else ""
        options = {
            "-q": group["queue"],
            "-m": " ".join(group["hosts"]),
            "-U": group["reservation"],
            "-P": group["account"],
            "-gpu": gpus,
        }
        given = [("-x", "")] if group["exclusive"] else []
        given += [(name, value) for name, value in options.items() if value]
        requeue = {None: [], True: [("-r", "")], False: [("-rn", "")]}
        return given + requeue[group["requeue"]]

    def time(self, minutes: int) -> str:
        """45 -> 0:45."""
        return f"{minutes // 60}:{minutes % 60:02d}"

    def own_option(self, token: str) -> str:
        option = re.match("(?:-[A-Za-z]+)?", token)
        return option[0] if option and option[0] in _SCRIPT_OPTIONS else ""

    def query(self, user: str) -> list[str]:
        fields = "jobid stat exit_reason job_name pend_reason delimiter='|'"
        return ["bjobs", "-a", "-u", user, "-noheader", "-o", fields]

    def plain_query(self, user: str) -> list[str]:
        """For volclava 2.2, which knows neither the reasons nor the options of `query`.

        Not in JSON: where volclava cannot list the jobs, it prints an empty list and no message.
        """
        return ["bjobs", "-a", "-u", user, "-o", " ".join(_PLAIN)]

    def read_queue(self, text: str) -> list[QueuedJob]:
        """Page "-o" of bjobs: a field without a width is not cut, an empty one is a hyphen.

        A pending reason may take several lines, so it comes last.
        """
        lines = [*filter(str.strip, text.splitlines())]
        if lines and lines[0].lower().split() == _PLAIN:
            plain = (listings.job_fields(line, 3, None) for line in lines[1:])
            return [_queued_job(number, native, "", name, "") for number, native, name in plain]
        jobs: list[QueuedJob] = []
        for line in lines:
            fields = [field.strip() for field in line.split("|", 4)]
            if listings.is_job(line) and len(fields) == 5:
                jobs.append(_queued_job(*fields))
            elif not jobs and (line is not lines[0] or (fields[0], len(fields)) != ("JOBID", 5)):
                raise UnreadableError(f"not a line of the job list: {line[:100]!r}")
        return jobs

    def state_query(self, hosts: Sequence[str]) -> list[str]:
        return ["bhosts", "-w", *hosts]

    def read_states(self, text: str) -> dict[str, NodeState]:
        """Page "bhosts": only -w cuts no names; NJOBS: slots that jobs have. Sites may choose columns."""
        shown, rows = ("HOST_NAME", "STATUS", "NJOBS"), [line.split() for line in text.splitlines()]
        columns = next((row for row in rows if {*shown} <= {*row}), [])
        hosts = (dict(zip(columns, row, strict=False)) for row in rows)
        told = ((host.get(key, "") for key in shown) for host in hosts)
        return {
            name: NodeState(self.usable(status), status, f"{jobs} slots in use" if jobs != "0" else "")
            for name, status, jobs in told
            if jobs.isdecimal()
        }

    def in_use(self, state: NodeState) -> bool:
        return (state.native_state, state.reason) != ("ok", "")

    def limit_queries(self, user: str) -> list[list[str]]:
        return [["bparams", "-a"], ["busers", "-w", user]]

    def read_limits(self, answers: Sequence[str], queue: str, account: str, qos: str) -> listings.Limits:
        """Pages "bparams" and "busers": MPJOBS is the most pending jobs, a hyphen where there is no limit."""
        columns, *rows = [line.split() for line in answers[1].splitlines()] or [[]]
        of_user = (pair for row in rows for pair in zip(columns, row, strict=False))
        limits = (*_CONFIGURED.findall(answers[0]), *of_user)
        known = {name: int(number) for name, number in limits if number.isdecimal() and int(number)}
        jobs = (known.get(name, listings.MANY) for name in ("PEND_JOBS", "MPJOBS"))
        return listings.Limits(known.get("JOB_ARRAY_SIZE", 100), min(jobs))

    def usable(self, native_state: str) -> bool:
        return native_state in _IN_USE

    def read_hosts(self, text: str) -> list[str]:
        """The hosts in ``n1 4 n2 4``."""
        return [short(name) for name in text.split()[::2]]

    def address(self, job_id: str) -> str:
        """12_3 -> 12[3]."""
        number, array, index = job_id.partition("_")
        return f"{number}[{index}]" if array else number

    def read_submitted(self, text: str) -> str:
        """From ``Job <4711> is submitted to queue <normal>.``; a site may print further lines."""
        return first(re.compile(r"^Job <([0-9]+)> is submitted", re.MULTILINE), text)

    def queues(self, answers: Mapping[str, str]) -> list[Queue]:
        match = re.search(r"^Default Queues?:\s*(.*)$", answers["bparams"], re.MULTILINE)
        defaults = match[1].split() if match else ()
        rows = listings.rows_of_table(answers["bqueues"], "bqueues", "QUEUE_NAME", "STATUS")
        states = ((row["QUEUE_NAME"], row["STATUS"] == "Open:Active") for row in rows)
        queues = [Queue(name, name in defaults, is_open) for name, is_open in states]
        return sorted(queues, key=lambda queue: (not queue.default, not queue.open))

    def nodes(self, answers: Mapping[str, str], wanted: Sequence[str] = ()) -> dict[str, list[Node]]:
        """The hosts of lshosts that bhosts knows and reaches; boolean resources are their features.

        LSF is not asked which queue serves which hosts: the probe job shows it.
        """
        used = list(wanted) or [queue.name for queue in self.queues(answers) if queue.open][:1]
        if not used:
            raise UnreadableError("bqueues shows no queue that is open and active")
        rows = listings.rows_of_table(answers["bhosts"], "bhosts", "HOST_NAME", "STATUS")
        state = {row["HOST_NAME"]: row["STATUS"] for row in rows}
        nodes = [
            Node(
                name,
                usable=self.usable(state[name]),
                features=tuple(sorted(row["RESOURCES"].strip("()").split())),
                cpus=int(row["ncpus"]) if row["ncpus"].isdecimal() else None,
                memory=_memory(row.get("maxmem", "")),
                model=row["model"],
            )
            for row in listings.rows_of_table(answers["lshosts"], "lshosts", "HOST_NAME", "model", "ncpus")
            if state.get(name := row["HOST_NAME"], "unavail") != "unavail"
        ]
        return dict.fromkeys(used, nodes)

    def host_group(self, nodes: NodeClass) -> dict[str, Any]:
        return {"queue": nodes.queue, "hosts": list(nodes.names)}

    def probe(self, nodes: NodeClass, job_name: str, log: str, script: Sequence[str]) -> list[str]:
        """LSF passes the command to a shell, so that it is quoted."""
        place = ["-q", nodes.queue, "-m", " ".join(nodes.names)]
        shape = ["-n", "1", "-W", "1", "-J", job_name, "-o", log]
        return [*self.submit, *shape, *place, shlex.join(["bash", *script])]

    def read_report(self, text: str) -> JobReport | None:
        """No line behind the summary, in the benchmark's own output, is taken for one of LSF."""
        start = _START.search(text)
        if start is None:
            return None
        _check_no_second_report(text)
        output = _OUTPUT.search(text, start.start())
        head = text[start.start() : output.end() if output else len(text)]
        subject = match.groupdict("") if (match := _SUBJECT.search(head)) else {}
        where, started = first(_EXECUTED, head), first(_STARTED, head)
        # queue, user and cluster are in brackets, too
        hosts = _HOST.findall(re.sub(r"(?:in queue|as user|in cluster) <[^<>]*>", "", where))
        exited, state = first(_EXITED, head), subject.get("state", "")
        trouble = [state] if state not in ("", self.report_done) else []
        trouble += [": ".join(filter(None, reason)).rstrip(".") for reason in _TERMINATED.findall(head)]
        trouble += [f"exit code {exited}"] if exited else []
        return JobReport(
            job_id=subject.get("id", ""),
            name=subject.get("name", ""),
            cluster=subject.get("cluster", ""),
            state=state,
            queue=first(_QUEUE, where),
            hosts=tuple((name, int(slots) if slots else None) for slots, name in hosts),
            started="" if started.startswith("Results reported") else started,
            script=first(_SCRIPT, head),
            trouble=", ".join(trouble),
        )


def _queued_job(number: str, native: str, ended: str, name: str, pending: str) -> QueuedJob:
    """Page "Job arrays": the name of a job in an array ends in its index: ``a[3]``."""
    if element := _ELEMENT.fullmatch(name):
        number, name = f"{number.partition('[')[0]}_{element['index']}", element["name"]
    state = _STATE_OF.get(native, "unknown")
    if state == "failed":
        state = next((known for reason, known in _END_OF.items() if reason in ended), state)
    reason = next((reason for reason in (ended, pending) if reason not in ("", "-")), "")
    return QueuedJob(number, name, state, native, reason)


def _memory(text: str) -> int | None:
    """Such as 128G, 125.6G or 64255M, in bytes."""
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]+)?)([KMGT])", text)
    return int(float(match[1]) * _UNITS[match[2]]) if match else None


def _check_no_second_report(text: str) -> None:
    """Refuse the reports of several jobs; the message says where the first output ends."""
    if text.count("Subject: Job ") < 2 or len(reports := list(_REPORT.finditer(text))) < 2:
        return
    earlier, later = reports[:2]
    above = text.find(_ABOVE, 0, later.start())
    where = "there" if above < 0 else f"behind line {line_of(text, above)}"
    raise UnreadableError(
        f"line {line_of(text, later.start())}: a second LSF job report, of job {later[1]} after "
        f"{earlier[1]}: bsub -o appends unless the file's name has %J; split the file {where} and import the "
        "parts"
    )


SCHEDULER = Lsf()
