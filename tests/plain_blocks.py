"""Sentences on three candidates of a block design, checked against the series: recomputed by numpy alone."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import permutations, product
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.records import Record

Array = npt.NDArray[np.float64]
NAME, NUMBER = r"(?P<%s>[A-Z][\w-]*)", r"(?P<%s>[\d.]+)"
ENDS = rf"\[{NUMBER % 'low'}, {NUMBER % 'high'}\]"
SHOWN = re.compile(
    rf"{NAME % 'one'} (?:takes|reaches) {NUMBER % 'ratio'} times as (?:long|much) as {NAME % 'other'} {ENDS} "
    rf"on the same nodes: {NUMBER % 'n'} blocks, exchanged within blocks, p = {NUMBER % 'p'}\."
)
ALIKE = re.compile(rf"{NAME % 'one'} / {NAME % 'other'} {NUMBER % 'ratio'} {ENDS} \(p = {NUMBER % 'p'}\)")


def hold(text: str, records: Sequence[Record], column: str) -> int:
    """How many comparisons the sentence makes; each is recomputed from a latency, or the largest rate."""
    values = values_of(records, column)
    said = [found] if (found := SHOWN.fullmatch(text)) else list(ALIKE.finditer(text))
    for each in said:
        logs = np.log(values[each["one"]] / values[each["other"]])
        assert abs(float(each["ratio"]) - np.exp(np.median(logs))) < 6e-4, text
        for end, inwards in (("low", 1e-3), ("high", -1e-3)):
            shifted = logs - np.log(float(each[end]))
            assert signed(shifted + inwards) <= 0.05 < signed(shifted - inwards), (text, end)
        costs = np.log(np.array(list(values.values())).T) * (1 if column == "time" else -1)
        pair = [list(values).index(each[name]) for name in ("other", "one")]
        p = max(of_set(costs[:, pair]), of_set(costs))
        assert np.isclose(p, float(each["p"]), rtol=0.25), (text, p)
        assert (p <= 0.05) is (each.re is SHOWN), text
    return len(said)


def values_of(records: Sequence[Record], column: str) -> dict[str, Array]:
    """By placement, the reference first."""
    values: dict[str, list[float]] = defaultdict(list)
    for record in records:
        for series in record.series:
            known = [value for value in series.columns[column] if value is not None]
            values[record.case.placement].append(known[0] if column == "time" else max(known))
    return {name: np.array(own) for name, own in values.items()}


def signed(logs: Array) -> float:
    """Wilcoxon's signed ranks over all signs, two-sided."""
    ranks = np.abs(logs).argsort().argsort() + 1
    sums = np.array(list(product((-1, 1), repeat=len(logs)))) @ ranks
    return float((np.abs(sums) >= abs(np.sign(logs) @ ranks)).mean())


def of_set(costs: Array) -> float:
    """How often exchanges within blocks bring the sums of ranks as far from their mean, in squares."""
    aligned = costs - np.median(costs, axis=1, keepdims=True)
    ranks = aligned.ravel().argsort().argsort().reshape(aligned.shape) + 1
    if costs.shape[1] == 3:  # the middle ones are all 0
        ranks = np.where(aligned == 0, ranks[aligned == 0].mean(), ranks)
    sums = np.zeros((1, ranks.shape[1]))
    for row in ranks:
        sums = (sums[:, None] + np.array(list(permutations(row)))).reshape(-1, ranks.shape[1])
    squares, observed = (np.sum(np.square(each), axis=-1) for each in (sums, ranks.sum(axis=0)))
    return float((squares >= observed - 1e-6).mean())
