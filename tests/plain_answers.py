"""Sentences of the first screen checked against the repeats: recomputed by numpy alone, sentence by sentence.

The product corrects its tests for all pairs of a family, so that whatever it calls clear is also clear here,
where two groups are compared by all permutations of their ranks; not the reverse.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpicampaign.compare.tables import Comparison
    from mpicampaign.show.answers import Answer

Values = np.ndarray
FEW = 4
TIE = 1.01
NAME = r"[\w/.+-]*[\w+-]"
STATE = re.compile(r" \((\d+) ns apart\)")  # of the machine, behind a placement


def in_one_word(text: str) -> str:
    """``SHM-1/60ns`` for ``SHM-1 (60 ns apart)``."""
    return STATE.sub(r"/\1ns", text)


def half_width(n: int) -> int:
    """How many repeats are cut at either end of the interval: as many as keep 95 %, if any do."""
    chances = [np.prod([(n - i) / (i + 1) for i in range(k)]) / 2.0**n for k in range(n + 1)]
    kept = [k for k in range(n // 2) if 1 - 2 * sum(chances[: k + 1]) >= 0.95]
    return max(kept, default=0)


def interval(values: Values) -> tuple[float, float]:
    cut = half_width(len(values))
    ordered = np.sort(values)
    return ordered[cut], ordered[-1 - cut]


def factor(a: Values, b: Values) -> float:
    low, high = sorted((np.median(a), np.median(b)))
    return float(high / low)


def tied(a: Values, b: Values) -> bool:
    """Less than 1 % apart, or either median within the other's interval."""
    within = [low <= np.median(one) <= high for one, (low, high) in ((a, interval(b)), (b, interval(a)))]
    return factor(a, b) < TIE or any(within)


def chance(a: Values, b: Values) -> float:
    """How often the ranks of a random half are as far from the middle as those of a."""
    both = np.concatenate([a, b])
    ranks = np.array([(both < value).sum() + (both == value).sum() / 2 for value in both])
    distance = abs(ranks[: len(a)].sum() - ranks.mean() * len(a))
    if len(both) > 14:
        draw = np.random.default_rng(1)
        sums = np.array([draw.permutation(ranks)[: len(a)].sum() for _ in range(2000)])
    else:
        sums = np.array([ranks[list(chosen)].sum() for chosen in combinations(range(len(both)), len(a))])
    return float((abs(sums - ranks.mean() * len(a)) >= distance - 1e-9).mean())


class Case(NamedTuple):
    group: str
    placement: str


