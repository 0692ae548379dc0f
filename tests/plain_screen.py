"""The first screen checked against the repeats: each sentence recomputed, and none that is not known.

Values and times are those of the runs; who may be the best is `plain_verdict`'s answer. A sentence that no
rule here knows fails, and so does one that should stand there and does not.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from datetime import UTC, datetime
from html.parser import HTMLParser
from itertools import chain, combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
from plain_verdict import LEVEL, Contest, Run

from mpicampaign.base.records import (
    CONTRADICTED,
    DISTURBED,
    FAILED,
    MISSING,
    NOT_AVAILABLE,
    NOT_JUDGED,
    OK,
    QUIET,
    STATE,
    UNVERIFIED,
)
from mpicampaign.questions.ranking.say import BUSY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mpicampaign.base.records import Record
    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Comparison
    from mpicampaign.questions.answer import Answer
    from mpicampaign.questions.ranking.find import Ranking
    from mpicampaign.report.summary import KeyResults

UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9}
UNITS |= {"Gflop/s": 1e9, "Mupdate/s": 1e6, "step/s": 1.0}
BYTES = {"B": 1, "KiB": 1024, "MiB": 1 << 20}
SPEEDS = ("s", "B/s", "1/s", "flop/s")
ONE = {"placements": "placement", "host groups": "host group", "MPI libraries": "MPI library"}
N = r"⟦(\d+)⟧"  # a name
VALUED = rf"{N} \(([\d.]+) (\S+)\)"
AMOUNT = r"(?:[\d.]+ times as (?:much|long)|[\de.+-]+ % (?:more|longer))"
ORDER = r"((?:⟦\d+⟧ [<>=] )+⟦\d+⟧) in (\d+) of (\d+) host groups?(?: \(shown in (\w+))?"
FACTOR = r"((?:a factor of (?:more than )?)?[\d.]+)(?: %)?"
NUMBERED = re.compile(r"(?:those|(\d+)) ((?:whose|without|on hosts) (?:(?!,? and |, ).)*)")
SEEN = rf"(\d+)(?: to (\d+))? repeats find {FACTOR}(?: to {FACTOR})?( here)? in 8 of 10 cases"


def near(value: float, shown: str) -> bool:
    """Whether it is shown rounded: half of the last digit, and a little."""
    decimals = len(shown.partition(".")[2])
    return abs(value - float(shown)) <= 0.51 * 0.1**decimals


def times(value: float, shown: str) -> bool:
    """Whether a factor is shown by three digits or more."""
    return abs(value / float(shown) - 1) < 0.0051


def words(names: Sequence[str], last: str = "and") -> str:
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else ""


def seconds(time: str) -> float | None:
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def value_at(columns: Mapping[str, list[float | None]], column: str, size: int | None) -> float | None:
    """At a size, or the largest."""
    values = columns.get(column, [])
    if size is not None:
        return values[columns["size"].index(size)] if size in columns["size"] else None
    return max((value for value in values if value is not None), default=None)


def read(row: Row, metric: Metric) -> list[Run]:
    """The runs of a row that gave a value: no maximum without the largest size of all."""
    curves = sorted(row.curves, key=lambda curve: curve[0].repeat)
    ends = [last_size(series.columns, metric.column) for _, series in curves]
    last = max((size or 0.0 for _, series in curves for size in series.columns.get("size", [])), default=0.0)
    found = [
        (run, value_at(series.columns, metric.column, metric.size))
        for (run, series), end in zip(curves, ends, strict=True)
        if metric.size is not None or end == last
    ]
    return [
        Run(seconds(run.started), run.order or 0, value)
        for run, value in found
        if value is not None and math.isfinite(value)
    ]


def last_size(columns: Mapping[str, list[float | None]], column: str) -> float:
    """The largest at which there is a value; 0 of what has no sizes."""
    pairs = zip(columns.get("size", []), columns.get(column, []), strict=False)
    return max((size for size, value in pairs if size is not None and value is not None), default=0.0)


class Compared:
    """Candidates of one ranking, and what is known of them."""

    def __init__(self, ranking: Ranking) -> None:
        self.kind, self.scope, self.metric = ranking.kind, ranking.scope, ranking.metric
        self.lower = bool(ranking.metric.lower_is_better)
        self.rows = {one.name: one.row for one in ranking.contestants}
        self.contest = Contest({name: read(row, self.metric) for name, row in self.rows.items()}, self.lower)
        unit = self.metric.dimension.si_unit
        self.best_is = "fastest" if unit in SPEEDS else "lowest" if self.lower else "highest"
        self.shown = [name for name in self.contest.names if name not in self.contest.leaders]

    def only(self, names: Sequence[str]) -> Contest:
        """Some of them, compared alone."""
        return Contest({name: read(self.rows[name], self.metric) for name in names}, self.lower)

    @property
    def several(self) -> bool:
        return len(self.contest.names) > 1

    @property
    def gap(self) -> bool:
        return bool(self.contest.behind)

    @property
    def told(self) -> list[tuple[str, str]]:
        """The nearest that is led, and the last, each after who leads it."""
        behind = self.contest.behind
        return list(dict.fromkeys([behind[0], behind[-1]])) if behind else []

    def crossings(self) -> list[tuple[str, int, int, float, float]]:
        """Name, first and last size, and how many times better at least and at most."""
        leaders, judged = self.contest.leaders, self.contest.judged
        others = [name for name in judged if name not in leaders]
        of = {name: by_size(row, self.metric.column) for name, row in self.rows.items() if name in judged}
        found = []
        for name in others if not self.metric.baseline else ():
            run: list[tuple[int, float]] = []
            sizes = [size for size in of[name] if all(size in of[leader] for leader in leaders)]
            pairs = [self.gains(of[name], of[leader], sizes, len(others)) for leader in leaders]
            for size in [*sizes, -1]:
                if all(size in gains for gains in pairs):
                    run.append((size, min(gains[size] for gains in pairs)))
                elif run:
                    factors = [gain for _, gain in run]
                    found.append((name, run[0][0], run[-1][0], min(factors), max(factors)))
                    run = []
        return found

    def gains(
        self, own: dict[int, list[float]], other: dict[int, list[float]], sizes: Sequence[int], pairs: int
    ) -> dict[int, float]:
        """How many times better at sizes where all runs are, by more than exchanges of whole runs explain."""
        apart: dict[int, tuple[frozenset[int], float]] = {}  # the better half of all runs
        for size in sizes:
            values = np.array([*own[size], *other[size]]) * (1 if self.lower else -1)
            first = frozenset(np.argsort(values)[: len(own[size])].tolist())
            half, rest = (np.abs([values[n] for n in of]) for of in (first, {*range(len(values))} - first))
            low, high = sorted((np.median(half), np.median(rest)))
            touch = max(values[n] for n in first) >= min(values[n] for n in {*range(len(values))} - first)
            if not touch and low > 0 and high >= 1.01 * low:
                apart[size] = first, high / low
        runs = frozenset(range(len(own[sizes[0]]))) if sizes else frozenset()
        ways = math.comb(len(own[sizes[0]]) + len(other[sizes[0]]), len(runs)) if sizes else 1
        mine = {size: gain for size, (half, gain) in apart.items() if half == runs}
        return {
            size: gain
            for size, gain in mine.items()
            if len({half for half, as_far in apart.values() if as_far >= gain}) * pairs <= LEVEL * ways
        }


def by_size(row: Row, column: str) -> dict[int, list[float]]:
    """At each size that all repeats printed."""
    curves = [
        {
            int(size): value
            for size, value in zip(series.columns.get("size", []), series.columns[column], strict=True)
            if size is not None and value is not None
        }
        for _, series in row.curves
        if len(series.columns.get("size", [])) == len(series.columns[column])
    ]
    common = set(curves[0]).intersection(*curves) if curves else set()
    return {size: [curve[size] for curve in curves] for size in sorted(common)}


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


class Told:
    """One answer: its sentences, and the candidates that they are of."""

    def __init__(self, comparison: Comparison, answer: Answer) -> None:
        self.comparison, self.answer = comparison, answer
        self.every = [Compared(ranking) for ranking in answer.rankings]
        self.placements = [one for one in self.every if one.kind == "placements"]
        self.compared = [one for one in self.placements if one.several]
        self.others = [one for one in self.every if one.kind != "placements" and one.several]
        self.names: list[str] = []
        for one in self.placements:
            self._complete(one)

    def _complete(self, one: Compared) -> None:
        """No candidate with a value is left out."""
        first, ranks = next(iter(one.rows.values())), self.answer.rankings[0].ranks
        there = [
            row.case.placement
            for row in self.answer.table.rows
            if row.ranked and not row.in_blocks and not row.apart and row.ranks == ranks
            if (row.case.machine, row.case.library) == (first.case.machine, first.case.library)
            if read(row, one.metric)
        ]
        assert sorted(there) == sorted(one.rows), (there, one.rows.keys())

    def hold(self) -> Iterator[str]:
        """The kind of each sentence, which holds."""
        expected = Counter(self._expected())
        for text in self.answer.said:
            if text.startswith("On this busy machine"):
                self._disturbed(text)
                yield "disturbed"
                continue
            kind = self._first_rule(text, self.rules())
            expected[kind] -= 1
            yield kind
        assert not +expected and not -expected, (expected, self.answer.said)
        if self.every:
            metric = self.every[0].metric
            shown = [one for one in self.answer.candidates if one.ratio is not None]
            sign = 1 if metric.lower_is_better else -1
            medians = [np.median([run.value for run in read(one.row, metric)]) for one in shown]
            order = [(bool(self._why(one.row)), sign * of) for one, of in zip(shown, medians, strict=True)]
            assert order == sorted(order), (self.answer.title, order)
        lines = list(self.answer.host_groups)
        untested: dict[tuple[str, str], list[str]] = defaultdict(list)
        for one in self.others:
            if not one.contest.judged:
                untested[one.kind, one.contest.why_none].append(one.scope)
                continue
            [line] = [text for text in lines if text.startswith(f"{one.scope}: ")]
            lines.remove(line)
            self._line(one, line.removeprefix(f"{one.scope}: "))
            yield "other candidates"
        for (kind, why), scopes in untested.items():
            which = f"too few repeats to say which {ONE[kind]} is best"
            said = which if why == "too few repeats" else f"{why}: not tested"
            lines.remove(f"{words(scopes)}: {said}")
            yield "other candidates"
        # those over host groups: tests/test_over_groups.py
        assert all(" on average over " in line for line in lines), lines
        self._pictured()

    def _pictured(self) -> None:
        """The candidates beside it: median, interval and ratio to the best; filled is who may be the best."""
        metric, unit = self.every[0].metric, UNITS.get(self.answer.unit, 1.0)
        compared = [one for one in self.answer.candidates if one.ratio is not None]
        assert not any(" ns apart" in one.name for one in self.answer.candidates if one.row.ranked)
        groups = {one.row.case.machine for one in compared}
        assert len(groups) > 1 or not any(" with " in one.name for one in compared), "the host group of all"
        for one in compared:
            own = np.sort([run.value for run in read(one.row, metric)]) / unit
            assert near(float(np.median(own)), one.value), (one, own)
            if ends := re.fullmatch(r"\[([\d.]+), ([\d.]+)\]", one.shown.interval):
                k = order_of_ends(len(own))
                assert near(own[k - 1], ends[1]) and near(own[-k], ends[2]), (one.name, own, ends[0])
            best = np.median([run.value for run in read(compared[0].row, metric)]) / unit
            ratio = np.median(own) / best if metric.lower_is_better else best / np.median(own)
            assert math.isclose(one.ratio or 0, ratio, rel_tol=1e-9), (one.name, ratio)
            places = [
                (each.contest, name)
                for each in self.every
                for name, row in each.rows.items()
                if row is one.row
            ]
            judged = [(contest, name) for contest, name in places if contest.tested]
            may = bool(judged) and all(name in contest.leaders for contest, name in judged)
            whole = any(len(each.rows) == len(compared) for each in self.every)
            assert one.leads == may if whole else one.leads <= may, (self.answer.title, one.name, may)

    def token(self, text: str, *groups: Iterable[str]) -> str:
        """With numbers in place of names."""
        self.names = sorted({name for group in groups for name in group}, key=len, reverse=True)
        for number, name in enumerate(self.names):
            text = re.sub(rf"(?<![\w⟦.+-]){re.escape(name)}(?![\w⟧+-])", f"⟦{number}⟧", text)
        return text

    def named(self, found: Iterable[str]) -> list[str]:
        return [self.names[int(number)] for number in found]

    @staticmethod
    def _first_rule(text: str, rules: Mapping[str, Callable[[re.Match[str]], None]]) -> str:
        for pattern, check in rules.items():
            if found := re.fullmatch(pattern, text):
                check(found)
                return check.__name__
        raise AssertionError(f"no rule knows: {text}")

    # Which sentences there are

    def _expected(self) -> Iterator[str]:
        single = self.compared[0] if len(self.placements) == 1 and self.compared else None
        judged = any(one.contest.judged for one in self.every if one.several)
        if (
            len([one for one in self.answer.candidates if one.ratio is not None])
            == 1
            == len(self.answer.candidates)
        ):
            yield "only"
            return
        if self.compared and not any(one.contest.judged for one in self.compared):
            yield from ("none_judged", *(["none_judged"] * (self._why_none() != "too few repeats")))
            few = self._why_none() != "too few repeats" and len(self.compared) == 1
            yield from ["ranges"] * (few and len(self.compared[0].contest.names) <= 3)
        elif single:
            yield from ("leaders", *(["contrast", "certainty"] if single.gap else []))
            if self._seen([single]):
                yield "seen"
        elif self.compared:
            yield from self._expected_of_several()
        yield from ("crossing" for one in self.placements if one.gap and one.crossings())
        reasons = {self._why(one.row) for one in self.answer.candidates} - {""}
        yield from ("not_judged" for why in reasons if judged or why == "too few repeats")
        yield from ["unverified"] * any(UNVERIFIED in one.row.verdicts for one in self.answer.candidates)
        yield from ["modes"] * any(text.startswith("Repeats in several") for text in self.answer.said)

    def _expected_of_several(self) -> Iterator[str]:
        for text in self.answer.said:  # orders are only checked where they stand
            if re.match(r"Exceptions: ", text):
                yield "exceptions"
            elif re.search(r" [<>=] .* in \d+ of \d+ host groups?", text):
                yield "orders"
        whole = not any(re.match(r"(Fastest|Best|Lowest|Highest) ", text) for text in self.answer.said)
        if not whole:
            yield "counts"
        clear = [one for one in self.compared if one.gap and not one.contest.few]
        yield from ["leads"] * bool(clear)
        yield from ["seen"] * bool(not whole and self._seen(self.compared))

    def _why_none(self) -> str:
        return Counter(one.contest.why_none for one in self.compared).most_common(1)[0][0]

    def _why(self, row: Row) -> str:
        """Why nobody is compared with a row; empty where somebody is."""
        of = [
            (one.contest, name)
            for one in self.every
            if one.several
            for name, own in one.rows.items()
            if own is row
        ]
        why = [contest.why_unjudged(name) for contest, name in of]
        return why[-1] if why and all(why) else ""

    @staticmethod
    def _seen(of: Sequence[Compared]) -> list[tuple[int, float]]:
        open_ = [one.contest for one in of if len(one.contest.leaders) > 1 and not one.contest.few]
        return [contest.seen for contest in open_ if contest.seen]

    # Rules: each asserts what its sentence says

    def rules(self) -> dict[str, Callable[[re.Match[str]], None]]:
        found: dict[str, Callable[[re.Match[str]], None]] = {
            r"(Too few repeats to say which is best\. Ask for more repeats\.)": self.none_judged,
            r"(.*): not tested\.": self.none_judged,
            r"New runs of each, side by side in rows, would decide(: run --again .*)?\.": self.none_judged,
            r"The medians \(and ranges of repeats\) are (.*)\.": self.ranges,
            r"Not judged, (.*?): (.*)\.": self.not_judged,
            r"Unverified: (.*)\.": self.unverified,
            r"Repeats in several modes: (.*)\.": self.modes,
            rf"(?:Where no difference is shown, )?{SEEN}\.": self.seen,
            r"Only (.*) has (?:values|enough quiet runs): ([\d.]+) (\S+)\.": self.only,
            r"(?:(?P<scope>.*): a|A)head of (?P<leaders>.*) in all repeats: (?P<parts>.*)\.": self.crossing,
        }
        if len(self.placements) == 1 and self.compared:
            return {
                **found,
                r"(All|The difference) .*": self.certainty,
                rf".* (?:takes|has|reaches) {AMOUNT} .*\.": self.contrast,
                r"(.*)\.": self.leaders,
            }
        return {
            **found,
            r"Exceptions: (.*)\.": self.exceptions,
            r"(?:Fastest|Best|Lowest|Highest) placement: (.*)\.": self.counts,
            r"(.* in \d+ of \d+ host groups?.*)\.": self.orders,
            r"(.* (?:than|as) .*)\.": self.leads,
        }

    def only(self, found: re.Match[str]) -> None:
        [one] = self.answer.candidates
        metric = self.answer.rankings[0].metric if self.answer.rankings else one.shown.cell.metric  # type: ignore[union-attr]
        values = [run.value for run in read(one.row, metric)]
        assert (one.name, found[3]) == (found[1], self.answer.unit)
        assert near(float(np.median(values)) / UNITS[found[3]], found[2])

    def none_judged(self, found: re.Match[str]) -> None:
        assert not any(one.contest.judged for one in self.compared), found[0]
        if found[0].startswith("New runs"):
            names = dict.fromkeys(name for one in self.compared for name in one.contest.names)
            own = not any("imported" in one.row.curves[0][0].metadata for one in self.answer.candidates)
            own = own and not any(one.row.imported for one in self.answer.candidates)
            assert bool(found[1]) == (own and len(names) <= 3), found[0]
            assert not found[1] or found[1].replace("'", "") == f": run --again {','.join(names)}", found[0]
        else:
            why = "too few repeats" if found[0].startswith("Too few") else found[1]
            assert why.lower() == self._why_none().lower(), found[0]

    def _disturbed(self, text: str) -> None:
        """Medians and ranges of those never quiet, and whether that of the first overlaps others."""
        rows = {one.name: one.row for one in self.answer.candidates if one.row.disturbed}
        runs = {name: read(row, self.every[0].metric) for name, row in rows.items()}
        contest = Contest(runs, self.every[0].lower)
        said = self.token(text, contest.names)
        if found := re.fullmatch(r"On this busy machine the median \(and range of repeats\) is (.*)\.", said):
            self._ranges(contest, found[1])
            return
        first, *others = contest.names
        low, high = contest.values[first].min(), contest.values[first].max()
        meet = [name for name in others if (own := contest.values[name]).min() <= high and own.max() >= low]
        those = f"that of {words(meet)}" if meet else "no other"
        assert text == f"On this busy machine the range of {first} overlaps {those}.", (text, meet)

    def ranges(self, found: re.Match[str]) -> None:
        [one] = self.compared
        self._ranges(one.contest, self.token(found[1], one.contest.names))

    def _ranges(self, contest: Contest, text: str) -> None:
        part = rf"([\d.]+) (\S+) \((?:(1 run)|([\d.]+) to ([\d.]+))\) for {N}"
        parts = re.findall(part, text)
        assert re.sub(part, "X", text) == words(["X"] * len(parts)), text
        assert self.named(name for *_, name in parts) == contest.names, text
        for name, (middle, unit, single, low, high, _) in zip(contest.names, parts, strict=True):
            own = contest.values[name] / UNITS[unit]
            assert near(float(np.median(own)), middle), text
            assert len(own) == 1 if single else near(own.min(), low) and near(own.max(), high), text

    def leaders(self, found: re.Match[str]) -> None:
        self._leaders(self.compared[0], found[1])

    def _leaders(self, one: Compared, text: str) -> None:
        contest = one.contest
        said = self.token(text, contest.names)
        first, _, ahead = said.partition(", behind ")
        named = re.findall(VALUED, first)
        for number, value, unit in named:
            assert near(contest.median(self.names[int(number)]) / UNITS[unit], value), text
        those, k = self.named(number for number, *_ in named), len(contest.leaders)
        best = f"{one.best_is}{' of those judged' * bool(contest.unjudged_ahead)}"
        xs = ["X"] * k
        ends, as_best = f"{k} {one.kind}, X to X", f" as {best}" * one.gap
        if k == 1:
            form = f"X is {best}"
        elif contest.tie:
            form = f"{f'{ends},' if k > 3 else words(xs)} tie{as_best}"
        elif not one.gap:
            form = f"no clear difference between {ends if k > 3 else words(xs)}"
        else:
            form = f"any of {ends}, may be {best}" if k > 3 else f"{words(xs, 'or')} is {best}"
        got = re.sub(VALUED, "X", first)
        assert got == form or got == form[0].upper() + form[1:], (text, form)
        assert those == ([contest.leaders[0], contest.leaders[-1]] if k > 3 else contest.leaders), text
        self._ahead(contest, ahead, text)

    def _ahead(self, contest: Contest, said: str, text: str) -> None:
        ahead = contest.unjudged_ahead
        if len(ahead) > 3:
            assert said == f"{len(ahead)} that are not judged", text
            return
        named = re.findall(rf"{N} \(([^()]*)\)", said)
        assert self.named(number for number, _ in named) == ahead, (text, ahead)
        for name, (_, why) in zip(ahead, named, strict=True):
            few = contest.why_unjudged(name) == "too few repeats"
            n = len(contest.values[name])
            assert why == (f"{n} repeat{'s' * (n != 1)}" if few else contest.why_unjudged(name)), text

    def contrast(self, found: re.Match[str]) -> None:
        self._contrast(self.compared[0], found[0].removesuffix("."), self.compared[0].told)

    def _contrast(self, one: Compared, text: str, expected: Sequence[tuple[str, str]]) -> None:
        """The same amounts of the same pairs, in one sentence."""
        said = self.token(text, one.contest.names)
        verb = "reaches" if not one.lower else "takes" if one.metric.dimension.si_unit == "s" else "has"
        clause = rf"{N} {verb} ({AMOUNT}) (?:as|than) {N}"
        first = re.match(clause, said)
        assert first, text
        pairs = [(first[1], first[2], first[3])]
        rest = said[first.end() :]
        if whole := re.fullmatch(f", {clause}", rest):
            pairs.append((whole[1], whole[2], whole[3]))
        elif more := re.fullmatch(rf" and ({AMOUNT}) (?:as|than) {N}", rest):
            pairs.append((first[1], more[1], more[2]))
        elif more := re.fullmatch(rf", {N} ({AMOUNT})", rest):
            pairs.append((more[1], more[2], first[3]))
        else:
            assert not rest, text
        names = [(*self.named((a, b)), amount) for a, amount, b in pairs]
        told = [(b, a) if one.lower else (a, b) for a, b, _ in names]
        assert told == list(expected), (text, expected)
        for (a, b), (_, _, amount) in zip(expected, names, strict=True):
            number, of = amount.split()[:2]
            factor = one.contest.factor(a, b)
            assert times(factor, number) if of == "times" else f"{100 * (factor - 1):.2g}" == number, text
            assert of == ("times" if factor >= 1.995 else "%"), text
            assert ("long" in amount) == (verb == "takes"), text

    def certainty(self, found: re.Match[str]) -> None:
        contest, text = self.compared[0].contest, found[0]
        p = max(contest.p[pair] for pair in contest.behind)
        told = "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"
        within = [*map(contest.within, contest.behind)]
        rows = min(len(contest.rows(pair)) for pair in contest.behind)
        apart = all(contest.apart(*pair) for pair in contest.behind)
        counts = {len(contest.values[name]) for pair in contest.behind for name in pair}
        if apart and not all(within):
            every = f"All {counts.pop()} repeats" if len(counts) == 1 else "All repeats"
            assert text == f"{every} agree.", text
            return
        how = f"{told}, ranked within {rows} rows in time" if all(within) else told
        overlap = "" if any(within) else ", though some repeats overlap"
        assert text == f"The difference is significant ({how}){overlap}.", (text, p)

    def seen(self, found: re.Match[str]) -> None:
        assert ("Where no" in found[0]) == (len(self.placements) > 1) == (not found[5]), found[0]
        self._holds_seen(found, self.compared)

    def _holds_seen(self, found: re.Match[str], of: Sequence[Compared]) -> None:
        shows(found, self._seen(of))

    def crossing(self, found: re.Match[str]) -> None:
        [one] = [one for one in self.placements if found["scope"] in (None, one.scope) and one.crossings()]
        self._crossing(one, f"ahead of {found['leaders']} in all repeats: {found['parts']}")

    def _crossing(self, one: Compared, text: str) -> None:
        expected, told = one.crossings(), self.token(text, one.contest.names)
        part = rf"{N} at (\d+) (\w+)(?: to (\d+) (\w+))? \(([\d.]+)(?: to ([\d.]+))? times\)"
        parts = re.findall(part, told)
        more = [f"{len(expected) - 3} more ranges of sizes"] if len(expected) > 3 else []
        numbers = [f"⟦{self.names.index(name)}⟧" for name in one.contest.leaders]
        form = f"ahead of {words(numbers)} in all repeats: {words(['X'] * min(3, len(expected)) + more)}"
        assert re.sub(part, "X", told) == form, (text, expected)
        for (name, low, high, least, most), said in zip(expected, parts, strict=False):
            sizes = int(said[1]) * BYTES[said[2]], int(said[3] or said[1]) * BYTES[said[4] or said[2]]
            assert (self.names[int(said[0])], sizes) == (name, (low, high)), (text, expected)
            assert times(least, said[5]) and times(most, said[6] or said[5]), (text, expected)

    def not_judged(self, found: re.Match[str]) -> None:
        why = "too few repeats" if found[1] == "fewer than 4 repeats" else found[1]
        assert not re.search(r", \d+ ranks? \(", found[0]), f"the title says it: {found[0]}"
        candidates = self.answer.candidates
        out = [one for one in candidates if self._why(one.row) == why]
        medians = [np.median([r.value for r in read(one.row, self.every[0].metric)]) for one in out]
        if len(out) > 3:
            ends = re.fullmatch(r"(\d+) of (\d+) candidates \(([\d.]+) to ([\d.]+) (\S+)\)", found[2])
            assert ends and (int(ends[1]), int(ends[2])) == (len(out), len(candidates)), found[0]
            assert near(medians[0] / UNITS[ends[5]], ends[3]), found[0]
            assert near(medians[-1] / UNITS[ends[5]], ends[4]), found[0]
            return
        text = self.token(found[2], [one.name for one in candidates])
        named = re.findall(VALUED, text)
        assert re.sub(VALUED, "X", text) == words(["X"] * len(named)), found[0]
        assert self.named(number for number, *_ in named) == [one.name for one in out], found[0]
        for median, (_, value, unit) in zip(medians, named, strict=True):
            assert near(median / UNITS[unit], value), found[0]

    def unverified(self, found: re.Match[str]) -> None:
        self._some(
            found[1], {id(one.row) for one in self.answer.candidates if UNVERIFIED in one.row.verdicts}
        )

    def modes(self, found: re.Match[str]) -> None:
        column = self.answer.rankings[0].metric.column
        bands = [
            one.row
            for one in self.answer.candidates
            if two_bands([series.columns for _, series in one.row.curves], column)
        ]
        self._some(found[1], {*map(id, bands)}, exact=False)

    def _some(self, text: str, rows: set[int], exact: bool = True) -> None:
        """Placements of which all are meant, then names; of many how many."""
        every = self.answer.candidates
        if many := re.fullmatch(r"(\d+) of (\d+) candidates", text):
            assert int(many[2]) == len(every) and int(many[1]) <= len(rows), text
            return
        names = re.split(", | and ", text)
        meant = {id(one.row) for one in every if {one.name, one.row.case.placement} & {*names}}
        assert meant == rows if exact else meant <= rows, text

    # Several host groups

    def exceptions(self, found: re.Match[str]) -> None:
        names = [name for one in self.compared for name in one.contest.names]
        text = self.token(found[1], names)
        for first, sign, second, where in re.findall(
            rf"{N} ([<>]) {N} in ((?:(?! [<>] ).)*?)(?:, (?={N} [<>])|$)".replace(r"(?=⟦(\d+)⟧", r"(?=⟦\d+⟧"),
            text,
        ):
            a, b = self.named((first, second))
            assert (sign == "<") == self.compared[0].lower, text
            for scope in re.split(r", | and ", where):
                if not scope.endswith("host groups"):
                    [one] = [one for one in self.compared if one.scope.partition(", ")[0] == scope]
                    assert self._in_order(one.contest, (a, b), (sign,)), (found[0], scope)

    def orders(self, found: re.Match[str]) -> None:
        """By the medians of all host groups that have the placements, whatever their repeats show."""
        text = self.token(found[1], [name for one in self.compared for name in one.contest.names])
        for order, count, of, shown in re.findall(ORDER, text):
            names, signs = self.named(re.findall(N, order)), re.findall("[<>=]", order)
            assert all(sign in ("=", "<" if self.compared[0].lower else ">") for sign in signs), text
            whole = [one.contest for one in self.compared if {*names} <= {*one.contest.names}]
            holds = [contest for contest in whole if self._in_order(contest, names, signs)]
            clear = sum(
                all(
                    contest.clear(a, b)
                    for a, b, sign in zip(names, names[1:], signs, strict=False)
                    if sign != "="
                )
                for contest in holds
            )
            counts = len(holds), len(whole), clear if {*signs} != {"="} else 0
            said = int(count), int(of), int(count if shown == "each" else shown or 0)
            modes = "several modes" in text  # of which host groups, the product alone says
            assert counts == said or (modes and all(a >= b for a, b in zip(counts, said, strict=True))), (
                found[0],
                counts,
            )

    @staticmethod
    def _in_order(contest: Contest, names: Sequence[str], signs: Sequence[str]) -> bool:
        """Whether the first of each two is better by 1 %, or neither is where they are called equal."""
        return all(
            contest.factor(a, b) < 1.01
            if sign == "="
            else contest.names.index(a) < contest.names.index(b) and contest.factor(a, b) >= 1.01
            for (a, b), sign in zip(pairwise(names), signs, strict=True)
        )

    def counts(self, found: re.Match[str]) -> None:
        known = Counter(map(self._place, self.compared))
        if "not tested" in known:  # what further runs are needed for, too
            known["not tested"] += known.pop("too few repeats", 0)
        names = {name for one in self.compared for name in one.contest.names}
        text = self.token(found[1], names)
        of = re.search(r" in \d+ of (\d+) (host groups?|combinations)", text)
        assert of and int(of[1]) == len(self.compared), found[0]
        rest = known.copy()
        unnamed = 0
        for who, count in re.findall(r"(?:^|, )(.+?) in (\d+)", text):
            if who in ("another", "one of several"):
                unnamed += int(count)
                continue
            key = " or ".join(self.named(re.findall(N, who))) if "⟦" in who else who
            assert known[key] == int(count), (found[0], known)
            del rest[key]
        assert sum(rest.values()) == unnamed, (found[0], known)

    @staticmethod
    def _place(one: Compared) -> str:
        contest = one.contest
        if contest.few:
            few = {contest.why_unjudged(name) for name in contest.names} <= {"", "too few repeats"}
            return "too few repeats" if few else "not tested"
        if one.gap:
            return " or ".join(sorted(contest.leaders))
        return "a tie" if contest.tie else "no clear difference"

    def leads(self, found: re.Match[str]) -> None:
        clear = {one.scope: one for one in self.compared if one.gap and not one.contest.few}
        factors = {scope: one.contest.factor(*one.contest.behind[0]) for scope, one in clear.items()}
        text, ends = found[1], [min(factors.values()), max(factors.values())]
        if both := re.fullmatch(r"Smallest clear lead: (.*) \((.*?)\); largest: (.*) \((.*?)\)", text):
            parts = [(both[2], both[1]), (both[4], both[3])]
            assert np.allclose([factors[scope] for scope, _ in parts], ends), (text, factors)
        elif text.startswith("Clear lead: "):
            parts = [(scope, text.removeprefix("Clear lead: ")) for scope in clear]
        else:
            scope, _, said = text.partition(": ")
            parts = [(scope, said)]
            assert len(clear) == 1, text
        for scope, said in parts:
            self._contrast(clear[scope], said, clear[scope].contest.behind[:1])

    def _line(self, one: Compared, text: str) -> None:
        """Who is best of host groups or libraries, in a line."""
        first, *parts = text.split("; ")
        self._leaders(one, first)
        if one.gap:
            self._contrast(one, parts.pop(0), one.told)
            if one.crossings():
                self._crossing(one, parts.pop(0))
        elif self._seen([one]):
            found = re.fullmatch(SEEN, parts.pop(0))
            assert found, text
            self._holds_seen(found, [one])
        ahead = one.contest.unjudged_ahead
        left = [name for name in one.contest.names if one.contest.why_unjudged(name) and name not in ahead]
        assert parts == [f"{len(left)} other{'s' * (len(left) != 1)} not judged"] * bool(left), text


def order_of_ends(n: int) -> int:
    """Which smallest and largest value are the ends of an interval of the median: 95 %, or all values."""
    outside = np.cumsum([math.comb(n, k) for k in range(n)]) / 2**n
    return max([1, *(k for k in range(1, n // 2 + 1) if 2 * outside[k - 1] <= 0.05)])


def two_bands(runs: Sequence[Mapping[str, list[float | None]]], column: str) -> bool:
    """Whether at any size the repeats fall into two bands, the gap twice as wide as either of them."""
    for values in zip(*(columns[column] for columns in runs), strict=False):
        ordered = np.sort(np.log([value for value in values if value]))
        gaps = np.diff(ordered)
        if len(gaps) > 2:
            place = int(gaps.argmax())
            bands = ordered[place] - ordered[0], ordered[-1] - ordered[place + 1]
            if gaps[place] > 2 * max(bands):
                return True
    return False


# The whole screen


class Piece(HTMLParser):
    """Headings, paragraphs and items of the page's first section, without what is folded or a table."""

    TOLD, WITHOUT = ("h2", "h3", "p", "li"), ("details", "table", "svg", "script", "style")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.hidden = 0
        self.open = False
        self.feed(
            page[page.index('id="answers"') - 20 : page.index("</section>", page.index('id="answers"'))]
        )

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden += tag in self.WITHOUT
        self.open = self.open and tag not in ("div", "article", "ul", *self.TOLD)
        if tag in self.TOLD and ("class", "legend") not in attrs and not self.hidden:
            self.open = True
            self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in self.WITHOUT
        self.open = self.open and tag not in self.TOLD

    def handle_data(self, data: str) -> None:
        if self.open and not self.hidden:
            self.texts[-1] += data


