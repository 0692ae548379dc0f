"""Curves over ticks, made of plain values."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mpicampaign.history.curves import Curve, CurveKey, Point

LATENCY = CurveKey(
    declared="0123456789ab",
    system="here",
    host_group="blue",
    placement="TCP",
    transport="tcp",
    benchmark="osu",
    label="latency",
    ranks=2,
    metric="latency at 0 B",
    size=0,
    dimension="time",
    unit="s",
    lower_is_better=True,
)


def ticks(count: int, series: str = "20260101T000000Z-00000000") -> list[str]:
    """``SERIES/r01`` and so on."""
    return [f"{series}/r{number:02d}" for number in range(1, count + 1)]


def curve(
    values: Sequence[float],
    names: Sequence[str] = (),
    observed: Mapping[int, Mapping[str, str]] | None = None,
    **key: object,
) -> Curve:
    """A point for each value, one a day from 1 January 2026 on.

    ``names``: of its ticks. ``observed``: from which point on what was recorded.
    """
    seen: Mapping[str, str] = {}
    points = []
    for number, (name, value) in enumerate(zip(names or ticks(len(values)), values, strict=True)):
        seen = (observed or {}).get(number, seen)
        points.append(Point(name, day(number), value, 1, seen))
    return Curve(replace(LATENCY, **key), tuple(points))


def day(number: int) -> str:
    """So many days after 1 January 2026."""
    months = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    month = next(m for m in range(12) if number < sum(months[: m + 1]))
    return f"2026-{month + 1:02d}-{number - sum(months[:month]) + 1:02d}T01:00:00Z"


def step(seed: int, before: int, after: int) -> list[float]:
    """Noise of 1 % about 1 µs, that is 5 % higher after a change."""
    source = random.Random(seed)
    return [source.gauss(1e-6, 1e-8) * (1.05 if n >= before else 1) for n in range(before + after)]
