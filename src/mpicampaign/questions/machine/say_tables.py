"""The members of a machine in tables: the slow and undecided for readers, all of them for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from mpicampaign.base.records import DISTURBED, FAILED, PAIR, Record
from mpicampaign.base.text import visible
from mpicampaign.questions.machine import say
from mpicampaign.questions.machine.find import Machine
from mpicampaign.questions.machine.find_searches import SLOW_ONE, UNDECIDED, MachineSearch, nodes_of
from mpicampaign.show.document import (
    Caption,
    Drawing,
    Fold,
    Grid,
    Heading,
    Items,
    Kind,
    Line,
    Node,
    PageNode,
    Paragraph,
    Section,
    Value,
    Verbatim,
    plain,
    titled,
)
from mpicampaign.show.view import probability, quantity
from mpicampaign.show.writers.csv import data_to_csv
from mpicampaign.statistics.slow_members import SlowMember, Undecided

HEADING = "The whole machine"
MEMBERS, ANSWERS = "machine.csv", "machine.json"
TOLD = 200  # runs on the page


def machine_grid(machine: Machine) -> Grid:
    """The slow and the undecided."""
    title = f"{say.machine_title(machine)}: slow and undecided"
    header = ("member", "metric", "verdict", "difference", "at least", "p", "slower in", "value", "causes")
    lines = [*_slow_lines(machine), *_undecided_lines(machine)]
    return Grid(title, 2, header, tuple(lines), remarks=1, role="sortable", label=title)


def _slow_lines(machine: Machine) -> Iterator[Line]:
    for search, slow in (
        search_slow
        for kind in say.KINDS
        for evidence in say.found_members(machine, kind).values()
        for search_slow in evidence
    ):
        least = "" if math.isinf(slow.slower) else say.amount(search.metric, slow.at_least)
        yield _grid_line(machine, search, slow, SLOW_ONE, least, f"{slow.in_rounds} of {slow.rounds}")


def _undecided_lines(machine: Machine) -> Iterator[Line]:
    for search, suspect in say.undecided(machine):
        needed = f"{suspect.rounds_needed} rounds would decide" if suspect.rounds_needed else ""
        yield _grid_line(machine, search, suspect, UNDECIDED, needed=needed)


def _grid_line(
    machine: Machine,
    search: MachineSearch,
    suspect: SlowMember | Undecided,
    verdict: str,
    least: str = "",
    rounds: str = "",
    needed: str = "",
) -> Line:
    how = "runs failed" if math.isinf(suspect.slower) else say.slower(search.metric, suspect.slower)
    value = search.values.get(suspect.member)
    return (
        visible(suspect.member),
        say.metric_title(machine, search),
        verdict,
        how,
        least,
        probability(suspect.p).removeprefix("p ").removeprefix("= "),
        rounds,
        "" if value is None else quantity(value, search.metric.dimension),
        visible("; ".join(filter(None, (needed, *machine.causes.get(suspect.member, ()))))),
    )


_COLUMNS: dict[str, Kind] = {
    **dict.fromkeys(("system", "host_group", "placement", "benchmark", "unit_of_members", "member"), str),
    **dict.fromkeys(("metric", "unit"), str),
    **dict.fromkeys(("value", "slower"), float),
    "verdict": str,
    **dict.fromkeys(("at_least", "p"), float),
    **dict.fromkeys(("fresh_rounds", "slower_in", "runs", "runs_failed", "runs_disturbed"), int),
    **dict.fromkeys(("missing_because", "causes"), str),
}


def members_grid(machines: Iterable[Machine]) -> Grid:
    """All nodes and pairs with their estimates, in SI units, for programs."""
    lines = [
        line for machine in machines for search in machine.searches for line in _member_lines(machine, search)
    ]
    return Grid("members", 6, tuple(_COLUMNS), tuple(lines), kinds=tuple(_COLUMNS.values()))


def _member_lines(machine: Machine, search: MachineSearch) -> Iterator[tuple[Value, ...]]:
    named = {slow.member: slow for part in search.parts for slow in part.named}
    for member in (*machine.nodes, *(sorted(search.slowdowns) if search.subject.unit == PAIR else ())):
        slow, runs = named.get(member), machine.runs.get(member, ())
        slowdown = slow.slower if slow else search.node_slowdowns.get(member, search.slowdowns.get(member))
        yield (
            *map(visible, (*search.subject, member, search.metric.name)),
            search.metric.dimension.si_unit,
            search.values.get(member),
            slowdown if slowdown is None or math.isfinite(slowdown) else None,
            machine.verdict(search, member),
            *((slow.at_least, slow.p, slow.rounds, slow.in_rounds) if slow else [None] * 4),
            machine.made(member) if runs else None,
            sum(run.status == FAILED for run in runs) if runs else None,
            sum(run.condition == DISTURBED for run in runs) if runs else None,
            visible(machine.absent.get(member, "")),
            visible("; ".join(machine.causes.get(member, ()))),
        )


def not_measured_text(machines: Iterable[Machine]) -> str:
    """Pairs of which no run was made, as CSV; empty where there are none."""
    lines = [
        f"{visible(a)},{visible(b)}"
        for machine in machines
        if machine.pairs
        for a, b in combinations(sorted(machine.nodes), 2)
        if f"{a}+{b}" not in machine.pairs
    ]
    return "\n".join(["node,other", *lines, ""]) if lines else ""


def told_runs(machines: Iterable[Machine]) -> list[Record]:
    """The runs of the first slow, undecided and failed nodes: the page lists no others of a machine."""
    shown = {
        id(run): run
        for machine in machines
        for node in dict.fromkeys((*_slow_nodes(machine), *machine.failed))
        for run in machine.runs[node]
    }
    return [*shown.values()][:TOLD]


def _slow_nodes(machine: Machine) -> list[str]:
    members = [member for kind in say.KINDS for member in say.found_members(machine, kind)]
    members += [suspect.member for _, suspect in say.undecided(machine)]
    return [node for member in members for node in nodes_of(member) if node in machine.runs]


# Documents


def machine_nodes(machines: Sequence[Machine]) -> list[Node]:
    """What terminals and Markdown show."""
    nodes: list[Node] = [Heading(HEADING)] if machines else []
    for machine in machines:
        nodes += [
            Paragraph(f"{say.machine_title(machine)}: {say.lead(machine)}."),
            Items(tuple(say.machine_items(machine))),
        ]
        grid = machine_grid(machine)
        nodes += [grid] if grid.lines else []
    return nodes


def machine_sentences(machines: Sequence[Machine]) -> list[PageNode]:
    """What is said of the members of each, and the commands that keep jobs from the slow ones."""
    nodes: list[PageNode] = []
    for machine in machines:
        sentences = (f"{say.lead(machine)}.", *say.sentences(machine))
        commands = "\n".join(say.drain_commands(machine))
        nodes += [Caption(f"{say.machine_title(machine)}:")] if len(machines) > 1 else []
        nodes.append(Items(sentences))
        text = Verbatim(commands, "Commands")
        nodes += [Fold("Commands that keep jobs from the slow nodes", (text,))] if commands else []
    return nodes


def machine_section(
    machines: Sequence[Machine], drawings: Callable[[str], Sequence[Drawing]]
) -> list[Section]:
    """Maps of all nodes or pairs, and the slow and undecided in a table."""
    if not machines:
        return []
    grids = [grid for machine in machines if (grid := machine_grid(machine)).lines]
    tables = [node for grid in grids for node in (Heading(grid.title, 3), replace(grid, title=""))]
    text = f"All members with their estimates: tables/{MEMBERS}. Below are the runs of slow, undecided and "
    files = Paragraph(f"{text}failed nodes, the first {TOLD}; all runs are in records.jsonl.", "legend")
    return [titled("machine", HEADING, *drawings("machine"), *tables, files)]


def machine_files(machines: Sequence[Machine]) -> dict[str, str]:
    """All members as CSV, the answers as JSON, and pairs without a run; empty where there is nothing."""
    return {
        MEMBERS: data_to_csv(members_grid(machines)) if machines else "",
        ANSWERS: answers_json(machines) if machines else "",
        say.NOT_MEASURED: not_measured_text(machines),
    }


def answers_json(machines: Sequence[Machine]) -> str:
    """The answers, and who is slow or undecided, for programs; format in docs/formats.md."""
    grid = members_grid(machines)
    names = list(map(plain, grid.header))
    rows = (dict(zip(names, line, strict=True)) for line in grid.values)
    data = {
        "format": "mpicampaign-machine",
        "version": 1,
        "machines": [
            {
                "system": machine.system,
                "host_group": machine.host_group,
                "answer": f"{say.lead(machine)}.",
                "sentences": [*say.sentences(machine)],
                "drain": say.drain_commands(machine),
            }
            for machine in machines
        ],
        "rows": [row for row in rows if row["verdict"] in (SLOW_ONE, UNDECIDED)],
    }
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