def hold(comparison: Comparison, screen: KeyResults) -> Counter[str]:
    """How many sentences of each kind there are; all hold."""
    kinds: Counter[str] = Counter()
    told = [Told(comparison, answer) for answer in screen.answers if answer.rankings and answer.real != BUSY]
    for one in told:
        kinds.update(one.hold())
        _title(one)
    for answer in screen.answers:
        if answer.scaling:
            Scaled(answer).hold()
            kinds["scaling"] += 1
    kinds.update(_lead(comparison, screen.lead, told, screen.answers))
    kinds.update(_notice(text, comparison.records) for text in screen.notices)
    return kinds


def on_page(page: str, screen: KeyResults) -> None:
    """The page's first screen says these sentences, in this order, and no other."""
    texts = [screen.lead, *screen.notices, *screen.of_few]
    for answer in screen.answers:
        texts += [f"{answer.title} {answer.real}", " ".join(answer.said), *answer.host_groups]
    found = [" ".join(text.split()) for text in Piece(page).texts]
    assert found == texts[: len(found)] and len(found) > len(screen.notices), (found, texts)


def on_terminal(text: str, screen: KeyResults) -> None:
    """The terminal's begins with the answer, and says whole sentences of the page."""
    head, *blocks = (" ".join(block.split()) for block in text.strip().split("\n\n"))
    assert head == f"{screen.lead}.", text
    said = [" ".join([f"{answer.title}:", *answer.said]) for answer in screen.answers if answer.said]
    said += [f"{answer.title}, {line}." for answer in screen.answers for line in answer.host_groups]
    every = [*said, *screen.of_few]
    rest = blocks[0].partition(" … all answers")[0] if every else ""
    for sentence in every:
        if rest:
            assert rest.startswith(sentence), (rest, sentence)
            rest = rest.removeprefix(sentence).strip()
    assert not rest, rest
    notices = " ".join(screen.notices)
    assert not notices or notices.startswith(blocks[-1].partition(" … more in")[0]), text


