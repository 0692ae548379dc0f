"""The suite of an output, by the lines with which programs announce themselves."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from mpicampaign.suites.reading import OutputError, line_at
from mpicampaign.suites.room import SUITES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpicampaign.suites.suite import Banner, Suite


_PREFIX = re.compile(r"[^\n]{0,60}[0-9][^\n]{0,60}")  # a rank or a time


def detect_suite(text: str) -> str | None:
    """The name of the suite whose program printed the output; ``None`` where none did.

    Whether the output is whole is for the parser to decide.

    Raises
    ------
    OutputError
        when programs of different suites printed into it; with the lines of their banners.
    """
    found = {suite.name: line for suite in SUITES.values() if (line := _first_line(text, suite))}
    if len(found) > 1:
        in_order = sorted(found.items(), key=lambda item: item[1])
        where = " and ".join(f"of {suite} (line {line})" for suite, line in in_order)
        raise OutputError(f"outputs {where} in one file")
    return next(iter(found), None)


def above_banner(text: str) -> str:
    """The text above the first line that announces a suite; all of it where none does."""
    starts = (next(_banners(text, suite.banner), len(text)) for suite in SUITES.values())
    return text[: min(starts)]


def prefix_of(text: str) -> str:
    """What a launcher or a clock put before a line that announces a suite; empty where nothing is."""
    for banner in (suite.banner for suite in SUITES.values()):
        position = text.find(banner.needle)
        line, _ = line_at(text, text.rfind("\n", 0, position) + 1) if position >= 0 else ("", 0)
        found = banner.line.search(line[:400])
        if found and _PREFIX.fullmatch(line[: found.start()]):
            return line[: found.start()]
    return ""


def program_of(token: str) -> str:
    """The program of a suite that a token of a command line names, by the last part of its path; or empty."""
    found = _programs().search(token)
    return found[1] if found else ""


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


def _first_line(text: str, suite: Suite) -> int | None:
    """The number of the first line that announces the suite, and not as a part of another one."""
    holders = [other for other in SUITES.values() if suite.name in other.holds]
    for position in _banners(text, suite.banner):
        if not any(_inside(text, position, holder) for holder in holders):
            return text.count("\n", 0, position) + 1
    return None


def _inside(text: str, position: int, holder: Suite) -> bool:
    """Whether the position is inside the output of a suite that runs others as its parts."""
    starts = [start for start in _banners(text, holder.banner) if start < position]
    return bool(starts) and text.find(holder.end, starts[-1], position) < 0


def _banners(text: str, banner: Banner) -> Iterator[int]:
    """The positions of the lines that announce a suite."""
    position = text.find(banner.needle)
    while position >= 0:
        start = text.rfind("\n", 0, position) + 1
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        if position - start < 200 and banner.line.match(text[start : min(end, start + 400)]):
            yield start
        position = text.find(banner.needle, end)
