"""Searches for slow nodes, links and switches: a metric of the runs of `each`, measured in rounds.

A member is a node, or a pair of nodes. Its cost in a round is the logarithm of what should be low; a run
that failed or met its time limit costs infinitely much. A disturbed run keeps its value: a node that a
stray process slows is slow. The error of 5 % is over all metrics of a host group.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median  # of infinite values, too
from typing import NamedTuple

from mpicampaign.base.dimension import BANDWIDTH, CLOCK, TIME
from mpicampaign.base.grouping import grouped
from mpicampaign.base.presentation import TABLE_SIZES
from mpicampaign.base.records import (
    CLOCK_RATE,
    COPY,
    EACH,
    EACH_NODES,
    EACH_SWITCHES,
    EACH_TOLERANCE,
    FAILED,
    MISSING,
    NODE,
    NOT_AVAILABLE,
    OK,
    PAIR,
    ROUND,
    ROUND_TRIP,
    WITH,
    Case,
    Record,
    Series,
    defined_name,
)
from mpicampaign.base.waves import ROUNDS, waves_key
from mpicampaign.compare.metrics import Metric, choose_metrics, read
from mpicampaign.compare.timed_runs import seconds
from mpicampaign.statistics.against_controls import Round
from mpicampaign.statistics.comparisons import LEVEL
from mpicampaign.statistics.links import LinkSearch, PairRound, search_links
from mpicampaign.statistics.slow_members import SCREEN, Search, search_waves
from mpicampaign.suites import is_baseline

Best = Callable[..., float]

SLOW_ONE, UNDECIDED = "slow", "not decided"  # what a member is, in the words that the reader gets
ALL_PAIRS = 128  # nodes: of more, a sweep is not over all pairs
APART = 600  # s in which no run of a round was under way: what follows is another stretch


_UNITS = {0: NODE, 1: PAIR}  # by the spaces between the names of the nodes
_ROUND, _TOLERANCE = re.compile("[0-9]{1,8}"), re.compile(r"0(?:\.[0-9]{1,9})?")


class Subject(NamedTuple):
    """What is measured on each member, as the campaign file names it."""

    system: str
    host_group: str
    placement: str
    benchmark: str
    unit: str  # node or pair


class RoundPart(NamedTuple):
    """The runs of a round that were made side by side, by member."""

    number: int
    runs: Mapping[str, Record]

    def holds(self, member: str) -> bool:
        """Whether a member, or a node of one, was measured."""
        return member in self.runs or any(member in nodes_of(other) for other in self.runs)

    @property
    def times(self) -> tuple[str, str]:
        """When the first began and the last ended; empty where no run says it."""
        begins = [run.started for run in self.runs.values() if run.started]
        ends = [run.ended for run in self.runs.values() if run.ended]
        return min(begins, default=""), max(ends, default="")


@dataclass(frozen=True)
class MachineSearch:
    """One metric on all members.

    ``costs``: of each of its ``stretches``, by member: logarithms of what should be low. ``found``: nodes;
    of pairs also links and switches.
    """

    subject: Subject
    label: str
    metric: Metric
    tolerance: float
    stretches: tuple[RoundPart, ...]
    costs: tuple[Mapping[str, float], ...]
    found: LinkSearch

    @property
    def is_probe(self) -> bool:
        """Whether it is of the machine itself, not of what the benchmark printed."""
        return self.label in _PROBES

    @property
    def parts(self) -> tuple[Search, ...]:
        """Of switches, where they are known, nodes, and links."""
        links = self.found
        return (*([links.switches] if links.switches else []), links.nodes, links.links)

    @cached_property
    def alone(self) -> set[str]:
        """Nodes that were measured beside fewer than two others."""
        return _alone(self.stretches) if self.subject.unit == NODE else set()

    @cached_property
    def slowdowns(self) -> Mapping[str, float]:
        """By member: its cost by the median of its round, less 1; the median over rounds."""
        return _medians(_deviations(self.costs), lambda cost: math.expm1(min(cost, 700.0)))

    @cached_property
    def node_slowdowns(self) -> Mapping[str, float]:
        """By node: its cost by the median of its round, less 1; of pairs over all partners."""
        alone = ((node, cost) for member, cost in _deviations(self.costs) for node in nodes_of(member))
        return _medians(alone, lambda cost: math.expm1(min(cost, 700.0)))

    @cached_property
    def values(self) -> Mapping[str, float]:
        """The median of each member's values, in SI units."""
        sign = 1 if self.metric.lower_is_better else -1
        costs = (item for of_round in self.costs for item in of_round.items() if math.isfinite(item[1]))
        return _medians(costs, lambda cost: math.exp(sign * cost))

    @cached_property
    def verdicts(self) -> Mapping[str, str]:
        """What is known of nodes, links and switches that a reader must know of."""
        undecided = {suspect.member: UNDECIDED for part in self.parts for suspect in part.undecided}
        return undecided | {suspect.member: SLOW_ONE for part in self.parts for suspect in part.named}

    def times(self, member: str) -> tuple[str, str]:
        """When the rounds began and ended that show a node, link or switch to be slow; or empty."""
        naming = (part for part in self.parts if any(suspect.member == member for suspect in part.named))
        numbers = {number for part in naming for number in part.confirm}
        rounds = [part for part in self.stretches if part.number in numbers]
        times = [part.times for part in [part for part in rounds if part.holds(member)] or rounds]
        begins, ends = ([*filter(None, side)] for side in zip(*times, strict=True))
        return min(begins, default=""), max(ends, default="")


