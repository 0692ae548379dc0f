"""The largest message size that an OSU benchmark will print: its output has no other end mark.

Defaults and options as in the OSU Micro-Benchmarks 5 to 7 (``-m [MIN:]MAX``, sizes double from MIN).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpicampaign.suites.osu.options import read_arguments
from mpicampaign.suites.osu.programs import KINDS, name_of

if TYPE_CHECKING:
    from collections.abc import Sequence

MIB = 2**20
_UNSIZED = ("osu_barrier", "osu_ibarrier", "osu_barrier_persistent")
MEMORY_LIMIT = 512 * MIB  # of a rank; collectives of many ranks stop before their largest size


def largest_size(program: str, arguments: Sequence[str], ranks: int) -> int | None:
    """The last size in bytes, or None where program and options do not show it."""
    name = name_of(program)
    kind = KINDS.get(name, "")
    if kind in ("latency", "threads", "bandwidth", "pairs"):
        default = 4 * MIB
    elif kind == "collective" and name not in _UNSIZED:
        default = MIB
    else:
        return None
    low, high = _asked_for(read_arguments(program, arguments).last("m"), default)
    if not 0 < low <= high or (default == MIB and high * ranks > MEMORY_LIMIT):
        return None
    return low << ((high // low).bit_length() - 1)


def _asked_for(value: str, default: int) -> tuple[int, int]:
    """The sizes that the value of ``-m`` asks for; (0, 0) where they can't be read."""
    match = re.fullmatch(r"(?:([0-9]{0,15}):)?([0-9]{0,15})", value)
    return (max(1, int(match[1] or 1)), int(match[2] or default)) if match else (0, 0)
