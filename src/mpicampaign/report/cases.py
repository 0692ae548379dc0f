"""The runs of each case in the report: their states, numbers, files, reasons and facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import CONTRADICTED, NOT_AVAILABLE, OK
from mpicampaign.base.text import counted
from mpicampaign.compare.stopping import precision
from mpicampaign.questions.ranking.say_pairs import precision_text
from mpicampaign.report.tables import state
from mpicampaign.show.document import Box, Fold, Grid, Heading, Items, LineOnPage, Paragraph, Section, Span
from mpicampaign.show.runs import state_of

if TYPE_CHECKING:
    from mpicampaign.base.dimension import Dimension
    from mpicampaign.base.records import Case, Record
    from mpicampaign.compare.rows import Cell, Row
    from mpicampaign.compare.tables import Table
    from mpicampaign.show.source import Source


def runs_section(source: Source) -> Section:
    """All runs but those of placements that are not available, those of each case folded."""
    pairs = ((table, row) for table in source.comparison.tables for row in table.rows)
    rows = grouped(pairs, lambda pair: pair[1].case)
    made = (record for record in source.records if record.status != NOT_AVAILABLE)
    cases = grouped(made, lambda record: record.case)
    folds = [_case(source, case, records, rows.get(case, [])) for case, records in cases.items()]
    title = f"{sum(map(len, cases.values()))} runs of {len(folds)} cases, with their files"
    return Section((Heading("Runs"), Fold(title, tuple(folds))), "runs", "", "Runs")


def _case(source: Source, case: Case, records: list[Record], rows: list[tuple[Table, Row]]) -> Fold:
    found, anchor = _headline_cells(rows), source.anchors[case]
    facts = [_facts(record) for record in records]
    first, *others = [known for known in facts if known] or [[]]
    shared = [fact for fact in first if others and all(fact in of_run for of_run in others)]
    values = [(cell.metric.dimension, cell.by_repeat) for _, cell in found]
    heads = ((name, " ", source.unit_of(cell.metric)) for name, cell in found)
    grid = Grid(
        f"Runs of {case}",
        6,
        ("repeat", "state", "condition", "hosts", "job", "started", *heads, "files", "reasons and facts"),
        tuple(
            _run_line(source, record, values, _own_facts(record, known, shared))
            for record, known in zip(records, facts, strict=True)
        ),
        remarks=2,
        role="runs",
        si_units={6 + index: cell.metric.dimension.si_unit for index, (_, cell) in enumerate(found)},
        label=f"Runs of {case}",
        anchor=anchor,
        on_page=tuple(LineOnPage(anchor=f"{anchor}-r{record.repeat}") for record in records),
    )
    enough = [
        Paragraph(f"{name}: {precision_text(precision(cell.values))}", "legend") for name, cell in found
    ]
    below = [_shared_facts(records, shared)] if shared else []
    count = Span(f"{len(records)} runs", "small")
    return Fold((Span(str(case), "heading"), " ", count), (grid, *below, *enough), "case")


def _headline_cells(rows: list[tuple[Table, Row]]) -> list[tuple[str, Cell]]:
    """The cells of headline metrics that have values; named with their series where there are several."""
    several = len(rows) > 1
    return [
        (f"{cell.metric.name}, {table.label}" if several else cell.metric.name, cell)
        for table, row in rows
        for cell in row.cells
        if cell.metric.headline and cell.n
    ]


_Values = list[tuple["Dimension", dict[int, float]]]  # of each metric, by repeat


def _run_line(source: Source, record: Record, values: _Values, facts: Fold | None) -> tuple[Box, ...]:
    files = [(Span(name, link=source.address(file)), " ") for name, file in record.files.items()]
    return (
        Box(str(record.repeat)),
        Box(state(state_of(record))),
        Box(state(record.condition) if record.status == OK else ""),
        Box(", ".join(record.hosts)),
        Box(record.job_id),
        Box(record.started, role="short"),
        *(_value(source, dimension, of_runs.get(record.repeat)) for dimension, of_runs in values),
        Box(tuple(part for file in files for part in file)),
        Box(record.reason, fold=facts),
    )


def _value(source: Source, dimension: Dimension, value: float | None) -> Box:
    return Box("" if value is None else source.view.number(value, dimension), value=value)


def _own_facts(record: Record, facts: list[str], shared: list[str]) -> Fold | None:
    """Those that not all runs of the case have; with all of them the page would be half as large again."""
    if not facts:
        return None
    own = [fact for fact in facts if fact not in shared]
    title = f"{counted(len(record.verdict_reasons), 'reason')} for the verdict"
    below = [f"and {len(shared)} that all these runs share, below the table"] if shared else []
    return Fold(title, (Items((*own, *below)),), is_open=record.verdict == CONTRADICTED)


def _shared_facts(records: list[Record], shared: list[str]) -> Fold:
    doubtful = any(record.verdict == CONTRADICTED for record in records)
    return Fold(
        f"{len(shared)} reasons and facts that all these runs share",
        (Items(tuple(shared)),),
        "shared",
        is_open=doubtful,
    )


def _facts(record: Record) -> list[str]:
    """The reasons for the verdict, and what the run recorded of itself."""
    reasons = record.verdict_reasons
    if not (reasons or record.metadata):
        return []
    status = "unknown" if record.exit_status is None else record.exit_status
    return [
        *reasons,
        *([f"condition: {record.condition}: {record.condition_reason}"] if record.condition_reason else []),
        *([f"ended {record.ended}, exit status {status}"] if record.ended else []),
        *([f"identity {record.identity}"] if record.identity else []),
        *(f"{name}: {value}" for name, value in record.metadata.items()),
    ]
