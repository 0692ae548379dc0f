"""What a job script says: directives, modules, exported variables and the line that launches the program."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache, lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING

from mpicampaign.mpis import launch_commands
from mpicampaign.schedulers import SCHEDULERS, batch_schedulers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.schedulers import BatchScheduler

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_BEFORE = {"time", "/usr/bin/time", "exec", "env", "nohup", "do", "then"}  # words that may precede a launcher
_SET = re.compile(
    r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=([^\s\"']+|\"[^\"\n]*\"|'[^'\n]*')[ \t]*$", re.MULTILINE
)
_USED = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_HERE_DOCUMENT = re.compile(r"(?<!<)<<-?[ \t]*['\"\\]?(\w+)")
_WRITTEN = re.compile(r"(?<!2)>>?\s*([^\s&|;<>]+)|\btee\s+(?:-a\s+)?([^\s&|;<>]+)")
_EXPORT = re.compile(r"^\s*export\s+([A-Za-z_]\w*)=(.*?)\s*$", re.MULTILINE)
_MODULE = re.compile(r"^\s*module\s+(?:load|add|switch)\s+(.+?)\s*$", re.MULTILINE)
_PROGRAM = re.compile(r"(?:^|/)(IMB-\w+|xhpl\w*|hpcc\w*|osu_\w+)$")


@dataclass(frozen=True, slots=True)
class JobScript:
    """A job script's parts. Directives are named without their dashes, those with two names by the long one;
    one without a value is empty.

    ``disabled``: those of commented lines (``##WORD -m group``), which schedulers pass over; they say what
    was meant where a job had to be sent by other means. ``commands``: the lines that launch a benchmark, each
    once; ``program``: the first one that they start.
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
    """Of the lines of directives, and of those that are commented out."""
    word = "|".join(map(re.escape, _by_directive()))
    line = rf"#({word})[ \t]+(.*?)[ \t]*$"
    return re.compile(rf"^{line}", re.MULTILINE), re.compile(rf"^#[ \t]*{line}", re.MULTILINE)


@lru_cache(maxsize=1000)  # the repeats of a case have the same script
def read_job_script(text: str) -> JobScript:
    """The parts of a script; a line that a shell would not understand is passed over."""
    active, disabled = _patterns()
    found = active.findall(text)
    commands = _commands(text)
    return JobScript(
        scheduler=_by_directive()[found[0][0]].name if found else "",
        directives=_all_options(found),
        disabled=_all_options(disabled.findall(text)),
        modules=tuple(word for line in _MODULE.findall(text) for word in _words(line)),
        environment={name: " ".join(_words(value)) for name, value in _EXPORT.findall(text)},
        commands=commands,
        program=next(filter(None, map(program_of, commands)), ""),
    )


def command_of(commands: Sequence[str], path: str, program: str) -> str:
    """The one of a script's commands that printed an output; empty where several may have.

    That which writes to the file, else the only one that starts the program that printed it.
    """
    writing = [line for line in commands if _writes(line, path)] or commands
    fitting = [line for line in writing if program_of(line) == program] or writing
    return fitting[0] if len(fitting) == 1 else ""


def _writes(command: str, path: str) -> bool:
    """Whether a command's output goes to a file of this name; a variable in its name may be anything."""
    names = ("".join(found).rpartition("/")[2] for found in _WRITTEN.findall(command))
    return any(fnmatch(path.rpartition("/")[2], _USED.sub("*", name)) for name in names)


def program_of(command: str) -> str:
    """The known benchmark that a command line starts, by the last part of its path; empty where none is."""
    for word in _words(command):
        if found := _PROGRAM.search(word):
            return found[1]
    return ""


def _words(text: str) -> list[str]:
    """The words of a line up to a comment; shlex would begin one inside of a reservation ``root#10``."""
    try:
        words = shlex.split(text)
    except ValueError:  # a quote that is not closed
        words = text.split()
    return list(takewhile(lambda word: not word.startswith("#"), words))


def _all_options(lines: Iterable[tuple[str, str]]) -> dict[str, str]:
    options: dict[str, str] = {}
    for keyword, words in lines:
        # the last one counts, whichever of its names it has
        options |= _by_directive()[keyword].read_options(_words(words))
    return options


def _commands(text: str) -> tuple[str, ...]:
    """The lines that launch a benchmark: by a known launcher, else by the program's own name."""
    lines = _without_here_documents(re.sub(r"\\\n\s*", " ", text).splitlines())
    lines = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    variables = _variables(text)
    written = [_filled(line, variables) for line in lines]
    launched = [line for line in written if _launches(line)]
    named = [line for line in launched or written if program_of(line) and not _SET.match(line)]
    return tuple(dict.fromkeys(" ".join(line.split()) for line in named or launched[:1]))


def _without_here_documents(lines: Iterable[str]) -> list[str]:
    """The lines without what goes to a program's standard input, unless that is a job script itself."""
    kept: list[str] = []
    inside: list[str] = []
    end = ""
    for line in lines:
        if end:
            inside.append(line)
            if line.strip("\t") == end:
                kept += inside if any(map(_patterns()[0].match, inside)) else []
                inside, end = [], ""
            continue
        kept.append(line)
        found = None if line.lstrip().startswith("#") else _HERE_DOCUMENT.search(line)
        end = found[1] if found else ""
    return kept + inside


def _variables(text: str) -> dict[str, str]:
    """The variables that a script sets once, to a plain text."""
    found = _SET.findall(text)
    times = Counter(name for name, _ in found)
    return {name: value.strip("'\"") for name, value in found if times[name] == 1 and "$" not in value}


def _filled(line: str, variables: dict[str, str]) -> str:
    return _USED.sub(lambda found: variables.get(found[1] or found[2], found[0]), line)


@cache
def _launcher() -> re.Pattern[str]:
    own = [scheduler.launcher for scheduler in SCHEDULERS.values() if scheduler.launcher]
    return re.compile(rf"(?:^|/)(?:{'|'.join(map(re.escape, (*launch_commands(), *own)))})(?:[._-]\w+)*$")


def _launches(line: str) -> bool:
    for word in line.split():
        if not _ASSIGNMENT.match(word) and word not in _BEFORE:
            return _launcher().search(word) is not None
    return False
