"""Outputs of the Intel MPI Benchmarks: IMB-MPI1, -NBC, -RMA, -EXT, -IO, -MT, -P2P, 3.2 to 2021.

An output is a header (version, calling sequence, message lengths, list of benchmarks), one table for each
benchmark and number of processes, and a closing line. Launchers, schedulers and MPI libraries print above,
below and in between. A line that may be a damaged row is refused.
"""

from __future__ import annotations

from itertools import pairwise

from mpicampaign.suites.imb.reader import NO_HEADER, Reader, read_lines
from mpicampaign.suites.imb.tables import ImbTable, Lengths, check_sizes, series_of
from mpicampaign.suites.imb.units import choose_unit
from mpicampaign.suites.reading import OutputError, ParsedOutput

_ELEMENTS = {"MPI_BYTE": 1, "MPI_CHAR": 1, "MPI_INT": 4, "MPI_FLOAT": 4, "MPI_DOUBLE": 8}
_EXT = ("2", "EXT")  # IMB-EXT calls itself the MPI-2 part
_EXT_ELEMENT = 4  # its windows hold MPI_FLOAT, whatever the header names


def parse_imb(text: str) -> ParsedOutput:
    """Read the output of one IMB program.

    Raises
    ------
    OutputError
        when it is incomplete (rows or the closing line missing), contradicts itself, or is not of IMB.
    """
    reader = read_lines(text)
    _check_complete(reader)
    _qualify_repeated_tables(reader)
    lengths = _lengths(reader)
    for table in reader.tables:
        check_sizes(table, lengths)
    _check_equal_sizes(reader)
    unit = choose_unit(reader.version, reader.tables)
    series = [series for table in reader.tables for series in series_of(table, unit)]
    return ParsedOutput(reader.version, _metadata(reader), tuple(series))


def _check_complete(reader: Reader) -> None:
    if not reader.version:
        raise OutputError(NO_HEADER)
    if not reader.tables and reader.invalid:
        raise OutputError("; ".join(reader.invalid.values()))
    if reader.part == "MT":  # the one program without a closing line
        _check_last_table_closed(reader)
    elif not reader.ended:
        rows = sum(len(table.rows) for table in reader.tables)
        raise OutputError(f"ends after {rows} rows; the closing line is missing")
    if not reader.tables:
        listed = ", ".join(reader.listed)
        raise OutputError(f"no table; listed to run: {listed} (too few processes?)" if listed else "no table")
    for table in reader.tables:
        _check_table_present(table)
    if not any(table.rows for table in reader.tables):
        raise OutputError(f"no values: {_metadata(reader)['not_measured']}")
    _check_listed(reader)


def _check_last_table_closed(reader: Reader) -> None:
    if reader.tables and not reader.tables[-1].closed:
        raise OutputError("ends inside a table; the blank line after it is missing")


def _check_table_present(table: ImbTable) -> None:
    if table.ranks is None:
        raise OutputError(f"line {table.line}: no number of processes for {table.benchmark}")
    if not table.headings or not (table.rows or table.stopped):
        raise OutputError(f"line {table.line}: no rows for {table.benchmark} on {table.ranks} processes")


def _check_listed(reader: Reader) -> None:
    """Every listed benchmark has a table, unless one process is too few for it (IMB then prints nothing)."""
    present = {table.base_name for table in reader.tables}
    if max(table.ranks or 0 for table in reader.tables) == 1:
        return
    for name in reader.listed:
        if name not in present and name not in reader.invalid:
            raise OutputError(f"{name} was to run but has no table")


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
    counts = {len(table.rows) for table in reader.tables if table.sized and not table.stopped}
    if len(counts) > 1:
        raise OutputError(f"tables have {' and '.join(map(str, sorted(counts)))} rows: some are missing")
    for table in reader.tables:
        if table.sized and table.foreign:
            raise OutputError(f"line {table.foreign}: neither row nor comment, in a table of unknown length")


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
