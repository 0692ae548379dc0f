"""What every parser shares: the result, the refusal, and strict reading of lines, numbers and layouts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import repeat

from mpicampaign.base.records import Series
from mpicampaign.base.text import counted

MICROSECOND = 1e-6
MEGABYTE = 1e6

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DATE = re.compile(r"(?:\w{3} )?(\w{3}) +(\d{1,2}) (\d\d):(\d\d):(\d\d) (\d{4})", re.ASCII)
_INTEGER = re.compile(r"[0-9]{1,18}", re.ASCII)
_DECIMAL = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?", re.ASCII)
_SCIENTIFIC = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?(?:e[+-]?[0-9]{1,2})?", re.ASCII)
# No size or count is followed by what joins the parts of a date or a clock time, or what GNU time prints.
_ROW = re.compile(
    r"\s*(?:(?![0-9]{1,4}[-:/][0-9]|[0-9.]{1,20}user |[0-9]{1,18}inputs\+)"
    r"[+-]?\.?[0-9]|[+-]?(?:nan|inf)\b)",
    re.ASCII | re.IGNORECASE,
)

# A whole row of a table: sizes or counts, then values. Nothing else that is printed looks like it.
_WHOLE_ROW = re.compile(
    r" {0,20}[0-9]{1,18}(?: +[0-9]{1,18}(?:\.[0-9]{1,18})?){0,20} +[0-9]{1,18}\.[0-9]{2}\s*$"
)

_MOST_ROWS = 300_000  # of one table: 10,000 groups of processes with 30 sizes each
_LONGEST_ROW = 1000  # characters; no benchmark prints longer rows
_ARITHMETIC = 1e-9  # relative rounding of the calculation here
_SHOWN = 40  # characters of a wrong value in a message


class OutputError(Exception):
    """An output cannot be used; the message gives the reason, with the line number where there is one."""


class UnreadError(OutputError):
    """The patterns of the campaign file do not fit an output: other patterns may."""


@dataclass(frozen=True, slots=True)
class ParsedOutput:
    """What one output holds, in bytes, seconds and bytes per second.

    ``metadata``: what the program printed about itself, and under ``not_measured`` what it printed
    instead of values, such as a time-out at some size. ``lacks``: what a whole output would have beside, and
    why it is missing; empty for a whole one. The series then hold only what proves itself.
    """

    version: str
    metadata: dict[str, str]
    series: tuple[Series, ...]
    lacks: str = ""


def missing(number: int, total: int, what: str, reasons: Iterable[str]) -> str:
    """``1 of 2 settings is missing: REASON; REASON``; only the reasons where that is all or unknown.

    Empty reasons are passed over, and a reason is given once.
    """
    of_all = f"{number} of {counted(total, what)} {'is' if number == 1 else 'are'} missing: "
    return (of_all if 0 < number < total else "") + "; ".join(dict.fromkeys(filter(None, reasons)))


def measured_time(tables: Iterable[Series], counts: str = "") -> float:
    """The sum of all times (s), each as often as the column ``counts`` says; once without a column.

    Tables of groups of processes that measured at once count as the longest of them.
    """
    longest: dict[tuple[object, ...], float] = {}
    for table in tables:
        times = table.columns.get("time", [])
        often = table.columns.get(counts, []) if counts else [1.0] * len(times)
        spent = sum((time or 0.0) * (count or 0.0) for time, count in zip(times, often, strict=False))
        others = {name: value for name, value in table.qualifiers.items() if name != "group"}
        key = (table.benchmark, table.ranks, *sorted(others.items()))
        longest[key] = max(spent, longest.get(key, 0.0))
    return sum(longest.values())


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines with their numbers from 1, without line ends; only a newline ends a line.

    Raises
    ------
    OutputError
        at a NUL byte: what follows a crash of the file system, or a binary file.
    """
    if (position := text.find("\0")) >= 0:
        raise OutputError(f"line {text.count(chr(10), 0, position) + 1}: holds a NUL byte: not a text output")
    lines = text.split("\n")
    return enumerate((line.rstrip("\r") for line in (lines if lines[-1] else lines[:-1])), start=1)