def _title(one: Told) -> None:
    answer, contests = one.answer, [each for each in one.every if each.several]
    assert re.search(rf": {re.escape(answer.rankings[0].metric.name)}(, \d+ ranks?)?$", answer.title)
    judged = any(each.contest.judged for each in contests)
    if any(each.gap for each in contests):
        real = "difference shown"
    elif judged:
        real = "no clear difference"
    elif not contests:
        real = "nothing to compare"
    else:
        why = Counter(each.contest.why_none for each in contests).most_common(1)[0][0]
        real = why if why == "too few repeats" else "not tested"
    assert answer.real == real, (answer.title, answer.real, real)


def _lead(
    comparison: Comparison, text: str, told: Sequence[Told], answers: Sequence[Answer]
) -> Iterator[str]:
    """The headline: of each kind of candidates who is the best, and by what."""
    if comparison.of_few and not answers:
        return  # see `plain_pairs`
    parts = text.split(". ")
    pairs = [
        one.contest.why_not(*pair)
        for each in told
        for one in each.every
        for pair in combinations(one.contest.names, 2)
    ]
    enough = [why for why in pairs if why != "too few repeats"]
    in_turn = enough.count("measured one after the other")
    tested = any(one.contest.tested for each in told for one in each.every)
    if tested and 0 < in_turn < len(enough):
        of = f"{in_turn} of {len(enough)} pairs were measured one after the other: not tested"
        assert parts.pop() == of, (text, of)
        yield "lead of pairs"
    untested: dict[str, list[str]] = defaultdict(list)
    for kind in ("host groups", "MPI libraries", "placements"):
        same = [one for each in told for one in each.every if one.kind == kind and one.several]
        if any(one.contest.judged for one in same):
            _leading(comparison, parts.pop(0), kind, same)
            yield f"lead of {kind}"
        elif same:
            why = Counter(one.contest.why_none for one in same).most_common(1)[0][0]
            untested[why].append(kind)
    if scaled := [Scaled(answer) for answer in answers if answer.scaling]:
        _scaling_lead(parts.pop(0), scaled)
        yield "lead of scaling"
    for why, kinds in untested.items():
        which = f"which {words([ONE[kind] for kind in kinds], 'or')} is best"
        few = why == "too few repeats"
        said = f"Too few repeats to say {which}" if few else f"The {words(kinds)} are not tested: {why}"
        assert parts.pop(0) == said, (text, said)
        yield "lead of none"
    if parts and not any(one.several for each in told for one in each.every):
        assert parts == ["Nothing to compare"] or "busy machine" in parts[0], text
        parts = []
    assert not parts, text


