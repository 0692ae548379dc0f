"""Own medians beside the values of public systems, and of others' bundles, that are of like kind.

Like are scope, fabric with its rate, message size, ranks and nodes, and what the benchmark's number means: a
ping-pong's latency is half a round trip for IMB and OSU alike, its bandwidth is not. Bandwidths of nodes with
several adapters are compared with those of as many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mpicampaign.base import dimension
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import CHOSEN_TRANSPORT, CLAIMED_TRANSPORT, Record
from mpicampaign.base.reference import (
    BALANCE,
    LATENCY,
    MESSAGE_RATE,
    PAIR,
    PEAK,
    PUBLIC_SYSTEMS,
    Likeness,
    SystemValue,
    table_values,
)
from mpicampaign.collect.startup import RANKS
from mpicampaign.compare.metrics import Metric, printed_sizes, readings
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.evidence.fabrics import BUFFERS, FABRIC, NODES, PACKED, SCOPE, SHM, fabric_of
from mpicampaign.evidence.plausible import BOUND_SIZE, link_bound
from mpicampaign.questions.balance.find import NAME as OF_BALANCE
from mpicampaign.statistics.medians import Summary, median, summarise
from mpicampaign.suites import sends
from mpicampaign.suites.suite import Active

# Why nothing of like kind is there.
NO_SCOPE, NO_FABRIC, NO_RANKS, NOT_SHM, SHORT = "scope", "fabric", "ranks", "transport", "sizes"
OVER_TCP, TCP = "over TCP", "tcp"
ON_DEVICE, ONE_NODE, UNRANKED, NONE_ALIKE = "device", "one node", "unranked", "none"

# The benchmarks of the table by suite and series, and what it calls the columns that are compared.
_RINGS = {f"{ring}_ring_latency": f"{ring} ring latency" for ring in ("random", "natural")}
_BENCHMARKS = {
    ("imb", "PingPong"): ("IMB PingPong", {"time": LATENCY, "bandwidth": PEAK}),
    ("imb", "Sendrecv"): ("IMB Sendrecv", {"bandwidth": PEAK}),
    ("imb", "Uniband"): ("IMB Uniband", {"bandwidth": PEAK}),
    ("imb", "Biband"): ("IMB Biband", {"bandwidth": PEAK}),
    ("imb", "Allreduce"): ("IMB Allreduce", {"time": LATENCY}),
    ("osu", "MPI Latency"): ("osu_latency", {"time": LATENCY}),
    ("osu", "MPI Multi Latency"): ("osu_multi_lat", {"time": LATENCY}),
    ("osu", "MPI Allreduce Latency"): ("osu_allreduce", {"time": LATENCY}),
    ("osu", "MPI Bandwidth"): ("osu_bw", {"bandwidth": PEAK}),
    ("osu", "MPI Bi-Directional Bandwidth"): ("osu_bibw", {"bandwidth": PEAK}),
    ("osu", "MPI Multiple Bandwidth / Message Rate"): (
        "osu_mbw_mr",
        {"bandwidth": PEAK, "message_rate": MESSAGE_RATE},
    ),
    ("hpcc", "HPCC"): ("HPCC", _RINGS),
    ("kernel", "latency_bandwidth"): ("HPCC", _RINGS),
    ("hpcc", OF_BALANCE): ("HPCC", {"balance": BALANCE}),
}
_DIMENSIONS = {"bandwidth": dimension.BANDWIDTH, "message_rate": dimension.MESSAGE_RATE}
_DIMENSIONS |= {"balance": dimension.BALANCE}
# Sizes of the table (B) at which times are compared: of the small ones the first that was printed.
_SMALL, _LARGE = (8, 0), 1 << 20


@dataclass(frozen=True, slots=True)
class Beside:
    """The median of a row in a metric, and the ``others`` of like kind; ``lacking``: why there are none.

    ``bound``: what a link can carry (B/s), in all ``directions`` that the bandwidth counts (`link_bound`).
    """

    table: Table
    row: Row
    metric: Metric
    summary: Summary
    own: SystemValue
    others: tuple[SystemValue, ...] = ()
    lacking: str = ""
    bound: float | None = None
    directions: int = 1

    @property
    def systems(self) -> dict[str, float]:
        """The median of the values of each system."""
        of_systems = grouped(self.others, lambda other: other.system).items()
        return {name: median([other.value for other in of_system]) for name, of_system in of_systems}


def beside_public(comparison: Comparison, more: Sequence[SystemValue] = ()) -> list[Beside]:
    """Each row with values that the table of public systems may know; ``more``: of others' bundles."""
    comparable = (value for value in (*table_values(PUBLIC_SYSTEMS), *more) if not value.unlike)
    of_kinds = grouped(comparable, lambda value: value.kind.same)
    return [_with_others(beside, of_kinds.get(beside.own.kind.same, ())) for beside in _medians(comparison)]


