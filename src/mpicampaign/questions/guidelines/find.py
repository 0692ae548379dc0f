"""Performance guidelines: where an operation takes longer than it need, judged by what was measured anyway.

After Träff, Gropp and Thakur, Self-Consistent MPI Performance Guidelines (IEEE TPDS 21, 2010), and Hunold,
Carpen-Amarie, Lübbe and Träff, PGMPI (2016). With p ranks and sizes as IMB and OSU print them, in bytes:

- monotony: an operation takes no longer than on the next larger size
- Allgather(n) <= Alltoall(n) and Gather(n) <= Allgather(n); n is one rank's block, for each other rank
- Allreduce(n) <= Reduce(n) + Bcast(n); n is the whole vector
- Bcast(n) <= Scatter(m) + Allgather(m); n is the whole vector, m one rank's block: the smallest measured one
  of n / p or more

The time is that of the slowest rank. The mean over ranks stands for it where nothing else is printed, but not
in rooted operations, whose leaves finish early. Only rows of one suite meet, with the same place, ranks,
settings and versions. Monotony over the number of ranks: see `mpicampaign.compare.monotony`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

from mpicampaign.base.grouping import grouped
from mpicampaign.compare.findings import ENOUGH, Timed, TuningCliff
from mpicampaign.compare.metrics import curve
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Table
from mpicampaign.questions.balance.find import differing
from mpicampaign.questions.gathers.find import MEAN, SLOWEST
from mpicampaign.statistics.medians import Summary, summarise
from mpicampaign.suites import SUITES
from mpicampaign.suites.suite import ROOTED

FACTOR = 1.25  # smaller violations are not named
_MOCK_UPS = {
    "Allgather": ("Alltoall",),
    "Gather": ("Allgather",),
    "Allreduce": ("Reduce", "Bcast"),
    "Bcast": ("Scatter", "Allgather"),
}
_ALIKE = ("version", "settings", "modules")  # keys of the metadata, beside ranks, nodes and MPI library


@dataclass(frozen=True, slots=True)
class _Operation:
    """A row that times an operation; ``place``: only rows with the same are compared."""

    name: str
    row: Row
    place: tuple[object, ...]
    known: dict[str, dict[int, Summary]] = field(default_factory=dict)  # times that were asked for

    def times(self, column: str) -> Mapping[int, Summary]:
        """Times by size (B), ascending, without 0 B, which does nothing."""
        if column not in self.known:
            self.known[column] = self._times(column)
        return self.known[column]

    def _times(self, column: str) -> dict[int, Summary]:
        values: dict[int, list[float]] = defaultdict(list)
        for _, series in self.row.curves:
            for size, value in curve(series, column).items():
                values[size].append(value)
        return {size: summarise(values[size]) for size in sorted(values) if size * min(values[size]) > 0}


@dataclass(frozen=True, slots=True)
class _Compared:
    """What an operation takes at a size, and what does the same one after the other."""

    size: int
    taken: Summary
    instead: tuple[Timed, ...]
    others: tuple[Summary, ...]

    @property
    def factor(self) -> float:
        return self.taken.median / sum(other.median for other in self.others)

    @property
    def fewest(self) -> int:
        """Runs behind a median."""
        return min(self.taken.n, *(other.n for other in self.others))

    @property
    def violates(self) -> bool:
        """Whether it is violated by more than `FACTOR`, and beyond the intervals."""
        most = sum(other.interval.high if other.interval else other.median for other in self.others)
        least = self.taken.interval.low if self.taken.interval else self.taken.median
        return self.factor > FACTOR and least > most


def with_guidelines(tables: Sequence[Table]) -> list[Table]:
    """The tables, with a note on each row where a guideline is violated; neighbouring sizes are one."""
    operations = [operation for table in tables for operation in _operations(table)]
    rows: dict[int, Row] = {}
    for alike in grouped(operations, lambda operation: operation.place).values():
        for operation in alike:
            if notes := (*_monotony(operation), *_mock_up(operation, alike)):
                rows[id(operation.row)] = replace(operation.row, notes=(*operation.row.notes, *notes))
    return [replace(table, rows=tuple(rows.get(id(row), row) for row in table.rows)) for table in tables]


def _operations(table: Table) -> Iterator[_Operation]:
    suite = SUITES.get(table.suite)
    if suite is None:
        return
    for row in (row for row in table.rows if row.ranked and row.ranks != 1):
        runs = [run for run, _ in row.curves]
        names = {suite.operation(table.series, run.metadata) for run in runs}
        if len(names) == 1 and (name := names.pop()):
            recorded = (tuple(sorted({run.metadata.get(key, "") for run in runs})) for key in _ALIKE)
            qualifiers = table.label.removeprefix(table.series)
            yield _Operation(name, row, (suite.name, *row.place, qualifiers, *recorded))


def _column(operations: Sequence[_Operation]) -> str:
    """The time that all of them have; empty where the mean would mislead."""
    if all(operation.times(SLOWEST) for operation in operations):
        return SLOWEST
    return "" if any(operation.name in ROOTED for operation in operations) else MEAN


def _monotony(operation: _Operation) -> Iterator[TuningCliff]:
    column = _column([operation])
    steps = _steps(operation, column)
    for stretch in _stretches(steps):
        joined = replace(stretch[0], instead=stretch[-1].instead, others=stretch[-1].others)
        if joined.fewest >= ENOUGH or _stands_out(joined, stretch, steps):
            yield _finding(operation, joined, column, (joined.size,))


def _steps(operation: _Operation, column: str) -> list[_Compared]:
    """Each size against the next larger one."""
    times = operation.times(column)
    return [
        _Compared(size, times[size], (Timed(operation.name, larger, times[larger].median),), (times[larger],))
        for size, larger in pairwise(times)
    ]


def _stands_out(fall: _Compared, stretch: Sequence[_Compared], steps: Sequence[_Compared]) -> bool:
    """Whether a fall in few runs is more than noise, which makes lone peaks and other falls.

    With normal noise of 10 %, 6 to 9 % of single runs have one by chance, without this 40 %.
    """
    first = steps.index(stretch[0])
    is_peak = first == 0 or fall.taken.median > 2 * steps[first - 1].taken.median
    others = [*steps[:first], *steps[first + len(stretch) :]]
    return not is_peak and fall.factor > _noise(others)


def _noise(steps: Iterable[_Compared]) -> float:
    """What factors of few runs must exceed: three times the largest fall of a curve, as logarithms."""
    return max([1.0, *(step.factor for step in steps)]) ** 3


def _mock_up(operation: _Operation, alike: Sequence[_Operation]) -> Iterator[TuningCliff]:
    """Others that do the same; not where it is unclear which rows those are."""
    others = [_beside(operation, name, alike) for name in _MOCK_UPS.get(operation.name, ())]
    known = [other for other in others if other is not None]
    if not others or len(known) < len(others):
        return
    column = _column([operation, *known])
    noise = max(_noise(_steps(timed, column)) for timed in (operation, *known))
    for stretch in _stretches(list(_against(operation, known, column))):
        worst = max(stretch, key=lambda step: step.factor)
        # of few runs, one size alone may be noise
        if worst.fewest >= ENOUGH or (len(stretch) > 1 and worst.factor > noise):
            yield _finding(operation, worst, column, tuple(step.size for step in stretch))


def _against(operation: _Operation, others: Sequence[_Operation], column: str) -> Iterator[_Compared]:
    """Each size against what the others take for the same."""
    of_others = [other.times(column) for other in others]
    for size, taken in operation.times(column).items():
        block = _block(operation, size, of_others)
        if block is not None:
            of_block = [times[block] for times in of_others]
            named = zip(others, of_block, strict=True)
            instead = tuple(Timed(other.name, block, times_of.median) for other, times_of in named)
            yield _Compared(size, taken, instead, tuple(of_block))


def _beside(operation: _Operation, name: str, alike: Sequence[_Operation]) -> _Operation | None:
    """The one row of another operation: of the same benchmark if there are several."""
    rows = [other for other in alike if other.name == name and not differing(operation.row, other.row)]
    same_case = [other for other in rows if other.row.case == operation.row.case]
    return next(iter(same_case or rows)) if len(same_case or rows) == 1 else None


def _block(operation: _Operation, size: int, of_others: Sequence[Mapping[int, Summary]]) -> int | None:
    """The size at which the others do the same."""
    common = set.intersection(*map(set, of_others))
    if operation.name != "Bcast":
        return size if size in common else None
    ranks = operation.row.ranks
    return min((block for block in common if block * ranks >= size), default=None) if ranks else None


def _stretches(compared: Sequence[_Compared]) -> list[list[_Compared]]:
    """Neighbouring sizes that violate a guideline."""
    return [list(steps) for violates, steps in groupby(compared, lambda step: step.violates) if violates]


def _finding(operation: _Operation, step: _Compared, column: str, sizes: tuple[int, ...]) -> TuningCliff:
    return TuningCliff(
        taken=Timed(operation.name, step.size, step.taken.median),
        instead=step.instead,
        factor=step.factor,
        sizes=sizes,
        fewest=step.fewest,
        slowest=column == SLOWEST,
    )