def _deviations(rounds: Iterable[Mapping[str, float]]) -> Iterator[tuple[str, float]]:
    """Each cost less the median of its round."""
    for costs in rounds:
        middle = median([*costs.values()]) if costs else math.inf
        if math.isfinite(middle):
            yield from ((member, cost - middle) for member, cost in costs.items())


def _medians(items: Iterable[tuple[str, float]], of: Callable[[float], float]) -> dict[str, float]:
    by_name = grouped(items, lambda item: item[0])
    return {name: of(median([value for _, value in alike])) for name, alike in by_name.items()}


# From records


def is_of_machine(record: Record) -> bool:
    """Whether it is a member's run, which takes no part in the ordinary comparison."""
    metadata = record.metadata
    return (
        _UNITS.get(metadata.get(EACH_NODES, " ").count(" ")) == metadata.get(EACH)
        and _ROUND.fullmatch(metadata.get(ROUND, "")) is not None
        and _TOLERANCE.fullmatch(metadata.get(EACH_TOLERANCE, "")) is not None
    )


def nodes_of(member: str) -> list[str]:
    """The nodes of a member: ``n001``, ``n001+n002``."""
    return member.split("+")


def nodes_of_run(run: Record) -> list[str]:
    return sorted(run.metadata[EACH_NODES].split(" "))


def member_of(run: Record) -> str:
    return "+".join(nodes_of_run(run))


def switches_of(runs: Iterable[Record]) -> dict[str, str]:
    leaf_of: dict[str, str] = {}
    for run in runs:
        names = run.metadata.get(EACH_SWITCHES, "").split(" ")
        nodes = run.metadata[EACH_NODES].split(" ")
        leaf_of.update(zip(nodes, names, strict=True) if len(names) == len(nodes) and all(names) else ())
    return leaf_of


def declared_group(case: Case) -> str:
    """The host group without the member's name."""
    return defined_name(case.host_group) + (WITH + case.library if case.library else "")


def searches_of(records: Sequence[Record], until: float = math.inf) -> Iterator[MachineSearch]:
    """All metrics of a host group, in the rounds up to a number."""
    subjects = _by_subject(records)
    all_measured = [(subject, measured) for subject, runs in subjects.items() for measured in _measured(runs)]
    stretches = {subject: _stretches(runs, until) for subject, runs in subjects.items()}
    beside = grouped(all_measured, lambda of_subject: (of_subject[0].placement, of_subject[0].unit))
    for alike in beside.values():
        for turn, (subject, measured) in enumerate(alike):
            turns = _Turns(turn, len(alike))
            level = LEVEL / len(all_measured)
            yield _search(subject, subjects[subject], stretches[subject], measured, level, turns)