def _leading(comparison: Comparison, text: str, kind: str, of: Sequence[Compared]) -> None:
    contests, one = [each.contest for each in of], ONE[kind]
    bests = {each.best_is for each in of}
    best = bests.pop() if len(bests) == 1 else "best"
    metrics = list(dict.fromkeys(each.metric.name for each in of))
    metrics = metrics if len(metrics) <= 3 else list(dict.fromkeys(each.metric.dimension.name for each in of))
    by, n = words(metrics), len(of)
    few = sum(contest.few for contest in contests)
    leaders = {tuple(sorted(contest.leaders)) for contest in contests}
    gaps = [each.gap for each in of]
    if not few and not any(gaps):
        assert text == f"No clear difference between the {kind} by {by}", text
    elif not few and len(leaders) == 1 and all(gaps) and len(next(iter(leaders))) <= 3:
        first, _, crossing = text.partition("; ")
        names = words(sorted(next(iter(leaders))), "or")
        assert re.fullmatch(rf"{re.escape(names)} is the {best} {one}( on .*?)? by {re.escape(by)}", first), (
            text
        )
        on = re.search(r" on (\S+) by ", first)
        places = {each.rows[name].case.host_group for each in of for name in each.rows}
        assert not on or [on[1].rpartition("/")[2]] == [*places], text
        turned = next((each for each in of if each.crossings()), None)
        assert bool(crossing) == bool(turned), text
        if turned:
            several = len({each.scope for each in of}) > 1
            Told._crossing(_Alone(), turned, crossing.removeprefix(f"{turned.scope}: " if several else ""))
    else:
        _counted(text, of, f"{n} comparisons of {by}", best, one)


