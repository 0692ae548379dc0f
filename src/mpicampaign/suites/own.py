"""Users' own programs: the campaign file says how to read their outputs, and what a complete one contains.

Each metric has a regular expression that is searched in every line; its group ``value``, or its only group,
is the number. With a group ``size`` the metric is one over message sizes: the first time and the first
bandwidth among them are those of any suite, with latency, maximum and curves. Without an expression it is the
time to solution, which the job script measures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from mpicampaign.base.dimension import own_dimension
from mpicampaign.base.identity import METRIC
from mpicampaign.base.records import OwnMetric, Series
from mpicampaign.base.units import parse_size
from mpicampaign.suites.reading import (
    OutputError,
    ParsedOutput,
    UnreadError,
    numbered_lines,
    shown,
)
from mpicampaign.suites.suite import Banner, Suite

VALUE, SIZE = "value", "size"
LONGEST_LINE = 1000  # characters that a pattern is searched in: some patterns take very long on longer ones
TIME_TO_SOLUTION = "time to solution"  # in what a run declares, added from its evidence (s)
OVER_SIZES = {"over": "message size"}  # the qualifier beside metrics without sizes
# What before or behind a group means that it is a part of a number: digits, an exponent, a sign, thousands.
_MORE_BEFORE = re.compile(r"(?:[0-9][.,]?|[0-9.][eEdD][+-]?|(?:^|[\s=:(])[-.])$")
_MORE_BEHIND = re.compile(r"[._]?[0-9]|[eEdD][+-]?[0-9]")
_THOUSANDS = re.compile(r",[0-9]{3}(?![0-9])")


class Match(NamedTuple):
    """A value (SI), with the size in its line (B), and the number of the line."""

    line: int
    value: float
    size: int | None


TAKE: Mapping[str, Callable[[Sequence[Match]], Match]] = {
    "first": lambda matches: matches[0],
    "last": lambda matches: matches[-1],
    "smallest": lambda matches: min(matches, key=attrgetter("value")),
    "largest": lambda matches: max(matches, key=attrgetter("value")),
}


def check_pattern(text: str) -> str:
    """Why a pattern cannot be used; empty where it can."""
    try:
        pattern = re.compile(text)
    except re.error as error:
        return f"not a regular expression: {error}"
    names = pattern.groupindex.keys() - {VALUE, SIZE}
    if names:
        return f"its groups are named {VALUE} and {SIZE}, not {', '.join(sorted(names))}"
    if VALUE not in pattern.groupindex and pattern.groups - (SIZE in pattern.groupindex) != 1:
        return f"the number must be its only group, or the group (?P<{VALUE}>...)"
    return ""


def parse(text: str, reading: Mapping[str, Any]) -> ParsedOutput:
    """Read an output as the campaign file says.

    Raises
    ------
    UnreadError
        when a metric is missing, appears too often, or is not a number; with the line.
    """
    lines = lines_of(text)
    wanted = metrics_in(reading)
    matches = {title: matches_of(title, about, lines) for title, about in searched_in(reading).items()}
    over_sizes = {title: of_title for title, of_title in matches.items() if of_title[0].size is not None}
    single = {title: of_title[0].value for title, of_title in matches.items() if title not in over_sizes}
    if timed := [title for title, about in wanted.items() if not about["pattern"]]:
        if TIME_TO_SOLUTION not in reading:
            raise UnreadError(f"{timed[0]}: its job script recorded no time of the launch")
        single |= dict.fromkeys(timed, float(reading[TIME_TO_SOLUTION]))
    metrics: dict[str, OwnMetric]
    metrics = {title: {"unit": about["unit"], "better": about["better"]} for title, about in wanted.items()}
    name, series = str(reading["benchmark"]), []
    if single:
        columns: dict[str, list[float | None]] = {title: [value] for title, value in single.items()}
        series.append(Series(name, None, columns, metrics={title: metrics[title] for title in single}))
    if over_sizes:
        series.append(_over_sizes(name, over_sizes, metrics, OVER_SIZES if single else {}))
    return ParsedOutput("", {}, tuple(series))


def lines_of(text: str) -> list[tuple[int, str]]:
    """The lines of an output with their numbers, as far as patterns are searched in them."""
    return [(number, line[:LONGEST_LINE]) for number, line in numbered_lines(text)]


def metrics_in(reading: Mapping[str, Any]) -> dict[str, Mapping[str, str]]:
    """The metrics by name."""
    return {key.removeprefix(METRIC): reading[key] for key in reading if key.startswith(METRIC)}


def matches_of(title: str, about: Mapping[str, str], lines: Sequence[tuple[int, str]]) -> list[Match]:
    """The match that counts, or one for each size.

    Raises
    ------
    UnreadError
        when no line matches, several do, or a match is not a value.
    """
    if fault := check_pattern(about["pattern"]):  # in a plan of somebody else's
        raise UnreadError(f"{title}: {fault}")
    matches = [match for number, line in lines if (match := match_in(title, about, number, line))]
    if not matches:
        raise UnreadError(f"{title}: no line matches {shown(about['pattern'])}")
    if matches[0].size is None:
        return [_taken(title, about, matches)]
    seen: set[int | None] = set()
    for match in matches:
        if match.size in seen:
            raise UnreadError(f"line {match.line}: {title} at {match.size} B a second time")
        seen.add(match.size)
    return matches


def _over_sizes(
    name: str,
    matches: Mapping[str, Sequence[Match]],
    metrics: Mapping[str, OwnMetric],
    qualifiers: Mapping[str, str],
) -> Series:
    """The columns over all sizes of any of them; what has no value at a size is missing there."""
    names: dict[str, str] = {}
    for title in matches:
        column = own_dimension(metrics[title]["unit"], metrics[title]["better"]).column
        names[title] = column if column and column not in names.values() else title
    values = {
        title: {match.size or 0: match.value for match in of_title} for title, of_title in matches.items()
    }
    sizes = sorted(set().union(*values.values()))
    columns: dict[str, list[float | None]] = {SIZE: [float(size) for size in sizes]}
    columns |= {names[title]: [of_title.get(size) for size in sizes] for title, of_title in values.items()}
    titled_metrics = {title: metrics[title] for title in matches if names[title] == title}
    return Series(name, None, columns, dict(qualifiers), titled_metrics)


def match_in(title: str, about: Mapping[str, str], number: int, line: str) -> Match | None:
    """The value in a line, if the pattern matches it.

    Raises
    ------
    UnreadError
        when it is not a value.
    """
    match = re.search(about["pattern"], line)
    if not match:
        return None
    groups, named = match.groupdict(), set(match.re.groupindex.values())
    unnamed = (group for group in range(1, match.re.groups + 1) if group not in named)
    group = match.re.groupindex[VALUE] if VALUE in groups else next(unnamed)
    for part in (group, *named):
        if part_of := _cut_number(match, part):
            raise UnreadError(f"line {number}: {title}: {shown(match[part])} is only a part of {part_of}")
    text = match[group] or ""
    size = None
    if SIZE in groups:
        try:
            size = parse_size(groups[SIZE] or "")
        except ValueError as error:
            raise UnreadError(f"line {number}: the size of {title}: {error}") from None
    try:
        value = float(text)
    except ValueError:
        raise UnreadError(f"line {number}: {title} is {shown(text)}, not a number") from None
    if not (math.isfinite(value) and value >= 0):
        raise UnreadError(f"line {number}: {title} is {shown(text)}: a value is finite and not negative")
    return Match(number, value * own_dimension(about["unit"], about["better"]).factor, size)


def _cut_number(match: re.Match[str], group: int) -> str:
    """The number of which a group has only a part, with what to do; empty where it has all."""
    line, (start, end) = match.string, match.span(group)
    if not re.fullmatch(r"[-+0-9.eEdD]+", line[start:end]):
        return ""
    cut = _MORE_BEFORE.search(line[:start]) or _MORE_BEHIND.match(line, end) or end == LONGEST_LINE
    ends_match = end == match.end() and end - start <= 3
    if not (cut or (ends_match and _THOUSANDS.match(line, end))):
        return ""
    before, behind = re.split(r"[^\w.,+-]", line[:start])[-1], re.split(r"[^\w.,+-]", line[end:])[0]
    number = shown(f"{before}{line[start:end]}{behind}")
    return f"{number}: let the pattern take all of it, such as ([-+0-9.eE]+)"


def _taken(title: str, about: Mapping[str, str], matches: Sequence[Match]) -> Match:
    if len(matches) > 1 and not about.get("take"):
        lines = ", ".join(str(match.line) for match in matches[:5])
        hint = f"give take: {', '.join(TAKE)}"
        raise UnreadError(f"{title}: {len(matches)} lines match (lines {lines}...); {hint}")
    return TAKE[about.get("take") or "first"](matches)


def searched_in(reading: Mapping[str, Any]) -> dict[str, Any]:
    """The metrics with a pattern; another is the time to solution."""
    return {title: about for title, about in metrics_in(reading).items() if about["pattern"]}


def _undeclared(text: str) -> ParsedOutput:
    raise OutputError("an output of suite own can be read only with the metrics that its campaign declares")


class _Own(Suite):
    declares = ("metrics", "whole", "refused", "scaling")
    needs = ("metrics",)
    private_folder = True

    def proves_end(self, text: str, tables: Sequence[Series], largest: int | None) -> bool:
        return False  # but the campaign file may say what a whole output has

    def parse_by(self, text: str, reading: Mapping[str, Any]) -> ParsedOutput:
        return parse(text, reading)


SUITE = _Own(
    name="own",
    title="your own programs",
    banner=Banner("\0", re.compile(r"(?!)")),  # none: it cannot be recognised
    parse=_undeclared,
)
