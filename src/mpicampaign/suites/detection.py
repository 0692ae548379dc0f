"""The suite of an output, by the lines with which programs announce themselves."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.suites.reading import OutputError
from mpicampaign.suites.room import SUITES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpicampaign.suites.suite import Suite


_LABEL = re.compile(r"[^\n]{0,100}[0-9][^\n]{0,60}|[^\n]{1,100}[]:|]\s*")  # a rank or a time; a host
_LONGEST, _FARTHEST = 400, 200  # characters of a line that announces, and before its needle


class Announced(NamedTuple):
    """A line with which a program announced its output: where it begins, and the program's suite."""

    position: int
    suite: Suite


class LabelledTitle(NamedTuple):
    """The number of such a line with a label before, the label, and the program's suite."""

    line: int
    label: str
    suite: Suite


@lru_cache(maxsize=2)  # of one text it is asked several times, one after the other
def announced(text: str) -> list[Announced]:
    """The lines that announce outputs, in their order; none that another output holds as its part."""
    lines = [
        Announced(_first_line(text, start, suite.banner.above), suite)
        for start, line, suite in _with_needles(text)
        if suite.banner.line.match(line)
    ]
    announcing = []
    ends: dict[str, int] = {}  # of the last output that holds outputs of a suite
    for line in sorted(lines, key=lambda line: line.position):
        if line.position < ends.get(line.suite.name, 0):
            continue
        announcing.append(line)
        for held in line.suite.holds:
            if ends.get(held, 0) <= line.position:  # else that end is this one's, too
                end = text.find(line.suite.end, line.position)
                ends[held] = len(text) if end < 0 else end
    return announcing


def detect_suite(text: str) -> str | None:
    """The name of the suite whose program printed the output; ``None`` where none did.

    Whether the output is whole is for the parser to decide.

    Raises
    ------
    OutputError
        when programs of different suites printed into it; with the lines of their banners.
    """
    first: dict[str, int] = {}
    for position, suite in announced(text):
        first.setdefault(suite.name, position)
    if len(first) > 1:
        lines = {suite: text.count("\n", 0, position) + 1 for suite, position in first.items()}
        where = " and ".join(f"of {suite} (line {line})" for suite, line in lines.items())
        raise OutputError(f"outputs {where} in one file")
    return next(iter(first), None)


def above_banner(text: str) -> str:
    """The text above the first line that announces a suite; all of it where none does."""
    return text[: min((line.position for line in announced(text)), default=len(text))]


def labelled_titles(text: str) -> list[LabelledTitle]:
    """The lines that would announce a suite but for a label before, as of launchers and clocks, in order."""
    labelled = []
    for start, line, suite in _with_needles(text):
        match = suite.banner.line.search(line)
        if match and _LABEL.fullmatch(line[: match.start()]):
            labelled.append((start, line[: match.start()], suite))
    titles: list[LabelledTitle] = []
    number, counted = 1, 0
    for start, label, suite in sorted(labelled, key=lambda title: title[0]):
        number += text.count("\n", counted, start)
        counted = start
        titles.append(LabelledTitle(number, label, suite))
    return titles


def program_of(token: str) -> str:
    """The program of a suite that a token of a command line names, by the last part of its path; or empty."""
    match = _programs().search(token)
    return match[1] if match else ""


def suite_of(program: str) -> str:
    """The suite of a program, by its name; empty where there is none."""
    of_name = (suite.name for suite in SUITES.values() if re.fullmatch(suite.programs, program))
    return next(of_name, "") if program else ""


def program_names() -> str:
    """The pattern of the names of all programs."""
    return "|".join(suite.programs for suite in SUITES.values() if suite.programs)


@cache
def _programs() -> re.Pattern[str]:
    return re.compile(rf"(?:^|/)({program_names()})$")


@lru_cache(maxsize=2)  # of one text it is asked several times, one after the other
def _with_needles(text: str) -> list[tuple[int, str, Suite]]:
    """The lines that may announce a suite: their positions, they themselves, and the suite."""
    return [
        (start, line, suite)
        for suite in SUITES.values()
        for start, line in _lines_with(text, suite.banner.needle)
    ]


def _first_line(text: str, start: int, above: re.Pattern[str] | None) -> int:
    """Where an announcement of several lines begins."""
    while above and start and above.match(text, before := text.rfind("\n", 0, start - 1) + 1):
        start = before
    return start


def _lines_with(text: str, needles: str | tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """The lines with a needle near their begin, each with its position, cut to the length of a banner."""
    for needle in (needles,) if isinstance(needles, str) else needles:
        position = text.find(needle)
        while position >= 0:
            start = text.rfind("\n", 0, position) + 1
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            if position - start < _FARTHEST:
                yield start, text[start : min(end, start + _LONGEST)]
            position = text.find(needle, end)
