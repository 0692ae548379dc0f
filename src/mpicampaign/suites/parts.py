"""The outputs in a text, by the lines with which programs announce themselves: their suites, and the cuts.

A cut is made at each title. An output without its closing line above another one was aborted, unless such a
line comes later: then both were printed at the same time. That is refused with the reason, and so are rows of
an output whose title is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, pairwise, zip_longest
from typing import NamedTuple

from mpicampaign.base.text import line_of
from mpicampaign.suites.aborts import abort_in, is_aborted
from mpicampaign.suites.reading import OutputError, is_whole_row, looks_like_row
from mpicampaign.suites.room import SUITES
from mpicampaign.suites.suite import Suite

_LABEL = re.compile(
    r"[^\n]{0,100}[0-9][^\n]{0,60}|[^\n]{1,100}[]:|]\s*|[ >]*>\s*"
)  # a rank or a time; a host; a mail
_LONGEST_TITLE, _FARTHEST = 400, 200  # characters of a line that announces, and before its needle
_LONGEST = 1000  # characters of other lines that are looked at
_TOGETHER = 3  # seconds within which the ranks of one job start
# A row of values, even a damaged one. The tables of launchers and MPI libraries have names behind a rank.
_NUMBERS = re.compile(r"\s*[0-9][0-9.]*(?:\s+[+-]?(?:[0-9.]|nan\b|inf\b)|$)", re.IGNORECASE)


class Title(NamedTuple):
    """Where a line announces an output of a suite: its position, its number, and a label before its text."""

    position: int
    suite: Suite
    line: int = 0
    label: str = ""


@lru_cache(maxsize=2)  # of one text it is asked several times, one after the other
def announced(text: str) -> list[Title]:
    """The lines that announce outputs, in their order; none that another output holds as its part."""
    candidates = [
        Title(_first_line(text, start, suite.banner.above), suite)
        for start, line, suite in _with_needles(text)
        if suite.banner.line.match(line)
    ]
    titles = []
    ends: dict[str, int] = {}  # of the last output that holds outputs of a suite
    for title in _in_order(text, candidates):
        if title.position < ends.get(title.suite.name, 0):
            continue
        titles.append(title)
        for held in title.suite.holds:
            if ends.get(held, 0) <= title.position:  # else that end is this one's, too
                end = text.find(title.suite.end, title.position)
                ends[held] = len(text) if end < 0 else end
    return titles


def labelled_titles(text: str) -> list[Title]:
    """The lines that would announce a suite but for a label before, as of launchers and clocks, in order.

    A text without other titles may be quoted: then its indentation is the label.
    """
    labelled = [
        Title(start, suite, label=line[: match.start()])
        for start, line, suite in _with_needles(text)
        if (match := suite.banner.line.search(line)) and match.start()
    ]
    titles = [title for title in labelled if _LABEL.fullmatch(title.label)]
    if not titles and not announced(text):
        titles = [title for title in labelled if title.label.isspace()]
    return list(_in_order(text, titles))


def detect_suite(text: str) -> str | None:
    """The name of the suite whose program printed the output; ``None`` where none did.

    Whether the output is whole is for the parser to decide.

    Raises
    ------
    OutputError
        when programs of different suites printed into it; with the lines of their banners.
    """
    first = {title.suite.name: title.line for title in reversed(announced(text))}
    if len(first) > 1:
        where = " and ".join(f"of {suite} (line {line})" for suite, line in reversed(first.items()))
        raise OutputError(f"outputs {where} in one file")
    return next(iter(first), None)


def above_banner(text: str) -> str:
    """The text above the first line that announces a suite; all of it where none does."""
    return text[: min((title.position for title in announced(text)), default=len(text))]


def _in_order(text: str, titles: Iterable[Title]) -> Iterator[Title]:
    """Titles in the order of the text, each with the number of its line."""
    number, counted = 1, 0
    for title in sorted(titles, key=lambda title: title.position):
        number += text.count("\n", counted, title.position)
        counted = title.position
        yield title._replace(line=number)


@lru_cache(maxsize=2)  # of one text it is asked several times, one after the other
def _with_needles(text: str) -> list[tuple[int, str, Suite]]:
    """The lines that may announce a suite: their positions, they themselves, and the suite."""
    return [
        (start, line, suite) for suite in SUITES.values() for start, line in _lines_with_needle(text, suite)
    ]


def _lines_with_needle(text: str, suite: Suite) -> Iterator[tuple[int, str]]:
    """The lines with a needle near their beginning, cut to the length of a banner."""
    needles = suite.banner.needle
    for needle in (needles,) if isinstance(needles, str) else needles:
        position = text.find(needle)
        while position >= 0:
            start, end = text.rfind("\n", 0, position) + 1, text.find("\n", position)
            end = len(text) if end < 0 else end
            if position - start < _FARTHEST:
                yield start, text[start : min(end, start + _LONGEST_TITLE)]
            position = text.find(needle, end)


def _first_line(text: str, start: int, above: re.Pattern[str] | None) -> int:
    """Where an announcement of several lines begins."""
    while above and start and above.match(text, before := text.rfind("\n", 0, start - 1) + 1):
        start = before
    return start


class Part(NamedTuple):
    """One of the outputs in a text.

    ``text``: from its title to the next one's; the first begins with the text. ``above``: what was printed
    above its title since the output before had ended, as launchers and MPI libraries do. ``output``: from the
    title to its last line; ``below``: the rest, which is above the next title. What launchers report there
    belongs to the next output; a program's end by an error, to this one. ``first``, ``last``: numbers of its
    lines; 0 for a text that was not cut.
    """

    suite: str
    text: str
    above: str
    output: str
    below: str = ""
    first: int = 0
    last: int = 0

    @property
    def lines(self) -> str:
        """The lines of the output in its text, such as 12-40; empty for all of a text."""
        return f"{self.first}-{self.last}" if self.first else ""

    @property
    def to_parse(self) -> str:
        """The text for its parser: without tables that launchers print below its end."""
        if not self.below:
            return self.text
        lines = (line if not looks_like_row(line) else "" for line in self.below.split("\n"))
        return self.text[: -len(self.below)] + "\n".join(lines)


class _Span(NamedTuple):
    """Where an output begins, where it ends, where the next one begins (positions).

    ``aborted``: its closing line is missing above the next one. ``valued``: whether it has values.
    """

    title: Title
    end: int
    following: int
    aborted: bool
    valued: bool

    @property
    def named(self) -> str:
        return f"output of {self.title.suite.name} (line {self.title.line})"


def parts(text: str) -> list[Part]:
    """The outputs in a text, in their order; all of it as one part where it holds one or none.

    Raises
    ------
    OutputError
        when it holds several that cannot be separated safely.
    """
    titles = announced(text)
    if len(titles) < 2:
        suite = titles[0].suite.name if titles else ""
        return [Part(suite, text, "", text)]
    spans = _spans(text, titles)
    labelled = [f"some lines have a label, such as {title.label!r}" for title in labelled_titles(text)[:1]]
    between = (_why_not(text, before, after) for before, after in pairwise(spans))
    if reason := next(filter(None, chain(labelled, between)), "") or _at_the_same_time(text, spans):
        raise OutputError(f"several outputs that cannot be separated: {reason}")
    return list(_cut(text, spans))


def _spans(text: str, titles: list[Title]) -> list[_Span]:
    """Where each output begins and ends; the last one extends to the end of the text."""
    spans = []
    for title, following in zip_longest(titles, titles[1:]):
        then = following.position if following else len(text)
        closing = _closing(text, title, then)
        last = then if then == len(text) else closing or _last_value(text, title, then)
        below = text.find("\n", title.position) + 1
        # a program that appends to a file of its own has written all up to its next title
        alone = following and title.suite.result_file and following.suite is title.suite
        end = max(last, then if alone and not last else below)
        aborted = title.suite.closing_line and not closing
        spans.append(_Span(title, end, then, aborted, valued=last > below))
    return spans


def _closing(text: str, title: Title, following: int) -> int:
    """The end of an output's closing line above the next title; 0 where it has none."""
    closing = text.rfind(f"\n{title.suite.end}", title.position, following) if title.suite.end else -1
    return 0 if closing < 0 else text.find("\n", closing + 1) + 1


