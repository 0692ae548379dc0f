"""Lists of hosts as schedulers write them: ``cn[049-080,090]``, ``n[1-3]-ib[0,1],m1``, ``cn052.site.org``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatch
from functools import cache

from mpicampaign.base.grouping import grouped
from mpicampaign.base.text import spans_of

_ENTRY = re.compile(r"(?:[^,\[]|\[[^\]]*\]?)+")  # a comma in brackets is one of a range
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_NUMBERS = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", re.ASCII)
# In a pattern [12] and [1-4] are one character, as in a shell.
_ANY, _RANGES = re.compile(".*"), re.compile(r"(?=[^,]*,|[0-9]+-[0-9]{2}|[0-9]{2,}-)[0-9,-]+")
_LAST_NUMBER = re.compile(r"(.*?)([0-9]{1,9})([^0-9]*)")
MAX_HOSTS = 100_000


def expand(text: str) -> list[str]:
    """The names in ``n[1-2,7],m1``, as they are written, in order.

    Raises
    ------
    ValueError
        where brackets hold no ranges of numbers, or there are more than `MAX_HOSTS` hosts.
    """
    return _expanded(text, _ANY)


def _expanded(text: str, ranges: re.Pattern[str]) -> list[str]:
    """The names with brackets of ``ranges`` expanded; other brackets stay."""
    names: list[str] = []
    for entry in _ENTRY.findall(text):
        first, *parts = _BRACKETS.split(entry)
        if any(sign in part for part in (first, *parts) for sign in "[]"):
            raise ValueError("a range of hosts is written cn[049-080,090]")
        made = [first]
        for inside, behind in zip(parts[::2], parts[1::2], strict=True):
            numbers = _numbers(inside) if ranges.fullmatch(inside) else [f"[{inside}]"]
            if len(made) * len(numbers) + len(names) > MAX_HOSTS:
                raise ValueError(f"more than {MAX_HOSTS} hosts")
            made = [f"{name}{number}{behind}" for name in made for number in numbers]
        names += made
    return names


def _numbers(ranges: str) -> list[str]:
    """The numbers of ``049-080,090``, with their zeros."""
    numbers: list[str] = []
    for part in ranges.split(","):
        span = _NUMBERS.fullmatch(part)
        if span is None or int(span[2] or span[1]) < int(span[1]):
            raise ValueError(f"{part!r} is not a range of numbers such as 049-080")
        first, last = int(span[1]), int(span[2] or span[1])
        if last - first >= MAX_HOSTS:
            raise ValueError(f"{part!r} has more than {MAX_HOSTS} hosts")
        numbers += [str(number).zfill(len(span[1])) for number in range(first, last + 1)]
    return numbers


@cache
def expand_patterns(text: str) -> frozenset[str]:
    """The patterns in ``n[01-16],login*``; ``[12]``, ``[!1]`` and ``[a-c]`` stay as a shell reads them.

    Raises
    ------
    ValueError
        as `expand`.
    """
    return frozenset(_expanded(text, _RANGES))


def fold(names: Iterable[str], inside: bool = True) -> str:
    """A short list of these names: ``cn[049-080,090],login1``; ``inside``: also ``n[1-3]-ib``."""
    numbers_of: dict[tuple[str, str, int], list[int]] = {}
    unnumbered = []
    for name in sorted(set(names), key=lambda name: (len(name), name)):
        parts = _LAST_NUMBER.fullmatch(name)
        if parts is None or (parts[3] and not inside):
            unnumbered.append(name)
        else:
            before, number, after = parts.groups()
            numbers_of.setdefault((before, after, len(number)), []).append(int(number))
    lists = [_range_list(*key, sorted(numbers)) for key, numbers in numbers_of.items()]
    return ",".join([*lists, *unnumbered])


def _range_list(before: str, after: str, width: int, numbers: list[int]) -> str:
    ends = map(dict.fromkeys, spans_of(numbers))
    text = ",".join("-".join(str(number).zfill(width) for number in pair) for pair in ends)
    return f"{before}[{text}]{after}" if len(numbers) > 1 else f"{before}{text}{after}"


def short(host: str) -> str:
    """The name without its domain in lower case, for comparing hosts. An address stays whole."""
    name = host.lower()
    return name if name.replace(".", "").isdecimal() else name.partition(".")[0]


def named_twice(names: Iterable[str]) -> list[str]:
    """The names of hosts with several: equal ones, or with and without the domain."""
    return [
        name
        for host, named in grouped(names, short).items()
        if len(named) > max(1, len({full_name.lower() for full_name in named} - {host}))  # short: any other
        for name in named
    ]


def is_member(host: str, pattern: str) -> bool:
    """Whether a pattern matches a host. Both may be short (n1) or full names (n1.site.org)."""
    try:
        patterns = expand_patterns(pattern)
    except ValueError:  # in a claim of an earlier release
        patterns = frozenset((pattern,))
    known = host in patterns or host.partition(".")[0] in patterns  # there may be thousands
    return known or any(_fits(host, part) for part in patterns)


def _fits(host: str, pattern: str) -> bool:
    one_is_short = ("." in host) != ("." in pattern)
    return fnmatch(host, pattern) or (
        one_is_short and fnmatch(host.partition(".")[0], pattern.partition(".")[0])
    )
