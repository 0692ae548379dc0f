"""What is said of a machine checked against its records: recomputed by numpy alone, sentence by sentence."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from mpicampaign.records import CLOCK_RATE, DISTURBED, EACH_NODES, FAILED, NODE_STATE, OK, ROUND, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NAME = r"[\w.+-]*\w"
ROUNDS = r"in (\d+) of (\d+) rounds between (\d\d:\d\d) and (\d\d:\d\d) UTC on ([\d-]+)"


def triad(run: Record) -> float:
    return 1 / (run.series[0].columns["stream_triad_star"][0] or np.nan)


def clock(run: Record) -> float:
    return 1 / run.probes[CLOCK_RATE][run.hosts[0]][0]


def latency(run: Record) -> float:
    return run.series[0].columns["time"][0] or np.nan


def bandwidth(run: Record) -> float:
    return 1 / (run.series[0].columns["bandwidth"][1] or np.nan)


COSTS: dict[str, Callable[[Record], float]] = {
    "STREAM triad per process, all at once": triad,
    "stream": triad,
    "clock rate": clock,
    "latency at 0 B": latency,
    "maximum bandwidth": bandwidth,
}


class Plain:
    """The runs of a machine by round and member."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.runs: dict[int, dict[str, Record]] = defaultdict(dict)
        self.of_node: dict[str, list[Record]] = defaultdict(list)
        for run in records:
            member = run.metadata[EACH_NODES].replace(" ", "+")
            for node in member.split("+"):
                self.of_node[node].append(run)
            if run.status in (OK, FAILED):
                self.runs[int(run.metadata[ROUND])][member] = run

    @property
    def in_pairs(self) -> bool:
        return any("+" in member for runs in self.runs.values() for member in runs)

    def lead(self, text: str) -> list[str]:
        """The members that it names."""
        if text.startswith("No node"):
            count = re.match(
                r"No node of ([\d,]+) is shown(?: so far)? to be slower than the others by more than 2 %",
                text,
            )
            assert count and int(count[1].replace(",", "")) == self._measured(), text
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
            named += [member for member, *_ in own]
        return named

    def _measured(self) -> int:
        return sum(any(run.status in (OK, FAILED) for run in runs) for runs in self.of_node.values())

    def _ratios(self, member: str, cost: Callable[[Record], float], numbers: Sequence[int]) -> np.ndarray:
        """Of its cost, or of a node's pairs, to the median of the others in each round."""
        ratios = []
        for number in numbers:
            runs = {each: run for each, run in self.runs[number].items() if run.status == OK}
            own = [each for each in runs if member in (each, *each.split("+"))]
            others = [cost(run) for each, run in runs.items() if each not in own]
            ratios += [cost(runs[each]) / np.median(others) for each in own]
        return np.array(ratios)

    def _differs(
        self, member: str, metric: str, amount: float, side: str, numbers: Sequence[int] = ()
    ) -> None:
        ratio = np.median(self._ratios(member, COSTS[metric], numbers or sorted(self.runs)))
        value = ratio - 1 if side == "above" else 1 - 1 / ratio
        assert abs(100 * value - amount) < 1.2, (member, metric, amount, 100 * value)

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
                if member in (each, *each.split("+")) and begins[0] <= run.started[:16] <= begins[1]
            ]
            if part.startswith("runs failed"):
                assert sum(run.status == FAILED for run in self.of_node[member]) >= slower, part
                continue
            match = re.match(r"(.*) ([\d.]+) % (below|above), at least ([\d.]+) %, p ([=<]) ([\d.]+)", part)
            assert match and float(match[4]) <= float(match[2]) and float(match[6]) <= 0.05, part
            self._differs(member, match[1], float(match[2]), match[3], numbers)
            ratios = self._ratios(member, COSTS[match[1]], numbers)
            assert len(ratios) >= count >= slower, (
                part,
                ratios,
            )  # of a link there are rounds of other metrics
            if not self.in_pairs:
                assert len(ratios) == count and int((ratios > 1).sum()) == slower, (part, ratios)

    def smallest(self, said: str) -> None:
        for amount, metric in re.findall(r"([\d.]+) % \(([^();]*)", said):
            assert metric in COSTS and float(amount) > 2, said

    def failed(self, said: str) -> None:
        for node, count, of, why in re.findall(rf"({NAME}) in (\d+) of (\d+) runs \(([^()]*)\)", said):
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
        named: dict[str, str] = {}
        for nodes, why in re.findall(r"(?:^|; )([^:;]*): ([^;]*)", said):
            named |= dict.fromkeys(nodes.split(", "), why)
        states = {node: runs[0].metadata.get(NODE_STATE) for node, runs in self.of_node.items()}
        assert named == {node: why for node, why in states.items() if why}, said

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
        for member, metric in re.findall(rf"({NAME}) \(([^()]*?) (?:[\d.]+ %|about)", said):
            assert member.split("+")[0] in self.of_node and metric in COSTS, said

    def error(self) -> None: ...

    def due(self) -> None: ...

    def command(self, node: str) -> None:
        assert node in self.of_node and len(shlex.split(node)) == 1


KINDS = {
    "command": rf"(?:scontrol update nodename=|badmin hclose -C '[^']*' )({NAME})(?: state=drain .*)?$",
    "smallest": r"A slow-down of (.*) or more would have been found in nine of ten cases\.$",
    "error": r"The chance that any node(?: or link)? is wrongly named is at most 5 %\.$",
    "due": r"Not decided yet: \d+ suspects?; the next run of the campaign continues\.$",
    "undecided": r"Not decided: (.*)\.$",
    "failed": r"Runs failed on (.*)\.$",
    "disturbed": rf"({NAME}) was disturbed in (\d+) of (\d+) runs: (.*)\.$",
    "absent": r"Not measured: (.*)\.$",
    "gone": r"Not measured any more: (.*)\.$",
    "not_measured": r"([\d,]+) of ([\d,]+) pairs were never measured; tables/",
    "unjudged": "Single links are not judged: too few pairs were measured",
    "evidence": rf"({NAME}): (.*?)\.(?: Recorded there: .*\.)?$",
}