class _Alone(Told):
    """The rules of an answer without one."""

    def __init__(self) -> None:
        self.names = []


def _counted(text: str, of: Sequence[Compared], every: str, best: str, one: str) -> None:
    known = Counter[str]()
    for each in of:
        clear = each.gap and not each.contest.few and len(each.contest.leaders) <= 3
        leaders = words(sorted(each.contest.leaders), "or")
        known[leaders if clear else "open" if each.contest.few else "no clear lead"] += 1
    few = known["open"]
    if not sum(n for who, n in known.items() if who not in ("open", "no clear lead")):
        first, _, rest = text.partition(every)
        assert first == f"No {one} has a clear lead in any of the ", text
        assert bool(few) == bool(rest), text
        assert not few or re.fullmatch(rf", (too few repeats|not tested) in {few}", rest), text
        return
    first, _, rest = text.partition(f" of {every}")
    found = re.fullmatch(rf"(.*) is the {best} {one} in (\d+)", first)
    assert found, (text, best, one, every)
    said = [(found[1], found[2]), *re.findall(r", (.+?) in (\d+)(?=, |$)", rest)]
    names = {who: int(count) for who, count in said}
    another = names.pop("another", 0)
    assert names.pop("too few repeats", names.pop("not tested", 0)) == few, (text, known)
    for who, count in names.items():
        assert known[who] == count, (text, known)
    left = {who: n for who, n in known.items() if who not in names and who != "open"}
    assert sum(left.values()) == another, (text, known)
    assert not another or max(left.values()) <= min(n for who, n in names.items() if who != "no clear lead")
    assert known[found[1]] == max(n for who, n in known.items() if who not in ("open", "no clear lead"))


