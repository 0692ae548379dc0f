"""What a job script says: directives, modules, exported variables and the line that launches the program."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_DIRECTIVE = re.compile(r"^#(BSUB|SBATCH)[ \t]+(.*?)[ \t]*$", re.MULTILINE)
_DISABLED = re.compile(r"^#[ \t]*#(?:BSUB|SBATCH)[ \t]+(.*?)[ \t]*$", re.MULTILINE)
_LAUNCHER = re.compile(r"(?:^|/)(?:mpirun|mpiexec|srun|jsrun|orterun|prun|ibrun|aprun)(?:[._-]\w+)*$")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_EXPORT = re.compile(r"^\s*export\s+([A-Za-z_]\w*)=(.*?)\s*$", re.MULTILINE)
_MODULE = re.compile(r"^\s*module\s+(?:load|add|switch)\s+(.+?)\s*$", re.MULTILINE)
_PROGRAM = re.compile(r"(?:^|/)(IMB-\w+|xhpl\w*|hpcc\w*|osu_\w+)$")
SCHEDULERS = {"BSUB": "lsf", "SBATCH": "slurm"}


@dataclass(frozen=True, slots=True)
class JobScript:
    """A job script's parts. Directives are named without their dashes; one without a value is empty.

    ``disabled``: those of commented lines (``##BSUB -m group``), which schedulers pass over; they say what
    was meant where a job had to be sent by other means.
    """

    scheduler: str = ""
    directives: dict[str, str] = field(default_factory=dict)
    disabled: dict[str, str] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    command: str = ""
    program: str = ""


@lru_cache(maxsize=1000)  # the repeats of a case have the same script
def read_job_script(text: str) -> JobScript:
    """The parts of a script; a line that a shell would not understand is passed over."""
    found = _DIRECTIVE.findall(text)
    command = _command(_joined(text))
    return JobScript(
        scheduler=SCHEDULERS[found[0][0]] if found else "",
        directives=_all_options(words for _, words in found),
        disabled=_all_options(_DISABLED.findall(text)),
        modules=tuple(word for line in _MODULE.findall(text) for word in _words(line)),
        environment={name: " ".join(_words(value)) for name, value in _EXPORT.findall(text)},
        command=command,
        program=program_of(command),
    )


def program_of(command: str) -> str:
    """The known benchmark that a command line starts, by the last part of its path; empty where none is."""
    for word in _words(command):
        if found := _PROGRAM.search(word):
            return found[1]
    return ""


def _words(text: str) -> list[str]:
    """The words of a line up to a comment; shlex would begin one inside of LSF's reservation ``root#10``."""
    try:
        words = shlex.split(text)
    except ValueError:  # a quote that is not closed
        words = text.split()
    return list(takewhile(lambda word: not word.startswith("#"), words))


def _all_options(lines: Iterable[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for line in lines:
        options |= _options(_words(line))
    return options


def _options(words: list[str]) -> dict[str, str]:
    """``-n 2 -x --time=5`` is n: 2, x: (empty), time: 5."""
    options: dict[str, str] = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            options[name] = value
            name = "" if equals else name
        elif word.startswith("-") and len(word) > 1:
            name, value = word[1], word[2:]
            name = word[1:] if value and not value[0].isdigit() else name
            options[name] = value if name == word[1] else ""
        elif name:
            options[name] = f"{options[name]} {word}".strip()
    return options


def _joined(text: str) -> list[str]:
    """The lines, with those that a backslash continues put together."""
    return re.sub(r"\\\n\s*", " ", text).splitlines()


def _command(lines: list[str]) -> str:
    """The line that launches the program: by a known launcher, else by the program's own name."""
    candidates = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    launched = [line for line in candidates if _launches(line)]
    named = [line for line in launched or candidates if program_of(line)]
    return " ".join(next(iter(named or launched), "").split())


def _launches(line: str) -> bool:
    for word in line.split():
        if not _ASSIGNMENT.match(word):
            return _LAUNCHER.search(word) is not None
    return False
