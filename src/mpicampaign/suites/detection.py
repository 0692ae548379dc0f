"""Which suite an output is of, by the lines with which the programs announce themselves."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.suites.reading import OutputError, line_at

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Banner(NamedTuple):
    """``needle`` finds the line fast, ``line`` is what it must look like."""

    needle: str
    line: re.Pattern[str]


_BANNERS = {
    "imb": _Banner("MPI Benchmark", re.compile(r"#\s+Intel ?\((?:R|TM)\) MPI Benchmark(?:s| Suite) ")),
    "osu": _Banner("# OSU ", re.compile(r"# OSU \S.*? Test(?: v\S{1,21})?\s*$")),
    "hpl": _Banner("HPLinpack ", re.compile(r"HPLinpack [0-9]\S{0,20}\s+--\s+High-Performance Linpack")),
    "hpcc": _Banner("HPC Challenge", re.compile(r"This is the DARPA/DOE HPC Challenge Benchmark ")),
    "kernel": _Banner("#mpicampaign-kernel ", re.compile(r"#mpicampaign-kernel \S")),
}
_PREFIX = re.compile(r"[^\n]{0,60}[0-9][^\n]{0,60}")  # a rank or a time
_HPCC_END = "End of HPC Challenge tests."


def detect_suite(text: str) -> str | None:
    """The suite whose program printed the output, a key of ``PARSERS``; ``None`` where none did.

    The answer says whose output it is, not that it is whole: that is the parser's to say.

    Raises
    ------
    OutputError
        when programs of different suites printed into it; with the lines of their banners.
    """
    found = {suite: line for suite in _BANNERS if (line := _first_line(text, suite))}
    if len(found) > 1:
        where = " and ".join(f"of {suite} (line {line})" for suite, line in found.items())
        raise OutputError(f"outputs {where} in one file")
    return next(iter(found), None)


def above_banner(text: str) -> str:
    """What stands above the first line that announces a suite; all where none does."""
    return text[: min(next(_banners(text, suite), len(text)) for suite in _BANNERS)]


def prefix_of(text: str) -> str:
    """What a launcher or a clock put before a line that announces a suite; empty where nothing is."""
    for needle, pattern in _BANNERS.values():
        position = text.find(needle)
        line, _ = line_at(text, text.rfind("\n", 0, position) + 1) if position >= 0 else ("", 0)
        found = pattern.search(line[:400])
        if found and _PREFIX.fullmatch(line[: found.start()]):
            return line[: found.start()]
    return ""


def _first_line(text: str, suite: str) -> int | None:
    """The number of the first line that announces the suite."""
    for position in _banners(text, suite):
        if suite != "hpl" or not _inside_hpcc(text, position):
            return text.count("\n", 0, position) + 1
    return None


def _inside_hpcc(text: str, position: int) -> bool:
    """Whether HPCC prints there: it runs HPL, with that program's own banner, as one of its parts."""
    starts = [start for start in _banners(text, "hpcc") if start < position]
    return bool(starts) and text.find(_HPCC_END, starts[-1], position) < 0


def _banners(text: str, suite: str) -> Iterator[int]:
    """The positions of the lines that announce the suite."""
    needle, pattern = _BANNERS[suite]
    position = text.find(needle)
    while position >= 0:
        start = text.rfind("\n", 0, position) + 1
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        if position - start < 200 and pattern.match(text[start : min(end, start + 400)]):
            yield start
        position = text.find(needle, end)
