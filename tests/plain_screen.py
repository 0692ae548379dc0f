"""The first screen checked against the repeats: each sentence recomputed, and none that is not known.

Values and times are those of the runs; who may be the best is `plain_verdict`'s answer. A sentence that no
rule here knows fails, and so does one that should stand there and does not.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from datetime import UTC, datetime
from html import unescape
from itertools import chain, combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
from lxml import etree, html
from plain_verdict import LEVEL, Contest, Run

from mpicampaign.base.records import (
    CONTRADICTED,
    DISTURBED,
    FAILED,
    MISSING,
    NOT_AVAILABLE,
    OK,
    QUIET,
    STATE,
    UNVERIFIED,
)
from mpicampaign.questions.crossings.find import leaders_by_size
from mpicampaign.questions.ranking.say import BUSY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpicampaign.base.records import Record
    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.rows import Row
    from mpicampaign.compare.tables import Comparison
    from mpicampaign.questions.answer import Answer
    from mpicampaign.questions.ranking.find import Ranking
    from mpicampaign.report.summary import KeyResults

UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9}
UNITS |= {"Gflop/s": 1e9, "Mupdate/s": 1e6, "step/s": 1.0}
WORDS = 120  # of the first screen, without the labels of pictures, which titles are, and without units
UNIT = re.compile(r"(?:[kMGT]?B|[KMG]iB|[nµm]?s|G?flop|M?update|step)(?:/s)?\W*$")
BYTES = {"B": 1, "KiB": 1024, "MiB": 1 << 20}
SPEEDS = ("s", "B/s", "1/s", "flop/s")
ONE = {"placements": "placement", "host groups": "host group", "MPI libraries": "MPI library"}
N = r"⟦(\d+)⟧"  # a name
VALUED = rf"{N} \(([\d.]+) (\S+)\)"
FAR = 2.0  # times: whom so much does not show to be worse the repeats do not tell from the best
AMOUNT = r"(?:[\d.]+ times as (?:much|long)|[\de.+-]+ % (?:more|longer))"
CHAIN = r"((?:⟦\d+⟧ [<>=] )+⟦\d+⟧)"
NUMBERED = re.compile(r"(?:those|(\d+)) ((?:whose|without|on hosts) (?:(?!,? and |, ).)*)")


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

    @property
    def untold(self) -> list[str]:
        """Of those that may be the best, whom the repeats do not tell from it."""
        first, *others = self.contest.leaders or [""]
        return [name for name in others if self.contest.factor(first, name) >= FAR]

    @property
    def few(self) -> bool:
        return self.contest.few or bool(self.untold)

    def by_sizes(self) -> list[tuple[int, str, bool]]:
        """Who has the best median at each size; shown where exchanges of whole runs do not explain it."""
        of = {name: by_size(row, self.metric.column) for name, row in self.rows.items()}
        sizes = sorted(set.intersection(*map(set, of.values())))
        if not self.several or self.metric.baseline or len(sizes) < 3:
            return []
        pairs = [{*pair} for pair in self.contest.tested]
        found = []
        for size in sizes:
            medians = {name: np.median(own[size]) * (1 if self.lower else -1) for name, own in of.items()}
            best, second = sorted(medians, key=lambda name: float(medians[name]))[:2]
            if not medians[best] or not medians[second]:
                continue
            chances = [
                self.chance(of[best], of[name], sizes, size) if {best, name} in pairs else 1.0
                for name in of
                if name != best
            ]
            found.append((size, best, max(chances) * len(of) <= LEVEL))
        return found

    def chance(
        self, own: dict[int, list[float]], other: dict[int, list[float]], sizes: Sequence[int], at: int
    ) -> float:
        """The share of exchanges of whole runs that are as far apart at any size as the two are at one."""
        apart: dict[frozenset[int], dict[int, float]] = defaultdict(dict)  # by the better half of all runs
        for size in sizes:
            values = np.array([*own[size], *other[size]]) * (1 if self.lower else -1)
            order = np.argsort(values, kind="stable")
            half, rest = values[order[: len(own[size])]], values[order[len(own[size]) :]]
            low, high = sorted(np.abs((np.median(half), np.median(rest))))
            if half.max() < rest.min() and high >= 1.01 * low > 0:
                apart[frozenset(order[: len(own[size])].tolist())][size] = high / low
        gain = apart[frozenset(range(len(own[at])))].get(at)
        as_far = sum(max(of.values(), default=0.0) >= gain for of in apart.values()) if gain else 0
        return as_far / math.comb(len(own[at]) + len(other[at]), len(own[at])) if gain else 1.0


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


def rounded(said: str, more: float) -> bool:
    """Whether a difference is shown as one digit."""
    number = 1 + more if "factor" in said else 100 * more
    shown = float(re.findall(r"[\d.]+", said)[0])
    return (
        number > shown
        if "more than" in said
        else shown in {float(f"{number * x:.0e}") for x in (0.999, 1.001)}
    )


class Told:
    """One answer: its sentences, and the candidates that they are of."""

    def __init__(self, comparison: Comparison, answer: Answer) -> None:
        self.comparison, self.answer = comparison, answer
        self.every = [Compared(ranking) for ranking in answer.rankings]
        self.placements = [one for one in self.every if one.kind == "placements"]
        self.compared = [one for one in self.placements if one.several]
        self.libraries = [one for one in self.every if one.kind == "MPI libraries" and one.several]
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
        """The kind of the finding, which holds, as do its marks and pictures; exceptions and leads."""
        yield self._finding(self.answer.finding)
        self._marked()
        for one, ranking in zip(self.every, self.answer.rankings, strict=True):
            said = [(at.size, at.name, at.shown) for at in leaders_by_size(ranking)]
            assert said == one.by_sizes(), (one.scope, said, one.by_sizes())
            yield from ["by size"] * bool(said)
        if self.every:
            metric = self.every[0].metric
            shown = [one for one in self.answer.candidates if one.ratio is not None]
            sign = 1 if metric.lower_is_better else -1
            medians = [np.median([run.value for run in read(one.row, metric)]) for one in shown]
            order = [(bool(self._why(one.row)), sign * of) for one, of in zip(shown, medians, strict=True)]
            assert order == sorted(order), (self.answer.title, order)
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
            untold = {name for each in self.every for name in each.untold}
            may = bool(judged) and all(
                name in contest.leaders and name not in untold for contest, name in judged
            )
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

    # Which sentences there are

    def _marked(self) -> None:
        """What the repeats show, and how many candidates are doubted."""
        marks = {mark.sign: mark.value for mark in self.answer.marks}
        if len([one for one in self.answer.candidates if one.ratio is not None]) < 2:
            return
        p = [one.contest.p[pair] for one in self.every if not one.few for pair in one.contest.behind]
        told = "" if not p or not max(p) else "< 0.0001" if max(p) < 1e-4 else f"{max(p):.2g}"
        assert marks.get("p", "") == told, (self.answer.title, marks, p)
        if logs := [log for _, log in self._seen(self.every)]:
            assert rounded(str(marks["finds"]), math.expm1(max(logs))), (self.answer.title, marks, logs)
        assert ("finds" in marks) == bool(logs), (self.answer.title, marks)
        quiet = [one.row for one in self.answer.candidates if not one.row.disturbed or one.row.ranked]
        untested = {id(row) for row in quiet if self._why(row)}
        assert marks.get("◔", 0) == len(untested), (self.answer.title, marks)
        assert marks.get("?", 0) == sum(UNVERIFIED in row.verdicts for row in quiet), (
            self.answer.title,
            marks,
        )
        for sign, start in (("≈", "Repeats in several modes"), ("⇄", "Exceptions: ")):
            assert (sign in marks) == any(text.startswith(start) for text in self.answer.said), marks

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
        open_ = [one.contest for one in of if len(one.contest.leaders) > 1 and not one.few]
        return [contest.seen for contest in open_ if contest.seen]

    # Rules: each asserts what its sentence says

    def _finding(self, text: str) -> str:
        """Who is best, or why nobody is said to be; of several host groups their order."""
        ranked = [one for one in self.libraries if one.contest.judged] and self.libraries
        shown = [one for one in self.answer.candidates if one.ratio is not None]
        if len(shown) == len(self.answer.candidates) == 1:
            found = re.fullmatch(r"Only (.*) has (?:values|enough quiet runs): ([\d.]+) (\S+)\.", text)
            assert found and (found[1], found[3]) == (shown[0].name, self.answer.unit), text
            values = [run.value for run in read(shown[0].row, self.answer.rankings[0].metric)]
            assert near(float(np.median(values)) / UNITS[found[3]], found[2]), text
            return "only"
        if not ranked and self.compared and not any(one.contest.judged for one in self.compared):
            why = self._why_none()
            few = "Too few repeats to say which is best. Ask for more repeats."
            assert text == (few if why == "too few repeats" else f"{why.capitalize()}: not tested."), text
            return "none judged"
        if not ranked and len(self.placements) == 1 == len(self.compared):
            [one] = self.compared
            first, _, contrast = text.removesuffix(".").partition("; ")
            self._leaders(one, first)
            assert bool(contrast) == (one.gap and not one.untold), text
            if contrast:
                self._contrast(one, contrast, one.told)
            return "leaders"
        if not ranked and re.search(r" [<>=] .* host groups", text):
            self._order(text.removesuffix("."))
            return "order"
        if ranked or self.compared:
            several = any(with_library(one) for one in self.compared)
            what = "placement" if ranked else "combination" if several else "host group"
            places(text.removesuffix("."), ranked or self.compared, what)
            return "places"
        return self._other_candidates(text)

    def _other_candidates(self, text: str) -> str:
        """The first that can be compared of host groups in one placement."""
        [one, *_] = [one for one in self.others if text.startswith(f"{one.scope}: ")] or [None]
        if one is None or not one.contest.judged:
            assert re.search("too few repeats to say|not tested|Not judged", text), text
            return "none judged"
        first, *parts = text.removeprefix(f"{one.scope}: ").split("; ")
        self._leaders(one, first)
        if one.gap:
            self._contrast(one, parts[0], one.told)
        return "other candidates"

    def _untold(self, one: Compared, text: str) -> None:
        """From whom the repeats are too few to tell the best."""
        head = r"(\d+) repeats are too few to tell "
        said = self.token(text, one.contest.names)
        found = re.fullmatch(rf"{head}(.*?)(?:: (?:over )?(\d+) would tell)?", said)
        assert found, text
        named = re.findall(VALUED, found[2])
        assert self.named(number for number, *_ in named) == [one.contest.leaders[0], *one.untold[:3]], text
        for number, value, unit in named:
            assert near(one.contest.median(self.names[int(number)]) / UNITS[unit], value), text
        assert not found[3] or int(found[3]) > int(found[1]) > 0, text

    def _leaders(self, one: Compared, text: str) -> None:
        if one.untold:
            self._untold(one, text)
            return
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

    # Several host groups

    def _order(self, text: str) -> None:
        """In how many host groups each step holds; not in those of several modes, as the product sees."""
        text = self.token(text, [name for one in self.compared for name in one.contest.names])
        order = re.match(CHAIN, text)
        assert order, text
        names, signs = self.named(re.findall(N, order[1])), re.findall("[<>=]", order[1])
        counts = []
        for step, sign in zip(pairwise(names), signs, strict=True):
            both = [one for one in self.compared if {*step} <= {*one.contest.names}]
            both = [one for one in both if not any(one.rows[name].has_modes_in(one.metric) for name in step)]
            counts.append((sum(self._in_order(one.contest, step, (sign,)) for one in both), len(both)))
        low, *_, high = sorted([*counts, *counts], key=lambda of: (of[0] / of[1], of[1]))
        each = ", each step" * (len(counts) > 1)
        ends = " to ".join(dict.fromkeys(f"{held} of {of}" for held, of in (low, high)))
        where = f" in all {low[0]}" if {*low} == {*high} == {low[0]} else f"{each} in {ends}"
        assert re.fullmatch(rf"{where} host groups(?: with .*)?", text.removeprefix(order[1])), (text, counts)

    @staticmethod
    def _in_order(contest: Contest, names: Sequence[str], signs: Sequence[str]) -> bool:
        """Whether the first of each two is better by 1 %, or neither is where they are called equal."""
        return all(
            contest.factor(a, b) < 1.01
            if sign == "="
            else contest.names.index(a) < contest.names.index(b) and contest.factor(a, b) >= 1.01
            for (a, b), sign in zip(pairwise(names), signs, strict=True)
        )


def order_of_ends(n: int) -> int:
    """Which smallest and largest value are the ends of an interval of the median: 95 %, or all values."""
    outside = np.cumsum([math.comb(n, k) for k in range(n)]) / 2**n
    return max([1, *(k for k in range(1, n // 2 + 1) if 2 * outside[k - 1] <= 0.05)])


# The whole screen


def first_screen(page: str) -> tuple[list[str], list[str]]:
    """Headings, paragraphs and items of the answers, less what is folded or a table; words but for titles."""
    section = html.fromstring(page).get_element_by_id("answers")
    pieces = [
        piece
        for folded in section.xpath(".//summary[count(ancestor::details) = 1]")
        for piece in folded.itertext()
    ]
    etree.strip_elements(section, "details", "table", "svg", "script", "style", with_tail=False)
    texts = [
        told.text_content() for told in section.iter("h2", "h3", "p", "li") if told.get("class") != "legend"
    ]
    etree.strip_elements(section, "h3", with_tail=False)
    return texts, [word for piece in [*pieces, *section.itertext()] for word in words_of(piece)]


def words_of(text: str) -> list[str]:
    """Without numbers and units."""
    return [word for word in text.split() if re.search(r"[^\W\d_]", word) and not UNIT.match(word)]


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
    notices = screen.notices
    pairs = [text for text in notices if text.endswith("one after the other: not tested.")]
    assert pairs == _untested(told), (pairs, notices)
    assert any("Not tested: single metrics" in text for text in notices) == bool(comparison.of_few), notices
    _notices(screen, comparison.records)
    kinds["notice"] = len(screen.marks)
    return kinds


def _untested(told: Sequence[Told]) -> list[str]:
    """How many pairs are not tested for the order of their runs, where others are."""
    every = [one for each in told for one in each.every]
    pairs = [one.contest.why_not(*pair) for one in every for pair in combinations(one.contest.names, 2)]
    enough = [why for why in pairs if why != "too few repeats"]
    in_turn = enough.count("measured one after the other")
    said = f"{in_turn} of {len(enough)} pairs were measured one after the other: not tested."
    return [said] * bool(in_turn and any(one.contest.tested for one in every))


def on_page(page: str, screen: KeyResults) -> None:
    """The page's first screen says the findings, in this order, and no other; all else behind a click."""
    texts = [screen.lead]
    for answer in screen.answers:
        real = "" if answer.real in ("difference shown", "too few repeats") else f" {answer.real}"
        texts += [f"{answer.title}{real}", answer.finding]
    pieces, words = first_screen(page)
    found = [" ".join(text.split()) for text in pieces]
    assert len(words) <= WORDS, words
    assert all(len(words_of(answer.finding)) <= 25 for answer in screen.answers), texts
    assert found == texts[: len(found)] and (len(found) > 1 or not screen.answers), (found, texts)
    plain = " ".join(unescape(re.sub(r"<[^>]*>", "", page)).split())
    details = [text for answer in screen.answers for text in answer.details]
    assert all(" ".join(text.split()) in plain for text in (*details, *screen.of_few)), details
    assert all(text in plain for notice in screen.marks for text in (notice.mark, *notice.texts))


