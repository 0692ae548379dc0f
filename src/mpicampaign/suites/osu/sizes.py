"""The largest message size that an OSU benchmark will print: no line closes its output.

Defaults and options as in the OSU Micro-Benchmarks 5 to 7 (``-m [MIN:]MAX``, sizes double from MIN). An early
end is a failure of our own runs, whose sizes are known. It is a doubt in outputs of others: their jobs may
have asked for fewer sizes than usual, and their scripts may be lost.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpicampaign.base.units import format_size
from mpicampaign.suites.osu.options import given, sizes_asked_for
from mpicampaign.suites.osu.programs import KINDS, name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpicampaign.base.records import Series

MIB = 2**20
_UNSIZED = ("osu_barrier", "osu_ibarrier", "osu_barrier_persistent")
MEMORY_LIMIT = 512 * MIB  # of a rank; collectives of many ranks stop before their largest size


def largest_size(program: str, arguments: Sequence[str], ranks: int) -> int | None:
    """The last size in bytes, or None where program and options do not show it."""
    name = name_of(program)
    kind = KINDS.get(name, "")
    if kind in ("pair", "pairs"):
        default = 4 * MIB
    elif kind == "collective" and name not in _UNSIZED:
        default = MIB
    else:
        return None
    asked = sizes_asked_for(arguments, default)
    if asked is None or (default == MIB and asked[1] * ranks > MEMORY_LIMIT):
        return None
    low, high = asked
    return low << ((high // low).bit_length() - 1)


_RANKS = re.compile(r"\s(?:-np|-n|--ntasks)[ =]?([0-9]{1,9})(?!\S)")


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
    expected = f"-m asked for {format_size(last)}" if given(arguments, "m") else usually
    return f"{found}; {expected}: it may be cut"


def _ranks(facts: Mapping[str, str]) -> int:
    """How many ranks ran it, since collectives of many end earlier; 1 where that is unknown."""
    match = _RANKS.search(facts.get("command", ""))
    count = match[1] if match else facts.get("directive.ntasks") or facts.get("directive.n", "")
    return int(count) if count.isascii() and count.isdecimal() else 1
