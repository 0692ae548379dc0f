"""Users' own programs: the campaign file says how to read their outputs, and what a complete one contains.

Each metric has a regular expression that is searched in every line; its group ``value``, or its only group,
is the number. With a group ``size`` the metric is one over message sizes: the first time and the first
bandwidth among them are those of any suite, with latency, maximum and curves. Without an expression it is the
time to solution, which the job script measures.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from mpicampaign.dimension import own_dimension
from mpicampaign.records import OwnMetric, Series
from mpicampaign.suites.reading import OutputError, ParsedOutput, check_no_abort, numbered_lines, shown
from mpicampaign.suites.suite import Banner, Suite
from mpicampaign.units import parse_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

VALUE, SIZE = "value", "size"
TAKE: Mapping[str, Callable[[Sequence[float]], float]] = {
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "smallest": min,
    "largest": max,
}
LONGEST_LINE = 1000  # characters that a pattern is searched in: some patterns take very long on longer ones
TIME_TO_SOLUTION = "time to solution"  # in what a run declares, added from its evidence (s)
OVER_SIZES = {"over": "message size"}  # the qualifier beside metrics without sizes


class Match(NamedTuple):
    """A value, with the size in its line (B), and the number of the line."""

    line: int
    value: float
    size: int | None


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


def parse(text: str, declared: Mapping[str, Any]) -> ParsedOutput:
    """Read an output by what its run declared.

    Raises
    ------
    OutputError
        when a metric is missing, appears too often, or is not a number; with the line.
    """
    lines = [(number, line[:LONGEST_LINE]) for number, line in numbered_lines(text)]
    for number, line in lines:
        check_no_abort(line, number)
    wanted = {key.removeprefix("metrics."): declared[key] for key in declared if key.startswith("metrics.")}
    matches = {title: _matches(title, about, lines) for title, about in wanted.items() if about["pattern"]}
    over = {title: each for title, each in matches.items() if each[0].size is not None}
    single = {
        title: _single(title, wanted[title], each) for title, each in matches.items() if title not in over
    }
    single |= {title: _time(title, declared) for title, about in wanted.items() if not about["pattern"]}
    name = str(declared["benchmark"])
    series = []
    if single:
        columns: dict[str, list[float | None]] = {title: [value] for title, value in single.items()}
        series.append(
            Series(name, None, columns, metrics={title: _metric(wanted[title]) for title in single})
        )
    if over:
        series.append(_series_over_sizes(name, over, wanted, OVER_SIZES if single else {}))
    return ParsedOutput("", {}, tuple(series))


def _series_over_sizes(
    name: str,
    matches: Mapping[str, Sequence[Match]],
    wanted: Mapping[str, Mapping[str, str]],
    qualifiers: Mapping[str, str],
) -> Series:
    columns: dict[str, str] = {}
    for title in matches:
        column = own_dimension(wanted[title]["unit"], wanted[title]["better"]).column
        columns[title] = column if column and column not in columns.values() else title
    own = {title: _metric(wanted[title]) for title in matches if columns[title] == title}
    values = _over_sizes(matches)
    named = {columns.get(title, title): of_title for title, of_title in values.items()}
    return Series(name, None, named, dict(qualifiers), own)


def _matches(title: str, about: Mapping[str, str], lines: Iterable[tuple[int, str]]) -> list[Match]:
    pattern = re.compile(about["pattern"])
    matches = [
        _match(title, about, number, match) for number, line in lines if (match := pattern.search(line))
    ]
    if not matches:
        raise OutputError(f"{title}: no line matches {shown(about['pattern'])}")
    return matches


def _match(title: str, about: Mapping[str, str], number: int, match: re.Match[str]) -> Match:
    groups = match.groupdict()
    text = groups[VALUE] if VALUE in groups else next(_unnamed(match))
    size = _size(title, number, groups[SIZE]) if SIZE in groups else None
    try:
        value = float(text or "")
    except ValueError:
        raise OutputError(f"line {number}: {title} is {shown(text or '')}, not a number") from None
    if not (math.isfinite(value) and value >= 0):
        raise OutputError(
            f"line {number}: {title} is {shown(text or '')}: a value is finite and not negative"
        )
    return Match(number, value * own_dimension(about["unit"], about["better"]).factor, size)


def _unnamed(match: re.Match[str]) -> Iterator[str | None]:
    """The groups without a name."""
    named = set(match.re.groupindex.values())
    return (match[group] for group in range(1, match.re.groups + 1) if group not in named)


def _size(title: str, number: int, text: str | None) -> int:
    try:
        return parse_size(text or "")
    except ValueError as error:
        raise OutputError(f"line {number}: the size of {title}: {error}") from None


def _single(title: str, about: Mapping[str, str], matches: Sequence[Match]) -> float:
    if len(matches) > 1 and not about.get("take"):
        lines = ", ".join(str(match.line) for match in matches[:5])
        hint = f"give take: {', '.join(TAKE)}"
        raise OutputError(f"{title}: {len(matches)} lines match (lines {lines}...); {hint}")
    return TAKE[about.get("take") or "first"]([match.value for match in matches])


def _time(title: str, declared: Mapping[str, Any]) -> float:
    """The time to solution."""
    if TIME_TO_SOLUTION not in declared:
        raise OutputError(f"{title}: its job script recorded no time of the launch")
    return float(declared[TIME_TO_SOLUTION])


def _over_sizes(matches_of: Mapping[str, Sequence[Match]]) -> dict[str, list[float | None]]:
    """The columns over all sizes of any of them; what has no value at a size is missing there."""
    values: dict[str, dict[int, float]] = {}
    for title, matches in matches_of.items():
        values[title] = {}
        for match in matches:
            assert match.size is not None
            if match.size in values[title]:
                raise OutputError(f"line {match.line}: {title} at {match.size} B a second time")
            values[title][match.size] = match.value
    sizes = sorted(set().union(*values.values()))
    columns: dict[str, list[float | None]] = {SIZE: [float(size) for size in sizes]}
    return columns | {title: [of_title.get(size) for size in sizes] for title, of_title in values.items()}


def _metric(about: Mapping[str, str]) -> OwnMetric:
    return {"unit": about["unit"], "better": about["better"]}


def _undeclared(text: str) -> ParsedOutput:
    raise OutputError("an output of suite own can be read only with the metrics that its campaign declares")


class _Own(Suite):
    declares = ("metrics", "whole", "refused")
    needs = ("metrics",)
    private_folder = True

    def parse_declared(self, text: str, declared: Mapping[str, Any]) -> ParsedOutput:
        return parse(text, declared)


SUITE = _Own(
    name="own",
    title="programs of one's own",
    banner=Banner("\0", re.compile(r"(?!)")),  # none: it cannot be recognised
    parse=_undeclared,
)
