"""The whole machine: planted slow nodes and links are named, nothing else is, and every sentence holds."""

from __future__ import annotations

import csv
import json
import math
import os
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

import build_records as make
import numpy as np
import pytest
import whole_machine
from conftest import ProjectCopy
from plain_machine import Plain

from mpicampaign.base.dimension import BANDWIDTH, TIME, Dimension
from mpicampaign.base.records import (
    CLOCK_RATE,
    CONTRADICTED,
    COPY,
    DISTURBED,
    EACH,
    EACH_NODES,
    EACH_SWITCHES,
    EACH_TOLERANCE,
    FAILED,
    MISSING,
    NODE,
    NODE_STATE,
    PAIR,
    QUIET,
    ROUND,
    ROUND_TRIP,
    SCHEDULER,
    TIME_LIMIT_MET,
    Record,
)
from mpicampaign.base.waves import FILE, ROUNDS, read_waves
from mpicampaign.compare.compare import compare
from mpicampaign.compare.metrics import Metric
from mpicampaign.questions.machine import find_searches
from mpicampaign.questions.machine import say as show_machine
from mpicampaign.questions.machine.draw import lines_of
from mpicampaign.questions.machine.find_searches import UNDECIDED, rounds_due, sweeps
from mpicampaign.questions.machine.say import lead, machine_items
from mpicampaign.questions.machine.say_tables import machine_grid, members_grid
from mpicampaign.report.analyse import write_tables
from mpicampaign.report.draw_figures import draw_all
from mpicampaign.report.summary import summary
from mpicampaign.report.write import write_report
from mpicampaign.show.writers.csv import data_to_csv

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

BEGIN = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
TRIAD, CLOCK, LATENCY = 20e9, 2.45e9, 2e-6


def names(count: int) -> list[str]:
    return [f"n{number:03}" for number in range(1, count + 1)]


def record(
    members: str, repeat: int, number: int, unit: str, begin: datetime, seconds: float, benchmark: str
) -> Record:
    """A complete run of a member in a round, without values."""
    placement = "NODE" if unit == NODE else "NODES-2"
    return make.run(
        make.case(placement, benchmark, f"milan {members.replace(' ', '+')}", "cluster"),
        repeat,
        suite="kernel",
        condition=QUIET,
        hosts=tuple(members.split(" ")),
        started=f"{begin:%Y-%m-%dT%H:%M:%SZ}",
        ended=f"{begin + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}",
        job_id="4711",
        metadata={EACH: unit, EACH_NODES: members, ROUND: str(number), EACH_TOLERANCE: "0.02"},
    )


class Nodes:
    """A machine whose nodes run STREAM alone.

    ``slow``, ``throttled``: how many times longer the bytes take, how many times lower the clock rate is.
    ``disturbed``: with what reason; ``failed``: in every round; ``absent``: with the scheduler's reason.
    """

    def __init__(
        self,
        nodes: Sequence[str],
        slow: Mapping[str, float] | None = None,
        *,
        throttled: Mapping[str, float] | None = None,
        disturbed: Mapping[str, str] | None = None,
        failed: Iterable[str] = (),
        absent: Mapping[str, str] | None = None,
        noise: float = 0.01,
        seed: int = 1,
    ) -> None:
        self.nodes, self.slow, self.throttled = list(nodes), slow or {}, throttled or {}
        self.disturbed, self.failed, self.absent = disturbed or {}, set(failed), absent or {}
        self.noise, self.random = noise, np.random.default_rng(seed)
        self.repeats = dict.fromkeys(self.nodes, 0)

    def round(self, number: int, members: Iterable[str]) -> list[Record]:
        """A round takes a minute and a half."""
        begin = BEGIN + timedelta(seconds=90 * (number - 1))
        return [self._run(number, node, begin) for node in members]

    def _run(self, number: int, node: str, begin: datetime) -> Record:
        self.repeats[node] += 1
        run = record(node, self.repeats[node], number, NODE, begin, 60, "stream")
        if node in self.absent:
            metadata = {**run.metadata, NODE_STATE: self.absent[node]}
            gone = {"started": "", "ended": "", "hosts": (), "verdict": None, "exit_status": None}
            return replace(run, status=MISSING, reason="not run yet", metadata=metadata, **gone)  # type: ignore[arg-type]
        if node in self.failed:
            reason = "stopped at the time limit of 60 s"
            return replace(run, status=FAILED, reason=reason, exit_status=TIME_LIMIT_MET, verdict=None)
        triad = TRIAD / self.slow.get(node, 1.0) * math.exp(self.random.normal(0, self.noise))
        clock = CLOCK / self.throttled.get(node, 1.0) * math.exp(self.random.normal(0, self.noise / 5))
        run = replace(
            run,
            series=(make.series("stream", 16, stream_triad_star=triad),),
            probes={CLOCK_RATE: {node: [clock]}},
            nodes={node: {"kernel": "5.14.0"}},
        )
        if node in self.disturbed:
            run = replace(run, condition=DISTURBED, condition_reason=self.disturbed[node])
        return run


