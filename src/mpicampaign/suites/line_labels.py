"""What a launcher, a clock or a CI system printed before each line of an output, and colours, taken off.

The label is what stands before the title of an output. Time stamps in it may differ from line to line, and
nothing else: another rank or host is another label. Each line of an output must have the label of its title,
or the text is refused with the line. Only the logs of NCCL and UCX may be of other ranks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from mpicampaign.suites.parts import Title, announced, labelled_titles
from mpicampaign.suites.reading import OutputError, is_whole_row, looks_like_row, shown

# Of terminals: colours, modes, erasing, the cursor at the top left, titles of windows.
_COLOURS = re.compile(
    r"\x1b(?:\[(?:[0-9;:]{0,20}[mK]|\?[0-9;]{1,20}[hl]|[0-3]?J|H)"
    r"|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|\(B)"
)
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_DAY = r"(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d"
_STAMPS = (  # ts, Open MPI, GitLab, GitHub, Docker, journals
    rf"\d{{4}}[-/]\d\d[-/]\d\d[ T]{_CLOCK}(?:Z| ?[+-]\d\d:?\d\d)?",
    rf"{_DAY} {_CLOCK} \d{{4}}",
    rf"{_DAY} {_CLOCK}",  # where the title has no year: a size may follow
    rf"(?<!\d){_CLOCK}",
    r" *(?<![\w.,])\d{1,10}\.\d{2,9}(?![\w.])",  # seconds
    r"(?<![\w.,])\d{10}(?![\w.])",
)
_STAMP = re.compile("|".join(_STAMPS))
_NUMBER = re.compile(r"(?:\\ )*[0-9]+")  # in a pattern: of a rank or host, which srun pads
_LOG = re.compile(r"\b(?:NCCL|UCX) +(?:ERROR|WARN|DIAG|INFO|DEBUG|TRACE) ")
_TAG = "<stdout>"  # of Open MPI, which prints its label again at each flush within a line
_REMEDY = "run it without options that label lines, such as srun -l, mpirun -l, --tag-output"


class _Unlabelled(NamedTuple):
    """A line without its label; ``labelled``: whether it had the one of the title, or is blank."""

    text: str
    labelled: bool


class _Label(NamedTuple):
    """How a label is found: with the numbers of the title's, or with any."""

    of_title: re.Pattern[str]
    any: re.Pattern[str]

    def taken_off(self, line: str) -> _Unlabelled:
        for pattern in self:
            if match := pattern.match(line):
                text = line[match.end() :]
                text = text.replace(match[0], "") if _TAG in match[0] else text
                return _Unlabelled(text, pattern is self.of_title or _LOG.search(text) is not None)
        return _Unlabelled(line, not line.strip() or _LOG.search(line) is not None)


def without_labels(text: str) -> str:
    """The text with as many lines, without what was printed before each of them.

    Raises
    ------
    OutputError
        where lines of an output lack the label of its title, as those of other ranks do.
    """
    text = _COLOURS.sub("", text) if "\x1b" in text else text
    titles = labelled_titles(text)
    if not titles:
        return text
    printed = text.split("\n")
    label = _label(titles[0].label)
    lines = [label.taken_off(line.rstrip("\r")) for line in printed]
    if sum(line.text != unlabelled.rstrip("\r") for line, unlabelled in zip(lines, printed, strict=True)) < 2:
        return text  # a title that is quoted
    for title in titles[1:]:
        if not label.of_title.fullmatch(title.label):
            raise _unlike(title.line, title.label, titles[0])
    for plain in announced(text)[:1]:
        raise _unlike(plain.line, f"the title of {plain.suite.called}", titles[0])
    inside = {number for first, last in _spans(lines, titles) for number in range(first, last + 1)}
    closed = {title.suite.name: title.suite for title in titles if title.suite.end}
    results = [pattern for suite in closed.values() for pattern in suite.whole]
    for number, line in enumerate(lines):
        if not line.labelled and (number in inside or _is_result(line.text, results)):
            raise _unlike(number + 1, printed[number], titles[0])
    return "\n".join(line.text for line in lines)


def _is_result(line: str, results: Sequence[str]) -> bool:
    """Whether a line may be of an output, as of one that another rank printed."""
    if looks_like_row(line):
        return is_whole_row(line)
    return any(re.search(pattern, line) for pattern in results)


def _label(label: str) -> _Label:
    of_title = of_any = ""
    end = 0
    for stamp in _STAMP.finditer(label):
        kind = next(kind for kind in _STAMPS if re.compile(kind).match(label, stamp.start()))
        literal = re.escape(label[end : stamp.start()])
        of_title, of_any = of_title + literal + kind, of_any + _of_any(literal) + kind
        end = stamp.end()
    literal = re.escape(label[end:].rstrip())
    space = re.escape(label[len(label.rstrip()) :])
    below = f"(?:{space}|$)" if space else ""  # a line without text may have lost the blanks at its end
    return _Label(re.compile(of_title + literal + below), re.compile(of_any + _of_any(literal) + below))


def _of_any(literal: str) -> str:
    """The pattern for labels of any rank, host and stream."""
    return _NUMBER.sub(_any_number, literal).replace("stdout", "std(?:out|err)")


def _any_number(number: re.Match[str]) -> str:
    if number.start() == 0:
        return r"\s*\d+"
    return r"\s+\d+" if number[0].startswith("\\") else r"\d+"


def _spans(lines: Sequence[_Unlabelled], titles: Sequence[Title]) -> Iterator[tuple[int, int]]:
    """The first and last line of each output, counted from 0."""
    starts = [title.line - 1 for title in titles]
    for title, (start, following) in zip(titles, pairwise([*starts, len(lines)]), strict=True):
        labelled = [n for n in range(start, following) if lines[n].labelled and lines[n].text]
        end = title.suite.end
        last = [
            n for n in labelled if lines[n].text.startswith(end) and (end or looks_like_row(lines[n].text))
        ]
        yield start, (last or labelled)[-1]


def _unlike(number: int, line: str, title: Title) -> OutputError:
    if title.label.isspace():
        indented = f"{shown(line)} is not indented as line {title.line}, the title of {title.suite.called}"
        return OutputError(
            f"line {number}: {indented}: save each output, without blanks before it, in a file"
        )
    has = f"{shown(line)} does not begin with the label {shown(title.label)} of line {title.line}"
    return OutputError(f"line {number}: {has}: lines of several ranks or programs are mixed; {_REMEDY}")
