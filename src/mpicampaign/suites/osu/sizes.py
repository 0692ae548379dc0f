"""The largest message size that an OSU benchmark will print: its output has no other end mark.

Defaults and options as in the OSU Micro-Benchmarks 5 to 7 (``-m [MIN:]MAX``, sizes double from MIN).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MIB = 2**20
POINT_TO_POINT = re.compile(r"osu_(latency(_mt|_mp)?|bw|bibw|mbw_mr|multi_lat)")
COLLECTIVE = re.compile(r"osu_i?(allgather|alltoall|gather|scatter)v?|osu_i?(allreduce|bcast|reduce)")
MEMORY_LIMIT = 512 * MIB  # of a rank; collectives of many ranks stop before their largest size


def largest_size(program: str, arguments: Sequence[str], ranks: int) -> int | None:
    """The last size in bytes, or None where program and options do not show it."""
    name = program.rsplit("/", 1)[-1]
    if POINT_TO_POINT.fullmatch(name):
        default = 4 * MIB
    elif COLLECTIVE.fullmatch(name):
        default = MIB
    else:
        return None
    low, high = _asked_for(arguments) or (1, default)
    if not 0 < low <= high or (default == MIB and high * ranks > MEMORY_LIMIT):
        return None
    return low << ((high // low).bit_length() - 1)


def _asked_for(arguments: Sequence[str]) -> tuple[int, int] | None:
    """The sizes of ``-m``; (0, 0) where they can't be read."""
    following = iter(arguments)
    found = None
    for argument in following:
        if argument in ("-m", "--message-size"):
            found = _range(next(following, ""))
        elif argument.startswith(("-m", "--message-size=")):
            found = _range(argument.removeprefix("--message-size=").removeprefix("-m"))
    return found


def _range(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(?:([0-9]{1,15})?:)?([0-9]{1,15})", text)
    return (max(1, int(match[1] or 1)), int(match[2])) if match else (0, 0)
