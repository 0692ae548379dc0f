"""Cuts a text that holds several outputs, as of a script that runs one program after another, into these.

A cut is made at each title. An output without its closing line above another one was aborted, unless such a
line comes later: then both were printed at the same time. That is refused with the reason, and so are rows of
an output whose title is lost.
"""

from __future__ import annotations

import re
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.base.text import line_of
from mpicampaign.suites.detection import announced, labelled_titles
from mpicampaign.suites.reading import OutputError, abort_in, is_aborted, is_whole_row, looks_like_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpicampaign.suites.detection import Announced

_LONGEST = 1000  # characters of a line that are looked at
_TOGETHER = 3  # seconds within which the ranks of one job start
# A row of values, even a damaged one. The tables of launchers and MPI libraries have names behind a rank.
_NUMBERS = re.compile(r"\s*[0-9][0-9.]*(?:\s+[+-]?(?:[0-9.]|nan\b|inf\b)|$)", re.IGNORECASE)


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
        """Its lines in the text, such as 12-40; empty for all of a text."""
        return f"{self.first}-{self.last}" if self.first else ""

    @property
    def to_parse(self) -> str:
        """The text for its parser: without tables that launchers print below its end."""
        if not self.below:
            return self.text
        lines = (line if not looks_like_row(line) else "" for line in self.below.split("\n"))
        return self.text[: -len(self.below)] + "\n".join(lines)


class _Span(NamedTuple):
    """Where an output begins, where it ends, where the next one begins (positions), and its first line.

    ``aborted``: its closing line is missing above the next one. ``valued``: whether it has values.
    """

    title: Announced
    end: int
    following: int
    line: int
    aborted: bool
    valued: bool

    @property
    def named(self) -> str:
        return f"output of {self.title.suite.name} (line {self.line})"


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
    if _is_of_ranks_at_once(text, spans):
        return [Part(titles[0].suite.name, text, "", text)]
    reasons = (_why_not(text, before, after) for before, after in pairwise(spans))
    if reason := _labelled(text) or next(filter(None, reasons), "") or _at_the_same_time(text, spans):
        raise OutputError(f"several outputs that cannot be separated: {reason}")
    return list(_cut(text, spans))


def _labelled(text: str) -> str:
    titles = labelled_titles(text)
    return f"some lines have a label, such as {titles[0].label!r}" if titles else ""


def _spans(text: str, titles: list[Announced]) -> list[_Span]:
    """Where each output begins and ends; the last one extends to the end of the text."""
    spans = []
    line, counted = 1, 0
    for title, following in zip_longest(titles, titles[1:]):
        then = following.position if following else len(text)
        line += text.count("\n", counted, title.position)
        counted = title.position
        closing = _closing(text, title, then)
        last = then if then == len(text) else closing or _last_value(text, title, then)
        below = text.find("\n", title.position) + 1
        # a program that appends to a file of its own has written all up to its next title
        alone = following and title.suite.result_file and following.suite is title.suite
        end = max(last, then if alone and not last else below)
        aborted = title.suite.closing_line and not closing
        spans.append(_Span(title, end, then, line, aborted, valued=last > below))
    return spans


def _closing(text: str, title: Announced, following: int) -> int:
    """The end of an output's closing line above the next title; 0 where it has none."""
    closing = text.rfind(f"\n{title.suite.end}", title.position, following) if title.suite.end else -1
    return 0 if closing < 0 else text.find("\n", closing + 1) + 1


