"""Races of settings: how far each is by its runs, and which candidate beats the default on fresh blocks.

A race is a block design whose blocks follow from its results, so that planning asks the same as the report:
`races`. Its cells are the times of each benchmark at each message size. A block counts for a benchmark if all
candidates of the stage have their values in it or met their time limit, on the same nodes. A candidate that
never gave a value is out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpicampaign.compare.blocks import candidate_names, is_of_race, on_same_nodes, series_label, series_of
from mpicampaign.compare.metrics import Metric, read, times_at_sizes
from mpicampaign.grouping import grouped
from mpicampaign.records import BLOCK, BLOCKS, COMPARED, MISSING, defined_name, race_rules
from mpicampaign.statistics.blocks import Ratio, ratio
from mpicampaign.statistics.comparisons import LEVEL
from mpicampaign.statistics.race import DEFAULT, Race, confirmed, fresh_blocks, race, winners
from mpicampaign.suites import is_baseline
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from mpicampaign.records import Case, RaceRules, Record

    Array = npt.NDArray[np.float64]

# What became of a cell, in the words that the reader gets; `WITHIN` and `NOT_CONFIRMED` of the best setting.
WON, BEST, WITHIN = "won", "none leads", "within the tolerance"
NOT_CONFIRMED, RUNNING = "not confirmed", "not decided yet"


class Stage(NamedTuple):
    """So many blocks of the candidates ``running``, by their places; ``repeats``: those that count so far."""

    running: frozenset[int]
    blocks: int
    repeats: tuple[int, ...]


class RaceCell(NamedTuple):
    """A benchmark's metric. ``leader``: the best candidate; ``ratio``: to the default, in its proof.

    ``p``: that of the proof on fresh blocks, one-sided, corrected for all races of the host group.
    """

    benchmark: str
    label: str
    ranks: int | None
    metric: Metric
    outcome: str
    leader: int = DEFAULT
    ratio: Ratio | None = None
    p: float | None = None


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
    stages: Mapping[str, tuple[Stage, ...]]
    left: tuple[tuple[int, int], ...]
    out: tuple[int, ...]
    fresh: int
    runs: tuple[Record, ...]

    @property
    def every_case(self) -> frozenset[Case]:
        """The candidates of all benchmarks."""
        return frozenset(case for own in self.cases.values() for case in own)

    @property
    def ended(self) -> bool:
        """Whether nothing more is due."""
        return all(each.outcome != RUNNING for each in self.cells)

    @property
    def won(self) -> tuple[RaceCell, ...]:
        """The cells in which a setting beats the default."""
        return tuple(each for each in self.cells if each.outcome == WON)


def races(records: Iterable[Record]) -> tuple[InRace, ...]:
    """All races; the records are those of all their planned runs, in the plan's order."""
    own = (record for record in records if is_of_race(record))
    designs = grouped(own, lambda record: (*record.case.machine, record.metadata[BLOCK]))
    return tuple(each for runs in designs.values() for each in _race(runs))


