"""Races of settings: how far each is by its runs, and which candidate beats the default.

A race is a block design that goes on until it is decided (`mpicampaign.verdicts.looks`), beside the default.
Its blocks follow from its results, so that planning asks the same as the report: `races`. Its cells are the
times of each benchmark at each message size; those of all races of a host group share the error. Once every
benchmark has the blocks of the first look, so that the cells are known, each goes on by its cells alone. A
block counts if all its candidates have values or met their time limit, side by side on the same nodes. A
candidate that never gave a value is out.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mpicampaign.base.expectation import LOOKS
from mpicampaign.base.grouping import grouped
from mpicampaign.base.planned_looks import Stage
from mpicampaign.base.records import BLOCK, COMPARED, Case, RaceRules, Record, defined_name, race_rules
from mpicampaign.base.text import visible
from mpicampaign.compare.candidates import (
    candidate_names,
    gave_nothing,
    is_of_race,
    measured_series,
    on_same_nodes,
    side_by_side,
)
from mpicampaign.compare.metrics import Metric, times_at_sizes
from mpicampaign.statistics.comparisons import LEVEL
from mpicampaign.statistics.distributions import Array
from mpicampaign.verdicts.blocks import Ratio, ratio
from mpicampaign.verdicts.looks import (
    LAST_LOOK,
    REFERENCE,
    DecidedCell,
    LookedAt,
    LookRule,
    differences,
    level_to_win,
    look_by_look,
)
from mpicampaign.verdicts.smallest import smallest_difference, spread_of

# What became of a cell, in the words that the reader gets; `WITHIN` and `NOT_SHOWN` of the best setting.
WON, BEST, WITHIN = "won", "none leads", "within the tolerance"
NOT_SHOWN, RUNNING = "not shown to be better", "not decided yet"


class RaceCell(NamedTuple):
    """A benchmark's metric. ``leader``: the best candidate; ``ratio``: to the default, in so many ``blocks``.

    ``p``: at the look that decided, one-sided, corrected for all looks, candidates, cells and races.
    ``seen``: where no look decides, the smallest lead that as many blocks find in 8 of 10 cases.
    """

    benchmark: str
    label: str
    ranks: int | None
    metric: Metric
    outcome: str
    leader: int = REFERENCE
    ratio: Ratio | None = None
    p: float | None = None
    blocks: int = 0
    seen: float | None = None


@dataclass(frozen=True)
class InRace:
    """A race; ``cases``: the candidates of each benchmark, the default first; ``names``: of them.

    ``left``: the number of blocks after which candidates left all cells. ``out``: never gave a value.
    ``runs``: all that are sound.
    """

    design: str
    rules: RaceRules
    names: tuple[str, ...]
    cases: Mapping[str, tuple[Case, ...]]
    cells: tuple[RaceCell, ...]
    stages: Mapping[str, Sequence[Stage]]
    left: tuple[tuple[int, int], ...]
    out: tuple[int, ...]
    runs: tuple[Record, ...]

    @property
    def every_case(self) -> frozenset[Case]:
        """The candidates of all benchmarks."""
        return frozenset(case for candidates in self.cases.values() for case in candidates)

    @property
    def ended(self) -> bool:
        """Whether nothing more is due."""
        return bool(self.cells) and all(cell.outcome != RUNNING for cell in self.cells)

    @property
    def won(self) -> tuple[RaceCell, ...]:
        """The cells in which a setting beats the default; none before the end."""
        return tuple(cell for cell in self.cells if cell.outcome == WON) if self.ended else ()


def races(records: Iterable[Record]) -> tuple[InRace, ...]:
    """All races; the records are those of all their planned runs, in the plan's order."""
    raced = (record for record in records if is_of_race(record))
    designs = grouped(raced, lambda record: (*record.case.machine, record.metadata[BLOCK]))
    return tuple(race for runs in designs.values() for race in _race(runs))


def _race(runs: Sequence[Record]) -> Iterator[InRace]:
    """The race of these runs; none if the benchmarks' candidates differ, as no plan of this program has."""
    named = grouped(runs, lambda run: defined_name(run.case.benchmark))
    benchmarks = [_Benchmark(name, of_name) for name, of_name in named.items()]
    rules = race_rules(runs[0].metadata[COMPARED])
    if not rules or len({len(benchmark.cases) for benchmark in benchmarks}) > 1:
        return
    out = set[int]().union(*(benchmark.out for benchmark in benchmarks))
    all_places = range(len(benchmarks[0].cases))
    places = [place for place in all_places if place not in out]
    if REFERENCE in out or len(places) == 1:
        places = [*all_places]  # no block of them counts
    rule = LookRule(rules.tolerance, _level(benchmarks, places, rules.races))
    courses = [benchmark.course(places, rule) for benchmark in benchmarks]
    names = tuple(candidate_names(benchmarks[0].cases).values())
    yield InRace(
        visible(runs[0].metadata[BLOCK]),
        rules,
        _without_shared_word(names),
        {benchmark.name: benchmark.cases for benchmark in benchmarks},
        tuple(cell for _, cells in courses for cell in cells),
        {benchmark.name: looked.stages for benchmark, (looked, _) in zip(benchmarks, courses, strict=True)},
        _who_left(places, [looked.decision.left_after for looked, _ in courses]),
        tuple(sorted(out)),
        tuple(run for run in runs if run.sound),
    )