def _by_subject(records: Iterable[Record]) -> dict[Subject, list[Record]]:
    def subject(run: Record) -> Subject:
        case = run.case
        return Subject(case.system, declared_group(case), case.placement, case.benchmark, run.metadata[EACH])

    return grouped(records, subject)


class _Measured(NamedTuple):
    """A metric, and how it is read from a run; ``label``: of its series, or the probe's name."""

    label: str
    metric: Metric
    value: Callable[[Record], float | None]


def _measured(runs: Sequence[Record]) -> Iterator[_Measured]:
    """The headline metrics of what the runs printed; of nodes also the probes of the machine."""
    printed: dict[tuple[str, int | None], list[Series]] = {}
    for run in runs:
        for series in run.series if run.sound else ():
            printed.setdefault((series.label, series.ranks), []).append(series)
    suite = runs[0].suite
    for (label, ranks), tables in printed.items():
        if not is_baseline(suite, label):
            metrics = choose_metrics(suite, tables, TABLE_SIZES)
            yield from (_printed(label, ranks, metric) for metric in metrics if metric.headline)
    if runs[0].metadata[EACH] == NODE:
        yield from _probed(runs)


def _printed(label: str, ranks: int | None, metric: Metric) -> _Measured:
    def value(run: Record) -> float | None:
        series = next(
            (series for series in run.series if (series.label, series.ranks) == (label, ranks)), None
        )
        reading = read(metric, series, run.series) if series else None
        return reading.value if reading else None

    return _Measured(label, metric, value)


_NOISY = (COPY, ROUND_TRIP)  # probes that ask for no rounds: what they show by the way is named
# How the values that a run probed at several moments become one.
_PROBES = {CLOCK_RATE: (CLOCK, min), COPY: (BANDWIDTH, max), ROUND_TRIP: (TIME, min)}


def _probed(runs: Sequence[Record]) -> Iterator[_Measured]:
    """Clock rate, copy, and the round trip of a cache line at each distance of two CPUs."""
    for kind, (dimension, best) in _PROBES.items():
        for distance in dict.fromkeys(_distance(place) for run in runs for place in run.probes.get(kind, ())):
            name = f"{kind}, {distance}" if distance else kind

            def value(
                run: Record, kind: str = kind, distance: str = distance, best: Best = best
            ) -> float | None:
                places = run.probes.get(kind, {}).items()
                return best(
                    [best(values) for place, values in places if _distance(place) == distance], default=None
                )

            yield _Measured(kind, Metric(name, kind, dimension, headline=True), value)


def _distance(place: str) -> str:
    """The distance of two CPUs, after the name of their host; empty for a whole host."""
    return place.partition(", ")[2]


def _search(
    subject: Subject,
    runs: Sequence[Record],
    stretches: Sequence[RoundPart],
    measured: _Measured,
    level: float,
    turns: _Turns,
) -> MachineSearch:
    costs = [_costs(stretch, measured) for stretch in stretches]
    tolerance = float(runs[0].metadata[EACH_TOLERANCE])
    rounds = [
        (stretch.number, stretch_costs)
        for stretch, stretch_costs in zip(stretches, costs, strict=True)
        if stretch_costs
    ]
    if subject.unit == NODE:
        of_all = len({*map(member_of, runs)})
        outcome = LinkSearch(
            search_waves([Round(*numbered) for numbered in rounds], of_all, tolerance, level)
        )
    else:
        outcome = _of_pairs(runs, rounds, tolerance, level, turns)
    parts = tuple(stretches), tuple(costs), outcome
    return MachineSearch(subject, measured.label, measured.metric, tolerance, *parts)