def _last_value(text: str, title: Announced, following: int) -> int:
    """The end of an output's last values above the next title; 0 where it has none."""
    start, suite = title
    own = re.compile("|".join(suite.whole) or "(?!)")
    printed = (
        end
        for end, line in _upwards(text, start, following)
        if _NUMBERS.match(line) or is_aborted(line) or (own.search(line) and not looks_like_row(line))
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
        begun = f"line {after.line}: {after.title.suite.name} begins"
        return f"{begun} above the closing line of the {before.named}: cut, or printed at the same time"
    if before.aborted:
        return _again(text, before, after)
    if before.title.suite.closing_line:
        row = _whole_row(text, before.end, after.title.position)
        lost = f"a row below the {before.named}, of another output whose title is lost"
        return f"line {line_of(text, row)}: {lost}" if row else ""
    if again := _again(text, before, after):
        return again
    if after.title.suite.closing_line and (row := _row_of_other(text, after)):
        return f"line {line_of(text, row)}: not a row of the {after.named}: printed at the same time"
    return ""


def _again(text: str, before: _Span, after: _Span) -> str:
    """Why an output without values is another rank's; empty where it may have been aborted."""
    between = text[before.title.position : after.title.position]
    if not _same_title(text, before, after) or before.valued or abort_in(between):
        return ""
    if _began_later(between, text[after.title.position : after.following], after):
        return ""
    again = f"line {after.line}: the title of line {before.line} again, without values in between"
    return f"{again}: each rank printed it, as where a program is started without MPI"


def _began_later(earlier: str, later: str, span: _Span) -> bool:
    """Whether an output began so long after the one above that no ranks of one job printed both."""
    began = (min(span.title.suite.printed_times(output, 0), default=None) for output in (earlier, later))
    first, second = began
    return first is not None and second is not None and second - first > _TOGETHER


def _at_the_same_time(text: str, spans: list[_Span]) -> str:
    """Which output is closed below another's title; empty where none is, as where all were closed above."""
    if not any(span.aborted for span in spans[:-1]):
        return ""
    suites = {span.title.suite.name: span.title.suite for span in spans}.values()
    for span in spans:
        own = span.title.suite
        for suite in suites:
            closings = text.count(f"\n{suite.end}", span.title.position, span.following) if suite.end else 0
            if closings > (suite is own) and suite.name not in own.holds:
                return f"{suite.name} is closed below the title of the {span.named}: printed at the same time"
    return ""


def _same_title(text: str, before: _Span, after: _Span) -> bool:
    titles = (_line_at(text, span.title.position) for span in (before, after))
    return len(set(titles)) == 1


def _is_of_ranks_at_once(text: str, spans: list[_Span]) -> bool:
    """Whether ranks of one suite, which reads them as one, printed at the same time."""
    suite = spans[0].title.suite
    if not suite.ranks_at_once or any(span.title.suite is not suite for span in spans):
        return False
    closed = (text.count(f"\n{suite.end}", span.title.position, span.following) for span in spans)
    if suite.end:
        return max(closed) > 1
    pairs = pairwise(spans)
    return any(_same_title(text, *pair) and not pair[0].valued for pair in pairs)


def _whole_row(text: str, start: int, end: int) -> int:
    """The position of the first whole row of numbers; 0 where there is none."""
    return next((begin for begin, line in _downwards(text, start, end) if is_whole_row(line)), 0)


def _row_of_other(text: str, span: _Span) -> int:
    """The position of the first row at the begin of its line, where OSU prints its own and no one else."""
    lines = _downwards(text, span.title.position, span.end)
    return next((begin for begin, line in lines if not line[:1].isspace() and is_whole_row(line)), 0)


def _downwards(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """The lines between two positions, each with its position."""
    while start < end:
        yield start, _line_at(text, start)
        following = text.find("\n", start) + 1
        start = following or end


def _line_at(text: str, start: int) -> str:
    end = text.find("\n", start)
    return text[start : min(end if end >= 0 else len(text), start + _LONGEST)].rstrip()


def _cut(text: str, spans: list[_Span]) -> Iterator[Part]:
    """The parts. All above the first title is the first one's."""
    last_line = text.count("\n") + (not text.endswith("\n"))
    lasts = [span.line - 1 for span in spans[1:]] + [last_line]
    begin = above = 0
    for span, last in zip(spans, lasts, strict=True):
        first = span.line if begin else 1
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
