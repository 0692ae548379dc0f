"""Campaigns drawn at random: candidates, noise, drift, states, orders, and runs that are missing."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import build_records as make

from mpicampaign.base.records import (
    CONTRADICTED,
    FAILED,
    SCALING,
    STRONG,
    UNVERIFIED,
    WEAK,
    WITH,
    Case,
    Record,
    Series,
)

MONDAY = datetime(2026, 3, 2, 8, tzinfo=UTC)
PLACEMENTS = ("SHM", "SHM-1", "SHM-2", "TCP-loopback", "IBV", "nodes=2 IBV")
LIBRARIES = ("intelmpi", "openmpi5", "mpich-ofi")


def drawn(seed: int) -> list[Record]:
    """One host group, two, or one with several MPI libraries."""
    draw = random.Random(f"campaign {seed}")
    placements = draw.sample(PLACEMENTS, draw.choice((2, 2, 3, 3, 4, 5)))
    shape = draw.choice(("one", "one", "libraries", "groups"))
    if shape == "libraries":
        groups = [f"local{WITH}{name}" for name in draw.sample(LIBRARIES, draw.choice((2, 3)))]
        placements = placements[:2]
    else:
        groups = ["g1", "g2", "g3"][: 1 if shape == "one" else draw.choice((2, 3))]
    cases = [Case(_system(group), group, place, "PingPong") for group in groups for place in placements]
    return _made(draw, cases, _order(draw, cases))


def _system(group: str) -> str:
    _, with_, library = group.partition(WITH)
    return f"s{with_}{library}"


def _order(draw: random.Random, cases: list[Case]) -> list[Case]:
    """Rounds in orders of their own, always the same order, one after the other, or one added later."""
    repeats = draw.choice((4, 5, 6, 6, 8, 8, 12))
    how = draw.choice(("rounds", "rounds", "rounds", "same", "in turn", "later"))
    if how == "in turn":
        return [case for case in cases for _ in range(repeats)]
    first = cases[:-1] if how == "later" else cases
    rounds = [draw.sample(first, len(first)) if how == "rounds" else first for _ in range(repeats)]
    return [case for each in rounds for case in each] + [cases[-1]] * (repeats if how == "later" else 0)


def _made(draw: random.Random, cases: list[Case], order: list[Case]) -> list[Record]:
    noise = draw.choice((0.002, 0.01, 0.01, 0.05, 0.3))
    drift = draw.choice((0.0, 0.0, 0.05, 0.2)) / len(order)
    step = draw.choice((20, 60, 1800))
    states = draw.random() < 0.2
    gains = (1.0, 1.002, 1.02, 1.05, 1.3, 8.0)
    speed = {case: (draw.choice(gains) * 1e-6, 1e9 / draw.choice(gains)) for case in cases}
    faults, records, count = draw.choice((0.0, 0.0, 0.1)), [], dict.fromkeys(cases, 0)
    for place, case in enumerate(order):
        count[case] += 1
        slower = (1 + drift * place) * (1.3 if states and draw.random() < 0.5 else 1.0)
        time, rate = (value * draw.lognormvariate(0, noise) for value in speed[case])
        table = make.pingpong(time * slower, rate / slower)
        begin = MONDAY + timedelta(seconds=step * place, days=place // 50)
        ended = (begin + timedelta(seconds=4)).isoformat()
        run = make.run(case, count[case], table, started=begin.isoformat(), ended=ended, order=place)
        records.append(_faulty(draw, run) if draw.random() < faults else run)
    return records


def _faulty(draw: random.Random, run: Record) -> Record:
    how = draw.choice((FAILED, CONTRADICTED, UNVERIFIED, "no time"))
    if how == FAILED:
        return replace(run, status=FAILED, reason="exit status 1", verdict=None, series=())
    if how == "no time":
        return replace(run, started="", ended="")
    return replace(run, verdict=how, verdict_reasons=(f"{how} by chance",))


def two_sides(seed: int) -> tuple[list[Record], list[Record]]:
    """Two results of one machine: their runs took turns, or a month lay between."""
    draw = random.Random(f"two sides {seed}")
    how = draw.choice(("turns", "turns", "one order", "a month", "few"))
    repeats = draw.choice((1, 2, 3)) if how == "few" else draw.choice((4, 6, 6, 8, 10))
    noise, gains = draw.choice((0.002, 0.01, 0.05)), (1.0, 1.0, 1.003, 1.02, 1.1, 2.0)
    placements = draw.sample(PLACEMENTS[:4], draw.choice((2, 3)))
    sides: tuple[list[Record], list[Record]] = ([], [])
    for place in placements:
        change = draw.choice(gains), draw.choice(gains)
        for repeat in range(1, repeats + 1):
            order = [0, 1] if how == "one order" or repeat % 4 in (0, 1) else [1, 0]
            for step, number in enumerate(order):
                time, rate = (draw.lognormvariate(0, noise) * change[i] ** number for i in (0, 1))
                minute = repeat * len(placements) * 2 + placements.index(place) * 2 + step
                begin = MONDAY + timedelta(minutes=minute, days=30 * number if how == "a month" else 0)
                table = make.pingpong(1e-6 * time, 1e9 / rate)
                sides[number].append(make.run(place, repeat, table, started=begin.isoformat()))
    for side in sides:  # a placement that one side lacks, or that never counts there
        how, gone = draw.choice(("all", "all", "lacks", "counts never")), draw.choice(placements)
        faulty = {"verdict": CONTRADICTED, "verdict_reasons": ("by chance",)} if how == "counts never" else {}
        side[:] = [
            replace(run, **faulty) if run.case.placement == gone else run
            for run in side
            if how != "lacks" or run.case.placement != gone
        ]
    return sides


def scaled(seed: int) -> list[Record]:
    """An own program or a collective with several numbers of ranks, of one placement or two."""
    draw = random.Random(f"scaled {seed}")
    word, repeats, noise = (
        draw.choice(("", STRONG, WEAK)),
        draw.choice((1, 2, 4, 6)),
        draw.choice((0.001, 0.02)),
    )
    grows = draw.random() < 0.5
    suite, arguments = draw.choice(("own", "own", "hpcc", "imb")), draw.choice(("100", "100", ""))
    records = []
    for place in draw.sample(("SHM", "IBV", "TCP"), draw.choice((1, 1, 2))):
        sizes = sorted(draw.sample((1, 2, 4, 8), draw.choice((2, 3))))
        for ranks in sizes:
            for nodes in (1, 2) if ranks == 8 and draw.random() < 0.3 else (1,):
                case = Case("s", "g", f"{place} nodes={nodes} ranks_per_node={ranks // nodes}", "solve")
                ideal = 10.0 if word == WEAK else 10.0 / ranks
                for repeat in range(1, repeats + 1):
                    time = ideal * ranks ** draw.uniform(0.1, 0.12) * draw.lognormvariate(0, noise)
                    problem = ranks if word == WEAK else 1
                    series = {
                        "own": _solve(ranks, time, problem),
                        "hpcc": make.hpcc(problem / time, ranks, 1000 * ranks if grows else 1000),
                        "imb": make.collective("Bcast", time * 1e-6, 1e9, ranks),
                    }[suite]
                    facts = {"arguments": arguments or str(ranks)} | ({SCALING: word} if word else {})
                    records.append(make.run(case, repeat, series, suite=suite, metadata=facts))
    return records


def _solve(ranks: int, time: float, problem: int) -> Series:
    metrics = {"time": {"unit": "s", "better": "lower"}, "rate": {"unit": "step/s", "better": "higher"}}
    return Series("solve", ranks, {"time": [time], "rate": [100 * problem / time]}, metrics=metrics)
