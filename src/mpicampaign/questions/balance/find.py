"""The balance of communication, memory and computation: bytes that a process can move while it computes.

Rabenseifner, Balance of HPC Systems Based on HPCC Benchmark Results (2005), section 4: the random ring
bandwidth per process divided by the HPL rate per process; likewise the STREAM copy bandwidth. Both values
come from one run of HPCC, or from repeats of the same number, run as alike as such a run: the same ranks,
nodes, MPI library and placement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from mpicampaign.base.dimension import BALANCE, BANDWIDTH, FLOPS, FRACTION, Dimension
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import MPI_LIBRARY, REFERENCE_BLAS
from mpicampaign.compare.findings import AT_MOST, NOT_COMPARABLE, Recorded
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import Cell, Row
from mpicampaign.compare.tables import Table
from mpicampaign.evidence.fabrics import ADAPTERS
from mpicampaign.mpis import library_version
from mpicampaign.questions.ranking.find import HOST_GROUPS, PLACEMENTS, rank

NAME = "balance"
LARGEST_RISE = 0.05  # of HPL's rate between the two largest matrices; above it both are too small

_HPL, _RING, _COPY = "hpl_flops_per_process", "random_ring_bandwidth", "stream_copy_star"
METRICS = (
    Metric("random ring / HPL", "balance", BALANCE, group="random ring / HPL", headline=True),
    Metric("STREAM copy / HPL", "memory_balance", BALANCE, group="STREAM copy / HPL"),
    Metric("HPL per process", _HPL, FLOPS, group="HPL per process"),
    Metric("random ring per process", _RING, BANDWIDTH, group="random ring per process"),
    Metric("STREAM copy per process", _COPY, BANDWIDTH, group="STREAM copy per process"),
)
_RATIOS = {"balance": _RING, "memory_balance": _COPY}


# The paper's correction of section 4: on several nodes a part of the random ring stays within them.
def _on_nodes(what: str, column: str, dimension: Dimension) -> Metric:
    return Metric(what, column, dimension, group=what)


_WITHIN = _on_nodes("random ring within nodes", "random_ring_within", FRACTION)
_BETWEEN = _on_nodes("random ring between nodes / HPL", "balance_between", BALANCE)
_OF_PROCESS = _on_nodes("random ring between nodes per process", "random_ring_between", BANDWIDTH)
_OF_NODE = _on_nodes("random ring between nodes per node", "random_ring_of_node", BANDWIDTH)
_OF_ADAPTER = _on_nodes("random ring between nodes per adapter", "random_ring_of_adapter", BANDWIDTH)


class _Spread(NamedTuple):
    """Ranks on several nodes, as many on each; ``adapters``: of a node, 0 where unknown."""

    ranks: int
    nodes: int
    adapters: int

    @property
    def per_node(self) -> int:
        return self.ranks // self.nodes

    @property
    def within(self) -> float:
        """The share of a random ring's neighbours that are on the same node, on average over all rings."""
        return (self.per_node - 1) / (self.ranks - 1)


@dataclass(frozen=True, slots=True)
class _Source:
    """A row with one of the columns that a balance needs."""

    row: Row
    cell: Cell

    @property
    def order(self) -> int:
        return self.row.linear_system

    @property
    def median(self) -> float:
        return self.cell.summary.median if self.cell.summary else 0.0


def balance_table(tables: Iterable[Table]) -> Table | None:
    """A row for each place with HPL and anything to divide by its rate; None if there is none."""
    rows = [row for table in tables for row in table.rows if row.counted]
    sources = {  # by column, then by system, host group and placement
        column: grouped(_with(column, rows), lambda source: source.row.place[:3])
        for column in (_HPL, _RING, _COPY)
    }
    balanced = [
        _row(hpl, {column: sources[column].get(place, []) for column in (_RING, _COPY)})
        for place, hpl in sources[_HPL].items()
        if place in sources[_RING] or place in sources[_COPY]
    ]
    if not balanced:
        return None
    balanced, metrics = _between_nodes(balanced)
    rankings = rank(balanced, METRICS, kinds=(PLACEMENTS, HOST_GROUPS))
    return Table(NAME, NAME, "hpcc", metrics, tuple(balanced), rankings)


def _between_nodes(rows: Sequence[Row]) -> tuple[list[Row], tuple[Metric, ...]]:
    """The rows with what crosses between nodes, where any row has several of them."""
    spreads = [_spread(row) for row in rows]
    more: tuple[Metric, ...] = (_WITHIN, _BETWEEN, _OF_PROCESS, _OF_NODE) if any(spreads) else ()
    more += (_OF_ADAPTER,) if any(spread and spread.adapters for spread in spreads) else ()
    extended = [
        replace(row, cells=(*row.cells, *(_crossing(metric, row, spread) for metric in more)))
        for row, spread in zip(rows, spreads, strict=True)
    ]
    return extended, (*METRICS, *more)


def _spread(row: Row) -> _Spread | None:
    """``None`` without a random ring between nodes, and where these have no equal numbers of ranks."""
    counts = {len(run.hosts) for run, _ in row.curves}
    nodes = counts.pop() if len(counts) == 1 else 0
    if row.ranks is None or nodes < 2 or row.ranks % nodes or not _ring(row).values:
        return None
    adapters = row.attributes.get(ADAPTERS, "")
    return _Spread(row.ranks, nodes, int(adapters) if adapters.isascii() and adapters.isdecimal() else 0)


def _ring(row: Row) -> Cell:
    return next(cell for cell in row.cells if cell.metric.column == _RING)


