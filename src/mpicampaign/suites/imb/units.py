"""What "Mbytes/sec" means in an IMB output, proved by size and time of each row."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpicampaign.suites.imb.tables import FACTORS
from mpicampaign.suites.reading import MEBIBYTE, MEGABYTE, MICROSECOND, OutputError, shown

if TYPE_CHECKING:
    from mpicampaign.suites.imb.tables import ImbTable

_UNRELATED = ("UniBandMT", "BiBandMT")  # rate and bandwidth of these come from different times
_HALF_DIGIT = 0.005  # times and bandwidths are printed with two decimals
_HALF_COUNT = 0.5  # message rates are printed with none
_ROUNDING = 1e-9  # of the arithmetic here, relative

_FIRST_DECIMAL_YEAR = 2018  # from then on a printed megabyte is 10^6 bytes, before 2^20


def choose_unit(version: str, tables: list[ImbTable]) -> float | None:
    """What a printed megabyte is, in bytes; ``None`` where no bandwidth is printed.

    The version decides, unless its unit contradicts the rows and the other one fits them all.

    Raises
    ------
    OutputError
        when neither unit fits all rows, or when neither version nor rows show which it is.
    """
    printed = [table for table in tables if "Mbytes/sec" in table.headings]
    if not printed:
        return None
    stated = _unit_of_version(version)
    if stated and not _first_contradiction(printed, stated):
        return stated
    reasons = {unit: _first_contradiction(printed, unit) for unit in (MEGABYTE, MEBIBYTE)}
    fitting = [unit for unit, reason in reasons.items() if not reason]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise OutputError(f"unit of bandwidth unknown: neither rows nor version {shown(version)} show it")
    raise OutputError(reasons[stated or MEGABYTE])


def _unit_of_version(version: str) -> float | None:
    found = re.match(r"(20[0-9]{2})\b|[34]\.[0-9]", version)
    if not found:
        return None
    return MEGABYTE if found[1] and int(found[1]) >= _FIRST_DECIMAL_YEAR else MEBIBYTE


def _first_contradiction(tables: list[ImbTable], unit: float) -> str:
    return next(filter(None, (_contradiction(table, unit) for table in tables)), "")


def _contradiction(table: ImbTable, unit: float) -> str:
    """Which row cannot have its bandwidth in this unit; "" where all can."""
    if table.base_name in _UNRELATED or not table.sized:
        return ""
    if "Msg/sec" in table.headings:
        return _rate_contradiction(table, unit)
    for heading in ("t[usec]", "t_max[usec]"):
        if heading in table.headings:
            return _time_contradiction(table, heading, unit)
    return ""


def _rate_contradiction(table: ImbTable, unit: float) -> str:
    rows = zip(table.rows, *map(table.column, ("#bytes", "Mbytes/sec", "Msg/sec")), strict=True)
    for (number, _), size, bandwidth, rate in rows:
        expected = rate * size / unit
        slack = _HALF_DIGIT + _HALF_COUNT * size / unit + expected * _ROUNDING
        if abs(bandwidth - expected) > slack:
            return f"line {number}: {rate:.0f} messages/s of {size} B are not {bandwidth} Mbytes/sec"
    return ""


def _time_contradiction(table: ImbTable, heading: str, unit: float) -> str:
    """Each row bounds the factor by its print rounding; the bounds of all rows must leave one."""
    low, high = 0.0, float("inf")
    if table.base_name in FACTORS:
        low = high = FACTORS[table.base_name]
    rows = zip(table.rows, *map(table.column, ("#bytes", heading, "Mbytes/sec")), strict=True)
    for (number, _), size, time, bandwidth in rows:
        if size and (time or bandwidth):  # 0.00 twice: it gave up
            scale = unit * MICROSECOND / size
            low = max(low, (bandwidth - _HALF_DIGIT) * (time - _HALF_DIGIT) * scale * (1 - _ROUNDING))
            high = min(high, (bandwidth + _HALF_DIGIT) * (time + _HALF_DIGIT) * scale * (1 + _ROUNDING))
        if low > high or (bandwidth and not size):
            return f"line {number}: {size} B in {time} us are not {bandwidth} Mbytes/sec"
    return ""
