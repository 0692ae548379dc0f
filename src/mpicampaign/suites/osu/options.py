"""The options of the OSU Micro-Benchmarks 5 to 7 that say where a table ends and what a run needs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONG = {"m": "mes[a-z-]*", "d": "ac[a-z]*", "N": "nh[a-z]*"}  # message-size, accelerator, nhbr
_FLAGS = "[cfhIlvVz]*"  # letters that may stand before another one in one argument
SIZES = re.compile(r"(?=:?[0-9])(?:([0-9]{0,15}):)?([0-9]{0,15})")
_DEVICES = {"D", "M", "MD", "MH"}


def given(arguments: Sequence[str], letter: str) -> str:
    """The last value of an option, as getopt_long reads it; empty where it is not given."""
    pattern = rf"(?:^| )(?:-{_FLAGS}{letter} ?|--{_LONG[letter]}[ =])(\S+)"
    return next(reversed(re.findall(pattern, " ".join(arguments))), "")


def sizes_asked_for(arguments: Sequence[str], largest: int) -> tuple[int, int] | None:
    """The smallest and the largest size (B), ``largest`` by default; None where ``-m`` does not say."""
    value = given(arguments, "m")
    match = SIZES.fullmatch(value or f":{largest}")
    low, high = (max(1, int(match[1] or 1)), int(match[2] or largest)) if match else (1, 0)
    return (low, high) if low <= high else None


def on_devices(arguments: Sequence[str]) -> bool:
    """Whether messages lie in the memory of a device."""
    return bool(given(arguments, "d")) or not _DEVICES.isdisjoint(arguments[-2:])