class Pairs:
    """A machine whose nodes exchange messages in pairs.

    ``nodes``, ``links``, ``leaves``: how many times longer those of a node, a pair or a switch take.
    ``failed``: the node all of whose runs fail.
    """

    def __init__(
        self,
        names: Sequence[str],
        nodes: Mapping[str, float] | None = None,
        links: Mapping[str, float] | None = None,
        *,
        switches: Mapping[str, str] | None = None,
        leaves: Mapping[str, float] | None = None,
        failed: str = "",
        noise: float = 0.01,
        seed: int = 1,
    ) -> None:
        self.names, self.nodes, self.links = list(names), nodes or {}, links or {}
        self.switches, self.leaves, self.failed = switches or {}, leaves or {}, failed
        self.noise, self.random = noise, np.random.default_rng(seed)
        self.repeats: dict[str, int] = {}

    def sweep(self, first: int) -> list[Record]:
        """All pairs once, by the circle method, from round ``first`` on."""
        order = list(self.random.permutation(self.names))
        records = []
        for turn in range(len(order) - 1):
            half = len(order) // 2
            pairs = zip(order[:half], reversed(order[half:]), strict=True)
            records += self.round(first + turn, [" ".join(sorted(map(str, pair))) for pair in pairs])
            order = [order[0], order[-1], *order[1:-1]]
        return records

    def random_pairs(self, number: int) -> list[Record]:
        order = list(self.random.permutation(self.names))
        pairs = zip(order[::2], order[1::2], strict=True)
        return self.round(number, [" ".join(sorted(map(str, pair))) for pair in pairs])

    def round(self, number: int, members: Iterable[str]) -> list[Record]:
        begin = BEGIN + timedelta(seconds=20 * (number - 1))
        return [self._run(number, member.replace("+", " "), begin) for member in members]

    def _run(self, number: int, member: str, begin: datetime) -> Record:
        self.repeats[member] = self.repeats.get(member, 0) + 1
        a, b = member.split(" ")
        factor = self.nodes.get(a, 1.0) * self.nodes.get(b, 1.0) * self.links.get(member, 1.0)
        leaves = [self.switches[node] for node in (a, b) if node in self.switches]
        for leaf in set(leaves):
            factor *= self.leaves.get(leaf, 1.0)
        times = [LATENCY * factor * math.exp(self.random.normal(0, self.noise)) for _ in range(2)]
        run = record(member, self.repeats[member], number, PAIR, begin, 10, "PingPong")
        if self.failed in (a, b):
            return replace(run, status=FAILED, reason="no route to host", exit_status=1, verdict=None)
        rates = [None, 1e4 / times[1]]
        table = make.series("PingPong", size=[0.0, 1e6], time=[times[0], None], bandwidth=rates)
        switches = {EACH_SWITCHES: " ".join(leaves)} if leaves else {}
        return replace(run, suite="imb", metadata={**run.metadata, **switches}, series=(table,))


def followed(machine: Nodes | Pairs, records: list[Record], screen: dict[int, list[str]]) -> list[Record]:
    """The records of the screen, and of all rounds that they ask for."""
    absent = machine.absent if isinstance(machine, Nodes) else ()
    done = max((int(record.metadata["round"]) for record in records), default=0)
    while further := [n for n in rounds_due(records, screen, absent=absent).items() if n[0] > done]:
        for done, members in sorted(further):
            records += machine.round(done, members)
    return [replace(run, metadata={**run.metadata, SCHEDULER: "slurm"}) for run in records]


def of_nodes(machine: Nodes) -> list[Record]:
    return followed(machine, [], {1: machine.nodes, 2: machine.nodes})


def of_pairs(machine: Pairs) -> list[Record]:
    count = len(machine.names)
    records = [*machine.sweep(1), *machine.sweep(count)]
    screen: dict[int, list[str]] = {}
    for record in records:
        member = record.metadata[EACH_NODES].replace(" ", "+")
        screen.setdefault(int(record.metadata["round"]), []).append(member)
    assert len(screen) == sweeps(count)
    return followed(machine, records, screen)


