"""A suite from outside: one program that passes messages round a ring, see toy_ring.c."""

from __future__ import annotations

import re
from typing import ClassVar

from mpicampaign.base.dimension import SLOWDOWN
from mpicampaign.base.records import Series
from mpicampaign.suites.reading import OutputError, ParsedOutput
from mpicampaign.suites.suite import Active, Banner, ColumnMetric, Sends, Suite

HEAD = re.compile(r"Toy Ring (\S+) on (\d+) ranks, (\d+) rounds")
ROW = re.compile(r"^ring (\d+) B: (\d+\.\d+) us, imbalance (\d+\.\d+)$", re.MULTILINE)


def parse(text: str) -> ParsedOutput:
    """Times and their imbalance over message size; an output without its last line is refused."""
    head, rows = HEAD.search(text), ROW.findall(text)
    if head is None or not rows or "Toy Ring ends" not in text:
        raise OutputError("not a whole output of Toy Ring")
    version, ranks, rounds = head.groups()
    columns: dict[str, list[float | None]] = {
        "size": [float(size) for size, _, _ in rows],
        "time": [float(time) * 1e-6 for _, time, _ in rows],
        "imbalance": [float(imbalance) for _, _, imbalance in rows],
        "repetitions": [float(rounds)] * len(rows),
    }
    return ParsedOutput(version, {}, (Series("Toy Ring", int(ranks), columns),))


class Ring(Suite):
    """What differs from the defaults of a suite."""

    resolution: ClassVar = {"time": 1e-9, "imbalance": 1e-3}


SUITE = Ring(
    name="ring",
    banner=Banner("Toy Ring", HEAD),
    parse=parse,
    programs="toy_ring",
    whole=("^Toy Ring ends$",),
    benchmarks={"toy_ring": {"program": "toy_ring", "provider": "path", "ranks_minimum": 2}},
    sends={"Toy Ring": Sends(Active.ALL)},
    metrics={"imbalance": ColumnMetric("imbalance", SLOWDOWN, headline=True)},  # slowest by fastest rank
)