# Scaling


class Scaled:
    """Medians over the numbers of ranks, the fewest first."""

    def __init__(self, answer: Answer) -> None:
        assert answer.scaling
        self.answer, self.metric, first = answer, answer.scaling.metric, answer.scaling.points[0].row
        rows = [
            row
            for row in answer.table.rows
            if row.ranked and _family(row) == _family(first) and read(row, self.metric)
            if _without_grid(row.label) == _without_grid(first.label)
        ]
        self.rows = sorted(rows, key=lambda row: (row.ranks or 1, len(row.curves[0][0].hosts)))
        self.ranks = [row.ranks or 1 for row in self.rows]
        medians = [float(np.median([run.value for run in read(row, self.metric)])) for row in self.rows]
        self.medians = np.array(medians)
        facts = [row.curves[0][0].metadata for row in self.rows]
        words_ = {of.get("declared scaling", "") for of in facts}
        self.word = words_.pop() if len(words_) == 1 else ""
        assert " grid " not in answer.title, "that of HPL changes with the ranks"
        self.work = answer.table.suite == "own" or self.metric.column.endswith(("_flops", "_rate"))
        self.ideal = np.array(self.ranks) / self.ranks[0]
        lower = bool(self.metric.lower_is_better)
        gain = self.medians[0] / self.medians if lower else self.medians / self.medians[0]
        self.speed_up = gain * (self.ideal if self.word == "weak" and lower else 1)
        same = len({of.get("arguments") for of in facts}) == 1
        self.known = self.work and bool(self.word or not lower or same)

    def hold(self) -> None:
        """Each median with its ranks, speed-up and efficiency."""
        kind = f"{self.word} scaling".lstrip() if self.work else "over the ranks"
        assert self.answer.real == kind, self.answer
        [said] = self.answer.said
        text, _, wrong = said.partition(" The campaign file says ")
        orders = {found[1] for row in self.rows if (found := re.search(r"\bN (\d+)", row.label))}
        assert bool(wrong) == bool(self.word and orders and (len(orders) == 1) == (self.word == "weak")), said
        assert not wrong or (
            wrong.startswith(self.word)
            and all(f in wrong for f in (min(orders, key=int), max(orders, key=int)))
        ), said
        parts = text.removesuffix(".").split("; ")
        assert len(parts) == len(self.rows), text
        for number, part in enumerate(parts):
            found = re.fullmatch(
                r"([\d.]+) (\S+) with (\d+) ranks?(?: in (.*?))?"
                r"(?: \((speed-up [\d.]+ of [\d.]+, efficiency [\d.]+ %)\))?",
                part,
            )
            assert found and int(found[3]) == self.ranks[number], text
            assert near(self.medians[number] / UNITS.get(found[2], 1.0), found[1]), text
            several = self.ranks.count(self.ranks[number]) > 1
            assert (found[4] or "") == (self.rows[number].case.placement if several else ""), text
            assert bool(found[5]) == (self.known and number > 0), text
            assert not found[5] or self.gains(found[5], number), (text, self.speed_up)

    def gains(self, text: str, number: int = -1) -> bool:
        """Whether these are the speed-up and the efficiency."""
        speed_up, ideal, efficiency = re.findall(r"[\d.]+", text)
        known = self.speed_up[number] / self.ideal[number]
        sizes = times(self.speed_up[number], speed_up) and times(self.ideal[number], ideal)
        return sizes and near(100 * known, efficiency)


