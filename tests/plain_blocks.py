"""Sentences on three candidates of a block design, checked against the series: recomputed by numpy alone."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.base.records import Record

Array = npt.NDArray[np.float64]
NAME, NUMBER = r"(?P<%s>[A-Z][\w-]*)", r"(?P<%s>[\d.]+)"
ENDS = rf"\[{NUMBER % 'low'}, {NUMBER % 'high'}\]"
PER_CENT = rf"{NUMBER % 'ratio'} % (?:longer|more) than"
KNOWN = (
    rf"\[{NUMBER % 'low'}, {NUMBER % 'high'} %\] on the same nodes: {NUMBER % 'n'} blocks, ranked within "
    rf"blocks, p = {NUMBER % 'p'}\."
)
SLOWER = re.compile(rf"{NAME % 'one'} takes {PER_CENT} {NAME % 'other'} {KNOWN}")
FASTER = re.compile(rf"{NAME % 'other'} reaches {PER_CENT} {NAME % 'one'} {KNOWN}")
ALIKE = re.compile(rf"{NAME % 'one'} / {NAME % 'other'} {NUMBER % 'ratio'} {ENDS} \(p = {NUMBER % 'p'}\)")


def hold(text: str, records: Sequence[Record], column: str) -> int:
    """How many comparisons the sentence makes; each is recomputed from a latency, or the largest rate."""
    values = values_of(records, column)
    found = SLOWER.fullmatch(text) or FASTER.fullmatch(text)
    said = [found] if found else list(ALIKE.finditer(text))
    for each in said:
        low, middle, high = (float(each[name]) for name in ("low", "ratio", "high"))
        sign = 1 if column == "time" or not found else -1  # the better one is named first
        logs = sign * np.log(values[each["one"]] / values[each["other"]])
        if found:
            low, middle, high = (1 + value / 100 for value in (low, middle, high))
        assert abs(middle - np.exp(np.median(logs))) < 6e-4, text
        for end, inwards in ((low, 1e-3), (high, -1e-3)):
            shifted = logs - np.log(end)
            assert signed(shifted + inwards) <= 0.05 < signed(shifted - inwards), (text, end)
        costs = np.log(np.array(list(values.values())).T) * (1 if column == "time" else -1)
        p = max(signed(logs), of_three(costs))
        assert np.isclose(p, float(each["p"]), rtol=0.05), (text, p)
        assert (p <= 0.05) is bool(found), text
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


def of_three(costs: Array) -> float:
    """Aligned ranks: the tail of chi-squared with two degrees of freedom is an exponential."""
    aligned = costs - costs.mean(axis=1, keepdims=True)
    ranks = aligned.ravel().argsort().argsort().reshape(aligned.shape) + 1
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    return float(np.exp(-np.sum(centred.sum(axis=0) ** 2) / np.sum(centred**2)))