def values_of(comparison: Comparison, source: str) -> list[SystemValue]:
    """The medians of a bundle's rows as lines of the table."""
    medians = (beside for beside in _medians(comparison) if not beside.lacking)
    return [replace(beside.own, source=source, bundle=True) for beside in medians]


def _medians(comparison: Comparison) -> Iterator[Beside]:
    """The median of each metric of each row that has values."""
    for table in comparison.tables:
        benchmark, columns = _BENCHMARKS.get((table.suite, table.series), ("", {}))
        for row in (row for row in table.rows if row.curves):
            for column, called in columns.items():
                for metric in _metrics(row, column, called):
                    if values := _values(row, metric):
                        yield _beside(table, row, metric, benchmark, values)


def _metrics(row: Row, column: str, called: str) -> Iterator[Metric]:
    """At the sizes of the table that were printed; a large one only where no bandwidth is compared."""
    what = _DIMENSIONS.get(column, dimension.TIME)
    series = [series for _, series in row.curves]
    if called != LATENCY:
        yield Metric(called, column, what)
        return
    sizes = printed_sizes(series)
    small = next((size for size in _SMALL if size in sizes), None)
    large = _LARGE if _LARGE in sizes and "bandwidth" not in series[0].columns else None
    yield from (Metric(called, column, what, size) for size in (small, large) if size is not None)


def _values(row: Row, metric: Metric) -> tuple[float, ...]:
    """A balance is of several series: only its table has it."""
    if metric.name == BALANCE:
        return next(cell.values for cell in row.cells if cell.metric.column == metric.column)
    return tuple(reading.value for reading in readings(metric, row.curves).values())


def _beside(table: Table, row: Row, metric: Metric, benchmark: str, values: Sequence[float]) -> Beside:
    (run, series), summary, place = row.curves[0], summarise(values), row.case
    sent = sends(run.suite, series.benchmark)
    pair, scope = sent is not None and sent.active is Active.FIRST_TWO, run.metadata.get(SCOPE, "")
    between = scope in (NODES, PACKED)
    ranks = PAIR if pair else row.ranks or int(run.startup.get(RANKS, 0)) or None
    nodes = PAIR if pair and between else len(run.hosts) or None
    fabric = fabric_of(run) if between else None
    name = _within(run) if not between else fabric.name if fabric else ""
    kind = Likeness(benchmark, metric.name, metric.size, NODES if between else scope, name, ranks, nodes)
    median_of_row = SystemValue(
        f"{place.system}/{place.host_group} {place.placement}",
        kind,
        summary.median,
        summary.n,
        min(values),
        max(values),
        fabric.rails if fabric else None,
        run.metadata.get("mpi_library", ""),
    )
    peak = metric.name == PEAK
    short = peak and max(printed_sizes(table for _, table in row.curves), default=0) < BOUND_SIZE
    bound = link_bound(run, series) if peak and not short else None
    directions = sent.directions if sent else 1
    lacking = ONE_NODE if pair and scope == PACKED else _unknown(kind, run) or SHORT * short
    lacking = lacking if row.ranked else UNRANKED
    return Beside(table, row, metric, summary, median_of_row, (), lacking, bound, directions)


def _within(run: Record) -> str:
    """Shared memory, where it is known to have carried the messages within a node."""
    transports = (run.metadata.get(key, "") for key in (CLAIMED_TRANSPORT, CHOSEN_TRANSPORT, FABRIC))
    return next((text.split()[0] for text in transports if text.strip()), "")


def _unknown(kind: Likeness, run: Record) -> str:
    """What is not known of a row, so that nothing can be of its kind."""
    if run.metadata.get(BUFFERS, "H H") != "H H":
        return ON_DEVICE
    if kind.metric == BALANCE:
        return "" if kind.scope == NODES else NONE_ALIKE
    if not kind.scope:
        return NO_SCOPE
    if kind.scope != NODES and kind.fabric != SHM:
        return OVER_TCP if kind.fabric == TCP else NOT_SHM
    if not kind.fabric:
        return NO_FABRIC
    return NO_RANKS if kind.ranks is None or kind.nodes is None else ""


def _with_others(beside: Beside, values: Sequence[SystemValue]) -> Beside:
    if beside.lacking:
        return beside
    of_link = beside.metric.name in (PEAK, MESSAGE_RATE)
    others = [value for value in values if not of_link or (value.rails or 1) == (beside.own.rails or 1)]
    return replace(beside, others=tuple(others), lacking="" if others else NONE_ALIKE)