def _family(row: Row) -> tuple[str, str, str]:
    rest = [word for word in row.case.placement.split() if not word.startswith(("nodes=", "ranks_per_node="))]
    return row.case.system, row.case.host_group, " ".join(rest)


def _without_grid(label: str) -> str:
    return re.sub(r", grid \d+ x \d+|N \d+, ", "", label)


def _scaling_lead(text: str, of: Sequence[Scaled]) -> None:
    known = [one for one in of if one.known]
    if not known:
        first, last = of[0].answer.said[0].removesuffix(".").split("; ")[:: len(of[0].rows) - 1]
        more = len(of) - 1
        others = f"; {more} more over the ranks" if more else ""
        assert text == f"{of[0].answer.title}: {first}, {last}{others}", text
        return
    ends = {(one.ranks[0], one.ranks[-1]) for one in known}
    first, last = next(iter(ends))
    if len(known) == 1:
        found = re.fullmatch(r"(.*): from (\d+) to (\d+) ranks \((.*)\)", text)
        assert found and found[1] == known[0].answer.title, text
        assert (int(found[2]), int(found[3])) == (first, last) and known[0].gains(found[4]), text
        return
    head = f"Efficiency from {first} to {last} ranks" if len(ends) == 1 else "Efficiency with the most ranks"
    by = words(list(dict.fromkeys(one.metric.name for one in known)))
    found = re.fullmatch(rf"{head}: ([\d.]+)(?: to ([\d.]+))? % by {by}", text)
    efficiencies = [100 * one.speed_up[-1] / one.ideal[-1] for one in known]
    assert found and near(min(efficiencies), found[1]), (text, efficiencies)
    assert near(max(efficiencies), found[2] or found[1]), (text, efficiencies)


