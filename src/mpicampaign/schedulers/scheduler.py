"""What a scheduler is: directives, commands, states, site facts, traces in scripts and outputs. No I/O.

A scheduler returns commands as tokens and reads texts; others start the commands and open the files.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from mpicampaign.schedulers.listings import *  # noqa: F403 - schedulers of other packages find all here
from mpicampaign.schedulers.listings import JobReport, Limits, Node, NodeClass, NodeState, Queue, QueuedJob


class Scheduler(ABC):
    """What job scripts and campaign files need. The defaults are those of a machine without a scheduler.

    ``job_id``, ``task`` and ``script`` are shell text: how a running script knows its id, its number in a job
    array (1 outside of one), and its own file. An id in an array is that of the array, ``_`` and the number.
    """

    name: str  # in campaign files
    title: str  # as people call it
    local = True  # job scripts run on this very machine, one at a time

    header: Path | None = None  # the template of its directives
    job_id = "$$"
    task = ""  # empty: it has no job arrays
    script = "$0"
    minutes_first = False  # whether 10:00 is 10 minutes to it, and not 10 hours
    how_to_run = "Run with: bash job.sh"
    environment: ClassVar[Mapping[str, str]] = {}  # what each job script exports

    # The keys of a host group that it supports, and pairs that exclude each other.
    selectors: frozenset[str] = frozenset()
    either: tuple[tuple[str, str], ...] = ()

    # Its own command that starts ranks, and the variables with a rank's numbers; empty where it has none.
    launcher = ""
    rank_variable = ""
    local_rank_variable = ""

    # A job that measures many nodes side by side: the shell functions that start its steps, as templates/job/
    # rounds.sh.j2 needs them (None: there are no such jobs), and further directives.
    rounds: Path | None = None
    rounds_directives: tuple[str, ...] = ()

    def options(self, group: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The keys of a host group as options of directives, with their values (empty for a switch).

        ``gpus_per_node`` of the placement is among them, or None: one with ``gpu_type`` among its
        `selectors` asks for as many.
        """
        return []

    def time(self, minutes: int) -> str:
        """A time limit in the format of its directives."""
        return str(minutes)

    def launch(self, nodes: int, ranks_per_node: int, *, pmi: str, bind: bool, threads: int = 1) -> list[str]:
        """Its `launcher` with arguments; ``bind``: whether it may bind ranks to cores."""
        raise NotImplementedError

    def usable(self, native_state: str) -> bool:
        """Whether a node in this state gets jobs now."""
        return False

    def in_use(self, state: NodeState) -> bool:
        """Whether jobs have a part of a usable node."""
        return False

    def listed_states(self, text: str) -> dict[str, NodeState]:
        """Of ``NODE|STATE|REASON``, a line or more for each node; no header, and no other line."""
        fields = (line.split("|", 2) for line in text.splitlines())
        return {
            name: NodeState(self.usable(state), state, "" if reason.strip() == "none" else reason.strip())
            for name, state, reason in (row for row in fields if len(row) == 3)
            if state not in ("STATE", "STATUS")
        }

    def read_topology(self, text: str) -> dict[str, str]:
        """The leaf switch of each node, from what a job of `rounds` kept of the topology."""
        return {}