def printed_date(text: str) -> datetime | None:
    """``Tue Mar 21 15:51:47 2017``, in the words of C whatever the machine's language; None for others."""
    match = _DATE.fullmatch(text.strip())
    if match is None or match[1] not in _MONTHS:
        return None
    day, hour, minute, second, year = map(int, match.groups()[1:])
    try:
        return datetime(year, _MONTHS.index(match[1]) + 1, day, hour, minute, second)
    except ValueError:
        return None


def looks_like_row(line: str) -> bool:
    """Whether a line begins like a row of numbers, even a damaged one."""
    return _ROW.match(line) is not None


def is_whole_row(line: str) -> bool:
    """Whether a line is a complete row of numbers, even where no header is known."""
    return _WHOLE_ROW.match(line) is not None


def check_no_row_above(row: int) -> None:
    """Refuse a header with a row of numbers above it; ``row`` is its line, 0 where there is none."""
    if row:
        raise OutputError(f"line {row}: a row above the header: the rest of another output in one file")


def check_row_count(rows: Sequence[object], number: int) -> None:
    """Refuse a table that grows beyond what any benchmark prints, before it fills the memory."""
    if len(rows) >= _MOST_ROWS:
        raise OutputError(f"line {number}: more than {_MOST_ROWS} rows in one table: garbled")


def out_of_step(size: float, before: float, number: int) -> OutputError:
    """The refusal of a row whose size does not follow that of the row above it."""
    reason = "the row is there twice" if size == before else "the rows are not in order"
    reason = "rows are missing" if size > before else reason
    return OutputError(f"line {number}: {size} B follows {before} B: {reason}")


def row_tokens(line: str, number: int) -> list[str]:
    """The tokens of a row."""
    if len(line) > _LONGEST_ROW:
        raise OutputError(f"line {number}: row of {len(line)} characters: garbled")
    return line.split()


def integer(token: str, number: int, what: str) -> int:
    """A count or size."""
    if not _INTEGER.fullmatch(token):
        raise _no_value(token, number, what, "not a whole number")
    return int(token)


def _no_value(token: str, number: int, what: str, wrong: str) -> OutputError:
    is_negative = token.startswith("-") and _SCIENTIFIC.fullmatch(token[1:])
    return OutputError(
        f"line {number}: {what} is {shown(token)}, {'a negative number' if is_negative else wrong}"
    )


def decimal(token: str, number: int, what: str) -> float:
    """A number in fixed notation; nan, inf, signs and anything else are refused."""
    if not _DECIMAL.fullmatch(token):
        raise _no_value(token, number, what, "not a number")
    return float(token)


def column(tokens: Sequence[str], lines: Iterable[int], what: str, *, counts: bool) -> list[float]:
    """The numbers of a column, read at once; one by one to name a wrong one."""
    form, one, plain = (_INTEGER, integer, int) if counts else (_DECIMAL, decimal, float)
    whole = re.fullmatch(rf"{form.pattern}(?: {form.pattern})*", " ".join(tokens))
    return [*map(plain, tokens)] if whole else [*map(one, tokens, lines, repeat(what))]


def scientific(token: str, number: int, what: str) -> float:
    """A number in fixed or scientific notation."""
    if not _SCIENTIFIC.fullmatch(token):
        raise _no_value(token, number, what, "not a number")
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
        counts = f"row has {counted(len(tokens), 'column')}, the header names {len(headings)}"
        raise OutputError(f"line {number}: {counts}: {shown(' '.join(tokens))}")


def token_ends(line: str) -> list[int]:
    """The column in which each token ends."""
    return [token.end() for token in re.finditer(r"\S+", line)]


def half_digit(token: str) -> float:
    """Half a unit of the last digit that was printed: 0.005 of ``1735.76``, 0.005 of ``3.417e+01``."""
    mantissa, _, exponent = token.lower().partition("e")
    return 0.5 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def agree(amount: float, time: float, time_slack: float, rate: float, rate_slack: float) -> bool:
    """Whether an amount of work, its time and its rate fit together within their printed precision."""
    return between(rate, rate_slack, *rates(amount, time, time_slack))


def rates(amount: float, time: float, slack: float) -> tuple[float, float]:
    """The lowest and the highest rate of an amount of work in a printed time."""
    return amount / (time + slack), amount / (time - slack) if time > slack else math.inf


def between(value: float, slack: float, low: float, high: float) -> bool:
    """Whether a printed value lies between two that were calculated."""
    return low * (1 - _ARITHMETIC) - slack <= value <= high * (1 + _ARITHMETIC) + slack