class Plain:
    """One answer's repeats, by host group and placement."""

    def __init__(self, comparison: Comparison, answer: Answer) -> None:
        self.comparison, self.answer = comparison, answer
        metric, ranks = answer.rankings[0].metric, answer.rankings[0].ranks
        self.lower = metric.lower_is_better
        self.values: dict[Case, Values] = {}
        self.starts: dict[int, list[str]] = {}  # of the runs, by their values
        self.imported: set[int] = set()
        for row in answer.table.rows:
            if row.ranked and row.ranks == ranks:
                read = [value_at(series.columns, metric.column, metric.size) for _, series in row.curves]
                known = np.array([value for value in read if value is not None])
                self.starts[id(known)] = [run.started for run, _ in row.curves]
                if any("imported from" in run.metadata for run, _ in row.curves):
                    self.imported.add(id(known))
                if len(known):
                    self.values[Case(comparison.place(row), in_one_word(row.case.placement))] = known
                if state := STATE.search(row.case.placement):
                    probed = [
                        v for run, _ in row.curves for vs in run.probes["round trip"].values() for v in vs
                    ]
                    # one state of a machine has been seen to span 27 to 77 ns
                    assert (abs(np.log(np.array(probed) * 1e9 / float(state[1]))) < np.log(2)).all()
        self.last: list[tuple[str, str]] = []  # two that the last sentence compared
        self.judged = {case: read for case, read in self.values.items() if len(read) >= FEW}

    def better(self, a: Values, b: Values) -> bool:
        return bool(np.median(a) < np.median(b)) if self.lower else bool(np.median(a) > np.median(b))

    def in_turn(self, a: Values, b: Values) -> bool:
        """Whether all of one began before all of the other, as far as that is known."""
        first, second = sorted((self.starts[id(a)], self.starts[id(b)]))
        imported = {id(a), id(b)} & self.imported
        return bool(imported) and all([*first, *second]) and max(first) < min(second)

    def clear(self, a: Values, b: Values) -> bool:
        if self.in_turn(a, b):
            apart = np.max(a) < np.min(b) or np.max(b) < np.min(a)
            return self.better(a, b) and bool(apart) and factor(a, b) >= TIE
        return self.better(a, b) and not tied(a, b) and chance(a, b) <= 0.05

    def pairs(self) -> Iterator[bool]:
        """Of each pair within a host group or placement that is judged, whether it was in turn."""
        for (one, a), (other, b) in combinations(self.judged.items(), 2):
            if one.group == other.group or one.placement == other.placement:
                yield self.in_turn(a, b)

    def by(self, group: str = "", placement: str = "") -> dict[str, Values]:
        """Those judged of a host group by placement, or of a placement by host group."""
        if group:
            return {case.placement: found for case, found in self.judged.items() if case.group == group}
        return {case.group: found for case, found in self.judged.items() if case.placement == placement}

    def ahead(self, own: dict[str, Values], group: str = "", placement: str = "") -> dict[str, int]:
        """Those of too few repeats that are better than the best judged by 1 %, with their repeats."""
        few = {
            case.placement if group else case.group: read
            for case, read in self.values.items()
            if len(read) < FEW and (case.group == group or case.placement == placement)
        }
        return {
            name: len(a)
            for name, a in few.items()
            if own and all(self.better(a, b) and factor(a, b) >= TIE for b in own.values())
        }

    def is_led_by(self, leaders: set[str]) -> int:
        """In how many host groups one of them is the best, and none of the others as good as it."""
        return sum(leaders < own.keys() and self._leads(own, leaders) for own in self.groups().values())

    def _leads(self, own: dict[str, Values], leaders: set[str]) -> bool:
        best = min(own, key=lambda name: np.median(own[name]) * (1 if self.lower else -1))
        return best in leaders and all(factor(own[best], own[name]) >= TIE for name in own.keys() - leaders)

    def groups(self) -> dict[str, dict[str, Values]]:
        return {group: self.by(group) for group in dict.fromkeys(case.group for case in self.values)}

    # Kinds of sentences: each asserts what it can

    def hold(self) -> dict[str, int]:
        """How many sentences of each kind there were; each is checked against the repeats."""
        kinds: dict[str, int] = defaultdict(int)
        for text in self.answer.said:
            kinds[self._hold(in_one_word(text))] += 1
        for text in self.answer.host_groups:
            self.host_groups(in_one_word(text))
            kinds["host groups"] += 1
        return kinds

    def _hold(self, text: str) -> str:
        checks = {
            r"Exceptions: (.*)\.": self.exceptions,
            r"(.* in \d+ of \d+ host groups?.*)\.": self.orders,
            r"(?:Fastest|Best|Lowest|Highest) placement: (.*)\.": self.counts,
            r"(?:Smallest clear lead|Clear lead|" + NAME + r"): (.* (?:than|as) .*)\.": self.leads,
            r"Not judged, fewer than 4 repeats: (.*)\.": self.few,
            r"Unverified: (.*)\.": self.unverified,
            r"Repeats in several modes: (.*)\.": self.modes,
        }
        for pattern in (r"(?:Fastest|Best|Lowest|Highest) placement: (.*)\.", *checks):
            if found := re.fullmatch(pattern, text):
                checks[pattern](found[1])
                return checks[pattern].__name__
        self.one_group(text)
        return "one group"

    def exceptions(self, text: str) -> None:
        for first, _, second, where in re.findall(
            rf"({NAME}) ([<>]) ({NAME}) in ((?:(?! [<>] ).)*?)(?:, (?={NAME} [<>])|$)", text
        ):
            for group in re.split(r", | and ", where):
                if not group.endswith("host groups"):
                    own = self.by(group)
                    assert self.clear(own[first], own[second]), (text, group)

    def orders(self, text: str) -> None:
        in_turn = []
        for order, count, of in re.findall(r"((?:\S+ [<>=] )+\S+) in (\d+) of (\d+) host group", text):
            names, signs = order.split(" ")[::2], order.split(" ")[1::2]
            assert all(sign == "=" or (sign == "<") == self.lower for sign in signs)
            whole = [own for own in self.groups().values() if set(names) <= own.keys()]
            assert len(whole) == int(of), text
            holds = [self._holds(own, names, signs) for own in whole]
            assert int(count) <= sum(holds), (text, holds)
            for (a, b), sign in zip(pairwise(names), signs, strict=True):
                pairs = [(own[a], own[b]) for own in whole]
                assert sign != "=" or not any(map(self._is_shown, pairs)), text
            every = (pair for own in whole for pair in combinations([own[name] for name in names], 2))
            in_turn.append(any(self.in_turn(*pair) for pair in every))
        assert any(in_turn) == ("not tested" in text), text

    def _is_shown(self, pair: tuple[Values, Values]) -> bool:
        """Whether even the product's corrected test must see it; those not tested by their ranges alone."""
        if self.in_turn(*pair):
            return self.clear(*pair) or self.clear(*pair[::-1])
        return not tied(*pair) and chance(*pair) <= 0.002

    def _holds(self, own: dict[str, Values], names: list[str], signs: list[str]) -> bool:
        """Whether of each two that are not equal the first leads clearly."""
        pairs = combinations(range(len(names)), 2)
        apart = [(a, b) for a, b in pairs if any(sign != "=" for sign in signs[a:b])]
        return all(self.clear(own[names[a]], own[names[b]]) for a, b in apart)

    def counts(self, text: str) -> None:
        parts = re.findall(r"(?:^|, )(.+?) in (\d+)", text)
        of = int(re.search(r"of (\d+)", text)[1])  # type: ignore[index]
        groups = {group: own for group, own in self.groups().items() if self._all(group) > 1}
        assert sum(int(count) for _, count in parts) == of == len(groups), text
        for who, count in parts:
            named = set(who.split(" or "))
            if not named & {case.placement for case in self.values}:
                continue
            possible = [g for g, own in groups.items() if self._first(own, named) and not self.ahead(own, g)]
            assert int(count) <= len(possible), (text, who, possible)
        few = sum(len(own) < 2 or bool(self.ahead(own, group=group)) for group, own in groups.items())
        assert dict(parts).get("too few repeats", "0") == str(few), text
        judged = (own for group, own in groups.items() if len(own) > 1 and not self.ahead(own, group=group))
        ties = list(filter(self._tie, judged))
        assert int(dict(parts).get("a tie", "0")) == len(ties), (text, len(ties))

    def _all(self, group: str) -> int:
        return sum(case.group == group for case in self.values)

    def _first(self, own: dict[str, Values], named: set[str]) -> bool:
        """Whether the best of them is among those named, and leads all others clearly."""
        if not named <= own.keys():
            return False
        best = min(own, key=lambda name: np.median(own[name]) * (1 if self.lower else -1))
        rest = [own[name] for name in own if name not in named]
        return best in named and all(self.clear(own[best], other) for other in rest)

    def _tie(self, own: dict[str, Values]) -> bool:
        best = min(own.values(), key=lambda found: np.median(found) * (1 if self.lower else -1))
        return all(found is best or tied(best, found) for found in own.values())

    def leads(self, text: str) -> None:
        for part in text.split("; largest: "):
            group = re.search(rf"\(({NAME})\)$", part)
            for own in [self.by(group[1])] if group else self.groups().values():
                self._amounts(part, own, must=bool(group))

    def _amounts(self, text: str, own: dict[str, Values], must: bool = True) -> int:
        """Per cent and factors of ``A reaches 6.5 times as much as B``, ``B takes 9 % longer than A``."""
        amount = r"([\d.]+) (%|times)(?: (?:more|longer|much|long|as much|as long))*"
        amounts = [
            (a, b, n, of)
            for a, n, of, b in re.findall(
                rf"({NAME}) (?:reaches|takes|has) {amount} (?:than|as) ({NAME})", text
            )
        ]
        self.last = [(a, b) for a, b, _, _ in amounts]
        for a, b, number, of in amounts:
            if must or (a in own and b in own):
                shown = 1 + float(number) / 100 if of == "%" else float(number)
                assert abs(factor(own[a], own[b]) / shown - 1) < (0.006 if of == "%" else 0.03), (text, a, b)
        return len(amounts)

    def few(self, text: str) -> None:
        few = {case for case, found in self.values.items() if len(found) < FEW}
        many = re.match(r"(\d+) of (\d+) candidates", text)
        counts = (int(many[1]), int(many[2])) if many else (len(re.findall(r"\(", text)), len(self.values))
        assert counts == (len(few), len(self.values)), text

    def unverified(self, text: str) -> None:
        rows = [one.row for one in self.answer.candidates]
        doubted = [row for row in rows if "unverified" in row.verdicts]
        many = re.match(r"(\d+) of (\d+) candidates", text)
        if many:
            assert (int(many[1]), int(many[2])) == (len(doubted), len(rows)), text
        assert all(
            in_one_word(one.name) in text or in_one_word(one.row.case.placement) in text
            for one in self.answer.candidates
            if many is None and one.row in doubted
        ), text

    def modes(self, text: str) -> None:
        column, candidates = self.answer.rankings[0].metric.column, self.answer.candidates
        apart = [
            one for one in candidates if two_bands([series.columns for _, series in one.row.curves], column)
        ]
        many = re.match(r"(\d+) of (\d+) candidates", text)
        names = re.split(", | and ", text)
        named = [
            one
            for one in candidates
            if {in_one_word(one.name), in_one_word(one.row.case.placement)} & set(names)
        ]
        assert int(many[1]) <= len(apart) if many else set(map(id, named)) <= set(map(id, apart)), text

    def host_groups(self, text: str) -> None:
        placement, _, said = text.partition(": ")
        own = self.by(placement=placement)
        if any(self.in_turn(a, b) for a, b in combinations(own.values(), 2)):
            assert "p = " not in text and "significant" not in text, text
        if said.startswith("too few"):
            assert len(own) < 2
            return
        self._best(said, own, self.ahead(own, placement=placement))
        if " tie" in said:
            values = list(own.values())
            near = [min(factor(one, other) for other in values if other is not one) for one in values]
            assert sum(found < TIE for found in near) > 1, text

    def one_group(self, text: str) -> None:
        group = next(iter(self.groups()))
        own = self.by(group)
        if text.startswith("Too few"):
            assert len(own) < 2
        elif text.startswith("All "):
            for a, b in self.last:
                assert not self.in_turn(own[a], own[b]), text
                assert np.max(own[a]) < np.min(own[b]) or np.max(own[b]) < np.min(own[a]), text
        elif text.startswith("Not tested"):
            assert any(self.in_turn(own[a], own[b]) for a, b in self.last), text
        elif text.startswith("The difference"):
            assert not any(self.in_turn(own[a], own[b]) for a, b in self.last), text
            assert all(self.clear(own[a], own[b]) or self.clear(own[b], own[a]) for a, b in self.last)
        elif not self._amounts(text, own):
            self._best(text, own, self.ahead(own, group=group))

    def _best(self, text: str, own: dict[str, Values], ahead: dict[str, int]) -> None:
        """Who is best, ties, or may be: whoever is not named is worse than the best by at least 1 %."""
        self._amounts(text, own)
        first, _, behind = text.partition(";")[0].partition(", behind ")
        named_ahead = {name: int(n) for name, n in re.findall(rf"({NAME}) \((\d) repeats?\)", behind)}
        assert named_ahead == ahead or (len(ahead) > 3 and behind.startswith(str(len(ahead)))), text
        assert not re.search(" (is|as) (fastest|lowest|highest)", first) or bool(ahead) == ("judged" in first)
        ordered = sorted(own, key=lambda name: np.median(own[name]) * (1 if self.lower else -1))
        many = re.search(r"(\d+) (?:host groups|placements), ", first)
        named = ordered[: int(many[1])] if many else re.findall(rf"({NAME}) \(", first)
        if many:
            ends = re.findall(rf"({NAME}) \(", first)
            assert ends[0] == ordered[0], text
            assert set(ends) <= own.keys(), text
        else:
            assert ordered[0] in named, text
            assert all(factor(own[ordered[0]], own[name]) >= TIE for name in own if name not in named), text
        if " tie" in first and not many:
            assert all(tied(own[ordered[0]], own[name]) for name in named if name != ordered[0]), text


