"""The comparison, from which tables, figures and the report are made: rows, with published rows beside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from mpicampaign.base.records import WITH, Record
from mpicampaign.base.text import visible
from mpicampaign.compare.findings import (
    GIVEN_UP,
    NO_BOUND,
    NO_LARGE_SIZE,
    NOT_AT_SIZE,
    NOT_COMPARABLE,
    NOT_PRINTED,
    OF_ONE_SERIES,
    Absence,
    Note,
)
from mpicampaign.compare.metrics import Metric, gave_up, useful_bandwidth
from mpicampaign.compare.rows import PublishedRow, Row
from mpicampaign.compare.states import NO_STATES, States
from mpicampaign.questions.blocks.find import InBlocks
from mpicampaign.questions.configurations.find import Configurations
from mpicampaign.questions.decided.find import ByLooks
from mpicampaign.questions.machine.find import Machine
from mpicampaign.questions.over_groups.find_few import OfFew, pairs_of_few
from mpicampaign.questions.over_groups.find_settings import OverGroups, over_groups
from mpicampaign.questions.races.find import InRace
from mpicampaign.questions.ranking.find import Ranking
from mpicampaign.suites import is_baseline
from mpicampaign.suites.suite import UsefulBandwidth
from mpicampaign.verdicts.compare import APART_IN_TIME


@dataclass(frozen=True)
class Table:
    """All rows of one series label of one benchmark; every row has a cell for each metric."""

    benchmark: str
    label: str
    suite: str
    metrics: tuple[Metric, ...]
    rows: tuple[Row, ...]
    rankings: tuple[Ranking, ...]
    published: tuple[PublishedRow, ...] = ()

    @property
    def title(self) -> str:
        """The label, with the benchmark in which it was measured where its name differs."""
        if self.label.startswith(self.benchmark):
            return visible(self.label)
        defined = self.benchmark.partition(" ")[0]  # of a variant: its series have the name of the definition
        rest = self.label.removeprefix(defined)
        return visible(self.benchmark + (rest if rest != self.label else f": {self.label}"))

    @property
    def series(self) -> str:
        """The name of its series: the label without its qualifiers."""
        return self.label.partition(" (")[0]

    @property
    def useful(self) -> UsefulBandwidth | None:
        """What its bandwidth counts, where that is delivered blocks."""
        return useful_bandwidth(self.suite, self.series)

    @property
    def is_baseline(self) -> bool:
        """Whether other series of the same runs are compared with its own."""
        return is_baseline(self.suite, self.label)

    @property
    def headlines(self) -> tuple[Metric, ...]:
        """The metrics that are ranked."""
        return tuple(metric for metric in self.metrics if metric.headline and not self.is_baseline)

    @cached_property
    def several_ranks(self) -> bool:
        """Whether its rows have several numbers of ranks."""
        return len({row.ranks for row in self.rows if row.ranks is not None}) > 1

    @cached_property
    def over_groups(self) -> tuple[OverGroups, ...]:
        """The placements over several host groups, for each headline metric."""
        return tuple(over_groups(self.headlines, self.rankings))


@dataclass(frozen=True)
class Comparison:
    """Everything that tables, figures and the report show."""

    tables: tuple[Table, ...]
    records: tuple[Record, ...]
    table_sizes: tuple[int, ...]
    systems: tuple[str, ...]  # under test, in the order of the records
    states: States = NO_STATES  # of their machines
    by: str = ""  # the attribute of host groups by which rows are grouped
    blocks: tuple[InBlocks, ...] = ()  # of its block designs
    races: tuple[InRace, ...] = ()
    decided: tuple[ByLooks, ...] = ()  # by planned looks
    machines: tuple[Machine, ...] = ()  # whose nodes or pairs are compared one by one
    configurations: tuple[Configurations, ...] = ()  # of host groups whose nodes differ
    startup: tuple[Table, ...] = ()  # how long the ranks took to start: of each benchmark

    @property
    def with_startup(self) -> Comparison:
        """With start-up among the metrics of all tables, as if the benchmarks had printed it."""
        return replace(self, tables=(*self.tables, *self.startup), startup=())

    @cached_property
    def of_few(self) -> tuple[OfFew, ...]:
        """Placements, host groups and MPI libraries of few repeats, compared over sizes."""
        return pairs_of_few(
            (table.suite, table.benchmark, ranking)
            for table, ranking in self.rankings
            if ranking.metric in table.headlines[:1]
        )

    @cached_property
    def several(self) -> bool:
        """Whether there is more than one system, with whichever MPI libraries."""
        return len({name.partition(WITH)[0] for name in self.systems}) > 1

    @property
    def rankings(self) -> tuple[tuple[Table, Ranking], ...]:
        """The rankings of all tables."""
        return tuple((table, ranking) for table in self.tables for ranking in table.rankings)

    @property
    def apart_in_time(self) -> bool:
        """Whether any two are not tested since they were measured one after the other."""
        pairs = (pair for _, ranking in self.rankings for pair in ranking.pairs)
        return any(pair.verdict.reason == APART_IN_TIME for pair in pairs)

    @property
    def tested(self) -> bool:
        """Whether tests over repeats are of any use: not where none is made, and more would not help."""
        alone = bool(self.blocks or self.races) and not self.rankings
        return not (self.apart_in_time or alone) or any(ranking.tested for _, ranking in self.rankings)

    def place(self, row: Row) -> str:
        """The row's host group and MPI library: with its system and the value it is grouped by, as needed."""
        return self._named(row, row.case.host_group)

    def machine(self, row: Row) -> str:
        """The row's host group with its system and the value it is grouped by, without its MPI library."""
        return self._named(row, row.case.machine[1])

    def _named(self, row: Row, name: str) -> str:
        level = row.attributes.get(self.by)
        name = f"{row.case.machine[0]}/{name}" if self.several else name
        return visible(f"{name} ({level})" if level else name)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of all attributes of its host groups."""
        return tuple(dict.fromkeys(name for record in self.records for name in record.attributes))

    def notes(self) -> list[tuple[Table, Row, Note]]:
        """Each note once: notes on whole runs are in each table of a benchmark."""
        first_of: dict[tuple[object, ...], tuple[Table, Row, Note]] = {}
        for table in self.tables:
            for row in table.rows:
                for note in row.notes:
                    label = table.label if note.kind in OF_ONE_SERIES else None
                    first_of.setdefault((row.case, label, note), (table, row, note))
        return list(first_of.values())

    def coverages(self) -> dict[int, float]:
        """The coverage of the intervals by the number of repeats, for those that occur."""
        summaries = [cell.summary for table in self.tables for row in table.rows for cell in row.cells]
        coverages = {s.n: s.interval.coverage for s in summaries if s is not None and s.interval is not None}
        return dict(sorted(coverages.items()))


def absence_of(row: Row, metric: Metric) -> Absence:
    """Why a row has no value of a metric; empty if it has."""
    if row.absence or row.cell(metric).summary is not None:
        return row.absence
    if refused := tuple(note for note in row.notes if note.kind == NOT_COMPARABLE):
        return refused
    if not metric.bound and any(gave_up(series, metric) for _, series in row.curves):
        return (Note(kind=GIVEN_UP),)
    if not metric.bound:
        return (Note(kind=NOT_PRINTED if metric.size is None else NOT_AT_SIZE),)
    return (Note(kind=NO_LARGE_SIZE if row.shows(metric) else NO_BOUND),)
