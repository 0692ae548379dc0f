"""Whether an OSU output may be cut: no line closes it, only the size at which its program ends tells.

A foreign job may have asked for fewer sizes than usual, and its script may be lost: so this is a doubt, not a
failure as of a run of this program, whose sizes are known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpicampaign.suites.osu.sizes import largest_size
from mpicampaign.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpicampaign.records import Series

_RANKS = re.compile(r"\s(?:-np|-n|--ntasks)[ =]?([0-9]{1,9})(?!\S)")
_SIZES = ("-m", "--message-size")


def doubt_of_end(facts: Mapping[str, str], arguments: Sequence[str] | None, tables: Iterable[Series]) -> str:
    """Why the output may be cut, in words; empty where it ends where it should, or nobody can tell."""
    ends = [max(filter(None, sizes), default=0) for table in tables if (sizes := table.columns.get("size"))]
    program = facts.get("program", "")
    usual = largest_size(program, (), _ranks(facts))
    if not ends or usual is None:
        return ""
    said = f"OSU prints no closing line; the table ends at {format_size(int(min(ends)))}, where "
    usually = f"{program} usually ends at {format_size(usual)}"
    if arguments is None:
        asks = "without its job script nothing tells whether -m asked for that or it was cut"
        return f"{said}{usually}: {asks}" if min(ends) < usual else ""
    last = largest_size(program, arguments, _ranks(facts))
    if last is None or min(ends) >= last:
        return ""
    asked = any(word.startswith(_SIZES) for word in arguments)
    return f"{said}{f'{format_size(last)} was asked for' if asked else usually}: it may be cut"


def _ranks(facts: Mapping[str, str]) -> int:
    """Of many ranks collectives end earlier; one where nothing tells their number."""
    found = _RANKS.search(facts.get("command", ""))
    told = found[1] if found else facts.get("directive.ntasks") or facts.get("directive.n", "")
    return int(told) if told.isascii() and told.isdecimal() else 1
