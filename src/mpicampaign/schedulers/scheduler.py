"""What a scheduler is: directives, commands, states, site facts, traces in scripts and outputs. No I/O.

A scheduler returns commands as tokens and reads texts; others start the commands and open the files.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

# What a job is doing, whatever its scheduler calls it. Anything not known is UNKNOWN, never a success.
QUEUED, RUNNING, DONE, UNKNOWN = "queued", "running", "done", "unknown"
FAILED, CANCELLED, TIMEOUT, OUT_OF_MEMORY = "failed", "cancelled", "timeout", "out of memory"
NODE_FAIL, PREEMPTED, LAUNCH_FAILED = "node failure", "preempted", "launch failure"
HELD = "held"  # waits for somebody's release
ACTIVE = (QUEUED, RUNNING, HELD)
# What may still run, or keeps its place in the queue: nobody may leave such a job behind.
IN_THE_QUEUE = (*ACTIVE, LAUNCH_FAILED, UNKNOWN)


class QueuedJob(NamedTuple):
    """A job as the scheduler lists it; ``word`` and ``reason`` are its own for the job's state."""

    id: str
    name: str
    state: str
    word: str
    reason: str = ""

    @property
    def said(self) -> str:
        """The scheduler's own words in one text."""
        return f"{self.word} ({self.reason})" if self.reason else self.word


@dataclass(frozen=True, slots=True)
class Queue:
    """A partition or queue; ``time_limit`` and ``notes`` in the scheduler's words."""

    name: str
    default: bool
    open: bool
    time_limit: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeClass:
    """Like nodes of one partition or queue, and what selects them.

    Sockets and cores of a node are the scheduler's word, ``None`` where it gives none.
    """

    queue: str  # partition or queue
    nodes: tuple[str, ...]
    usable: int  # how many of them are neither down nor drained
    features: tuple[str, ...] = ()
    sockets: int | None = None
    cores: int | None = None
    constraint: str = ""  # what tells them from other nodes of the partition
    notes: tuple[str, ...] = ()


class JobReport(NamedTuple):
    """What a scheduler wrote around a job's output; what it does not say is empty.

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


class Scheduler(ABC):
    """What job scripts and campaign files have to know. The defaults are those of a machine without one.

    ``job_id`` and ``script`` are shell text: how a running script knows its id and its own file.
    """

    name: str  # in campaign files
    title: str  # as people call it
    local = True  # job scripts run on this very machine, one at a time

    header: Path | None = None  # the template of its directives
    job_id = "$$"
    script = "$0"
    how_to_run = "Run with: bash job.sh"
    environment: ClassVar[Mapping[str, str]] = {}  # what each job script exports

    # The keys of a host group that it has a meaning for, and pairs of which it takes one only.
    selectors: frozenset[str] = frozenset()
    either: tuple[tuple[str, str], ...] = ()

    # The command by which it starts ranks itself, and how they learn their numbers; empty where it has none.
    launcher = ""
    rank_variable = ""
    local_rank_variable = ""

    def options(self, group: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The keys of a host group as directives; those without a value have an empty one."""
        return []

    def time(self, minutes: int) -> str:
        """A time limit as its directives have it."""
        return str(minutes)

    def launch(self, nodes: int, ranks_per_node: int, *, pmi: str, bind: bool) -> list[str]:
        """Its `launcher` with arguments; ``bind``: whether it may bind ranks to cores by itself."""
        raise NotImplementedError