def on_terminal(text: str, screen: KeyResults) -> None:
    """The terminal's begins with the headline, and says whole findings of the page."""
    lead, rest = f"{screen.lead}.", " ".join(text.split())
    assert rest.startswith(lead) and len(text.splitlines()) <= 12, text
    rest = rest.removeprefix(lead).strip()
    for answer in screen.answers:
        finding = f"{answer.title}: {answer.finding}"
        if not rest.startswith("… all answers") and lead not in (answer.finding, finding):
            assert rest.startswith(finding), (rest, finding)
            rest = rest.removeprefix(finding).strip()
    rest = rest.removeprefix("… all answers in report.html").strip()
    assert screen.of_few or rest.startswith(screen.line), (rest, screen.line)


def _title(one: Told) -> None:
    answer, contests = one.answer, [each for each in one.every if each.several]
    assert re.search(rf": {re.escape(answer.rankings[0].metric.name)}(, \d+ ranks?)?$", answer.title)
    judged = any(each.contest.judged for each in contests)
    if any(each.gap for each in contests):
        real = "difference shown"
    elif any(each.untold for each in contests):
        real = "too few repeats"
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
    """The headline: how ranks scale, of each kind of candidates who is the best, as far as a line goes."""
    if comparison.of_few and not answers:
        return  # see `plain_pairs`
    parts = text.split(". ")
    assert len(text) <= 100 or len(parts) == 1, text
    if scaled := [Scaled(answer) for answer in answers if answer.scaling]:
        _scaling_lead(parts.pop(0), scaled)
        yield "lead of scaling"
    every = [one for each in told for one in each.every if one.several]
    kinds = {kind: [one for one in every if one.kind == kind] for kind in ("MPI libraries", *PLACES)}
    judged = {kind: of for kind, of in kinds.items() if any(one.contest.judged for one in of)}
    for kind in sorted(judged, key=lambda kind: (kind != "MPI libraries", -decided(judged[kind]))):
        if parts:
            places(parts.pop(0), judged[kind], "comparison", brief=True)
            yield f"lead of {kind}"
    untested: dict[str, list[str]] = defaultdict(list)
    for kind, of in kinds.items():
        if of and kind not in judged:
            untested[Counter(one.contest.why_none for one in of).most_common(1)[0][0]].append(kind)
    for why, names in untested.items():
        which = f"which {words([ONE[kind] for kind in names], 'or')} is best"
        few = why == "too few repeats"
        said = f"Too few repeats to say {which}" if few else f"The {words(names)} are not tested: {why}"
        if parts:
            assert parts.pop(0) == said, (text, said)
            yield "lead of none"
    if parts and not every:
        assert parts == ["Nothing to compare"] or "busy machine" in parts[0], text
        parts = []
    assert not parts, text


