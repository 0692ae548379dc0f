"""Sizes, durations and rates: from what people write to B, s and B/s, and back to what people read."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from mpicampaign.base.errors import nearest

MB = 10**6
MIB = 2**20

SIZE_UNITS: dict[str, int] = {
    "": 1,
    "B": 1,
    **{f"{prefix}B": 1000**power for power, prefix in enumerate("kMGT", start=1)},
    "KB": 1000,
    **{f"{prefix}iB": 1024**power for power, prefix in enumerate("KMGT", start=1)},
}
_BINARY_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
TIME_UNITS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,  # micro sign
    "μs": 1e-6,  # Greek mu
    "ms": 1e-3,
    **dict.fromkeys(("", "s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
}
_PREFIXES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_PREFIXES |= {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}

_QUANTITY = re.compile(r"\s*([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*([^\s0-9.]{0,12})\s*", re.ASCII)
_CLOCK = re.compile(r"\s*([0-9]{1,6}):([0-9]{2})(?::([0-9]{2}))?\s*", re.ASCII)
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)\s*%", re.ASCII)
_TIME_OF_DAY = re.compile(r"([01]?[0-9]|2[0-3]):[0-5][0-9]", re.ASCII)
_RATE = re.compile(r"((?:[kKMGT]|[KMGT]i)?)(bit|b|B|byte|bytes)/s|([kKMGT]?)(bps)")


def parse_size(text: str) -> int:
    """A size in bytes: ``64KiB`` is 65536, ``64kB`` is 64000, ``64`` is 64.

    Raises
    ------
    ValueError
        when it is not a whole, non-negative number of bytes in a known unit.
    """
    number, unit = _quantity(text, "size", "64KiB")
    if unit not in SIZE_UNITS:
        raise _unknown_unit(text, "size", unit, SIZE_UNITS, f"known: {', '.join(filter(None, SIZE_UNITS))}")
    integer, _, digits = number.partition(".")
    scale: int = 10 ** len(digits)
    size, rest = divmod(int(integer + digits) * SIZE_UNITS[unit], scale)
    if rest:
        raise ValueError(f"{text!r} is not a whole number of bytes")
    return size


def format_size(size: int) -> str:
    """The size in the largest binary unit that divides it: 65536 is ``64 KiB``, 1000 is ``1000 B``."""
    power = 0
    while power + 1 < len(_BINARY_UNITS) and size and size % 1024 == 0:
        size //= 1024
        power += 1
    return f"{size} {_BINARY_UNITS[power]}"


def parse_duration(text: str) -> float:
    """A duration in seconds: ``90 s``, ``1 min``, ``0:45`` (H:MM), ``1:30:00`` (H:MM:SS); no unit means s.

    Raises
    ------
    ValueError
        when it is neither.
    """
    if clock := _CLOCK.fullmatch(text):
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        if minutes > 59 or seconds > 59:
            raise ValueError(f"{text!r} is not a duration: minutes and seconds of H:MM:SS go to 59")
        return float(hours * 3600 + minutes * 60 + seconds)
    number, unit = _quantity(text, "duration", "90 s, 40 min or 2 h")
    if unit not in TIME_UNITS:
        raise _unknown_unit(text, "duration", unit, TIME_UNITS, "known: s, min, h, d, ms, us")
    return float(number) * TIME_UNITS[unit]


def parse_seconds(text: str) -> float:
    """A time in seconds, with its unit: ``2 us``.

    Raises
    ------
    ValueError
        when it is none, or has no unit.
    """
    if text.strip()[-1:].isdigit():
        raise ValueError(f"{text!r} has no unit: write it as 2 us or 1.5 s")
    return parse_duration(text)


def parse_percent(text: str) -> float:
    """A fraction from per cent: ``5 %`` is 0.05.

    Raises
    ------
    ValueError
        when it is not from 0 to 100 per cent.
    """
    number = _PERCENT.fullmatch(text.strip())
    if not number or float(number[1]) > 100:
        raise ValueError(f"{text!r} is not from 0 % to 100 %, such as 2 %")
    return float(number[1]) / 100


def parse_plain(text: str) -> float:
    """A number without a unit, or per cent.

    Raises
    ------
    ValueError
        when it is neither.
    """
    if text.strip().endswith("%"):
        return parse_percent(text)
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not a number without a unit")
    return value


def parse_time_of_day(text: str) -> int:
    """A time of day in minutes: ``4:30`` is 270.

    Raises
    ------
    ValueError
        when it is none.
    """
    hours, _, minutes = text.strip().partition(":")
    if not _TIME_OF_DAY.fullmatch(text.strip()):
        raise ValueError(f"{text!r} is not a time of day such as 4:30 or 23:15")
    return int(hours) * 60 + int(minutes)


def format_duration(seconds: float) -> str:
    """For people: ``450 ms``, ``90 s``, ``12 min 30 s``, ``3 h 5 min``, ``2 d 4 h``."""
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms" if seconds else "0 s"
    if seconds < 10:
        return f"{seconds:.3g} s"
    rounded = round(seconds)
    if rounded < 120:
        return f"{rounded} s"
    if rounded < 7200:
        return _two_units(rounded, 60, "min", "s")
    if rounded < 172800:
        return _two_units(round(rounded / 60), 60, "h", "min")
    return _two_units(round(rounded / 3600), 24, "d", "h")


def format_roughly(seconds: float) -> str:
    """A rough duration: ``less than a minute``, ``about 2 min``, ``about 1 h 20 min``, ``about 3 d``."""
    minutes = round(seconds / 60)
    if seconds < 60:
        return "less than a minute"
    if minutes < 60:
        return f"about {minutes} min"
    if minutes < 600:
        return f"about {_two_units(round(minutes / 10) * 10, 60, 'h', 'min')}"
    hours = round(minutes / 60)
    return f"about {hours} h" if hours < 48 else f"about {round(hours / 24)} d"


def parse_flop_rate(text: str) -> float:
    """A rate of floating-point operations in flop/s: ``41.6 Gflop/s``.

    Raises
    ------
    ValueError
        when it is not a positive number of flop/s with a known prefix.
    """
    number, unit = _quantity(text, "rate of operations", "41.6 Gflop/s")
    prefix, _, rest = unit.partition("flop/s")
    if not unit.endswith("flop/s") or rest or prefix not in ("", "k", "M", "G", "T") or not float(number):
        raise ValueError(f"{text!r} is not a rate of operations such as 41.6 Gflop/s")
    return float(number) * _PREFIXES[prefix]


def parse_rate(text: str) -> float:
    """A data rate in B/s: ``40 Gbit/s`` is 5e9, ``100 MB/s`` is 1e8, ``1 MiB/s`` is 1048576.

    Raises
    ------
    ValueError
        when it is not a number with a known unit; a rate without a unit is refused.
    """
    number, unit = _quantity(text, "rate", "40 Gbit/s or 100 MB/s")
    known = _RATE.fullmatch(unit)
    if not known:
        raise ValueError(f"{text!r} is not a rate: unknown unit {unit!r}; use Gbit/s, MB/s or MiB/s")
    prefix, name = known[1] or known[3] or "", known[2] or known[4]
    return float(number) * _PREFIXES[prefix] / (8 if name in ("bit", "b", "bps") else 1)


def format_rate(bytes_per_second: float) -> str:
    """A link's rate in bits as networks are named: 5e9 B/s is ``40 Gbit/s``."""
    bits = bytes_per_second * 8
    for prefix in ("T", "G", "M", "k"):
        if bits >= _PREFIXES[prefix]:
            return f"{bits / _PREFIXES[prefix]:.4g} {prefix}bit/s"
    return f"{bits:.4g} bit/s"


def _unknown_unit(text: str, what: str, unit: str, known: Iterable[str], listed: str) -> ValueError:
    meant = nearest(unit, list(known), alike=0.7)
    guess = f"did you mean {meant}? " if meant else ""
    return ValueError(f"{text!r} is not a {what}: unknown unit {unit!r}; {guess}{listed}")


def _quantity(text: str, what: str, example: str) -> tuple[str, str]:
    match = _QUANTITY.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is not a {what}; write it as {example}")
    return match[1], match[2]


def _two_units(amount: int, ratio: int, large: str, small: str) -> str:
    many, few = divmod(amount, ratio)
    return f"{many} {large} {few} {small}" if few else f"{many} {large}"


def format_significant(value: float, digits: int = 3) -> str:
    """A number with so many significant digits, at most three of them decimals."""
    wanted = digits - 1 - (math.floor(math.log10(abs(value))) if value else 0)
    decimals = 0 if wanted < 0 else 3 if wanted > 3 else wanted  # reports hold many numbers: min is slower
    return f"{value:.{decimals}f}"