def open_nodes(records: Iterable[Record]) -> dict[str, set[str]]:
    """Nodes on which nothing is decided, by `waves_key`: of fewer than two rounds, or alone, or suspects."""
    left_open = {}
    for key, runs in grouped(filter(is_of_machine, records), lambda run: waves_key(run.case)).items():
        made = Counter(
            node for node, _ in {(member_of(run), run.metadata[ROUND]) for run in runs if _is_made(run)}
        )
        found = [*searches_of(runs)]
        undecided = {node for search in found for node in (*search.found.nodes.not_decided, *search.alone)}
        left_open[key] = undecided | {node for node in map(member_of, runs) if made[node] < SCREEN}
    return left_open


def measured_alone(records: Iterable[Record]) -> dict[str, set[str]]:
    """Nodes that were measured alone by a benchmark, by `waves_key`."""
    alone: dict[str, set[str]] = {}
    for subject, runs in _by_subject(filter(is_of_machine, records)).items():
        if subject.unit == NODE:
            alone.setdefault(waves_key(runs[0].case), set()).update(_alone(_stretches(runs, math.inf)))
    return alone


def _alone(stretches: Sequence[RoundPart]) -> set[str]:
    """Who had two others beside it in fewer rounds than a screen has: of two nobody knows who is slow.

    None where this is so of half of them: then they can't be had at the same time.
    """
    made = Counter(member for part in stretches for member in part.runs)
    beside = Counter(member for part in stretches if len(part.runs) > 2 for member in part.runs)
    alone = {member for member in made if made[member] >= SCREEN > beside[member]}
    return alone if 2 * len(alone) < len(made) else set()


class _Turns(NamedTuple):
    """Rounds that confirm links are of one metric each, since no node can be in two pairs: in turn."""

    turn: int
    of: int

    def own(self, number: int, screen: int) -> int | None:
        """The number of a round in the metric's search; none of another metric's."""
        behind, turn = divmod(number - screen - 1, self.of)
        if number <= screen:
            return number
        return screen + 1 + behind if turn == self.turn else None

    def all(self, number: int, screen: int) -> int:
        """The number among the rounds of all metrics."""
        return number if number <= screen else screen + 1 + (number - screen - 1) * self.of + self.turn


def _of_pairs(
    runs: Sequence[Record],
    rounds: Sequence[tuple[int, Mapping[str, float]]],
    tolerance: float,
    level: float,
    turns: _Turns,
) -> LinkSearch:
    screen = sweeps(len({node for run in runs for node in nodes_of_run(run)}))
    pairs = [
        PairRound(turn, {(a, b): cost for member, cost in costs.items() for a, b in [nodes_of(member)]})
        for number, costs in rounds
        if (turn := turns.own(number, screen)) is not None
    ]
    outcome = search_links(pairs, screen, switches_of(runs), tolerance=tolerance, level=level)
    confirm = {turns.all(number, screen): members for number, members in outcome.links.confirm.items()}
    return outcome._replace(links=outcome.links._replace(confirm=confirm))


def sweeps(nodes: int) -> int:
    """How many rounds screen the pairs of so many nodes: two sweeps over all, of many over random ones."""
    return 2 * (nodes - 1 + nodes % 2 if nodes <= ALL_PAIRS else math.ceil(math.log2(nodes)))


def _costs(stretch: RoundPart, measured: _Measured) -> dict[str, float]:
    """Costs by member; a member that was neither measured nor failed has none."""
    costs = {}
    for member, run in stretch.runs.items():
        if run.status == FAILED:
            if not run.unread and measured.label not in _PROBES:
                costs[member] = math.inf
        elif run.sound and (value := measured.value(run)):
            costs[member] = measured.metric.cost(value)
    return costs


def _stretches(runs: Iterable[Record], until: float) -> list[RoundPart]:
    """Each round; in several parts where a job was killed and resumed, or jobs waited in the queue."""
    made = (run for run in runs if run.status in (OK, FAILED))
    rounds = grouped(made, lambda run: int(run.metadata[ROUND]))
    return [
        RoundPart(number, {member_of(run): run for run in alike})
        for number in sorted(rounds)
        if number <= until
        for alike in _side_by_side(rounds[number])
    ]