def held(records: Sequence[Record]) -> tuple[list[str], Counter[str]]:
    """Who is named; how many sentences of each kind hold."""
    comparison = compare(records)
    assert not comparison.tables
    plain, [machine] = Plain(records), comparison.machines
    named = plain.lead(lead(machine))
    assert all(name in summary(comparison).lead for name in named[:5])
    return named, Counter(map(plain.sentence, machine_items(machine)))


@cache
def planted() -> list[Record]:
    machine = Nodes(
        names(1024),
        {"n037": 1.09, "n777": 1.3},
        throttled={"n512": 1.14},
        absent={"n005": "drained (bad DIMM)", "n006": "drained (bad DIMM)", "n900": "down (no answer)"},
        disturbed=dict.fromkeys(["n200", "n777"], "waiting; python3 (pid 4711, uid 1000) used 1.0 CPU"),
        failed={"n100"},
    )
    return of_nodes(machine)


def test_slow_throttled_and_failing_nodes_are_named_and_no_others() -> None:
    named, kinds = held(planted())
    assert named == ["n100", "n777", "n512", "n037"], "the slowest first"
    assert kinds["evidence"] == kinds["command"] == 4
    assert {"smallest", "error", "failed", "absent", "disturbed"} <= kinds.keys()


@pytest.mark.parametrize("count", [8, 16, 64])
def test_no_node_of_a_healthy_machine_is_named(count: int) -> None:
    named, kinds = held(of_nodes(Nodes(names(count), seed=count)))
    assert named == [] and {"smallest", "error"} <= kinds.keys()


def test_the_sentences_of_few_rounds_of_absent_and_of_disturbed_nodes_hold() -> None:
    """Before anything is decided, too; contradicted runs are counted and left out."""
    for nodes, rounds, said in (
        (Nodes(names(4)), 1, set()),
        (Nodes(names(4), absent=dict.fromkeys(names(4), "down")), 1, {"absent"}),
        (Nodes(names(8), {"n003": 1.2}), 2, {"smallest", "error", "due"}),
    ):
        made = [run for number in range(1, rounds + 1) for run in nodes.round(number, nodes.nodes)]
        assert held(made) == ([], Counter(said))
    busy = of_nodes(Nodes(names(12), disturbed=dict.fromkeys(names(5), "busy")))
    doubted = [replace(run, verdict=CONTRADICTED) if run.hosts[0] == "n009" else run for run in busy]
    named, kinds = held(doubted)
    assert named == [] and {"disturbed", "so_were", "left_out"} < set(kinds)


def test_a_slow_node_and_a_slow_link_are_told_apart() -> None:
    named, kinds = held(of_pairs(Pairs(names(16), {"n007": 1.05}, {"n003 n014": 1.3})))
    assert named == ["n007", "n003+n014"]
    assert kinds["evidence"] == 2 and kinds["command"] == 1 and not kinds["not_measured"]


def test_a_node_whose_pairs_fail_is_named_and_not_its_partners() -> None:
    records = of_pairs(Pairs(names(16), failed="n007"))
    named, kinds = held(records)
    assert named == ["n007"] and kinds["evidence"] == 1
    [said] = [line for line in machine_items(compare(records).machines[0]) if line.startswith("Runs failed")]
    assert said.startswith("Runs failed on n007 (") and said.endswith(": no route to host).")


def test_of_nodes_that_are_lost_later_it_is_said_and_two_that_are_left_are_not_measured_again() -> None:
    nodes = Nodes(names(4), {"n003": 1.12})
    records = nodes.round(1, nodes.nodes) + nodes.round(2, nodes.nodes)
    nodes.absent = dict.fromkeys(("n003", "n004"), "drained (bad DIMM)")
    screen = {1: nodes.nodes, 2: nodes.nodes}
    assert max(rounds_due(records, screen)) > 2
    assert max(rounds_due(records, screen, absent=nodes.absent)) == 2
    _, kinds = held(records + nodes.round(3, nodes.nodes))
    assert kinds["gone"] == 1 and not kinds["absent"]


def test_a_slow_leaf_switch_is_one_answer() -> None:
    leaves = {name: f"leaf{number // 8}" for number, name in enumerate(names(32))}
    named, kinds = held(of_pairs(Pairs(names(32), switches=leaves, leaves={"leaf2": 1.08})))
    assert named == ["leaf2"] and kinds["evidence"] == 1