def two_bands(runs: list[dict[str, list[float | None]]], column: str) -> bool:
    """Whether at any size the repeats fall into two bands, the gap wider than three times either of them."""
    for values in zip(*(columns[column] for columns in runs), strict=False):
        ordered = np.sort(np.log([value for value in values if value]))
        gaps = np.diff(ordered)
        if len(gaps) > 2:
            place = int(gaps.argmax())
            bands = ordered[place] - ordered[0], ordered[-1] - ordered[place + 1]
            if gaps[place] > 3 * max(bands):
                return True
    return False


def value_at(columns: dict[str, list[float | None]], column: str, size: int | None) -> float | None:
    """At a size, or the largest."""
    column_values = columns.get(column, [])
    if size is not None:
        return column_values[columns["size"].index(size)] if size in columns["size"] else None
    known = [value for value in column_values if value is not None]
    return max(known) if known else None


def parts_of_lead(text: str) -> list[tuple[int, int]]:
    """Of each count in the first sentence: its sum, and of how many."""
    parts = []
    for part in re.split(r"\. ", text):
        of = re.search(r" of (\d+) comparisons", part)
        if of and " in any of " not in part:
            parts.append((sum(map(int, re.findall(r" in (\d+)", part))), int(of[1])))
    return parts


def hold_leaders(text: str, screens: Sequence[Plain]) -> int:
    """How many placements or ties of them the first sentence names; each is at least that often the best."""
    own = [found for plain in screens for found in plain.groups().values() if found]
    names = "|".join(sorted({re.escape(name) for found in own for name in found}, key=len, reverse=True))
    one_or_several = rf"((?:{names})(?:(?:, | or )(?:{names}))*)(?: is the \w+ placement)? in (\d+)"
    found = re.findall(one_or_several, in_one_word(text)) if names else []
    for those, count in found:
        leaders = set(re.split(", | or ", those))
        assert sum(plain.is_led_by(leaders) for plain in screens) >= int(count), (text, those)
    return len(found)