class _Benchmark:
    """The runs of a benchmark's candidates, by place and repeat; its cells."""

    def __init__(self, name: str, runs: Sequence[Record]) -> None:
        of_cases = grouped(runs, lambda run: run.case)
        self.name, self.cases = name, tuple(of_cases)
        self.runs = [{run.repeat: run for run in of_case} for of_case in of_cases.values()]
        self.repeats = sorted({run.repeat for run in runs})
        self.out = {place for place, own in enumerate(self.runs) if _never(own.values())}
        self.cells = self._cells()

    def _cells(self) -> list[tuple[str, int | None, Metric]]:
        """What each candidate printed that printed anything."""
        sound = [[run for run in own.values() if run.sound] for own in self.runs]
        cells = []
        suite = next((run.suite for own in sound for run in own), "")
        printed = dict.fromkeys(
            (series_label(run.case, one.label), one.ranks) for run in sound[0] for one in run.series
        )
        for label, ranks in printed:
            series = [one for own in sound for run in own if (one := series_of(run, label, ranks))]
            metrics = () if is_baseline(suite, label) else times_at_sizes(suite, series)
            for metric in metrics:
                if all(not own or any(_value(run, label, ranks, metric) for run in own) for own in sound):
                    cells.append((label, ranks, metric))
        return cells

    def costs(self, repeat: int, running: Collection[int]) -> dict[int, list[float]] | None:
        """The logarithms of the times of each candidate in a block; ``None`` if it does not count."""
        runs = {place: run for place in running if (run := self.runs[place].get(repeat))}
        costs = {place: own for place, run in runs.items() if (own := self._costs(run))}
        whole = len(costs) == len(running) and on_same_nodes(runs.values())
        return costs if whole else None

    def _costs(self, run: Record) -> list[float] | None:
        if run.timed_out:
            return [math.inf] * len(self.cells)
        if run.disturbed:
            return None
        values = [_value(run, *cell) for cell in self.cells]
        signs = (1 if metric.lower_is_better else -1 for *_, metric in self.cells)
        costs = [sign * math.log(value) for sign, value in zip(signs, values, strict=True) if value]
        return costs if len(costs) == len(self.cells) else None

    def stage(
        self, running: Collection[int], after: int, blocks: int
    ) -> tuple[Stage, list[dict[int, list[float]]]]:
        """The first blocks behind a repeat that count."""
        counted: dict[int, dict[int, list[float]]] = {}
        for repeat in self.repeats:
            if (
                repeat > after
                and len(counted) < blocks
                and (costs := self.costs(repeat, running)) is not None
            ):
                counted[repeat] = costs
        return Stage(frozenset(running), blocks, tuple(counted)), list(counted.values())


def _never(runs: Iterable[Record]) -> bool:
    """Whether a candidate was tried, and neither gave a value nor met its time limit."""
    tried = [run for run in runs if run.status != MISSING]
    return bool(tried) and not any(run.sound or run.timed_out for run in tried)


def _value(run: Record, label: str, ranks: int | None, metric: Metric) -> float | None:
    series = series_of(run, label, ranks)
    reading = read(metric, series, run.series) if series else None
    return reading.value if reading and reading.value > 0 else None


def _race(runs: Sequence[Record]) -> Iterator[InRace]:
    """None where the benchmarks have different candidates: no plan of this program has that."""
    named = grouped(runs, lambda run: defined_name(run.case.benchmark))
    benchmarks = [_Benchmark(name, own) for name, own in named.items()]
    rules = race_rules(runs[0].metadata[COMPARED])
    if rules and len({len(each.cases) for each in benchmarks}) == 1:
        yield _Follow(benchmarks, rules).found(visible(runs[0].metadata[BLOCK]))


@lru_cache(maxsize=64)
def _race_of(costs: bytes, shape: tuple[int, ...], rules: RaceRules) -> Race:
    """Each planning asks the same of the blocks so far."""
    return race(np.frombuffer(costs).reshape(shape), *rules)


def _short(names: tuple[str, ...]) -> tuple[str, ...]:
    """Values of lists alone, where the default has the name of all: ``VARIABLE=2``."""
    return tuple(name.removeprefix(f"{names[0]} ") for name in names)