PLACES = ("placements", "host groups")


def decided(of: Sequence[Compared]) -> float:
    return sum(not one.few for one in of) / len(of)


def with_library(one: Compared) -> str:
    return next(iter(one.rows.values())).case.library


def places(text: str, of: Sequence[Compared], what: str, *, brief: bool = False) -> None:
    """``SHM-1 is the fastest placement in 9 of 39 comparisons, SHM in 3``; brief: the first alone."""
    known = Counter[str]()
    for one in of:
        clear = one.gap and not one.few and len(one.contest.leaders) <= 3
        known[words(sorted(one.contest.leaders), "or") if clear else "" if one.few else "no clear lead"] += 1
    names = Counter({who: n for who, n in known.items() if who not in ("", "no clear lead")})
    bests = {one.best_is for one in of}
    best, n = bests.pop() if len(bests) == 1 else "best", len(of)
    every = f"both {what}s" if n == 2 else f"all {n} {what}s"
    kinds = ONE[of[0].kind], "setting"
    top = [who for who, count in names.items() if count == max(names.values())]
    if top:
        most = names[top[0]]
        where = every if most == n else f"{most} of {n} {what}s"
        heads = [f"{who} is the {best} {kind}" for who in top for kind in kinds]
    else:
        where, heads = (
            f"any of {n} {what}s",
            [f"No {kind} has a clear lead" for kind in (ONE[of[0].kind], "setting")],
        )
    heads = [head + f" in {where}" * (n > 1) for head in heads]
    [head] = [head for head in heads if text.startswith(head)] or [""]
    assert head, (text, heads)
    rest = text.removeprefix(head)
    if brief:
        assert not rest, (text, known)
        return
    said = {who: int(count) for who, count in re.findall(r", ((?:(?! in \d).)*) in (\d+)", rest)}
    assert said.pop("too few repeats", said.pop("not tested", 0)) == known[""], (text, known)
    others = said.pop("others", 0)
    assert all(known[who] == count for who, count in said.items()), (text, known)
    first = names[top[0]] if top else known["no clear lead"]
    assert sum(said.values()) + others + first + known[""] == n, (text, known)


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
        finding, said = self.answer.said
        ends = re.fullmatch(r"From (\d+) to (\d+) ranks: (.*?)(?:; .*)?\.", finding)
        assert ends and (int(ends[1]), int(ends[2])) == (self.ranks[0], self.ranks[-1]), finding
        assert self.gains(ends[3]) if self.known else " to " in ends[3], finding
        fewest = min(len(read(row, self.metric)) for row in self.rows)
        assert (f"; too few repeats ({fewest})" in finding) == (fewest < 4), finding
        busy = [run.condition == DISTURBED for row in self.rows for run, _ in row.curves]
        assert ("runs disturbed" in finding, "all runs" in finding) == (any(busy), all(busy)), finding
        orders = {found[1] for row in self.rows if (found := re.search(r"\bN (\d+)", row.label))}
        wrong = bool(self.word and orders and (len(orders) == 1) == (self.word == "weak"))
        assert bool(self.answer.marks) == wrong == ("campaign file says" in said), said
        values = re.findall(r"([\d.]+) (\S+) with (\d+) rank", said)
        assert [int(ranks) for *_, ranks in values] == self.ranks, said
        for median, (value, unit, _) in zip(self.medians, values, strict=True):
            assert near(median / UNITS.get(unit, 1.0), value), said

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
    if len(known) < 2:
        answer = (known or of)[0].answer
        assert text == f"{answer.title}: {answer.finding}"[:-1], text
        return
    ends = {(one.ranks[0], one.ranks[-1]) for one in known}
    first, last = next(iter(ends))
    head = f"Efficiency from {first} to {last} ranks" if len(ends) == 1 else "Efficiency with the most ranks"
    by = words(list(dict.fromkeys(one.metric.name for one in known)))
    found = re.fullmatch(rf"{head}: ([\d.]+)(?: to ([\d.]+))? % by {by}", text)
    efficiencies = [100 * one.speed_up[-1] / one.ideal[-1] for one in known]
    assert found and near(min(efficiencies), found[1]), (text, efficiencies)
    assert near(max(efficiencies), found[2] or found[1]), (text, efficiencies)


