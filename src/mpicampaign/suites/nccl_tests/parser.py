"""Outputs of nccl-tests and rccl-tests, as tables or as JSON: a series for each place and sweep of sizes.

The closing line has the mean of all bus bandwidths, by which missing and damaged rows show.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import fsum
from typing import TYPE_CHECKING

from mpicampaign.base.records import Series
from mpicampaign.base.text import counted
from mpicampaign.suites.nccl_tests import JSON
from mpicampaign.suites.nccl_tests.facts import facts_of, printed_program
from mpicampaign.suites.nccl_tests.json_results import read_results
from mpicampaign.suites.nccl_tests.rows import COLUMNS, PLACES, RATES, check_row, shares_of
from mpicampaign.suites.nccl_tests.tables import read_tables
from mpicampaign.suites.reading import OutputError, ParsedOutput, between

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpicampaign.suites.nccl_tests.rows import Half, Number, Output, Row, Shares


def parse_nccl_tests(text: str) -> ParsedOutput:
    """Read the output of one program: a series for each place, datatype, operation, root and cycle.

    Raises
    ------
    OutputError
        when no row counts, or when rows and the mean of their bandwidths contradict each other.
    """
    output = read_results(text) if JSON.match(text) else read_tables(text)
    facts = facts_of(text)
    ranks = int(facts.get("ranks", 0))
    _keep_sound(output, shares_of(ranks, printed_program(text)))
    halves = [(row, half) for row in output.rows for half in row.halves]
    wrong = [f"{row.size} B {half.place}: {half.wrong}" for row, half in halves if half.wrong]
    if len(wrong) == len(halves):
        raise OutputError("; ".join([*output.faults, *wrong]) or "no rows")
    _check_complete(output, wrong)
    metadata = {**output.metadata, **_common(output.rows), **_unchecked(output.rows)}
    metadata |= {name: facts[name] for name in ("nccl", "gpu", "gpus") if facts.get(name)}
    metadata |= {"not_measured": "; ".join(wrong)} if wrong else {}
    series = tuple(_series(output, ranks or None))
    return ParsedOutput(output.version, metadata, series, "; ".join(output.faults))


def inferred_program(text: str) -> str:
    """The program of a text that does not name it: two operations show in the ratio of their bandwidths."""
    if JSON.match(text):
        return ""
    try:
        rows, ranks = read_tables(text).rows, int(facts_of(text).get("ranks", 0))
    except OutputError:
        return ""
    rates = [
        (algorithm.value, bus.value)
        for row in rows
        if row.about.get("redop", "none") != "none" and row.about.get("root", "-1") == "-1"
        for half in row.halves
        if (algorithm := half.values["algbw"]) and (bus := half.values["busbw"])
    ]
    fastest, of_bus = max(rates, default=(0.0, 0.0))
    if ranks < 3 or not fastest:
        return ""
    share = of_bus / fastest / (ranks - 1) * ranks
    near = {2.0: "all_reduce_perf", 1.0: "reduce_scatter_perf"}
    return next((name for ratio, name in near.items() if abs(share - ratio) < 0.1), "")


# ---- checks


def _keep_sound(output: Output, shares: Shares) -> None:
    """Damaged rows become faults."""
    rows, output.rows = output.rows, []
    for row in rows:
        try:
            check_row(row, shares)
            output.rows.append(row)
        except OutputError as error:
            output.faults.append(str(error))


def _check_complete(output: Output, wrong: Sequence[str]) -> None:
    if output.out_of_bounds and not wrong:
        raise OutputError(f"{output.out_of_bounds} values are out of bounds; no row says which")
    if output.mean is None:
        output.faults.append(f"ends after {counted(len(output.rows), 'row')}; the closing line is missing")
    elif not output.faults:
        if output.threads == 1:
            _check_mean(output.rows, output.mean)
        if len({len(sweep) for sweep in _sweeps(output)}) > 1:
            raise OutputError("datatypes, operations, roots or cycles have other sizes: damaged")


def _check_mean(rows: Sequence[Row], mean: Number) -> None:
    """One thread prints all that it averages."""
    values = [half.values["busbw"] for row in rows for half in row.halves]
    printed = [value for value in values if value]
    average = fsum(value.value for value in printed) / max(len(printed), 1)
    slack = fsum(value.slack for value in printed) / max(len(printed), 1) + mean.slack
    if not between(mean.value, slack, average, average):
        said = f"the mean bus bandwidth is {average:.6g} GB/s, the closing line says {mean.value:g} GB/s"
        raise OutputError(f"{said}: rows are missing or damaged")


# ---- series


def _unchecked(rows: Sequence[Row]) -> dict[str, str]:
    places = {half.place for row in rows for half in row.halves if not half.checked}
    return {"unchecked": ", ".join(place for place in PLACES if place in places)} if places else {}


def _common(rows: Sequence[Row]) -> dict[str, str]:
    """What all rows have in common of datatype, operation and root."""
    return {
        name: value for name, value in rows[0].about.items() if {row.about[name] for row in rows} == {value}
    }


def _sweeps(output: Output) -> Iterator[list[Row]]:
    """Rows of one datatype, operation and root, up to where the sizes begin again."""
    sweep = output.rows[:1]
    for before, row in pairwise(output.rows):
        if row.about != before.about or row.size < before.size or output.one_size:
            yield sweep
            sweep = []
        sweep.append(row)
    yield sweep


def _series(output: Output, ranks: int | None) -> Iterator[Series]:
    alike, sweeps = _common(output.rows), list(_sweeps(output))
    cycles = Counter(str(sweep[0].about) for sweep in sweeps)
    seen: Counter[str] = Counter()
    for sweep in sweeps:
        about = sweep[0].about
        seen[str(about)] += 1
        qualifiers = {name: value for name, value in about.items() if name not in alike}
        if cycles[str(about)] > 1:
            qualifiers["cycle"] = str(seen[str(about)])
        for place in PLACES:
            halves = [(row.size, half) for row in sweep for half in row.halves if half.place == place]
            if halves:
                yield Series(place, ranks, _columns(halves), qualifiers)


def _columns(halves: Sequence[tuple[int, Half]]) -> dict[str, list[float | None]]:
    columns: dict[str, list[float | None]] = {"size": [size for size, _ in halves]}
    for heading in halves[0][1].values:
        name, factor = COLUMNS[heading]
        values = [None if half.wrong else half.values.get(heading) for _, half in halves]
        # a bandwidth of 0.00 is too small to print
        kept = [value if value and (value.value or heading not in RATES) else None for value in values]
        columns[name] = [value.value * factor if value else None for value in kept]
    return columns