class _Follow:
    """A race from its first block on, as far as its runs go."""

    def __init__(self, benchmarks: Sequence[_Benchmark], rules: RaceRules) -> None:
        self._benchmarks, self._rules = benchmarks, rules
        self._stages: dict[str, list[Stage]] = {each.name: [] for each in benchmarks}
        self._out = set[int]().union(*(each.out for each in benchmarks))
        self._places = [place for place in range(len(benchmarks[0].cases)) if place not in self._out]
        self._cells = [(each, cell) for each in benchmarks for cell in each.cells]
        self._left: list[tuple[int, int]] = []

    def found(self, design: str) -> InRace:
        cases = {each.name: each.cases for each in self._benchmarks}
        cells, fresh = self._decided()
        return InRace(
            design,
            self._rules,
            _short(tuple(candidate_names(self._benchmarks[0].cases).values())),
            cases,
            tuple(cells),
            {name: tuple(stages) for name, stages in self._stages.items()},
            tuple(self._left),
            tuple(sorted(self._out)),
            fresh,
            tuple(run for each in self._benchmarks for own in each.runs for run in own.values() if run.sound),
        )

    def _decided(self) -> tuple[list[RaceCell], int]:
        if DEFAULT in self._out or len(self._places) < 3 or not self._cells:
            self._take({each.name: range(len(each.cases)) for each in self._benchmarks}, BLOCKS)
            return [self._cell(place, RUNNING) for place in range(len(self._cells))], 0
        state, costs = self._run()
        leaders = {place: self._places[each.best] for place, each in enumerate(state.cells)}
        if state.due:
            return [self._cell(place, RUNNING, leader) for place, leader in leaders.items()], 0
        return self._confirm(leaders, winners(state, costs, self._rules.tolerance))

    def _cell(self, place: int, outcome: str, leader: int = DEFAULT, *proof: object) -> RaceCell:
        benchmark, (label, ranks, metric) = self._cells[place]
        return RaceCell(benchmark.name, visible(label), ranks, metric, outcome, leader, *proof)  # type: ignore[arg-type]

    def _run(self) -> tuple[Race, Array]:
        """Stage by stage; whom a stage leaves out has left after the blocks so far."""
        costs = np.empty((0, len(self._places), len(self._cells)))
        while True:
            state = _race_of(costs.tobytes(), costs.shape, self._rules)
            still = state.due or frozenset[int]().union(*(each.left for each in state.cells))
            gone = {place for place, _ in self._left}
            self._left += [
                (place, len(costs))
                for index, place in enumerate(self._places)
                if index not in still and place not in gone and len(costs)
            ]
            if not state.due:
                return state, costs
            running = [self._places[index] for index in sorted(state.due)]
            due = state.blocks - len(costs)
            rows = self._take({each.name: running for each in self._benchmarks}, due)
            if len(rows) < due:
                return state, costs
            costs = np.concatenate([costs, rows])

    def _confirm(self, leaders: Mapping[int, int], won: Mapping[int, int]) -> tuple[list[RaceCell], int]:
        """The winners on fresh blocks; elsewhere the default stays."""
        due = fresh_blocks(len(won), self._rules.races) if won else 0
        running = {
            each.name: sorted({DEFAULT, *(leaders[n] for n in won if self._cells[n][0] is each)})
            for each in self._benchmarks
        }
        costs = self._take({name: places for name, places in running.items() if len(places) > 1}, due)
        p = confirmed(costs, won, self._rules.races) if len(costs) == due else {}
        cells = []
        for place, leader in leaders.items():
            if place not in won:
                cells.append(self._cell(place, WITHIN if leader else BEST, leader))
            elif not p:
                cells.append(self._cell(place, RUNNING, leader))
            else:
                sign = 1 if self._cells[place][1][2].lower_is_better else -1
                proof = ratio(sign * costs[:, [DEFAULT, won[place]], place])
                outcome = WON if p[place] <= LEVEL else NOT_CONFIRMED
                cells.append(self._cell(place, outcome, leader, proof, p[place]))
        return cells, due

    def _take(self, running: Mapping[str, Collection[int]], blocks: int) -> Array:
        """The blocks of a further stage that all benchmarks in it have; what did not run is not a number."""
        rows = np.full((blocks, len(self._places), len(self._cells)), np.nan)
        whole = blocks
        for benchmark in self._benchmarks:
            if benchmark.name not in running:
                continue
            before = [repeat for stage in self._stages[benchmark.name] for repeat in stage.repeats]
            stage, counted = benchmark.stage(running[benchmark.name], max(before, default=0), blocks)
            self._stages[benchmark.name].append(stage)
            own = [n for n, (each, _) in enumerate(self._cells) if each is benchmark]
            for row, costs in enumerate(counted):
                for place, values in costs.items():
                    rows[row, self._places.index(place), own] = values
            whole = min(whole, len(counted))
        return rows[:whole]
