"""The whole machine: which node, link or switch is slow, from runs of `each`, measured in rounds.

`mpicampaign.questions.machine.find_searches` has the searches; this is what is known of all members beside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import (
    DISTURBED,
    EACH,
    FAILED,
    NODE,
    NODE_STATE,
    OK,
    PAIR,
    SCHEDULER,
    WITH,
    Case,
    Record,
    defined_name,
)
from mpicampaign.questions.machine.find_causes import causes_by_node
from mpicampaign.questions.machine.find_searches import (
    UNDECIDED,
    MachineSearch,
    declared_group,
    is_of_machine,
    member_of,
    nodes_of,
    nodes_of_run,
    searches_of,
    switches_of,
)

# What is known of a member, in the words that the reader gets; see also those of its searches
AS_OTHERS, ABSENT, NO_VALUE = "not shown to be slow", "not measured", "no value"


@dataclass(frozen=True)
class Machine:
    """All members of a host group; ``runs``: of each node alone or in pairs, in the order of the plan.

    ``causes``: by node, what its runs recorded that may make it slow, the most telling first.
    """

    system: str
    host_group: str
    searches: tuple[MachineSearch, ...]
    runs: Mapping[str, Sequence[Record]]
    causes: Mapping[str, tuple[str, ...]]

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of all nodes that are to be measured."""
        return tuple(self.runs)

    @cached_property
    def pairs(self) -> frozenset[str]:
        """Pairs of nodes with a run, as the metadata names them."""
        made = (run for runs in self.runs.values() for run in runs if run.status in (OK, FAILED))
        return frozenset(member_of(run) for run in made if run.metadata[EACH] == PAIR)

    @property
    def scheduler(self) -> str:
        """The name of that which its runs claim to have been started by; empty without one."""
        schedulers = (run.metadata.get(SCHEDULER, "") for runs in self.runs.values() for run in runs)
        return next(filter(None, schedulers), "")

    @property
    def switches(self) -> Mapping[str, str]:
        """The leaf switch of each node; empty if the scheduler does not tell."""
        return switches_of(run for runs in self.runs.values() for run in runs)

    def verdict(self, search: MachineSearch, member: str) -> str:
        """What is known of a node or pair in one metric."""
        if member in search.verdicts or member in search.alone:
            return search.verdicts.get(member, UNDECIDED)
        if member in search.node_slowdowns or member in search.slowdowns:
            return AS_OTHERS
        return ABSENT if any(node in self.absent for node in nodes_of(member)) else NO_VALUE

    def made(self, node: str) -> int:
        """How many runs it was part of."""
        return sum(run.status in (OK, FAILED) for run in self.runs[node])

    @cached_property
    def absent(self) -> Mapping[str, str]:
        """Nodes without any run, with the scheduler's state and reason, or what a record says."""
        return {
            node: next((why for run in runs if (why := _state(node, run) or run.reason)), "")
            for node, runs in self.runs.items()
            if not self.made(node)
        }

    @cached_property
    def alone(self) -> frozenset[str]:
        """Nodes that are judged in nothing, as they were measured beside fewer than two others."""
        alone = [search.alone for search in self.searches]
        return frozenset.intersection(*map(frozenset, alone)) if alone else frozenset()

    @cached_property
    def gone(self) -> Mapping[str, str]:
        """Nodes with runs that the scheduler gives no more, with its state and reason."""
        states = {node: [_state(node, run) for run in runs] for node, runs in self.runs.items()}
        return {
            node: next(filter(None, texts))
            for node, texts in states.items()
            if self.made(node) and any(texts)
        }

    @cached_property
    def failed(self) -> Mapping[str, Sequence[Record]]:
        """Nodes with runs that failed or met their time limit."""
        return self._with_runs(lambda run: run.status == FAILED)

    @cached_property
    def disturbed(self) -> Mapping[str, Sequence[Record]]:
        """Nodes of which most runs were disturbed."""
        nodes = self._with_runs(lambda run: run.condition == DISTURBED)
        return {node: runs for node, runs in nodes.items() if 2 * len(runs) > self.made(node)}

    def _with_runs(self, wanted: Callable[[Record], bool]) -> dict[str, Sequence[Record]]:
        of = {node: [run for run in runs if wanted(run)] for node, runs in self.runs.items()}
        return {node: runs for node, runs in of.items() if runs}


def _state(node: str, run: Record) -> str:
    """What the scheduler says of a node: ``drained (bad DIMM)``; of a pair behind the node's name."""
    native = run.metadata.get(NODE_STATE, "")
    if run.metadata[EACH] == NODE:
        return native
    match = re.search(rf"(?:^|; ){re.escape(node)}: (.+?)(?=; [^ ;]+: |$)", native)
    return match[1] if match else ""


def machines(records: Iterable[Record]) -> tuple[Machine, ...]:
    """All host groups with runs of `each`."""
    of_machine = [record for record in records if is_of_machine(record)]
    groups = grouped(of_machine, lambda record: (record.case.system, declared_group(record.case)))
    return tuple(_machine(*key, runs) for key, runs in groups.items())


def whole_case(case: Case) -> Case:
    """The case of which a member's is a part, in whichever rounds."""
    group = defined_name(case.host_group).partition(":")[0]
    return replace(case, host_group=group + (WITH + case.library if case.library else ""))


def _machine(system: str, host_group: str, records: Sequence[Record]) -> Machine:
    by_node: dict[str, list[Record]] = {}
    for record in records:
        for node in nodes_of_run(record):
            by_node.setdefault(node, []).append(record)
    return Machine(system, host_group, tuple(searches_of(records)), by_node, _causes(by_node, records))


def _causes(by_node: Mapping[str, Sequence[Record]], records: Sequence[Record]) -> dict[str, tuple[str, ...]]:
    """By the declared names: a node's evidence may have a longer one."""
    causes = causes_by_node(records)
    of_hosts = {node: {host for run in runs for host in run.hosts} for node, runs in by_node.items()}
    return {
        node: causes[host]
        for node, hosts in of_hosts.items()
        for host in hosts
        if host in causes and host.partition(".")[0] == node.partition(".")[0]
    }