class BatchScheduler(Scheduler):
    """A scheduler with a queue: what the campaign's jobs, the doctor and imports have to know, too."""

    local = False
    queue_word = "queue"  # what it calls a queue

    # Commands: ``submit`` is followed by the script's path, or reads it as standard input; ``release`` lets a
    # held job start; ``no_jobs`` is what `query` says, whatever its exit status, when there are none.
    submit: tuple[str, ...]
    script_on_stdin = False
    cancel: str
    release: str
    no_jobs = ""

    # What the doctor asks about a site; the first command is there wherever the scheduler is. Commands of
    # ``site_helps`` are a help, no need.
    site_questions: tuple[tuple[str, ...], ...]
    site_helps: frozenset[str] = frozenset()

    # Traces in scripts and outputs, for imports.
    directive: str  # the word behind the # of its lines, such as SBATCH
    long_names: ClassVar[Mapping[str, str]] = {}  # of its options by their short names
    letters_take_values = True  # whether -pshort is -p short; else it is one option
    name_option: str  # which option of its directives is the job's name, and which one the queue
    queue_option: str
    script_endings: tuple[str, ...] = ()  # of the names of job scripts
    cluster_variables: tuple[str, ...] = ()  # environment variables that name the cluster
    report_done = ""  # the state in its reports of a job that ended well

    # Directives

    @abstractmethod
    def own_option(self, word: str) -> str:
        """The option that each job script sets by itself and a word of a directive sets, too; else empty.

        Another value would make the label of a run a lie.
        """

    # Jobs

    @abstractmethod
    def query(self, user: str) -> list[str]:
        """The command that lists all jobs of a user, ended ones too as long as the scheduler knows them."""

    @abstractmethod
    def read_queue(self, text: str) -> list[QueuedJob]:
        """The output of `query`.

        Raises
        ------
        UnreadableError
            where it is not as documented: a message among the lines means that the list may not be whole.
        """

    @abstractmethod
    def read_submitted(self, text: str) -> str:
        """The job's id in what `submit` printed; empty where there is none."""

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
    def node_classes(self, answers: Mapping[str, str], wanted: Sequence[str] = ()) -> list[NodeClass]:
        """Like nodes of the queues that are wanted, or of those that are there to be used.

        Raises
        ------
        UnreadableError
            where an answer is not as documented.
        """

    @abstractmethod
    def host_group(self, nodes: NodeClass) -> dict[str, Any]:
        """The keys of a host group that select these nodes; empty values are left out of a campaign file."""

    @abstractmethod
    def probe(self, nodes: NodeClass, job_name: str, log: str, script: Sequence[str]) -> list[str]:
        """The command that submits a script with its arguments: one rank, one minute, on one of the nodes."""

    # Traces

    def read_options(self, words: Sequence[str]) -> dict[str, str]:
        """The options of a directive without dashes, those with two names by the long one."""
        found = _options(words, of_letters=self.letters_take_values)
        return {self.long_names.get(name, name): value for name, value in found.items()}

    def job_of_file(self, name: str, directives: Mapping[str, str]) -> str:
        """The job's number in the name of an output; empty where there is none.

        ``directives``: those of its script, where that is known to be one of this scheduler.
        """
        return ""

    def read_report(self, text: str) -> JobReport | None:
        """What it wrote around an output; None where there is nothing.

        Raises
        ------
        UnreadableError
            where there are reports of several jobs: whose hosts and state are the output's cannot be told.
        """
        return None


def by_word(states: Mapping[str, str]) -> dict[str, str]:
    """The state of each of a scheduler's words, from the words of each state."""
    return {word: state for state, words in states.items() for word in words.split()}


def is_job(line: str) -> bool:
    """Whether a line begins with a job's number, be it of an array (12_[0-3,7%2]) or a part (12+1)."""
    return re.match(r"[0-9][0-9_+\[\],%-]*\s*\|", line) is not None


def _options(words: Sequence[str], *, of_letters: bool) -> dict[str, str]:
    """``-n 2 -x --time=5`` is n: 2, x: (empty), time: 5; see `BatchScheduler.letters_take_values`."""
    options: dict[str, str] = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            options[name] = value
            name = "" if equals else name
        elif word.startswith("-") and len(word) > 1:
            name, value = word[1], word[2:]
            name = word[1:] if value and not value[0].isdigit() and not of_letters else name
            options[name] = value if name == word[1] else ""
        elif name:
            options[name] = f"{options[name]} {word}".strip()
    return options