# What is said of the runs


def _notices(screen: KeyResults, records: Sequence[Record]) -> None:
    """What the marks on the runs count, and whether those stand there that must."""
    marks = [notice.mark for notice in screen.marks]
    ok = [run for run in records if run.status == OK]
    state = Counter(run.condition for run in ok)
    quiet = "quiet" if state[QUIET] == len(ok) else "quiet?"
    disturbed = f"{state[DISTURBED]} of {len(ok)} disturbed"
    unproved = sum((run.verdict or UNVERIFIED) == UNVERIFIED for run in ok)
    failed = sum(run.status == FAILED and "time limit" not in run.reason for run in records)
    contradicted = sum(run.verdict == CONTRADICTED for run in ok)
    lost = [f"{n} {what}" for n, what in ((failed, "failed"), (contradicted, "contradicted")) if n]
    expected = {
        disturbed if state[DISTURBED] else quiet: ok,
        f"{unproved} of {len(ok)} unverified": unproved,
        words(lost): lost,
        "not made": any(run.status == MISSING for run in records),
    }
    assert all((mark in marks) == bool(due) for mark, due in expected.items()), (marks, expected)
    absent = any(run.status == NOT_AVAILABLE for run in records)
    assert any(mark.endswith(" n/a") for mark in marks) == absent, marks
    pattern = (
        r"The answers use (\d+) of (\d+) runs: (.*?)\.( The others stand in rows of their own, not ranked\.)?"
    )
    for found in filter(None, (re.fullmatch(pattern, text) for text in screen.notices)):
        assert _of_state(records, found), found[0]


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
