"""Sentences on pairs of few repeats, checked against the series: recomputed by numpy alone."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpicampaign.base.records import Record

TIE = 1.01
SENTENCE = re.compile(
    r"(?P<better>\S+) was better than (?P<worse>\S+) in (?P<found>\d+) of (?P<settings>\d+) settings"
    r"(?: and worse in (?P<against>\d+))?, by (?P<low>[\d.]+) to (?P<high>[\d.]+) times in the median .*?\)"
    r"\. Exceptions: (?P<other>\S+) was better in (?P<exceptions>.*) times"
)


def hold(line: str, records: Sequence[Record]) -> None:
    said = SENTENCE.match(line)
    assert said, line
    better, worse = said["better"], said["worse"]
    curves = ratios(records, better, worse)
    assert said["other"] == worse

    against = sorted((found for curve in curves.values() for found in opposite(curve)), reverse=True)
    named = [float(number) for number in re.findall(r"by up to ([\d.]+)", said["exceptions"])]
    more = re.search(r"(\d+) more ranges", said["exceptions"])
    count = len(named) - 1 + int(more[1]) if more else len(named)
    assert count == len(against), (line, count, len(against))
    assert np.allclose(named, against[: len(named)], rtol=0.006), (named, against[:5])

    of = settings(curves)
    leads = [found for curve in of if (found := led(curve))]
    assert (len(leads), len(of)) == (int(said["found"]), int(said["settings"])), line
    assert np.allclose([min(leads), max(leads)], [float(said["low"]), float(said["high"])], rtol=0.006), line


def ratios(records: Sequence[Record], better: str, worse: str) -> dict[tuple[object, ...], dict[int, float]]:
    """How many times better the first is by size, of each place, suite and benchmark with the most ranks."""
    values: dict[tuple[object, ...], list[dict[int, float]]] = defaultdict(list)
    for record in records:
        names = record.case.placement, record.case.host_group
        for series in record.series:
            if better in names or worse in names:
                name = better if better in names else worse
                place = next(other for other in names if other != name)
                own = (name, place, record.suite, record.case.benchmark, series.benchmark, series.ranks)
                values[own].append(curve_of(series.benchmark, series.columns))
    medians = {
        key: {size: float(np.median([one[size] for one in by_curve])) for size in by_curve[0]}
        for key, by_curve in values.items()
    }
    by_curve = {}
    for (name, *where), own in medians.items():
        other = medians.get((worse, *where))
        if name == better and other is not None:
            sizes = [size for size in own if size in other and own[size] > 0 and other[size] > 0]
            by_curve[tuple(where)] = {size: own[size] / other[size] for size in sorted(sizes)}
    most: dict[object, int] = defaultdict(int)
    for place, suite, *_, ranks in by_curve:
        most[place, suite] = max(most[place, suite], int(ranks or 0))  # type: ignore[call-overload]
    return {key: one for key, one in by_curve.items() if key[-1] in (None, most[key[0], key[1]])}


def curve_of(name: str, columns: dict[str, list[float | None]]) -> dict[int, float]:
    """Larger is better: bandwidth, or how often a second a message of the size is sent."""
    rate = "bandwidth" in columns and name != "PingPong"
    read = columns["bandwidth" if rate else "time"]
    sizes_ = {int(size or 0): value for size, value in zip(columns["size"], read, strict=True) if value}
    return sizes_ if rate else {size: 1 / value for size, value in sizes_.items()}


def opposite(curve: dict[int, float]) -> Iterator[float]:
    """The largest factor of each range of neighbouring sizes at which the other is better by 1 % or more."""
    largest = 0.0
    for ratio in [*curve.values(), 9.0]:
        if 1 / ratio >= TIE:
            largest = max(largest, 1 / ratio)
        elif largest:
            yield largest
            largest = 0.0


def settings(curves: dict[tuple[object, ...], dict[int, float]]) -> list[dict[int, float]]:
    """By place and suite: the median over benchmarks at each size, of the logarithms."""
    by_setting = defaultdict(list)
    for (place, suite, *_), curve in curves.items():
        by_setting[place, suite].append(curve)
    return [
        {
            size: float(np.exp(np.median([np.log(curve[size]) for curve in own if size in curve])))
            for size in sorted({size for curve in own for size in curve})
        }
        for own in by_setting.values()
    ]


def led(curve: dict[int, float]) -> float:
    """By which factor the first leads in the median over sizes; 0 if it does not."""
    middle = float(np.exp(np.median(np.log([*curve.values()]))))
    return middle if len(curve) >= 3 and middle >= TIE else 0.0
