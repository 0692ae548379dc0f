"""A machine that moves between two states: how often a true difference is found, and a false one.

    python bench/states.py [CAMPAIGNS]

Each simulated campaign (default 400) has two placements and two benchmarks, in blocks that are shuffled, with
further blocks as `mpicampaign.run.conditions` asks for them. The machine is far in 60 % of the runs and
stays about six; far runs take 2.2 times as long, and all times have 2 % of noise. Runs within a state are
compared as a campaign compares them; beside it, the same first six repeats without regard to the states.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from statistics import mean

from common import title, usually

from mpicampaign.base.records import OK, ROUND_TRIP, VERIFIED, Case, Record, Series
from mpicampaign.compare.compare import compare
from mpicampaign.compare.states import find_states, lacks_repeats

SHARE_FAR, STAY, FACTOR, NOISE = 0.6, 6.0, 2.2, 0.02
REPEATS, MOST = 6, 18
NEAR, FAR = 60e-9, 310e-9
PLACEMENTS, BENCHMARKS = ("A", "B"), ("PingPong", "PingPing")
LIMITS = (12, 18)


def main(campaigns: int = usually(400, smallest=3)) -> None:
    title(f"States of a machine: {campaigns} simulated campaigns of {REPEATS} repeats for each line")
    generator = random.Random(29)
    print("difference  at most  complete  runs a case  found  without states")
    for difference in (0.0, 0.05, 0.10, 0.30):
        for limit in LIMITS:
            print(line(difference, limit, campaigns, generator))


def line(difference: float, limit: int, campaigns: int, generator: random.Random) -> str:
    simulations = [simulated(difference, limit, generator) for _ in range(campaigns)]
    complete, repeats, shown, ignoring = (
        mean(map(float, column)) for column in zip(*simulations, strict=True)
    )
    text = (
        f"{difference:>10.0%}  {limit:>7}  {complete:>8.2f}  {repeats:>11.1f}  {shown:>5.3f}  {ignoring:.3f}"
    )
    return text


def simulated(difference: float, limit: int, generator: random.Random) -> tuple[bool, int, float, float]:
    """Whether all cases were complete in one state, the repeats of a case, and the shares of comparisons that
    show a difference: within a state, and without regard to it."""
    machine, records, repeats = moving(generator), list[Record](), 0
    while repeats < REPEATS or (repeats < limit and not is_complete(records)):
        repeats += 1
        records += block(repeats, difference, machine, generator)
    first = [record_without_probe(run) for run in records if run.repeat <= REPEATS]
    return is_complete(records), repeats, share_shown(records), share_shown(first)


def moving(generator: random.Random) -> Iterator[bool]:
    """Whether the machine is far, run by run: a chain with the mean stay and the share."""
    leave_far = 1 / (STAY * 2 * SHARE_FAR)
    leave_near = leave_far * SHARE_FAR / (1 - SHARE_FAR)
    far = generator.random() < SHARE_FAR
    while True:
        yield far
        far ^= generator.random() < (leave_far if far else leave_near)


def block(repeat: int, difference: float, machine: Iterator[bool], generator: random.Random) -> list[Record]:
    """The repeat of all cases, shuffled."""
    cases = [(placement, benchmark) for placement in PLACEMENTS for benchmark in BENCHMARKS]
    generator.shuffle(cases)
    return [
        run(Case("here", "local", *case), repeat, number, difference, next(machine), generator)
        for number, case in enumerate(cases)
    ]


def run(
    case: Case, repeat: int, number: int, difference: float, far: bool, generator: random.Random
) -> Record:
    """The second placement takes longer by the difference."""
    slower = 1 + difference * (case.placement == PLACEMENTS[1])
    time = 1e-6 * slower * (FACTOR if far else 1) * generator.lognormvariate(0, NOISE)
    round_trip = (FAR if far else NEAR) * generator.lognormvariate(0, 0.01)
    return Record(
        case,
        "imb",
        repeat,
        OK,
        verdict=VERIFIED,
        series=(Series(case.benchmark, 2, {"size": [0.0], "time": [time]}),),
        started=f"{repeat:04d}-{number:02d}",
        hosts=("node1",),
        probes={ROUND_TRIP: {"node1, same socket": [round_trip]}},
        further=repeat > REPEATS,
    )


def record_without_probe(record: Record) -> Record:
    return Record(record.case, "imb", record.repeat, OK, verdict=VERIFIED, series=record.series)


def is_complete(records: Sequence[Record]) -> bool:
    """Whether every case has its repeats in one common state, or the machine was in one state alone."""
    states = find_states(records)
    return not states.names or not lacks_repeats(records, states)


def share_shown(records: Sequence[Record]) -> float:
    """The share of the two comparisons that show a difference."""
    pairs = [pair for _, ranking in compare(records, (0,)).rankings for pair in ranking.pairs]
    return sum(pair.verdict.shown is True for pair in pairs) / len(BENCHMARKS)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