class BatchScheduler(Scheduler):
    """A scheduler with a queue: also what the campaign's jobs, the doctor and imports need."""

    local = False
    queue_term = "queue"  # what it calls a queue

    # Commands: ``submit`` takes the script's path, or the script as standard input; ``release`` lets a held
    # job start; ``no_jobs`` is the message of `query`, whatever its exit status, when there are none.
    # ``job_query`` takes the address of a job or an array: it prints what `read_jobs` reads, or fails.
    submit: tuple[str, ...]
    script_on_stdin = False
    cancel: str
    release: str
    no_jobs = ""
    job_query: tuple[str, ...] = ()
    # What an administrator may type so that no job starts on a node; this program never does.
    drain = ""  # with {node} and {reason}

    # What a launcher prints that ends at once, since it does not reach the scheduler.
    unreached = re.compile("(?!)")

    # What a job gets, as variables tell it: for the keys of a host group that were asked for, and its hosts.
    granted: ClassVar[Mapping[str, str]] = {}
    granted_hosts = ""

    # Prefixes of the variables of a shell that change what these commands submit, list or print; those in
    # ``where`` only say which cluster it is.
    steering: tuple[str, ...] = ()
    where: frozenset[str] = frozenset()

    # The doctor's queries about a site; the first command exists wherever the scheduler does. Those in
    # ``site_helps`` may fail.
    site_questions: tuple[tuple[str, ...], ...]
    site_helps: frozenset[str] = frozenset()

    # Traces in scripts and outputs, for imports.
    directive: str  # what follows the # of its lines, such as SBATCH
    long_names: ClassVar[Mapping[str, str]] = {}  # of its options, by their short names
    letters_take_values = True  # whether -pshort is -p short; else it is one option
    name_option: str  # the options of its directives for the job's name and the queue
    queue_option: str
    script_endings: tuple[str, ...] = ()  # of the names of job scripts
    cluster_variables: tuple[str, ...] = ()  # environment variables that name the cluster
    report_done = ""  # the state in its reports of a job that ended well
    # The option that names a job's output, what stands for the job's number in it, with a pattern of such
    # numbers in a group, and its default.
    output_option = ""
    output_numbers: ClassVar[Mapping[str, str]] = {}
    output_name = re.compile("(?!)")

    # Directives

    @abstractmethod
    def own_option(self, token: str) -> str:
        """The option in a token of a directive, if each job script sets it itself; else empty.

        Another value would contradict the label of the run.
        """

    # Jobs

    @abstractmethod
    def query(self, user: str) -> list[str]:
        """The command that lists all jobs of a user, ended ones too as long as the scheduler knows them.

        Each task of an array has a line of its own.
        """

    def ignores(self, variable: str) -> bool:
        """Whether its commands run without this variable of the caller's shell."""
        return variable.startswith(self.steering) and variable not in self.where

    def plain_query(self, user: str) -> list[str]:
        """`query` without reasons, for versions that refuse its options; empty where there are none."""
        return []

    @abstractmethod
    def read_queue(self, text: str) -> list[QueuedJob]:
        """The output of `query` or `plain_query`.

        Raises
        ------
        UnreadableError
            where it is not as documented: with a message among the lines, the list may be incomplete.
        """

    def read_hosts(self, text: str) -> list[str]:
        """The hosts in the variable `granted_hosts`, without domains; empty where it cannot be read."""
        return []

    def read_jobs(self, text: str) -> list[QueuedJob]:
        """The output of `job_query`.

        Raises
        ------
        UnreadableError
            as `read_queue`.
        """
        return self.read_queue(text)

    def address(self, job_id: str) -> str:
        """The job in arguments of its commands."""
        return job_id

    @abstractmethod
    def read_submitted(self, text: str) -> str:
        """The job's id in what `submit` printed; empty where there is none."""

    def state_query(self, hosts: Sequence[str]) -> list[str]:
        """The command that tells the states of nodes; empty where there is none."""
        return []

    def limit_queries(self, user: str) -> list[list[str]]:
        """The commands that tell how many jobs a user may have, and how long ones; any may fail."""
        return []

    def read_limits(self, answers: Sequence[str], queue: str, account: str, qos: str) -> Limits:
        """What `limit_queries` printed, for jobs of a queue, an account and a QOS (empty: the default)."""
        return Limits()

    def read_states(self, text: str) -> dict[str, NodeState]:
        """The output of `state_query` by node."""
        return self.listed_states(text)

    # The site, for the doctor

    @abstractmethod
    def queues(self, answers: Mapping[str, str]) -> list[Queue]:
        """The queues, the default one first; ``answers``: to `site_questions`, by the command's name.

        Raises
        ------
        UnreadableError
            where an answer is not as documented.
        """

    @abstractmethod
    def nodes(self, answers: Mapping[str, str], wanted: Sequence[str] = ()) -> dict[str, list[Node]]:
        """The nodes of each of the wanted queues, or of the open ones, the default one first.

        Raises
        ------
        UnreadableError
            where an answer is not as documented.
        """

    @abstractmethod
    def host_group(self, nodes: NodeClass) -> dict[str, Any]:
        """The keys of a host group that select these nodes and no others, as far as it can.

        Empty values are left out of a campaign file.
        """

    @abstractmethod
    def probe(self, nodes: NodeClass, job_name: str, log: str, script: Sequence[str]) -> list[str]:
        """The command that submits a script with its arguments: one rank, one minute, on one of the nodes."""

    # Traces

    def read_options(self, tokens: Sequence[str]) -> dict[str, str]:
        """The options of a directive without dashes, by their long names where they have two.

        ``-n 2 -x --time=5`` is n: 2, x: (empty), time: 5; see `letters_take_values`.
        """
        options: dict[str, str] = {}
        name = ""
        for token in tokens:
            if token.startswith("--"):
                name, equals, value = token[2:].partition("=")
                options[name] = value
                name = "" if equals else name
            elif token.startswith("-") and len(token) > 1:
                name, value = token[1], token[2:]
                if value and not value[0].isdigit() and not self.letters_take_values:
                    name, value = token[1:], ""
                options[name] = value
            elif name:
                options[name] = f"{options[name]} {token}".strip()
        return {self.long_names.get(name, name): value for name, value in options.items()}

    def job_of_file(self, name: str, directives: Mapping[str, str]) -> str:
        """The job's number in the name of an output, such as 1234_7 of an array; empty where there is none.

        ``directives``: those of its script, where the script is known to be for this scheduler.
        """
        given = directives.get(self.output_option, "").rpartition("/")[2]
        parts = re.split(r"(%A_%a|%.)", given)
        numbers = self.output_numbers
        patterns = (numbers.get(part, ".*?" if part.startswith("%") else re.escape(part)) for part in parts)
        pattern = re.compile("".join(patterns)) if numbers.keys() & parts else self.output_name
        match = pattern.fullmatch(name) or self.output_name.fullmatch(name)
        return match[1] if match else ""

    def read_report(self, text: str) -> JobReport | None:
        """What it wrote around an output; None where there is nothing.

        Raises
        ------
        UnreadableError
            where there are reports of several jobs: it is unclear which one describes the output.
        """
        return None