def _side_by_side(runs: Sequence[Record]) -> list[list[Record]]:
    """A run without a time is of the first part."""
    parts: list[list[Record]] = [[]]
    last = -math.inf
    for begun, run in sorted(((_time(run.started), run) for run in runs), key=lambda pair: pair[0]):
        if begun - APART > last > -math.inf:
            parts.append([])
        parts[-1].append(run)
        last = max(last, begun, _time(run.ended))
    return parts


def _time(text: str) -> float:
    """Seconds; minus infinity where a run does not say it."""
    return -math.inf if (time := seconds(text)) is None else time


# For planning


def rounds_due(
    records: Iterable[Record],
    screen: Mapping[int, Sequence[str]],
    *,
    absent: Collection[str] = (),
    closed: bool = False,
) -> dict[int, tuple[str, ...]]:
    """The members of each round that the results so far ask for: those of the screen, then confirm rounds.

    A further look's rounds are due once all rounds before it are made. All metrics of all benchmarks
    decide: a round has the suspects of each.

    Parameters
    ----------
    records : of one host group, unit and placement: those of all runs that were planned so far
    screen : the members of a wave's first rounds, by the rounds' numbers: ``n001``, or ``n001+n002``
    absent : nodes that cannot be measured now; nobody waits for their runs
    closed : whether a later wave was taken
    """
    of_machine = [record for record in records if is_of_machine(record)]
    wave = min(screen) // ROUNDS
    made = [int(run.metadata[ROUND]) for run in of_machine if _is_made(run)]
    until = max((number for number in made if number // ROUNDS == wave), default=0)
    first = {number: tuple(members) for number, members in screen.items()}
    while until >= max(screen):
        asked = _confirming_rounds(of_machine, until).items()
        confirming = [(number, who) for number, who in asked if number // ROUNDS == wave]
        due = {**{n: who for n, who in confirming if closed or n <= until or _can_tell(who, absent)}, **first}
        complete = _complete_until(of_machine, due, absent)
        if complete >= min(until, max(due)):
            return due
        until = complete  # later rounds do not count yet: they may be those of a look that is not complete
    return first


def _confirming_rounds(records: Sequence[Record], until: int) -> dict[int, tuple[str, ...]]:
    """The rounds that any search in the rounds so far asks for."""
    asked: dict[int, set[str]] = {}
    for machine_search in searches_of(records, until):
        if machine_search.label not in _NOISY:
            of_nodes = machine_search.subject.unit == NODE
            found = machine_search.found
            confirm = found.nodes if of_nodes else found.links
            for number, members in confirm.confirm.items():
                asked.setdefault(number, set()).update(members)
    return {number: tuple(sorted(members)) for number, members in asked.items()}


def _can_tell(members: Sequence[str], absent: Collection[str]) -> bool:
    """Whether a round would have enough members: of two nobody knows which is slow."""
    there = [member for member in members if not {*nodes_of(member)} & {*absent}]
    return len(there) > 2 or any(len(nodes_of(member)) > 1 for member in there[1:])


def _is_made(run: Record) -> bool:
    return run.status not in (MISSING, NOT_AVAILABLE)


def _complete_until(
    records: Sequence[Record], due: Mapping[int, Sequence[str]], absent: Collection[str]
) -> int:
    """The last round up to which each benchmark has run on all members that are there; 0 if none."""
    made = grouped(filter(_is_made, records), lambda run: (run.case.benchmark, int(run.metadata[ROUND])))
    benchmarks = {run.case.benchmark for run in records}
    last = 0
    for number in sorted(due):
        wanted = {member for member in due[number] if not set(nodes_of(member)) & set(absent)}
        if any(wanted - {*map(member_of, made.get((benchmark, number), ()))} for benchmark in benchmarks):
            break
        last = number
    return last
