"""A series as a table: one row per run and metric, with what the run declared and what it observed.

The columns are described in docs/formats.md. Units are SI; what is missing is None, never 0. A run without a
value has one row without a metric, so that failures are part of the history.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.base.identity import identity
from mpicampaign.base.plan_file import PlanFile
from mpicampaign.base.records import (
    BLAS,
    CLAIMED_TRANSPORT,
    OK,
    ROUND_TRIP,
    SESSION,
    Case,
    Header,
    Probes,
    Record,
    Series,
    observed,
    plain_fields,
)
from mpicampaign.collect.observed_software import LIBRARY, PROGRAM
from mpicampaign.compare.metrics import Metric, choose_metrics, read
from mpicampaign.compare.same_sizes import tables_of_maxima
from mpicampaign.history.series import OpenSeries

# What runs observe, by column: the key of a record's metadata; with a colon in front, one for each host.
OBSERVED = {
    "kernel": ": kernel",
    "cpu_model": ": cpu_model",
    "microcode": ": microcode",
    "governor": ": governor",
    "mpi": "mpi_library",
    "mpi_library": LIBRARY,
    "program": PROGRAM,
    "blas": BLAS,
}
# The columns: of a case and a curve; those with few combinations of values; the others
CASE = ("declared", "system", "host_group", "placement", "transport", "benchmark")
CURVE = (*CASE, "label", "ranks", "metric", "size", "dimension", "unit")
SEEN = ("host", *OBSERVED)
OBSERVATION = (*SEEN, "round_trips", "status", "verdict", "condition", "lower_is_better")
OF_ROW = ("repeat", "identity", "reason", "started", "counts", "value")


class SeriesRows(NamedTuple):
    """A series. ``rows``: their columns by name."""

    name: str
    campaign: str
    changed: bool
    rows: Sequence[dict[str, Any]]


def rows_of(records: Sequence[Record], plan: PlanFile, series: OpenSeries, header: Header) -> SeriesRows:
    """The rows of a series.

    Parameters
    ----------
    records : of all its runs
    plan : from which the declarations are taken
    series : whose name and ticks the rows get
    header : of the records: message sizes at which metrics are read
    """
    declared = {entry.case: identity({**entry.declared, "repeat": 0}) for entry in plan.cases}
    rows = [
        {
            **dict.fromkeys((*CURVE, *OBSERVATION, *OF_ROW)),
            **_of_run(record, declared, series),
            **value,
        }
        for runs in grouped(records, lambda record: record.case.benchmark).values()
        for record, value in _values(runs, header.table_sizes)
    ]
    return SeriesRows(series.name, plan.campaign, bool(series.changed), rows)


def _of_run(record: Record, declared: dict[Case, str], series: OpenSeries) -> dict[str, Any]:
    case, session = record.case, record.metadata.get(SESSION)
    return {
        **plain_fields(case),
        "tick": f"{series.name}/{session}" if session else series.tick_of(record.repeat),
        "transport": record.metadata.get(CLAIMED_TRANSPORT, "").partition(" ")[0],
        "repeat": record.repeat,
        "identity": record.identity,
        "declared": declared.get(case, ""),
        "status": record.status,
        "reason": record.reason,
        "verdict": record.verdict or "",
        "condition": record.condition,
        "counts": record.counts,
        "started": utc_text(record.started),
        "host": " ".join(record.hosts),
        "round_trips": round_trips_text(record.probes),
        **{column: ", ".join(sorted(observed(record, key))) for column, key in OBSERVED.items()},
    }


def round_trips_text(probes: Probes) -> str:
    """The least and the largest round trip (s) of each place, as JSON; empty where none was probed."""
    ends = {place: [min(values), max(values)] for place, values in probes.get(ROUND_TRIP, {}).items()}
    return json.dumps(ends, sort_keys=True) if ends else ""


def round_trips_of(text: str | None) -> Probes:
    """The probes of such a text."""
    return {ROUND_TRIP: json.loads(text)} if text else {}


def utc_text(text: str) -> str | None:
    """``2026-01-20T04:00:00Z``; None of what is no time."""
    try:
        time = datetime.fromisoformat(text)
        return f"{time.astimezone(UTC) if time.tzinfo else time:%Y-%m-%dT%H:%M:%SZ}"
    except (ValueError, OverflowError):
        return None


def _values(runs: Sequence[Record], sizes: Sequence[int]) -> Iterator[tuple[Record, dict[str, Any]]]:
    """Each run of a benchmark with each of its values; a run without any once."""
    curves = [(run, table) for run in runs if run.sound for table in run.series]
    printed = grouped((table for _, table in curves), lambda table: table.label)
    chosen = {label: choose_metrics(runs[0].suite, tables, sizes) for label, tables in printed.items()}
    of_maxima = tables_of_maxima(curves)
    for run in runs:
        of_tables = (_of_table(run, table, chosen.get(table.label, ()), of_maxima) for table in run.series)
        values = [value for of_table in of_tables for value in of_table] if run.status == OK else []
        for value in values or [{}]:
            yield run, value


def _of_table(
    run: Record, series: Series, metrics: Iterable[Metric], of_maxima: Mapping[int, Series | None]
) -> Iterator[dict[str, Any]]:
    for metric in metrics:
        table = series if metric.size is not None else of_maxima.get(id(series), series)
        reading = read(metric, table, run.series) if table else None
        if reading is not None:
            yield {
                "label": series.label,
                "ranks": series.ranks,
                "metric": metric.name,
                "size": metric.size,
                "dimension": metric.dimension.name,
                "unit": metric.dimension.si_unit,
                "lower_is_better": metric.lower_is_better,
                "value": float(reading.value),
            }
