"""Whether an OSU output may be cut: no line closes it, so only its last size can show that.

A foreign job may have asked for fewer sizes than usual, and its script may be lost. So this is a doubt. For
own runs, whose sizes are known, it is a failure.
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
    """Why the output may be cut; empty where it ends at the expected size or none is known."""
    ends = [max(filter(None, sizes), default=0) for table in tables if (sizes := table.columns.get("size"))]
    program = facts.get("program", "")
    usual = largest_size(program, (), _ranks(facts))
    if not ends or usual is None:
        return ""
    found = f"OSU prints no closing line; the table ends at {format_size(int(min(ends)))}"
    usually = f"{program} usually ends at {format_size(usual)}"
    if arguments is None:
        unknown = "without its job script it is unknown whether -m asked for that or the output was cut"
        return f"{found}; {usually}: {unknown}" if min(ends) < usual else ""
    last = largest_size(program, arguments, _ranks(facts))
    if last is None or min(ends) >= last:
        return ""
    asked = any(argument.startswith(_SIZES) for argument in arguments)
    return f"{found}; {f'-m asked for {format_size(last)}' if asked else usually}: it may be cut"


def _ranks(facts: Mapping[str, str]) -> int:
    """How many ranks ran it, since collectives of many end earlier; 1 where that is unknown."""
    found = _RANKS.search(facts.get("command", ""))
    count = found[1] if found else facts.get("directive.ntasks") or facts.get("directive.n", "")
    return int(count) if count.isascii() and count.isdecimal() else 1
