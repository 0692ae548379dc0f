"""What every parser shares: the result, the refusal, and strict reading of lines, numbers and layouts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpicampaign.records import Series

MICROSECOND = 1e-6
MEGABYTE = 1e6
MEBIBYTE = 2.0**20

_INTEGER = re.compile(r"[0-9]{1,18}", re.ASCII)
_DECIMAL = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?", re.ASCII)
_SCIENTIFIC = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?(?:e[+-]?[0-9]{1,2})?", re.ASCII)
_ROW = re.compile(r"\s*(?:[+-]?\.?[0-9]|[+-]?(?:nan|inf)\b)", re.ASCII | re.IGNORECASE)

# What launchers, MPI libraries and schedulers print when a program does not end by itself.
_ABORTED = re.compile(
    r"\s*(?:=   BAD TERMINATION OF ONE OF YOUR|MPI_ABORT was invoked|Abort\(|Fatal error in "
    r"|Segmentation fault|(?:mpirun|prterun) noticed that process|(?:slurmstepd|srun): error: "
    r"|TERM_[A-Z]+: |Exited with exit code )"
)

_LONGEST_ROW = 1000  # characters; no benchmark prints longer rows
_SHOWN = 40  # characters of a wrong value in a message


class OutputError(Exception):
    """An output cannot be used; the message says why, with the line number where there is one."""


@dataclass(frozen=True, slots=True)
class ParsedOutput:
    """What one output file says: figures in bytes, seconds and bytes per second.

    ``metadata``: what the program printed about itself, and under ``not_measured`` what it printed
    instead of figures, such as a time-out at some size.
    """

    suite: str
    version: str
    metadata: dict[str, str]
    series: tuple[Series, ...]


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines with their numbers from 1, without line ends; only a newline ends a line.

    Raises
    ------
    OutputError
        at a NUL byte: what follows a crash of the file system, or a binary file.
    """
    position = text.find("\0")
    if position >= 0:
        raise OutputError(f"line {text.count(chr(10), 0, position) + 1}: holds a NUL byte: not a text output")
    number = start = 0
    while start < len(text):
        number += 1
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield number, text[start:end].rstrip("\r")
        start = end + 1


def check_no_abort(line: str, number: int) -> None:
    """Refuse an output in which a program is said to have been ended from outside or by an error."""
    if _ABORTED.match(line):
        raise OutputError(f"line {number}: the program was aborted: {line.strip()[:120]}")


def looks_like_row(line: str) -> bool:
    """Whether a line begins as a row of figures does, be it a damaged one."""
    return _ROW.match(line) is not None


def row_tokens(line: str, number: int) -> list[str]:
    """The words of a row."""
    if len(line) > _LONGEST_ROW:
        raise OutputError(f"line {number}: row of {len(line)} characters: garbled")
    return line.split()


def integer(token: str, number: int, what: str) -> int:
    """A count or size."""
    if not _INTEGER.fullmatch(token):
        raise OutputError(f"line {number}: {what} is {shown(token)}, not a whole number")
    return int(token)


def decimal(token: str, number: int, what: str) -> float:
    """A figure in fixed notation; nan, inf, signs and anything else are refused."""
    if not _DECIMAL.fullmatch(token):
        raise OutputError(f"line {number}: {what} is {shown(token)}, not a figure")
    return float(token)


def scientific(token: str, number: int, what: str) -> float:
    """A figure in fixed or scientific notation."""
    if not _SCIENTIFIC.fullmatch(token):
        raise OutputError(f"line {number}: {what} is {shown(token)}, not a figure")
    return float(token)


def shown(token: str) -> str:
    """A value quoted for a message, cut where it is long."""
    return repr(token if len(token) <= _SHOWN else token[:_SHOWN] + "...")


def check_order(low: float, middle: float, high: float, number: int, slack: float) -> None:
    """Refuse a row whose average does not lie between minimum and maximum."""
    if not low - slack <= middle <= high + slack:
        raise OutputError(
            f"line {number}: minimum {low}, average {middle}, maximum {high} contradict each other"
        )


def check_column_count(tokens: Sequence[str], headings: Sequence[str], number: int) -> None:
    """Refuse a row that is cut or has something mixed in."""
    if len(tokens) != len(headings):
        raise OutputError(f"line {number}: row has {len(tokens)} columns, the header names {len(headings)}")


def word_ends(line: str) -> list[int]:
    """The column in which each word ends."""
    return [found.end() for found in re.finditer(r"\S+", line)]
