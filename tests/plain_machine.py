"""What is said of a machine checked against its records: recomputed by numpy alone, sentence by sentence."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from mpicampaign.base.records import (
    CLOCK_RATE,
    CONTRADICTED,
    COPY,
    DISTURBED,
    EACH_NODES,
    EACH_SWITCHES,
    FAILED,
    NODE_STATE,
    OK,
    ROUND,
    ROUND_TRIP,
    Record,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

NAME = r"[\w.+-]*\w"
ROUNDS = r"in (\d+) of (\d+) rounds between (\d\d:\d\d) and (\d\d:\d\d) UTC on ([\d-]+)"


def triad(run: Record) -> float:
    return run.series[0].columns["stream_triad_star"][0] or np.nan


def latency(run: Record) -> float:
    return run.series[0].columns["time"][0] or np.nan


def bandwidth(run: Record) -> float:
    return run.series[0].columns["bandwidth"][1] or np.nan


def clock(run: Record) -> float:
    return min(run.probes[CLOCK_RATE][run.hosts[0]])


def copy(run: Record) -> float:
    return max(run.probes[COPY][run.hosts[0]])


def round_trip(run: Record) -> float:
    return min(run.probes[ROUND_TRIP][f"{run.hosts[0]}, same socket"])


TRIAD = "STREAM triad per process, all at once"
LOW_IS_GOOD: dict[str, Callable[[Record], float]] = {
    "latency at 0 B": latency,
    "round trip, same socket": round_trip,
}
HIGH_IS_GOOD: dict[str, Callable[[Record], float]] = {
    TRIAD: triad,
    "stream": triad,
    "clock rate": clock,
    "copy": copy,
    "maximum bandwidth": bandwidth,
}
VALUES = LOW_IS_GOOD | HIGH_IS_GOOD


def cost(metric: str, run: Record) -> float:
    value = VALUES[metric](run)
    return value if metric in LOW_IS_GOOD else 1 / value


class Plain:
    """The runs of a machine by round and member, those that count."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.runs: dict[int, dict[str, Record]] = defaultdict(dict)
        self.of_node: dict[str, list[Record]] = defaultdict(list)
        self.switches: dict[str, str] = {}
        self.contradicted = 0
        for run in records:
            member = run.metadata[EACH_NODES].replace(" ", "+")
            for node in member.split("+"):
                self.of_node[node].append(run)
            leaves = run.metadata.get(EACH_SWITCHES, "").split()
            self.switches |= dict(zip(member.split("+"), leaves, strict=False))
            self.contradicted += run.status == OK and run.verdict == CONTRADICTED
            if run.status in (OK, FAILED) and run.verdict != CONTRADICTED:
                self.runs[int(run.metadata[ROUND])][member] = run

    @property
    def in_pairs(self) -> bool:
        return any("+" in member for runs in self.runs.values() for member in runs)

    def nodes_of(self, member: str) -> set[str]:
        """A node, both of a link, or all of a switch."""
        return {node for node, leaf in self.switches.items() if leaf == member} or {*member.split("+")}

    def lead(self, text: str) -> list[str]:
        """The members that it names."""
        decided = sum(sum(run.status == OK for run in runs.values()) >= 3 for runs in self.runs.values()) >= 2
        if count := re.fullmatch(r"No run on the ([\d,]+) nodes? has a value yet", text):
            assert int(count[1].replace(",", "")) == len(self.of_node) and not self._with_value(), text
            return []
        if count := re.fullmatch(r"Not decided on (\d+) nodes: two rounds with values of three .*", text):
            assert int(count[1]) == self._measured() and not decided, text
            return []
        if text.startswith("No node"):
            count = re.fullmatch(
                r"No node of ([\d,]+) is shown( so far)? to be slower than the others by more than 2 %", text
            )
            assert count and int(count[1].replace(",", "")) == self._measured() and decided, text
            if not count[2]:
                assert not any(map(self._is_plainly_slow, self.of_node)), text
            return []
        named = []
        for part in re.split(r"\. (?=\d)", text):
            count = re.match(r"(\d+) of ([\d,]+) (nodes|links|switches) (?:is|are) slow: (.*)", part)
            assert count, part
            own = re.findall(rf"({NAME}) \((?:([^()]*) ([\d.]+) % (below|above)|runs failed)", count[4])
            assert len(own) == int(count[1]), part
            if count[3] == "nodes":
                assert int(count[2].replace(",", "")) == self._measured(), part
            for member, metric, amount, side in own:
                if metric:
                    self._differs(member, metric, float(amount), side)
            if count[3] == "switches":
                assert int(count[2]) == len({*self.switches.values()}), part
            if count[3] == "links":
                assert int(count[2]) == len({member for runs in self.runs.values() for member in runs}), part
            named += [member for member, *_ in own]
        return named

    def _measured(self) -> int:
        return sum(any(run.status in (OK, FAILED) for run in runs) for runs in self.of_node.values())

    def _with_value(self) -> bool:
        return any(run.status == OK for runs in self.runs.values() for run in runs.values())

    def _is_plainly_slow(self, node: str) -> bool:
        """By 5 % in each of six rounds and more."""
        ratios = self._ratios(node, self._metric, sorted(self.runs))
        return len(ratios) >= 6 and bool((ratios > 1.05).all())

    @property
    def _metric(self) -> str:
        return "latency at 0 B" if self.in_pairs else TRIAD

    def _scatter(self, metric: str) -> float:
        """Of the costs within rounds, as a fraction."""
        rounds = [[cost(metric, run) for run in of.values() if run.status == OK] for of in self.runs.values()]
        logs = [np.log(costs) for costs in rounds if len(costs) > 2]
        return float(np.median([1.48 * np.median(abs(of - np.median(of))) for of in logs]))

    def _ratios(self, member: str, metric: str, numbers: Sequence[int]) -> np.ndarray:
        """Of its cost, or of a node's pairs, to the median of the others in each round."""
        ratios = []
        for number in numbers:
            runs = {each: run for each, run in self.runs[number].items() if run.status == OK}
            nodes = self.nodes_of(member)
            own = [each for each in runs if member == each or nodes.intersection(each.split("+"))]
            own = [each for each in own if "+" not in member or member == each]
            others = [cost(metric, run) for each, run in runs.items() if each not in own]
            ratios += [cost(metric, runs[each]) / np.median(others) for each in own if others]
        return np.array(ratios)

    def _differs(
        self, member: str, metric: str, amount: float, side: str, numbers: Sequence[int] = ()
    ) -> None:
        assert side == ("above" if metric in LOW_IS_GOOD else "below"), (member, metric, side)
        ratio = np.median(self._ratios(member, metric, numbers or sorted(self.runs)))
        value = ratio - 1 if side == "above" else 1 - 1 / ratio
        # a switch has less than its pairs: within it they pass it twice
        least = 0.5 * 100 * value if member in self.switches.values() else 100 * value - 1.2
        assert least < amount < 100 * value + 1.2, (member, metric, amount, 100 * value)

    def difference(self, member: str, metric: str, text: str) -> None:
        """``8.3 % below``."""
        amount, _, side = text.split(" ")
        self._differs(member, metric, float(amount), side)

    def row(self, line: Mapping[str, str]) -> None:
        """A line of machine.csv: the member's median, and how much more it costs than the others."""
        member, metric = line["member"], line["metric"]
        runs = [run for of_round in self.runs.values() for run in [of_round.get(member)] if run]
        value = np.median([VALUES[metric](run) for run in runs]) if runs else np.nan  # none of a pair's node
        assert np.isclose(float(line["value"] or "nan"), value, rtol=0.01, equal_nan=True), line
        ratio = np.median(self._ratios(member, metric, sorted(self.runs)))
        assert abs(float(line["slower"]) - (ratio - 1)) < 0.015, (line, ratio)

    def sentence(self, text: str) -> str:
        """Which kind of sentence it is, if it holds."""
        for kind, pattern in KINDS.items():
            if match := re.match(pattern, text):
                getattr(self, kind)(*match.groups())
                return kind
        raise AssertionError(f"no such sentence: {text}")

    def evidence(self, member: str, said: str) -> None:
        for part in said.split("; "):
            rounds = re.search(ROUNDS, part)
            assert rounds, part
            slower, count = int(rounds[1]), int(rounds[2])
            begins = f"{rounds[5]}T{rounds[3]}", f"{rounds[5]}T{rounds[4]}"
            numbers = [
                number
                for number, runs in self.runs.items()
                for each, run in runs.items()
                if self.nodes_of(member).intersection(each.split("+"))
                if begins[0] <= run.started[:16] <= begins[1]
            ]
            if part.startswith("runs failed"):
                assert sum(run.status == FAILED for run in self.of_node[member]) >= slower, part
                continue
            match = re.match(r"(.*) ([\d.]+) % (below|above), at least ([\d.]+) %, p ([=<]) ([\d.]+)", part)
            assert match and float(match[4]) <= float(match[2]) and float(match[6]) <= 0.05, part
            self._differs(member, match[1], float(match[2]), match[3], numbers)
            ratios = self._ratios(member, match[1], numbers)
            assert len(ratios) >= count >= slower, (
                part,
                ratios,
            )  # of a link there are rounds of other metrics
            if not self.in_pairs:
                assert len(ratios) == count and int((ratios > 1).sum()) == slower, (part, ratios)

    def smallest(self, said: str) -> None:
        found = re.findall(r"([\d.]+) % \(([^();]*)(?:; of a link ([\d.]+) %)?\)", said)
        assert found, said
        for amount, metric, of_link in found:
            scatter = 100 * self._scatter(metric)
            for told in filter(None, (amount, of_link)):
                assert 0.2 * scatter < float(told) - 2 < 3 * scatter, (said, scatter)

    def failed(self, said: str) -> None:
        for node, count, of, why in re.findall(rf"({NAME}) \((\d+) of (\d+): ([^()]*)\)", said):
            runs = [run for run in self.of_node[node] if run.status in (OK, FAILED)]
            reasons = {run.reason for run in runs if run.status == FAILED}
            assert (int(count), int(of)) == (sum(run.status == FAILED for run in runs), len(runs)), said
            assert why in reasons, said

    def disturbed(self, node: str, count: str, of: str, why: str) -> None:
        runs = self.of_node[node]
        busy = [run for run in runs if run.condition == DISTURBED]
        assert (int(count), int(of)) == (len(busy), len(runs)) and len(busy) > len(runs) / 2, node
        assert why in {run.condition_reason for run in busy}

    def absent(self, said: str) -> None:
        states = {node: runs[0].metadata.get(NODE_STATE) for node, runs in self.of_node.items()}
        told = re.findall(r"(?:^|; )([^:;]*?)(?: and (\d+) more)?: ([^;]*)", said)
        for nodes, more, why in told:
            alike = [node for node, state in states.items() if state == why]
            assert {*nodes.split(", ")} <= {*alike} and len(nodes.split(", ")) + int(more or 0) == len(
                alike
            ), said
        assert {why for *_, why in told} == {*filter(None, states.values())}, said

    def gone(self, said: str) -> None:
        for node, why in re.findall(rf"({NAME}): ([^;]*)", said):
            assert {run.status for run in self.of_node[node]} > {OK}, said
            assert why in {run.metadata.get(NODE_STATE) for run in self.of_node[node]}, said

    def not_measured(self, count: str, of: str) -> None:
        n = len(self.of_node)
        pairs = {each for runs in self.runs.values() for each in runs}
        assert int(of.replace(",", "")) == n * (n - 1) // 2, of
        assert int(count.replace(",", "")) == n * (n - 1) // 2 - len(pairs), count

    def unjudged(self) -> None:
        n = len(self.of_node)
        assert n < 6 or 2 * len({each for runs in self.runs.values() for each in runs}) < n * (n - 1) // 2

    def undecided(self, said: str) -> None:
        one = rf"({NAME}) \((.*?) (?:([\d.]+) % (below|above)|about as the others), p [=<] ([\d.]+); "
        found = re.findall(rf"{one}(?:\d+ rounds would decide|too near the tolerance)\)", said)
        assert len(found) == len(re.sub(r"; \d+ more in the table$", "", said).split("); ")), said
        for member, metric, amount, side, p in found:
            assert float(p) > 0.05 and metric in VALUES, said
            if amount:
                self._differs(member, metric, float(amount), side)

    def error(self, link: str | None) -> None:
        assert not link or self.in_pairs

    def due(self, count: str) -> None:
        nodes = self._measured()
        assert int(count) == nodes or max(self.runs) > 2 or nodes > 24, count

    def so_were(self, count: str) -> None:
        busy = [
            node
            for node, runs in self.of_node.items()
            if sum(run.condition == DISTURBED for run in runs) > len(runs) / 2
        ]
        assert int(count) == len(busy) - 1, (count, busy)

    def left_out(self, count: str) -> None:
        assert int(count) == self.contradicted

    def dependent(self, said: str) -> None:
        for member in re.split(r", | and ", said):
            ratios = np.log(self._ratios(member, self._metric, sorted(self.runs)))
            later, earlier = ratios[1:] - ratios.mean(), ratios[:-1] - ratios.mean()
            assert (later * earlier).sum() > 0, (member, ratios)

    def command(self, node: str) -> None:
        assert node in self.of_node and len(shlex.split(node)) == 1