def _last_value(text: str, title: Title, following: int) -> int:
    """The end of an output's last values above the next title; 0 where it has none."""
    of_suite = re.compile("|".join(title.suite.whole) or "(?!)")
    printed = (
        end
        for end, line in _upwards(text, title.position, following)
        if _NUMBERS.match(line) or is_aborted(line) or (of_suite.search(line) and not looks_like_row(line))
    )
    return next(printed, 0)


def _upwards(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """The lines between two positions from the last one on, each with the position of its end."""
    while end > start:
        begin = text.rfind("\n", start, end - 1) + 1 or start
        yield end, text[begin : min(end, begin + _LONGEST)].rstrip()
        end = begin


def _why_not(text: str, before: _Span, after: _Span) -> str:
    """Why two outputs, one below the other, cannot be separated; empty where they can."""
    if before.aborted and not before.title.suite.end:
        begun = f"line {after.title.line}: {after.title.suite.name} begins"
        return f"{begun} above the closing line of the {before.named}: cut, or printed at the same time"
    if before.aborted:
        return _again(text, before, after)
    if before.title.suite.closing_line:
        row = next((begin for begin, _ in _whole_rows(text, before.end, after.title.position)), 0)
        lost = f"a row below the {before.named}, of another output whose title is lost"
        return f"line {line_of(text, row)}: {lost}" if row else ""
    if again := _again(text, before, after):
        return again
    # where OSU prints its own and no one else
    rows = _whole_rows(text, after.title.position, after.end) if after.title.suite.closing_line else ()
    row = next((begin for begin, line in rows if not line[:1].isspace()), 0)
    return (
        f"line {line_of(text, row)}: not a row of the {after.named}: printed at the same time" if row else ""
    )


def _again(text: str, before: _Span, after: _Span) -> str:
    """Why an output without values is another rank's; empty where it may have been aborted."""
    between = text[before.title.position : after.title.position]
    if not _same_title(text, before, after) or before.valued or abort_in(between):
        return ""
    if _began_apart(between, text[after.title.position : after.following], after):
        return ""
    again = f"line {after.title.line}: the title of line {before.title.line} again, without values in between"
    return f"{again}: each rank printed it, as where a program is started without MPI"


def _began_apart(above: str, below: str, span: _Span) -> bool:
    """Whether two outputs began so far apart, by whatever clocks, that no ranks of one job printed both."""
    began = (min(span.title.suite.printed_times(output, 0), default=None) for output in (above, below))
    first, second = began
    return first is not None and second is not None and abs(second - first) > _TOGETHER


def _at_the_same_time(text: str, spans: list[_Span]) -> str:
    """Which output is closed below another's title; empty where none is, as where all were closed above."""
    if not any(span.aborted for span in spans[:-1]):
        return ""
    suites = {span.title.suite.name: span.title.suite for span in spans}.values()
    for span in spans:
        announced_suite = span.title.suite
        for suite in suites:
            closings = text.count(f"\n{suite.end}", span.title.position, span.following) if suite.end else 0
            if closings > (suite is announced_suite) and suite.name not in announced_suite.holds:
                return f"{suite.name} is closed below the title of the {span.named}: printed at the same time"
    return ""


def _same_title(text: str, before: _Span, after: _Span) -> bool:
    titles = (_line_at(text, span.title.position) for span in (before, after))
    return len(set(titles)) == 1


def _whole_rows(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """The whole rows of numbers between two positions, each with its position."""
    while start < end:
        line = _line_at(text, start)
        if is_whole_row(line):
            yield start, line
        start = text.find("\n", start) + 1 or end


def _line_at(text: str, start: int) -> str:
    end = text.find("\n", start)
    return text[start : min(end if end >= 0 else len(text), start + _LONGEST)].rstrip()


def _cut(text: str, spans: list[_Span]) -> Iterator[Part]:
    """The parts. All above the first title is the first one's."""
    last_line = text.count("\n") + (not text.endswith("\n"))
    lasts = [span.title.line - 1 for span in spans[1:]] + [last_line]
    begin = above = 0
    for span, last in zip(spans, lasts, strict=True):
        first = span.title.line if begin else 1
        start = span.title.position
        yield Part(
            span.title.suite.name,
            text[begin : span.following],
            text[above:start],
            text[start : span.end],
            text[span.end : span.following],
            first,
            last,
        )
        begin, above = span.following, span.end
