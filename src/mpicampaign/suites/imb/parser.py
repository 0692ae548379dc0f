"""Outputs of the Intel MPI Benchmarks: IMB-MPI1, -NBC, -RMA, -EXT, -IO, -MT, -P2P, 3.2 to 2021.

An output is a header (version, calling sequence, message lengths, list of benchmarks), one table for each
benchmark and number of processes, and a closing line. Launchers, schedulers and MPI libraries print above,
below and in between. A line that may be a damaged row is refused.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from mpicampaign.base.text import counted
from mpicampaign.suites.imb.reader import NO_HEADER, Reader, read_lines
from mpicampaign.suites.imb.tables import FACTORS, ImbTable, Lengths, check_sizes, series_of
from mpicampaign.suites.reading import (
    MEBIBYTE,
    MEGABYTE,
    MICROSECOND,
    OutputError,
    ParsedOutput,
    missing,
    shown,
)

if TYPE_CHECKING:
    from mpicampaign.base.records import Series

_ELEMENTS = {"MPI_BYTE": 1, "MPI_CHAR": 1, "MPI_INT": 4, "MPI_FLOAT": 4, "MPI_DOUBLE": 8}
_EXT = ("2", "EXT")  # IMB-EXT calls itself the MPI-2 part
_EXT_ELEMENT = 4  # its windows hold MPI_FLOAT, whatever the header names


def parse_imb(text: str) -> ParsedOutput:
    """Read the output of one IMB program: of each table the rows up to where it is cut.

    Raises
    ------
    OutputError
        when there are no rows, when values contradict each other, or when it is not of IMB.
    """
    reader = read_lines(text)
    if not reader.version:
        raise OutputError(NO_HEADER)
    _qualify_repeated_tables(reader)
    lengths = _lengths(reader)
    for table in reader.tables:
        _keep_sound(table, lengths)
    _check_equal_sizes(reader)
    tables = [table for table in reader.tables if table.rows or table.stopped]
    if not any(table.rows for table in tables):
        raise OutputError(_without_values(reader))
    unit = choose_unit(reader.version, tables)
    series = [each for table in tables for each in _series(table, unit)]
    return ParsedOutput(reader.version, _metadata(reader), tuple(series), _lacks(reader))


def _keep_sound(table: ImbTable, lengths: Lengths) -> None:
    """Leave out a table that contradicts itself."""
    try:
        _check_table_present(table)
        check_sizes(table, lengths)
        for heading in table.headings:
            table.column(heading)
    except OutputError as error:
        table.leave_out(str(error))


def _series(table: ImbTable, unit: float | None) -> list[Series]:
    try:
        return series_of(table, unit)
    except OutputError as error:
        table.leave_out(str(error))
        return []


def _without_values(reader: Reader) -> str:
    lacks, stopped = _lacks(reader), _metadata(reader).get("not_measured", "")
    if reader.tables or reader.invalid or not reader.ended:
        return lacks or (f"no values: {stopped}" if reader.tables else stopped)
    return f"no table; listed to run: {', '.join(reader.listed)} (too few processes?)"


def _is_closed(reader: Reader) -> bool:
    """Whether the output did not end inside its last table; IMB-MT alone has no closing line."""
    return reader.tables[-1].closed if reader.part == "MT" and reader.tables else reader.ended


def _lacks(reader: Reader) -> str:
    """Which tables are missing or cut, and why; empty for a whole output."""
    reasons = [table.fault for table in reader.tables if table.fault] + reader.faults
    if not _is_closed(reader):
        rows = sum(len(table.rows) for table in reader.tables)
        inside = "ends inside a table; the blank line after it is missing"
        end = f"ends after {counted(rows, 'row')}; the closing line is missing"
        reasons.append(inside if reader.part == "MT" else end)
    without = _without_rows(reader)
    printed = {table.base_name for table in reader.tables}
    reasons += [f"{name} was to run but has no table" for name in without if name not in printed]
    return missing(len(without), len(reader.listed), "benchmark", reasons) if reasons else ""


def _check_table_present(table: ImbTable) -> None:
    if table.ranks is None:
        raise OutputError(f"line {table.line}: no number of processes for {table.benchmark}")
    if not table.headings or not (table.rows or table.stopped):
        raise OutputError(f"line {table.line}: no rows for {table.benchmark} on {table.ranks} processes")


def _without_rows(reader: Reader) -> list[str]:
    """The listed benchmarks without sound rows; IMB prints nothing where one process is too few."""
    present = {table.base_name for table in reader.tables if table.rows or table.stopped}
    if max((table.ranks or 0 for table in reader.tables), default=0) == 1:
        return []
    return [name for name in reader.listed if name not in present and name not in reader.invalid]


def _qualify_repeated_tables(reader: Reader) -> None:
    """A benchmark named twice on the command line has two tables; any other second table is a mix-up."""
    seen: dict[tuple[object, ...], int] = {}
    for table in reader.tables:
        key = (table.benchmark, table.ranks, *sorted(table.qualifiers.items()))
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > max(1, reader.listed.count(table.base_name)):
            raise OutputError(
                f"line {table.line}: a second table of {table.benchmark}: two outputs in one file"
            )
        if seen[key] > 1:
            table.qualifiers["table"] = str(seen[key])


def _lengths(reader: Reader) -> Lengths:
    """The message sizes to expect, from the header and the calling sequence that it repeats."""
    options = dict(pairwise(" ".join(reader.calling).split()))
    low = options.get("-msglog", "").rpartition(":")[0]
    first = 1 << int(low) if low.isascii() and low.isdigit() and len(low) < 3 else 1
    requested = options.get("-msgsize", "").split(",") if "-msgsize" in options else None
    return Lengths(
        minimum=reader.minimum or 0,
        first=max(first, reader.minimum or 0),
        maximum=None if reader.user_lengths else reader.maximum,
        requested=tuple(int(size) for size in requested if size.isdecimal()) if requested else None,
        element=_EXT_ELEMENT if reader.part in _EXT else _element(reader, "mpi_datatype", "MPI_BYTE"),
        reduced_element=_element(reader, "mpi_datatype_for_reductions", "MPI_FLOAT"),
    )


def _element(reader: Reader, key: str, default: str) -> int | None:
    return _ELEMENTS.get(reader.metadata.get(key, default))


def _check_equal_sizes(reader: Reader) -> None:
    """Where the lengths are not printed (IMB-MT, own lengths) all tables must have equally many rows."""
    if reader.maximum is not None:
        return
    sized = [table for table in reader.tables if table.sized and not table.stopped]
    for table in sized:
        if table.foreign:
            reason = f"line {table.foreign}: neither row nor comment, in a table of unknown length"
            table.end_above(table.foreign, reason)
    longest = max((table.column("#bytes") for table in sized), key=len, default=[])
    for table in sized:
        sizes = table.column("#bytes")
        if len(sizes) < len(longest):
            reason = f"line {table.line}: {len(sizes)} rows, others have {len(longest)}: some are missing"
            table.fault = table.fault or reason
            if sizes != longest[: len(sizes)]:
                table.leave_out(reason)


def _metadata(reader: Reader) -> dict[str, str]:
    metadata = dict(reader.metadata, part=reader.part)
    if reader.calling:
        metadata["calling_sequence"] = " ".join(" ".join(reader.calling).split())
    stops = [
        f"{table.benchmark} {' '.join(where)} {why}"
        for table in reader.tables
        for where, why in table.stopped.values()
    ]
    not_measured = [*reader.invalid.values(), *stops]
    if not_measured:
        metadata["not_measured"] = "; ".join(not_measured)
    return metadata


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
    match = re.match(r"(20[0-9]{2})\b|[34]\.[0-9]", version)
    if not match:
        return None
    return MEGABYTE if match[1] and int(match[1]) >= _FIRST_DECIMAL_YEAR else MEBIBYTE


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
            least = (bandwidth - _HALF_DIGIT) * (time - _HALF_DIGIT) * scale * (1 - _ROUNDING)
            most = (bandwidth + _HALF_DIGIT) * (time + _HALF_DIGIT) * scale * (1 + _ROUNDING)
            low, high = least if least > low else low, most if most < high else high
        if low > high or (bandwidth and not size):
            return f"line {number}: {size} B in {time} us are not {bandwidth} Mbytes/sec"
    return ""
