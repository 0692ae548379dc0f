"""Invented records of a whole machine: nodes alone or in pairs, in rounds, some of them slow."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import build_records as make
import numpy as np

from mpicampaign.base.records import (
    CLOCK_RATE,
    DISTURBED,
    EACH,
    EACH_NODES,
    EACH_SWITCHES,
    EACH_TOLERANCE,
    FAILED,
    MISSING,
    NODE,
    NODE_STATE,
    PAIR,
    QUIET,
    ROUND,
    TIME_LIMIT_MET,
    Record,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

BEGIN = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
TRIAD, CLOCK, LATENCY = 20e9, 2.45e9, 2e-6


def names(count: int) -> list[str]:
    return [f"n{number:03}" for number in range(1, count + 1)]


def record(
    members: str, repeat: int, number: int, unit: str, begin: datetime, seconds: float, benchmark: str
) -> Record:
    """A complete run of a member in a round, without values."""
    placement = "NODE" if unit == NODE else "NODES-2"
    return make.run(
        make.case(placement, benchmark, f"milan {members.replace(' ', '+')}", "cluster"),
        repeat,
        suite="kernel",
        condition=QUIET,
        hosts=tuple(members.split(" ")),
        started=f"{begin:%Y-%m-%dT%H:%M:%SZ}",
        ended=f"{begin + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}",
        job_id="4711",
        metadata={EACH: unit, EACH_NODES: members, ROUND: str(number), EACH_TOLERANCE: "0.02"},
    )


class Nodes:
    """A machine whose nodes run STREAM alone.

    ``slow``, ``throttled``: how many times longer the bytes take, how many times lower the clock rate is.
    ``disturbed``: with what reason; ``failed``: in every round; ``absent``: with the scheduler's reason.
    """

    def __init__(
        self,
        nodes: Sequence[str],
        slow: Mapping[str, float] | None = None,
        *,
        throttled: Mapping[str, float] | None = None,
        disturbed: Mapping[str, str] | None = None,
        failed: Iterable[str] = (),
        absent: Mapping[str, str] | None = None,
        noise: float = 0.01,
        seed: int = 1,
    ) -> None:
        self.nodes, self.slow, self.throttled = list(nodes), slow or {}, throttled or {}
        self.disturbed, self.failed, self.absent = disturbed or {}, set(failed), absent or {}
        self.noise, self.random = noise, np.random.default_rng(seed)
        self.repeats = dict.fromkeys(self.nodes, 0)

    def round(self, number: int, members: Iterable[str]) -> list[Record]:
        """A round takes a minute and a half."""
        begin = BEGIN + timedelta(seconds=90 * (number - 1))
        return [self._run(number, node, begin) for node in members]

    def _run(self, number: int, node: str, begin: datetime) -> Record:
        self.repeats[node] += 1
        run = record(node, self.repeats[node], number, NODE, begin, 60, "stream")
        if node in self.absent:
            metadata = {**run.metadata, NODE_STATE: self.absent[node]}
            gone = {"started": "", "ended": "", "hosts": (), "verdict": None, "exit_status": None}
            return replace(run, status=MISSING, reason="not run yet", metadata=metadata, **gone)  # type: ignore[arg-type]
        if node in self.failed:
            reason = "stopped at the time limit of 60 s"
            return replace(run, status=FAILED, reason=reason, exit_status=TIME_LIMIT_MET, verdict=None)
        triad = TRIAD / self.slow.get(node, 1.0) * math.exp(self.random.normal(0, self.noise))
        clock = CLOCK / self.throttled.get(node, 1.0) * math.exp(self.random.normal(0, self.noise / 5))
        run = replace(
            run,
            series=(make.series("stream", 16, stream_triad_star=triad),),
            probes={CLOCK_RATE: {node: [clock]}},
            nodes={node: {"kernel": "5.14.0"}},
        )
        if node in self.disturbed:
            run = replace(run, condition=DISTURBED, condition_reason=self.disturbed[node])
        return run


class Pairs:
    """A machine whose nodes exchange messages in pairs.

    ``nodes``, ``links``, ``leaves``: how many times longer those of a node, a pair or a switch take.
    ``failed``: the node all of whose runs fail.
    """

    def __init__(
        self,
        names: Sequence[str],
        nodes: Mapping[str, float] | None = None,
        links: Mapping[str, float] | None = None,
        *,
        switches: Mapping[str, str] | None = None,
        leaves: Mapping[str, float] | None = None,
        failed: str = "",
        noise: float = 0.01,
        seed: int = 1,
    ) -> None:
        self.names, self.nodes, self.links = list(names), nodes or {}, links or {}
        self.switches, self.leaves, self.failed = switches or {}, leaves or {}, failed
        self.noise, self.random = noise, np.random.default_rng(seed)
        self.repeats: dict[str, int] = {}

    def sweep(self, first: int) -> list[Record]:
        """All pairs once, by the circle method, from round ``first`` on."""
        order = list(self.random.permutation(self.names))
        records = []
        for turn in range(len(order) - 1):
            half = len(order) // 2
            pairs = zip(order[:half], reversed(order[half:]), strict=True)
            records += self.round(first + turn, [" ".join(sorted(map(str, pair))) for pair in pairs])
            order = [order[0], order[-1], *order[1:-1]]
        return records

    def random_pairs(self, number: int) -> list[Record]:
        order = list(self.random.permutation(self.names))
        pairs = zip(order[::2], order[1::2], strict=True)
        return self.round(number, [" ".join(sorted(map(str, pair))) for pair in pairs])

    def round(self, number: int, members: Iterable[str]) -> list[Record]:
        begin = BEGIN + timedelta(seconds=20 * (number - 1))
        return [self._run(number, member.replace("+", " "), begin) for member in members]

    def _run(self, number: int, member: str, begin: datetime) -> Record:
        self.repeats[member] = self.repeats.get(member, 0) + 1
        a, b = member.split(" ")
        factor = self.nodes.get(a, 1.0) * self.nodes.get(b, 1.0) * self.links.get(member, 1.0)
        leaves = [self.switches[node] for node in (a, b) if node in self.switches]
        for leaf in set(leaves):
            factor *= self.leaves.get(leaf, 1.0)
        times = [LATENCY * factor * math.exp(self.random.normal(0, self.noise)) for _ in range(2)]
        run = record(member, self.repeats[member], number, PAIR, begin, 10, "PingPong")
        if self.failed in (a, b):
            return replace(run, status=FAILED, reason="no route to host", exit_status=1, verdict=None)
        rates = [None, 1e4 / times[1]]
        table = make.series("PingPong", size=[0.0, 1e6], time=[times[0], None], bandwidth=rates)
        switches = {EACH_SWITCHES: " ".join(leaves)} if leaves else {}
        return replace(run, suite="imb", metadata={**run.metadata, **switches}, series=(table,))