def _level(benchmarks: Sequence[_Benchmark], places: Sequence[int], races: int) -> float:
    """At which a candidate wins; 0 before the first look of all benchmarks: their cells are not known."""
    if any(len(benchmark.blocks_behind(places, 0, LOOKS[0])[0]) < LOOKS[0] for benchmark in benchmarks):
        return 0.0
    return level_to_win(len(places), sum(len(benchmark.cells) for benchmark in benchmarks), races)


def _without_shared_word(names: tuple[str, ...]) -> tuple[str, ...]:
    """Of values of lists alone, where one placement or program has them all: ``VARIABLE=2``."""
    shared = f"{names[0].partition(' ')[0]} "
    of_all = all(f"{name} ".startswith(shared) for name in names)
    return tuple(name.removeprefix(shared) for name in names) if of_all else names


def _who_left(places: Sequence[int], left_after: Sequence[Mapping[int, int]]) -> tuple[tuple[int, int], ...]:
    """Who left all cells of all benchmarks, and after how many blocks."""
    gone = set(left_after[0]).intersection(*left_after)
    return tuple((places[who], max(blocks[who] for blocks in left_after)) for who in sorted(gone))


class _Benchmark:
    """The runs of a benchmark's candidates, by place and repeat; its cells."""

    def __init__(self, name: str, runs: Sequence[Record]) -> None:
        of_cases = grouped(runs, lambda run: run.case)
        self.name, self.cases = name, tuple(of_cases)
        self.runs = [{run.repeat: run for run in of_case} for of_case in of_cases.values()]
        self.repeats = sorted({run.repeat for run in runs})
        self.out = {place for place, of_case in enumerate(self.runs) if gave_nothing(of_case.values(), True)}
        sound = [[run for run in of_case.values() if run.sound] for of_case in self.runs]
        self.cells = [
            series
            for series in measured_series(sound, times_at_sizes)
            # what each candidate printed that printed anything
            if all(known or not of_case for known, of_case in zip(series.values, sound, strict=True))
        ]

    def course(self, places: Sequence[int], rule: LookRule) -> tuple[LookedAt, list[RaceCell]]:
        """Look after look, as far as the blocks go; without a level up to the first one."""
        looked = look_by_look(places, len(self.cells), self.blocks_behind, rule)
        cells = [self._cell(number, looked, places, rule.to_win or 0.0) for number in range(len(self.cells))]
        return looked, cells

    def _cell(self, number: int, looked: LookedAt, places: Sequence[int], to_win: float) -> RaceCell:
        """How far a cell is; the costs are of the candidates at the ``places``."""
        (label, ranks, metric, _), cell = self.cells[number], looked.decision.cells[number]
        costs = looked.costs[:, :, number]
        both = costs[:, [REFERENCE, cell.best]]
        both = both[~np.isnan(both).any(axis=1)]
        sign = 1 if metric.lower_is_better else -1
        led = ratio(sign * both) if cell.end and cell.best != REFERENCE else None
        p = min(1.0, cell.p * LEVEL / to_win) if led else None
        undecided, seen = cell.end == LAST_LOOK and cell.p > to_win, None
        if undecided:
            at_look = costs[: looked.decision.rows]
            others = (who for who in cell.remaining if who != REFERENCE)
            spread = max(
                spread_of(differences(at_look[:, REFERENCE], at_look[:, who]).tolist()) for who in others
            )
            seen = smallest_difference(len(at_look), spread, 2 * to_win, within=True)
        names = self.name, visible(label), ranks, metric
        return RaceCell(*names, _outcome(cell, undecided), places[cell.best], led, p, len(both), seen)

    def blocks_behind(self, running: Sequence[int], after: int, blocks: int) -> tuple[list[int], Array]:
        """The first blocks behind a repeat that count, and their costs."""
        blocks_at = {repeat: self._block(repeat, running) for repeat in self.repeats if repeat > after}
        runs = {
            repeat: [self.runs[place][repeat] for place in running]
            for repeat, costs in blocks_at.items()
            if costs
        }
        counted = sorted(side_by_side(runs))[:blocks]
        costs = np.array([blocks_at[repeat] for repeat in counted])
        shape = len(counted), len(running), len(self.cells)
        return counted, costs.reshape(shape)

    def _block(self, repeat: int, running: Collection[int]) -> list[list[float]]:
        """The logarithms of the times of each candidate in a block; empty if it does not count."""
        runs = [run for place in running if (run := self.runs[place].get(repeat))]
        costs = [values for place in running if (values := self._costs(place, repeat))]
        return costs if len(costs) == len(running) and on_same_nodes(runs) else []

    def _costs(self, place: int, repeat: int) -> list[float]:
        """The costs of a run by cell; empty if the run does not count."""
        run = self.runs[place].get(repeat)
        if run and run.timed_out:
            return [math.inf] * len(self.cells)
        if run is None or run.disturbed:
            return []
        values = ((cell.metric, cell.values[place].get(repeat)) for cell in self.cells)
        costs = [metric.cost(value) for metric, value in values if value]
        return costs if len(costs) == len(self.cells) else []


def _outcome(cell: DecidedCell, undecided: bool) -> str:
    if not cell.end:
        return RUNNING
    if cell.best == REFERENCE:
        return BEST
    return WON if cell.wins else NOT_SHOWN if undecided else WITHIN
