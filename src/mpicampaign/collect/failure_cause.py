"""The lines of a failed run's output that name the cause."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mpicampaign.base.yaml_lines import printable, shortened
from mpicampaign.suites.aborts import is_aborted

LINES = 3
LENGTH = 160  # characters of a line
_LAST = 200_000  # characters that are searched at the end of a file
# From what explains most to what says least; the first that any line matches decides.
_CAUSES = (
    re.compile(
        r"error while loading shared libraries|as root|cannot open shared object|undefined symbol|"
        r"symbol lookup error|not enough slots|out of memory|cannot allocate memory|no space left|"
        r"permission denied|no such file or directory|command not found|executable could not be found|"
        r"host key verification|could not resolve|requested nodes? .*not available",
        re.I,
    ).search,
    re.compile(
        r"fatal error|segmentation fault|floating point exception|illegal instruction|bus error|"
        r"assertion .*fail|unable to|could not|cannot |failed|invalid|unrecognized|unknown option|refuse|"
        r"^>>> .+ <<<$|^\w[^\[]* \[--?\w[^\]]*\]$",  # HPL's; OSU's on its options
        re.I,
    ).search,
    is_aborted,
    re.compile(r"error|abort|signal|killed", re.I).search,
    re.compile(r"^usage:", re.I).search,
)
_SAYS = re.compile(r"[^\W_]")
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_SIDE = re.compile(r"^[=|*]\s+|\s+[=|*]$")
# What explains nothing: reports of transports, which UCX and Intel MPI are asked for, and advice of Open MPI.
_NOISE = re.compile(r"UCX\s+(DIAG|INFO|DEBUG)\b|^\[\d+\] MPI startup\(\)|Per user-direction")


def cause_of(*texts: str) -> str:
    """One to three lines that name why a run failed, printable and cut to length; empty where none is found.

    ``texts``: the ends of standard error and of the output, the more telling first.
    """
    lines = [line for text in texts for line in _lines(text[-_LAST:])]
    for tells in _CAUSES:
        if matching := [line for line in lines if tells(line)]:
            return _joined(matching)
    return _joined(lines[-1:])


def _lines(text: str) -> list[str]:
    """Without boxes, which launchers draw around their messages, and NULs, which some print between them."""
    lines = re.split(r"[\r\n\0]+", _COLOUR.sub("", text))
    printed = (_SIDE.sub("", " ".join(printable(line).split())) for line in lines if _SAYS.search(line))
    return [line for line in printed if not _NOISE.search(line)]


def _joined(lines: Iterable[str]) -> str:
    return " / ".join(shortened(line, LENGTH) for line in list(dict.fromkeys(lines))[:LINES])