def test_of_many_nodes_pairs_are_drawn_by_chance_and_the_others_are_listed(tmp_path: Path) -> None:
    machine = Pairs(names(130), {"n007": 1.06})
    assert sweeps(130) == 16
    records = [run for number in range(1, 17) for run in machine.random_pairs(number)]
    named, kinds = held([replace(run, metadata={**run.metadata, SCHEDULER: "lsf"}) for run in records])
    assert named == ["n007"] and kinds["not_measured"] == kinds["command"] == 1
    write_tables(compare(records), tmp_path)
    pairs = {run.metadata[EACH_NODES] for run in records}
    lines = (tmp_path / "pairs-not-measured.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 130 * 129 // 2 - len(pairs)
    assert not pairs & {line.replace(",", " ") for line in lines}


def test_rounds_that_are_due_follow_from_the_results_alone() -> None:
    """A killed job leaves a part of a round: the same rounds are due, and no later ones."""
    machine = Nodes(names(64), {"n037": 1.05})
    screen = {1: machine.nodes, 2: machine.nodes}
    assert rounds_due([], screen) == {number: tuple(nodes) for number, nodes in screen.items()}
    whole = of_nodes(machine)
    due = rounds_due(whole, screen)
    assert len(due) > 2 and all("n037" in due[number] for number in range(3, 9))
    killed = [
        replace(run, status=MISSING, series=()) if run.metadata["round"] == "8" and run.repeat % 2 else run
        for run in whole
        if int(run.metadata["round"]) <= 8
    ]
    assert rounds_due(killed, screen).keys() == set(range(1, 9))
    begun = [run for run in whole if run.metadata["round"] == "1"][:32]
    assert rounds_due(begun, screen).keys() == screen.keys()


@pytest.mark.parametrize("apart", [600, 10**9])
def test_parts_of_a_round_that_are_hours_apart_are_not_compared(
    monkeypatch: pytest.MonkeyPatch, apart: int
) -> None:
    """A job was killed in each round, and half of the nodes ran in the night, on a slower file system."""
    monkeypatch.setattr(find_searches, "APART", apart)
    machine = Nodes(names(24))
    night = set(machine.nodes[:6])
    records = [run for number in range(1, 17) for run in machine.round(number, machine.nodes)]
    [found] = compare([_later(run) if run.hosts[0] in night else run for run in records]).machines
    assert bool(show_machine.found_nodes(found)) == (apart > 600)


def test_a_node_that_was_measured_alone_is_not_judged() -> None:
    machine = Nodes(names(24))
    records = [run for number in (1, 2) for run in machine.round(number, machine.nodes)]
    late = [_later(run) if run.hosts[0] == "n007" else run for run in records]
    for runs, count in ((records, 24), (late, 23)):
        [found] = compare(runs).machines
        assert lead(found).startswith(f"No node of {count} is shown")
    [said] = [text for text in show_machine.sentences(found) if text.startswith("Not judged")]
    assert said == "Not judged, measured beside fewer than two others: n007."
    assert {found.verdict(search, "n007") for search in found.searches} == {UNDECIDED}


def test_waves_of_earlier_releases_are_read(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"all": [{"n3": ""}, [["n1", "n2"], ["n2"]]]}', encoding="utf-8")
    waves = read_waves(tmp_path)["all"]
    assert (waves.late, waves.left_after(0)) == ({"n3": ""}, {"n1": ROUNDS, "n2": ROUNDS})
    assert waves.left_after(1) == {"n2": 2 * ROUNDS}, "it made what it made of the first further wave"


@pytest.mark.slow
@pytest.mark.parametrize(("hosts", "busy"), [("n[0001-0020]", "n0007"), ("n[0001-0006,0008-0020]", "")])
def test_a_slow_node_that_comes_an_hour_later_is_judged_beside_others(
    project: ProjectCopy, hosts: str, busy: str
) -> None:
    """Others used it, or the campaign file did not name it."""
    file = whole_machine.write_campaign(project.folder, hosts, "node")
    text = file.read_text(encoding="utf-8") + "time_when_busy: 1 s\n"
    said, runs = [], set[tuple[str, int, str]]()
    for minutes, whole, used in ((0, hosts, busy), (60, "n[0001-0020]", "")):
        file.write_text(text.replace(hosts, whole), encoding="utf-8")
        (project.folder / "bin/busy").write_text(used, encoding="utf-8")
        (project.folder / "bin/later").write_text(str(minutes), encoding="utf-8")
        path = {"PATH": f"{project.folder}/bin:{os.environ['PATH']}", "MPICAMPAIGN_STATES": "off"}
        done = project.succeed("run", "--campaign", str(file), variables=path)
        said.append(done.stdout)
        before, runs = (
            runs,
            {
                (run.case.host_group, run.repeat, run.started)
                for run in project.records("machine")
                if run.started
            },
        )
        assert before <= runs, "no run is lost"
    assert "No node of 19 is shown to be slower" in said[0] and "1 of 20 nodes is slow: n0007 " in said[1]
    assert "no longer describes" not in said[1]


def _later(run: Record) -> Record:
    [rate] = run.series[0].columns["stream_triad_star"]
    assert rate
    series = replace(run.series[0], columns={"stream_triad_star": [rate / 1.2]})
    hour = {name: getattr(run, name).replace("T10", "T14") for name in ("started", "ended")}
    return replace(run, series=(series,), **hour)


def test_runs_of_members_are_no_rows_of_the_comparison(tmp_path: Path) -> None:
    records = of_nodes(Nodes(names(32), {"n007": 1.2}))
    comparison = compare(records)
    write_tables(comparison, tmp_path)
    lines = (tmp_path / "machine.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 2 * 32
    answers = json.loads((tmp_path / "machine.json").read_text(encoding="utf-8"))
    assert answers["machines"][0]["answer"].startswith("1 of 32 nodes is slow: n007")
    assert [row["member"] for row in answers["rows"]] == ["n007"]
    assert not (tmp_path / "pairs-not-measured.csv").exists()
    page = tmp_path / "report.html"
    write_report(page, comparison, records, lambda: draw_all(comparison, tmp_path / "figures", few=True))
    text = page.read_text(encoding="utf-8")
    assert text.index("1 of 32 nodes is slow") < text.index("state=drain") < text.index("<figure")


def with_probes(run: Record) -> Record:
    """Noisy ones at the end of each run: a slow copy, a round trip that was held up, a clock rate at rest."""
    [node], [[rate]] = run.hosts, run.probes[CLOCK_RATE].values()
    trip = 1e-7 * (1.5 if node == "n004" else 1.0)
    rates = {CLOCK_RATE: {node: [rate, 2 * rate]}, COPY: {node: [4 * rate, 3 * rate]}}
    return replace(run, probes={**rates, ROUND_TRIP: {f"{node}, same socket": [trip, 1e-6]}})


@pytest.mark.parametrize("unit", [NODE, PAIR])
def test_values_and_slowdowns_are_those_of_the_records(unit: str) -> None:
    """A rate is no time: of times, rates and probes each line and the side of each difference hold."""
    if unit == NODE:
        nodes = Nodes(names(8), {"n003": 1.2}, throttled={"n006": 1.3})
        records = [with_probes(run) for number in range(1, 17) for run in nodes.round(number, nodes.nodes)]
    else:
        records = of_pairs(Pairs(names(8), {"n003": 1.2}))
    plain, [machine] = Plain(records), compare(records).machines
    for line in csv.DictReader(data_to_csv(members_grid([machine])).splitlines()):
        plain.row(line)
    grid = machine_grid(machine)
    assert {line[0] for line in grid.lines} == ({"n003", "n004", "n006"} if unit == NODE else {"n003"})
    for member, metric, _, difference, *_ in grid.lines:
        plain.difference(str(member), str(metric), str(difference))


@pytest.mark.parametrize(
    ("dimension", "value", "text"),
    [
        *((TIME, 1.25, "25.0 % above"), (TIME, 0.8, "20.0 % better")),
        *((BANDWIDTH, 0.8, "20.0 % below"), (BANDWIDTH, 1.25, "25.0 % better")),
    ],
)
def test_a_difference_is_one_in_the_value(dimension: Dimension, value: float, text: str) -> None:
    """``value``: of what the others have."""
    cost = value if dimension is TIME else 1 / value
    assert show_machine.slower(Metric("m", "m", dimension), cost - 1) == text


def test_names_that_a_shell_or_scheduler_would_take_apart_are_never_in_commands() -> None:
    bad = "n1,n[2-9];$(reboot)"
    machine = Nodes([bad, *names(31)], {bad: 1.3})
    [found] = compare(of_nodes(machine)).machines
    assert [*show_machine.found_nodes(found)] == [bad] and show_machine.drain_commands(found) == []


def test_racks_are_told_by_names() -> None:
    assert lines_of(["n10", "n2", "n1"]) == [["n1", "n2", "n10"]]
    racks = [f"r{rack}n{node}" for rack in (1, 2, 10) for node in range(1, 5)]
    assert lines_of(racks) == [[*racks[:4], "", *racks[4:8], "", *racks[8:]]]
    assert [len(line) for line in lines_of(names(1024))] == [32] * 32
