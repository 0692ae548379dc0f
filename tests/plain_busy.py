"""Sentences of a busy machine's first screen checked against the repeats: recomputed by numpy alone."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from plain_screen import UNITS, value_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.compare.rows import Row
    from mpicampaign.questions.answer import Answer

VALUE = r"([\d.]+) \S+ \((1 run|[\d.]+ to [\d.]+)\) for "


def hold(answers: Sequence[Answer], lead: str) -> int:
    """How many answers hold; the lead counts the best of those with several candidates."""
    best = [by_median(answer) for answer in answers]
    counted = Counter(names[0] for names in best if len(names) > 1)
    of_each = lead.removeprefix("On this busy machine ").replace(" has the best median", "").split("; ")[0]
    said = {name: int(n) for name, n in re.findall(r"(?:^|, )(.*?) in (\d+)", of_each)}
    assert said.items() <= counted.items(), (lead, counted)
    assert max(counted.values(), default=0) == max(said.values(), default=0), (lead, counted)
    for answer, names in zip(answers, best, strict=True):
        assert [one.name for one in answer.candidates] == names, (names, answer.said)
        for one in answer.candidates:
            _chosen(one.row)
        _sentences(answer)
    return len(answers)


def _chosen(row: Row) -> None:
    """Disturbed runs are left out where four others were quiet, or all that the campaign asks for count."""
    conditions = [run.condition for run in row.records if run.series]
    asked = sum(not run.further for run in row.records)
    others = len(conditions) - conditions.count("disturbed")
    left_out = conditions.count("quiet") >= 4 or others >= asked
    assert len(row.curves) == (others if left_out else len(conditions)), conditions


def by_median(answer: Answer) -> list[str]:
    """The candidates, the best first."""
    [metric] = {one.shown.cell.metric for one in answer.candidates if one.shown.cell}
    sign = 1 if metric.lower_is_better else -1
    values = repeats(answer)
    return sorted(values, key=lambda name: sign * np.median(values[name]))


def repeats(answer: Answer) -> dict[str, np.ndarray]:
    """The values of each candidate, in SI units."""
    found = {}
    for one in answer.candidates:
        assert one.shown.cell
        column, size = one.shown.cell.metric.column, one.shown.cell.metric.size
        read = [value_at(series.columns, column, size) for _, series in one.row.curves]
        found[one.name] = np.array([value for value in read if value is not None])
    return found


def _sentences(answer: Answer) -> None:
    values, scale = repeats(answer), UNITS[answer.unit]
    quiet = [one.name for one in answer.candidates if {r.condition for r, _ in one.row.curves} == {"quiet"}]
    text = " ".join(answer.said)
    best = re.match(r"On this busy machine (\S+) \(([\d.]+) \S+\) has the best median", text)
    assert not best or _near(np.median(values[best[1]]) / scale, best[2]), text
    known = (
        r"Only .* has enough quiet runs: "
        r"|On this busy machine (?:the (?:median|\d+ medians|range)|\S+ \([\d.]+ \S+\) has)"
    )
    assert all(re.match(known, sentence) for sentence in answer.said), f"no rule knows: {text}"
    only = re.match(r"Only (.*?) has enough quiet runs: ([\d.]+) ", text)
    assert quiet == ([only[1]] if only else []), text
    assert not only or _near(np.median(values[only[1]]) / scale, only[2]), text
    longest_first = sorted(map(re.escape, values), key=len, reverse=True)
    named = re.findall(f"{VALUE}({'|'.join(longest_first)})", text)
    assert {name for *_, name in named} == values.keys() - set(quiet), text
    for median, ends, name in named:
        own = values[name] / scale
        assert _near(np.median(own), median), (text, own)
        least_most = [median] * 2 if ends == "1 run" else ends.split(" to ")
        assert all(map(_near, (own.min(), own.max()), least_most)), (text, own)


def _near(value: float, text: str) -> bool:
    """Whether the text is the value to three digits."""
    return bool(np.isclose(value, float(text), rtol=0.006))
