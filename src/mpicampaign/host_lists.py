"""Lists of hosts as schedulers write them: ``cn[049-080,090]``, ``node7``, ``cn052.site.org``."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_RANGE = re.compile(r"([^\[\]]*)\[([0-9,-]+)\]([^\[\]]*)")
_LISTED = re.compile(r"(?:[^,\[]|\[[^\]]*\]?)+")  # a comma in brackets is one of a range
_LAST_NUMBER = re.compile(r"(.*?)([0-9]{1,9})([^0-9]*)")
MAX_HOSTS = 100_000


def expand(text: str) -> list[str]:
    """The hosts' names without domains.

    Raises
    ------
    ValueError
        where the brackets hold no ranges of numbers, or there are more than `MAX_HOSTS` hosts.
    """
    return [short(name) for name in _expanded(text)]


def listed(text: str) -> list[str]:
    """The names in ``n[1-2,7],m1``, as they are written.

    Raises
    ------
    ValueError
        as `expand`.
    """
    return [name for part in _LISTED.findall(text) for name in _expanded(part)]


def _expanded(text: str) -> list[str]:
    if "[" not in text and "]" not in text:
        return [text]
    match = _RANGE.fullmatch(text)
    if match is None:
        raise ValueError("a range of hosts is written cn[049-080,090]")
    before, ranges, after = match.groups()
    return [f"{before}{number}{after}" for part in ranges.split(",") for number in _numbers(part)]


def fold(names: Iterable[str]) -> str:
    """A short list of these names: ``cn[049-080,090],login1``."""
    found: dict[tuple[str, str, int], list[int]] = {}
    whole = []
    for name in sorted(set(names), key=lambda name: (len(name), name)):
        parts = _LAST_NUMBER.fullmatch(name)
        if parts is None:
            whole.append(name)
        else:
            before, number, after = parts.groups()
            found.setdefault((before, after, len(number)), []).append(int(number))
    lists = [_range_list(*key, sorted(numbers)) for key, numbers in found.items()]
    return ",".join([*lists, *whole])


def _range_list(before: str, after: str, width: int, numbers: list[int]) -> str:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    ends = [dict.fromkeys((run[0], run[-1])) for run in runs]
    text = ",".join("-".join(str(number).zfill(width) for number in pair) for pair in ends)
    return f"{before}[{text}]{after}" if len(numbers) > 1 else f"{before}{text}{after}"


def _numbers(part: str) -> list[str]:
    first, _, last = part.partition("-")
    last = last or first
    if not (first.isdecimal() and last.isdecimal()) or int(last) < int(first):
        raise ValueError(f"{part!r} is not a range of numbers such as 049-080")
    if int(last) - int(first) >= MAX_HOSTS:
        raise ValueError(f"{part!r} has more than {MAX_HOSTS} hosts")
    return [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]


def short(host: str) -> str:
    """The name without its domain in lower case, for comparing hosts. An address stays whole."""
    name = host.lower()
    return name if name.replace(".", "").isdecimal() else name.partition(".")[0]


def is_member(host: str, pattern: str) -> bool:
    """Whether a pattern matches a host. Both may be short (n1) or full names (n1.site.org)."""
    one_is_short = ("." in host) != ("." in pattern)
    return fnmatch(host, pattern) or (
        one_is_short and fnmatch(host.partition(".")[0], pattern.partition(".")[0])
    )