# What is said of the runs


def _notice(text: str, records: Sequence[Record]) -> str:
    ok = [run for run in records if run.status == OK]
    state = Counter(run.condition for run in ok)
    rules: dict[str, Callable[[re.Match[str]], bool]] = {
        r"(?:The (?:machine|hosts) (?:was|were) (?:quiet in (?:all )?(\d+)(?: of (\d+))? runs|busy)|Nothing "
        r"recorded shows whether the (?:machine was|hosts were) quiet)(?:; (\d+) runs? (?:was|were) disturbed"
        r"(?: and left out| and counted all the same \(busy_machine: rank\)|, shown with † and not tested"
        r"| \(\d+ shown with † and not tested, \d+ left out\))?)?"
        r"(?:; (\d+) runs? (?:was|were) not judged \(.*\))?\.": lambda found: (
            (int(found[1] or 0), int(found[3] or 0), int(found[4] or 0))
            == (state[QUIET], state[DISTURBED], state[NOT_JUDGED])
            and int(found[2] or found[1] or len(ok)) == len(ok)
        ),
        r"For values that count, use a quiet machine, .*": lambda _: bool(state[DISTURBED]),
        r"Runs left out: (?:(\d+) failed)?(?: and )?(?:(\d+) contradicted)?\.": lambda found: (
            (int(found[1] or 0), int(found[2] or 0))
            == (
                sum(run.status == FAILED for run in records),
                sum(run.verdict == CONTRADICTED for run in ok),
            )
        ),
        r"(\d+) runs? (?:was|were) stopped by the time limit while others used the CPUs\.": lambda found: (
            int(found[1]) == sum(run.status == FAILED and "time limit" in run.reason for run in records)
        ),
        r"Not made: (\d+) of (\d+) planned runs \(.*\).*\.": lambda found: (
            (int(found[1]), int(found[2])) == (sum(run.status == MISSING for run in records), len(records))
        ),
        r"Tuning cliff, (\S+) (\S+): (\S+) takes ([\d.]+) (\S+) at (\d+) (\w+) and ([\d.]+) (\S+) at (\d+) "
        r"(\w+) \(([\d.]+) times\)(; in its one run: more repeats would confirm it)?\.": lambda found: _cliff(
            records, *found.groups()
        ),
        r"(\d+) of (\d+) runs are unverified: no evidence proves their placement\.": lambda found: (
            (int(found[1]), int(found[2]))
            == (sum((run.verdict or UNVERIFIED) == UNVERIFIED for run in ok), len(ok))
        ),
        r"(.*?) (\S+)(?: for .*)? is not available: (.*)\.": lambda found: any(
            run.status == NOT_AVAILABLE and run.reason == found[3] and run.case.placement == found[2]
            for run in records
        ),
        r"The answers use (\d+) of (\d+) runs: (.*?)\."
        r"( The others stand in rows of their own, not ranked\.)?": lambda found: _of_state(records, found),
        r"(\d+) of those with CPUs \d+ ns apart took 10 s or more and (?:was|were) probed at both ends only: "
        r"the CPUs may have moved within\.": lambda found: 0 < int(found[1]) <= len(ok),
        r"On (.*), a round trip of a cache line took (.*)\.": lambda found: _round_trips(records, found[2]),
    }
    for pattern, holds in rules.items():
        if found := re.fullmatch(pattern, text):
            assert holds(found), text
            return "notice"
    raise AssertionError(f"no rule knows: {text}")


def _cliff(records: Sequence[Record], group: str, placement: str, label: str, *said: str) -> bool:
    """More bytes take less time, in the median of the runs."""
    runs = [
        series.columns
        for run in records
        for series in run.series
        if (run.case.host_group, run.case.placement) == (group, placement) and label in series.label
    ]

    def holds(value: str, unit: str, size: str, of: str) -> float:
        at = int(size) * BYTES[of]
        median = float(np.median([value_at(columns, "time", at) for columns in runs]))
        assert near(median / UNITS[unit], value), (said, median)
        return median

    slower, faster = holds(*said[:4]), holds(*said[4:8])
    return times(slower / faster, said[8]) and bool(said[9]) == (len(runs) == 1)


def _of_state(records: Sequence[Record], found: re.Match[str]) -> bool:
    """The rest stand in placements of their states; a state has been seen to span 27 to 77 ns."""
    made = [run for run in records if run.status == OK and run.series and run.verdict != CONTRADICTED]
    ranked = [run for run in made if STATE not in run.metadata]
    counts = {what: int(number or len(ranked)) for number, what in NUMBERED.findall(found[3])}
    unread = sum(not run.probes.get("round trip") for run in ranked)
    assert counts.pop("without a reading of that distance", 0) == unread, found[3]
    [ns] = re.findall(r"whose CPUs were (\d+) ns apart", found[3])
    readings = [[*chain(*run.probes.get("round trip", {}).values())] for run in ranked]
    near_ = sum(
        all(abs(math.log(value * 1e9 / float(ns))) < math.log(2) for value in of) for of in readings if of
    )
    assert counts[f"whose CPUs were {ns} ns apart"] <= near_, found[3]
    assert sum(counts.values()) + unread == len(ranked) and bool(found[4]) == (len(ranked) < len(made))
    return (int(found[1]), int(found[2])) == (len(ranked), len(made))


def _round_trips(records: Sequence[Record], text: str) -> bool:
    """Each end that is named was measured."""
    probed = {
        f"{value * 1e9:.0f}"
        for run in records
        for values in run.probes.get("round trip", {}).values()
        for value in values
    }
    ends = re.findall(r"(\d+) to (\d+) ns", text)
    return bool(ends) and all({*both} <= probed for both in ends)
