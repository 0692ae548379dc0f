"""A scheduler from outside: PBS Professional, after its 2022 guides. Enough for the tests that use it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpicampaign.base.errors import UnreadableError
from mpicampaign.schedulers.scheduler import (
    CANCELLED,
    DONE,
    FAILED,
    HELD,
    QUEUED,
    RUNNING,
    TIMEOUT,
    UNKNOWN,
    BatchScheduler,
    Node,
    NodeClass,
    Queue,
    QueuedJob,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# qstat(1B), "Job states"; F is told apart by the exit status.
STATES = {
    "Q": QUEUED,
    "W": QUEUED,
    "T": QUEUED,
    "H": HELD,
    "R": RUNNING,
    "E": RUNNING,
    "S": RUNNING,
    "U": RUNNING,
}
# Administrator's guide, "Job exit status codes": 256 and a signal's number above it, or a negative one.
KILLED_BY_QDEL = 271
OWN_OPTIONS = {"-N", "-o", "-e", "-j", "-J", "-V"}


class Pbs(BatchScheduler):
    """PBS Professional."""

    name = "pbs"
    title = "PBS"
    header = Path(__file__).with_name("pbs.sh.j2")
    job_id = "${PBS_JOBID:-$$}"
    script = "$run/job.sh"  # mom runs a copy
    how_to_run = "Submit with: qsub job.sh"
    selectors = frozenset(("queue", "account", "exclusive", "requeue", "directives"))

    submit = ("qsub",)
    cancel = "qdel"
    release = "qrls"
    site_questions = (("qstat", "-Q", "-f", "-F", "json"), ("pbsnodes", "-a", "-F", "json"))
    directive = "PBS"
    name_option = "N"
    queue_option = "q"

    def options(self, group: Mapping[str, Any]) -> list[tuple[str, str]]:
        place = "place=scatter:excl" if group["exclusive"] else "place=scatter"
        options = {"-q": group["queue"], "-A": group["account"]}
        given = [("-l", place), *((name, value) for name, value in options.items() if value)]
        requeue: dict[bool | None, list[tuple[str, str]]] = {
            None: [],
            True: [("-r", "y")],
            False: [("-r", "n")],
        }
        return given + requeue[group["requeue"]]

    def time(self, minutes: int) -> str:
        return f"{minutes // 60}:{minutes % 60:02d}:00"

    def own_option(self, word: str) -> str:
        if word.startswith(("select=", "walltime=", "nodes=")):
            return f"-l {word.partition('=')[0]}"
        return word if word in OWN_OPTIONS else ""

    def query(self, user: str) -> list[str]:
        return ["qstat", "-x", "-f", "-F", "json"]

    def read_queue(self, text: str) -> list[QueuedJob]:
        jobs = _json(text, "qstat").get("Jobs", {})
        return [_queued_job(number, job) for number, job in jobs.items()]

    def read_submitted(self, text: str) -> str:
        match = re.search(r"^([0-9]+(?:\.[\w-]+)*)\s*$", text, re.MULTILINE)
        return match[1] if match else ""

    def queues(self, answers: Mapping[str, str]) -> list[Queue]:
        found = _json(answers["qstat"], "qstat").get("Queue", {})
        return [
            Queue(name, False, each.get("enabled") == each.get("started") == "True")
            for name, each in found.items()
            if each.get("queue_type") == "Execution"
        ]

    def nodes(self, answers: Mapping[str, str], wanted: Sequence[str] = ()) -> dict[str, list[Node]]:
        nodes = _json(answers["pbsnodes"], "pbsnodes").get("nodes", {})
        queues = list(wanted) or [queue.name for queue in self.queues(answers) if queue.open]
        found = [
            Node(
                name,
                usable=node["state"] in ("free", "job-busy", "job-exclusive"),
                cores=int(node["resources_available"]["ncpus"]),
            )
            for name, node in nodes.items()
        ]
        return {queues[0]: found}

    def host_group(self, nodes: NodeClass) -> dict[str, Any]:
        return {"queue": nodes.queue}

    def probe(self, nodes: NodeClass, job_name: str, log: str, script: Sequence[str]) -> list[str]:
        shape = ["-N", job_name, "-l", "select=1:ncpus=1", "-l", "walltime=0:01:00", "-q", nodes.queue]
        return [*self.submit, *shape, "-j", "oe", "-o", log, "--", "/bin/bash", *script]


def _queued_job(number: str, job: Mapping[str, Any]) -> QueuedJob:
    word, status = job["job_state"], job.get("Exit_status")
    state = STATES.get(word, UNKNOWN)
    if word == "F":
        ends = {0: DONE, None: UNKNOWN, KILLED_BY_QDEL: CANCELLED, -29: TIMEOUT}
        state = ends.get(status, FAILED)
    return QueuedJob(number, job["Job_Name"], state, word, "" if status is None else f"exit status {status}")


def _json(text: str, command: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise UnreadableError(f"{command} printed no JSON: {text[:100]!r}") from error
    return found


SCHEDULER = Pbs()
