"""The parts of a job script: directives, modules, exported variables and the lines that launch programs."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache, lru_cache
from itertools import takewhile

from mpicampaign import suites
from mpicampaign.mpis import launch_commands
from mpicampaign.schedulers import SCHEDULERS, BatchScheduler, batch_schedulers

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_BEFORE = {"time", "/usr/bin/time", "exec", "env", "nohup", "do", "then"}  # tokens before a launcher
_SET = re.compile(
    r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=([^\s\"']+|\"[^\"\n]*\"|'[^'\n]*')[ \t]*$", re.MULTILINE
)
_USED = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_HERE_DOCUMENT = re.compile(r"(?<!<)<<-?[ \t]*['\"\\]?(\w+)")
_WRITTEN = re.compile(r"(?<!2)>>?\s*([^\s&|;<>]+)|\btee\s+(?:-a\s+)?([^\s&|;<>]+)")
_EXPORT = re.compile(r"^\s*export\s+([A-Za-z_]\w*)=(.*?)\s*$", re.MULTILINE)
_PROMPT = re.compile(r"^(?:[^$\n]{0,80}\$ +|[+ ]+)")  # of a terminal, and of set -x
_LONGEST = 4000  # characters of a line that may name a launch
_MODULE = re.compile(r"^\s*module\s+(?:load|add|switch)\s+(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class JobScript:
    """A job script's parts. Directives have names without dashes, the long one of two; a missing
    value is empty.

    ``disabled``: directives in commented lines (``##BSUB -m group``), which schedulers ignore; they show what
    was meant where a job was submitted in another way. ``commands``: the lines that launch a benchmark, each
    once; ``program``: the first program that they start.
    """

    scheduler: str = ""
    directives: dict[str, str] = field(default_factory=dict)
    disabled: dict[str, str] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    program: str = ""


@cache
def _by_directive() -> dict[str, BatchScheduler]:
    return {scheduler.directive: scheduler for scheduler in batch_schedulers()}


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns of directive lines, and of those that are commented out."""
    names = "|".join(map(re.escape, _by_directive()))
    line = rf"#({names})[ \t]+(.*?)[ \t]*$"
    return re.compile(rf"^{line}", re.MULTILINE), re.compile(rf"^#[ \t]*{line}", re.MULTILINE)


@lru_cache(maxsize=1000)  # the repeats of a case have the same script
def read_job_script(text: str) -> JobScript:
    """The parts of a script; a line that a shell would not understand is ignored."""
    active, disabled = _patterns()
    lines = active.findall(text)
    commands = _commands(text)
    return JobScript(
        scheduler=_by_directive()[lines[0][0]].name if lines else "",
        directives=_all_options(lines),
        disabled=_all_options(disabled.findall(text)),
        modules=tuple(name for line in _MODULE.findall(text) for name in _tokens(line)),
        environment={name: " ".join(_tokens(value)) for name, value in _EXPORT.findall(text)},
        commands=commands,
        program=next(filter(None, map(program_of, commands)), ""),
    )


def command_of(commands: Sequence[str], path: str, program: str) -> str:
    """The command of a script that printed an output: the one that writes to the file, else the only one that
    starts the output's program; empty where several may have.
    """
    writing = [line for line in commands if _writes(line, path)] or commands
    fitting = [line for line in writing if program_of(line) == program] or writing
    return fitting[0] if len(fitting) == 1 else ""


def announced_launch(text: str, program: str) -> str:
    """The line of an output in which a shell prints the launch of a program; empty if several qualify."""
    naming = (line for line in text.split("\n") if program in line and len(line) < _LONGEST)
    lines = (_PROMPT.sub("", line, count=1) for line in naming)
    launches = {" ".join(line.split()) for line in lines if program_of(line) == program and _launches(line)}
    return launches.pop() if program and len(launches) == 1 else ""


def _writes(command: str, path: str) -> bool:
    """Whether a command writes to a file of this name; a variable in the name matches any text."""
    names = ("".join(words).rpartition("/")[2] for words in _WRITTEN.findall(command))
    return any(fnmatch(path.rpartition("/")[2], _USED.sub("*", name)) for name in names)


@lru_cache(maxsize=1000)
def program_of(command: str) -> str:
    """The known benchmark program that a command line starts; empty where there is none."""
    return next(filter(None, map(suites.program_of, _tokens(command))), "")


def _tokens(text: str) -> list[str]:
    """The tokens of a line up to a comment; for shlex, one would begin in a reservation ``root#10``."""
    try:
        tokens = shlex.split(text)
    except ValueError:  # an open quote
        tokens = text.split()
    return list(takewhile(lambda token: not token.startswith("#"), tokens))


def _all_options(lines: Iterable[tuple[str, str]]) -> dict[str, str]:
    options: dict[str, str] = {}
    for keyword, arguments in lines:
        options |= _by_directive()[keyword].read_options(_tokens(arguments))  # the last of a name counts
    return options


def _commands(text: str) -> tuple[str, ...]:
    """The lines that launch a benchmark: with a known launcher, else with the program's name."""
    lines = _without_here_documents(re.sub(r"\\\n\s*", " ", text).splitlines())
    lines = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    assigned = _SET.findall(text)
    times = Counter(name for name, _ in assigned)
    # variables that the script sets once, to plain text
    plain = {name: value.strip("'\"") for name, value in assigned if times[name] == 1 and "$" not in value}
    written = [_USED.sub(lambda used: plain.get(used[1] or used[2], used[0]), line) for line in lines]
    launched = [line for line in written if _launches(line)]
    named = [line for line in launched or written if program_of(line) and not _SET.match(line)]
    return tuple(dict.fromkeys(" ".join(line.split()) for line in named or launched[:1]))


def _without_here_documents(lines: Iterable[str]) -> list[str]:
    """The lines without here documents, except those that hold a job script themselves."""
    script_lines: list[str] = []
    inside: list[str] = []
    end = ""
    for line in lines:
        if end:
            inside.append(line)
            if line.strip("\t") == end:
                script_lines += inside if any(map(_patterns()[0].match, inside)) else []
                inside, end = [], ""
            continue
        script_lines.append(line)
        document = None if line.lstrip().startswith("#") else _HERE_DOCUMENT.search(line)
        end = document[1] if document else ""
    return script_lines + inside


@cache
def _launcher() -> re.Pattern[str]:
    of_schedulers = [scheduler.launcher for scheduler in SCHEDULERS.values() if scheduler.launcher]
    names = "|".join(map(re.escape, (*launch_commands(), *of_schedulers)))
    return re.compile(rf"(?:^|/)(?:{names})(?:[._-]\w+)*$")


def _launches(line: str) -> bool:
    tokens = (token for token in line.split() if not _ASSIGNMENT.match(token) and token not in _BEFORE)
    return _launcher().search(next(tokens, "")) is not None
