"""Which rows and metrics of a comparison are shown, by their names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from mpicampaign.base.errors import Problem, UserError, did_you_mean
from mpicampaign.base.selection import variant_names
from mpicampaign.base.text import visible
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.questions.blocks.find import InBlocks, is_of
from mpicampaign.show.view import Filter


def select(comparison: Comparison, wanted: Filter) -> Comparison:
    """The comparison with only what is wanted.

    Raises
    ------
    UserError
        when names do not exist, each with the nearest that does; or when nothing is left.
    """
    if wanted.metrics:
        comparison = comparison.with_startup
    found = names(comparison)
    problems = [
        problem
        for option, asked in _by_option(wanted).items()
        for problem in unknown(f"--{option}", asked, found[option])
    ]
    if problems:
        raise UserError(problems)
    if wanted == Filter():
        return comparison
    kept = _kept(comparison, comparison.tables, wanted)
    if not kept:
        raise UserError(Problem("no case has all of what was chosen"))
    startup = _kept(comparison, comparison.startup, wanted)
    shown = replace(comparison, tables=kept, startup=startup, blocks=_blocks(comparison, kept))
    return replace(shown, races=(), machines=())  # which are shown whole


def _kept(comparison: Comparison, tables: Iterable[Table], wanted: Filter) -> tuple[Table, ...]:
    parts = (_part(comparison, table, wanted) for table in tables)
    return tuple(table for table in parts if table.rows and (table.metrics or not wanted.metrics))


def _blocks(comparison: Comparison, kept: Sequence[Table]) -> tuple[InBlocks, ...]:
    """The blocks of which the filter keeps every candidate in the metric."""
    shown = [(row, metric) for table in kept for row in table.rows for metric in table.metrics]
    return tuple(
        one
        for one in comparison.blocks
        if all(any(is_of(row.case, case) and one.metric == m for row, m in shown) for case in one.cases)
    )


def unknown(option: str, asked: Iterable[str], known: Sequence[str]) -> list[Problem]:
    """One problem for each unknown name."""
    of_runs = "; contradicted and failed runs have none" if option == "--metric" else ""
    return [
        Problem("unknown name", key=option, value=visible(name), hint=_hint(name, known) + of_runs)
        for name in asked
        if name not in known
    ]


def check_attribute(comparison: Comparison) -> None:
    """Refuse to group by an attribute that no host group has.

    Raises
    ------
    UserError
        with those that there are.
    """
    if comparison.by and comparison.by not in comparison.attributes:
        hint = _hint(comparison.by, comparison.attributes) if comparison.attributes else ""
        hint = hint or "no host group has attributes: in the campaign file or map"
        raise UserError(Problem("unknown attribute", key="--by", value=visible(comparison.by), hint=hint))


def _hint(name: str, known: Sequence[str]) -> str:
    near = did_you_mean(name, known)
    listed = "known: " + ", ".join(known)
    return near if near.startswith("known") or not near else f"{near} {listed}"


def _by_option(wanted: Filter) -> dict[str, tuple[str, ...]]:
    """The names by the option that gives them."""
    return {
        "benchmark": wanted.benchmarks,
        "metric": wanted.metrics,
        "host-group": wanted.host_groups,
        "placement": wanted.placements,
    }


def names(comparison: Comparison) -> dict[str, tuple[str, ...]]:
    """All names that can be chosen, by option, in the campaign's order."""
    rows = [row for table in comparison.tables for row in table.rows]
    metrics = [metric.name for table in comparison.with_startup.tables for metric in table.metrics]
    found = {
        "benchmark": [name for table in comparison.tables for name in _table_names(table)],
        "metric": metrics,
        "host-group": [name for row in rows for name in _host_group_names(comparison, row)],
        "placement": [visible(name) for row in rows for name in variant_names(row.case.placement)],
    }
    return {option: tuple(dict.fromkeys(listed)) for option, listed in found.items()}


def _table_names(table: Table) -> tuple[str, ...]:
    return (visible(table.benchmark), visible(table.label))


def _host_group_names(comparison: Comparison, row: Row) -> tuple[str, ...]:
    """The name alone, as tables show it, and as SYSTEM/HOST_GROUP; the same without the MPI library."""
    machine, group = row.case.machine
    names = (row.case.host_group, group)
    whole = (comparison.place(row), comparison.machine(row))
    return (*map(visible, names), *whole, *(visible(f"{machine}/{name}") for name in names))


def _part(comparison: Comparison, table: Table, wanted: Filter) -> Table:
    """The table with the wanted rows and metrics; without rows where the table is not wanted."""
    if not _chosen(_table_names(table), wanted.benchmarks):
        return replace(table, rows=())
    rows = [
        row
        for row in table.rows
        if _chosen(_host_group_names(comparison, row), wanted.host_groups)
        and _chosen(map(visible, variant_names(row.case.placement)), wanted.placements)
    ]
    metrics = [metric for metric in table.metrics if _chosen((metric.name,), wanted.metrics)]
    shown = tuple(replace(row, cells=tuple(c for c in row.cells if c.metric in metrics)) for row in rows)
    return replace(table, rows=shown, metrics=tuple(metrics), rankings=())


def _chosen(own: Iterable[str], wanted: Iterable[str]) -> bool:
    names = {*wanted}
    return not names or not names.isdisjoint(own)
