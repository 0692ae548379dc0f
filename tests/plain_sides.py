"""What `compare` says of two results, checked against their runs: recomputed by numpy alone."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from plain_screen import BYTES, UNITS, near, seconds, value_at
from plain_verdict import LEVEL, TIE, Contest, Run

from mpicampaign.base.records import CONTRADICTED, OK
from mpicampaign.show.document import Grid, Heading, Items, Paragraph, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.base.records import Record
    from mpicampaign.show.document import Node

COLUMNS = {"latency": "time", "time": "time", "bandwidth": "bandwidth", "maximum bandwidth": "bandwidth"}
REASON = "measured one after the other"
MEANWHILE = f"Not tested: {REASON}. What else changed meanwhile may be the reason."
SAME_ORDER = "The two always ran in the same order: what the order does would look the same."

FACTOR = r"((?:a factor of (?:more than )?)?[\d.]+)(?: %)?"
SEEN = rf"(\d+)(?: to (\d+))? repeats find {FACTOR}(?: to {FACTOR})?( here)? in 8 of 10 cases"


def shows(found: re.Match[str], known: Sequence[tuple[int, float]]) -> None:
    """The ends of repeats, and of the logarithms that they find, each as one digit."""
    repeats, logs = sorted(n for n, _ in known), sorted(log for _, log in known)
    assert (int(found[1]), int(found[2] or found[1])) == (repeats[0], repeats[-1]), (found[0], repeats)
    for said, log in zip((found[3], found[4] or found[3]), (logs[0], logs[-1]), strict=True):
        more, shown = math.expm1(log), float(said.split()[-1])
        number = 1 + more if "factor" in said else 100 * more
        assert said != "100", f"a factor of 2: {found[0]}"
        digits = {float(f"{number * off:.0e}") for off in (0.999, 1.001)}
        assert number > shown if "more than" in said else shown in digits, (found[0], more)


def metric_of(text: str) -> tuple[str, int | None, float]:
    """Column, size and unit of ``latency at 0 B (µs)``."""
    found = re.fullmatch(r"  ([a-z ]+?)(?: at (\d+) (\w+))? \((\S+)\)", text)
    assert found, text
    return COLUMNS[found[1]], int(found[2]) * BYTES[found[3]] if found[2] else None, UNITS[found[4]]


def runs_of(records: Sequence[Record], case: str, metric: str) -> list[Run]:
    column, size, _ = metric_of(metric)
    return [
        Run(seconds(run.started), 0, value)
        for run in records
        if str(run.case) == case and run.status == OK and run.verdict != CONTRADICTED
        if (value := value_at(run.series[0].columns, column, size)) is not None
    ]


def hold(document: Sequence[Node], before: Sequence[Record], after: Sequence[Record]) -> Counter[str]:
    """How each value is judged; the lead counts them, and every number is that of the runs."""
    heading, lead, *rest = document
    assert isinstance(heading, Heading) and isinstance(lead, Paragraph)
    grid = rest[0] if rest and isinstance(rest[0], Grid) else None
    contests: list[tuple[Contest, tuple[str, ...]]] = []
    cases: list[str] = []
    case = ""
    for line in grid.lines if grid else ():
        cells = tuple(str(cell) for cell in line)
        if len(cells) == 1:
            case = cells[0]
            continue
        sides = [runs_of(side, case, cells[0]) for side in (before, after)]
        contest = Contest({"A": sides[0], "B": sides[1]}, lower=metric_of(cells[0])[0] == "time")
        _values(contest, cells)
        contests.append((contest, cells))
        cases.append(case)
    judged = _judged(contests)
    _lead(plain(lead.text), contests, judged, cases)
    _only(rest, before, after)
    return judged


def _values(contest: Contest, cells: Sequence[str]) -> None:
    unit = metric_of(cells[0])[2]
    for name, cell in zip("AB", cells[1:3], strict=True):
        own = contest.values[name] / unit
        found = re.fullmatch(r"([\d.]+)(?: \[([\d.]+), ([\d.]+)\])?", cell)
        assert found and near(float(np.median(own)), found[1]), (cell, own)
        assert bool(found[2]) == (len(own) > 1), cell
        assert not found[2] or (near(own.min(), found[2]) and near(own.max(), found[3])), (cell, own)
    ratio = contest.median("B") / contest.median("A")
    assert math.isclose(ratio, float(cells[3]), rel_tol=0.0051), (cells, ratio)


def _judged(contests: Sequence[tuple[Contest, tuple[str, ...]]]) -> Counter[str]:
    alone = [contest.alike(("A", "B")) if contest.tested else None for contest, _ in contests]
    order = sorted((n for n, p in enumerate(alone) if p is not None), key=lambda n: alone[n])
    steps = np.maximum.accumulate([alone[n] * (len(order) - place) for place, n in enumerate(order)])
    holm = dict(zip(order, np.minimum(steps, 1.0), strict=True))
    kinds: Counter[str] = Counter()
    for number, (contest, cells) in enumerate(contests):
        small = abs(contest.lead("A", "B")) < TIE
        if min(len(own) for own in contest.values.values()) < 4:
            said = "too few to tell"
        elif number not in holm:
            said = "apart" if contest.apart("A", "B") and not small else "overlap"
        else:
            p = max(holm[number], alone[number])
            told = "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"
            said = (
                "less than 1 %"
                if small
                else f"real, {told}"
                if p <= LEVEL
                else f"no difference shown, {told}"
            )
            kinds["tested"] += 1
        assert cells[4] == said, (cells, said)
        kinds[said.partition(",")[0]] += 1
    return kinds


def _furthest(contests: Sequence[tuple[Contest, tuple[str, ...]]], cases: Sequence[str], kind: str) -> str:
    """The case and metric with the largest ratio of those judged so; empty where there is none."""
    of = [number for number, (_, cells) in enumerate(contests) if cells[4].startswith(kind)]
    if not of:
        return ""
    first = max(of, key=lambda number: abs(contests[number][0].factor("A", "B")))
    cells = contests[first][1]
    return f", most {cases[first]}, {cells[0].strip().rpartition(' (')[0]} (× {cells[3]})"


def _lead(
    text: str, contests: Sequence[tuple[Contest, tuple[str, ...]]], judged: Counter[str], cases: Sequence[str]
) -> None:
    if not contests:
        assert text == "No case has values that count on both sides.", text
        return
    untested, tested = judged["apart"] + judged["overlap"], judged["tested"]
    real = f"{judged['real']} of {tested} tested values differ by 1 % or more"
    parts = [real + _furthest(contests, cases, "real")] if tested else []
    other = "other " if tested else ""
    apart = f"{judged['apart']} of {untested} {other}values differ by more than their ranges"
    parts += [apart + _furthest(contests, cases, "apart")] if untested else []
    few = judged["too few to tell"]
    have = "has" if few == 1 else "have"
    parts += [f"{few} of {len(contests)} {have} fewer than 4 repeats a side, too few to tell"] if few else []
    sentences = [f"{'; '.join(parts)}."]
    sentences += [MEANWHILE] if untested else []
    known = [contest for contest, _ in contests if contest.tested]
    same = any(_one_order(contest) for contest in known)
    sentences += [SAME_ORDER] if same else []
    rest = text
    for sentence in sentences:
        assert sentence in text, (text, sentence)
        rest = rest.replace(sentence, "").strip()
    open_ = [contest for contest, cells in contests if cells[4].startswith("no difference")]
    seen = [log for contest in open_ if (log := contest.seen_by_steps(tested))]
    found = re.fullmatch(rf"Where no difference is shown, {SEEN}\.", rest)
    assert bool(found) == bool(seen), (text, rest)
    if found:
        shows(found, seen)


def _one_order(contest: Contest) -> bool:
    firsts = {row[0].begin < row[1].begin for row in contest.rows(tuple(contest.names))}  # type: ignore[operator]
    return len(firsts) == 1


def _only(nodes: Sequence[Node], before: Sequence[Record], after: Sequence[Record]) -> None:
    """Cases that count on one side alone, and whether the other ran them, too."""
    said: list[set[str]] = [set(), set()]
    for heading, items in pairwise(nodes):
        if isinstance(heading, Heading) and plain(heading.text).startswith("Only in "):
            assert isinstance(items, Items)
            side = 0 if plain(heading.text) == "Only in A" else 1
            said[side] |= {plain(item) for item in items.items}
    counts = [{str(run.case) for run in side if run.verdict != CONTRADICTED} for side in (before, after)]
    ran = [Counter(str(run.case) for run in side) for side in (before, after)]
    for side, other in ((0, 1), (1, 0)):
        alone = counts[side] - counts[other]
        runs = {case: ran[other][case] for case in alone}
        expected = {
            f"{case} (the other side's {f'{n} runs do' if n > 1 else 'run does'} not count)" if n else case
            for case, n in runs.items()
        }
        assert said[side] == expected, (said[side], expected)