def _crossing(metric: Metric, row: Row, spread: _Spread | None) -> Cell:
    """A column of the row times the share between nodes, in each repeat."""
    balance, ring = row.cells[0], _ring(row)
    values: dict[int, float] = {}
    if spread is not None:
        between = 1 - spread.within
        of, factor = {
            _WITHIN: (dict.fromkeys(ring.by_repeat, 1.0), spread.within),
            _BETWEEN: (balance.by_repeat, between),
            _OF_PROCESS: (ring.by_repeat, between),
            _OF_NODE: (ring.by_repeat, between * spread.per_node),
            _OF_ADAPTER: (
                ring.by_repeat if spread.adapters else {},
                between * spread.per_node / max(1, spread.adapters),
            ),
        }[metric]
        values = {repeat: value * factor for repeat, value in of.items()}
    return Cell.of(metric, values)


def _with(column: str, rows: Iterable[Row]) -> Iterator[_Source]:
    for row in rows:
        cell = next((cell for cell in row.cells if cell.metric.column == column and cell.summary), None)
        if cell and not (row.disturbed or row.apart):
            yield _Source(row, cell)


def _row(hpl: Sequence[_Source], others: dict[str, Sequence[_Source]]) -> Row:
    """The balance of the largest matrix: a rate that is still rising would flatter it."""
    most = max(hpl, key=lambda source: (source.order, source.row.ranks or 0))
    chosen = {column: _nearest(most, sources) for column, sources in others.items()}
    reasons = {column: _refusal(most, other) for column, other in chosen.items()}
    fit = {column: other for column, other in chosen.items() if other and not reasons[column]}
    cells = tuple(_cell(metric, most, fit) for metric in METRICS)
    refused = dict.fromkeys(reason for reason in reasons.values() if reason)
    notes = [Recorded(kind=NOT_COMPARABLE, reason=reason) for reason in refused]
    doubt = _too_small(most, hpl) if fit else ""
    notes += [Recorded(kind=AT_MOST, reason=doubt)] if doubt else []
    order = f"N {most.order}" if most.order else ""
    return replace(
        most.row, label=NAME, cells=cells, notes=tuple(notes), stretches=(), detail=order, at_most=bool(doubt)
    )


def _nearest(hpl: _Source, sources: Sequence[_Source]) -> _Source | None:
    """The series of the same case, else the most alike."""
    same_case = [
        source for source in sources if source.row.case == hpl.row.case and source.row.label == hpl.row.label
    ]
    alike = [source for source in sources if not differing(hpl.row, source.row)]
    return next(iter([*same_case, *alike, *sources]), None)


def _refusal(hpl: _Source, other: _Source | None) -> str:
    """Why the two give no balance; empty if they do, or if there is nothing to compare with."""
    if other is None:
        return ""
    if hpl.row.blas.startswith(REFERENCE_BLAS):
        return f"HPL used {REFERENCE_BLAS}: its rate is that of the library, not of the machine"
    if unlike := differing(hpl.row, other.row):
        return f"{other.row.case.benchmark} and {hpl.row.case.benchmark} differ: {unlike}"
    if not hpl.cell.by_repeat.keys() & other.cell.by_repeat.keys():
        return f"no repeat has both {other.row.case.benchmark} and {hpl.row.case.benchmark}"
    return ""


def differing(mine: Row, other: Row) -> str:
    """In which of ranks, nodes and MPI library the runs of two rows differ; empty if they are alike."""
    pairs = list(zip(_alike(other), _alike(mine), strict=True))
    if _libraries(other) & _libraries(mine):
        pairs.pop()  # the same file, whatever the outputs say of it
    return ", ".join(f"{theirs} and {ours}" for theirs, ours in pairs if theirs != ours)


def _alike(row: Row) -> tuple[str, str, str]:
    runs = [run for run, _ in row.curves]
    nodes = "/".join(map(str, sorted({len(run.hosts) for run in runs})))
    libraries = (run.metadata.get("mpi_library", "") for run in runs)
    mpis = dict.fromkeys(library_version(text) or text or "unknown MPI library" for text in libraries)
    return f"{row.ranks} ranks", f"{nodes} node{'' if nodes == '1' else 's'}", " and ".join(mpis)


def _libraries(row: Row) -> set[str]:
    """The MPI libraries that its runs mapped, by their checksums."""
    return {run.metadata[MPI_LIBRARY] for run, _ in row.curves if MPI_LIBRARY in run.metadata}


def _too_small(most: _Source, hpl: Sequence[_Source]) -> str:
    """Why HPL's rate may be higher with a larger matrix, so that the balance is at most what is shown."""
    smaller = [source for source in hpl if source.order < most.order and source.row.ranks == most.row.ranks]
    if not smaller:
        return "HPL of one size only: with a larger matrix its rate may be higher"
    second = max(smaller, key=lambda source: source.order)
    rise = most.median / second.median - 1
    if rise <= LARGEST_RISE:
        return ""
    return f"HPL's rate rises by {100 * rise:.0f} % from N {second.order} to {most.order}: both are too small"


def _cell(metric: Metric, hpl: _Source, others: dict[str, _Source]) -> Cell:
    """The column of a source, or a ratio in each repeat that has both."""
    if metric.column == _HPL:
        values = hpl.cell.by_repeat
    elif metric.column in _RATIOS:
        other = others.get(_RATIOS[metric.column])
        over, under = other.cell.by_repeat if other else {}, hpl.cell.by_repeat
        values = {repeat: over[repeat] / under[repeat] for repeat in over if under.get(repeat)}
    else:
        values = others[metric.column].cell.by_repeat if metric.column in others else {}
    return Cell.of(metric, values)