KINDS = {
    "command": rf"(?:scontrol update nodename=|badmin hclose -C '[^']*' )({NAME})(?: state=drain .*)?$",
    "smallest": r"A slow-down of (.*) or more would have been found in nine of ten cases\.$",
    "error": r"The chance that any node( or link)?(?: of those judged)? is wrongly named is at most 5 %\.$",
    "due": r"Not decided yet: (\d+) suspects?; the next run of the campaign continues\.$",
    "undecided": r"Not decided: (.*)\.$",
    "so_were": r"(\d+) other nodes? (?:was|were) disturbed in most runs\.$",
    "left_out": r"(\d+) runs? left out: contradicted, or of an earlier program\.$",
    "dependent": r"The rounds of (.*) are correlated: slow in that period, perhaps not in others\.$",
    "failed": r"Runs failed on (.*)\.$",
    "disturbed": rf"({NAME}) was disturbed in (\d+) of (\d+) runs: (.*)\.$",
    "absent": r"Not measured: (.*)\.$",
    "gone": r"Not measured any more: (.*)\.$",
    "not_measured": r"([\d,]+) of ([\d,]+) pairs were never measured; tables/",
    "unjudged": "Single links are not judged: too few pairs were measured",
    "evidence": rf"({NAME}): ((?:(?! Recorded there:).)*)\.(?: Recorded there: .+\.)?$",
}
