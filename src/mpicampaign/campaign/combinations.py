"""Errors in the combinations of a campaign's matrix: host group × placement × benchmark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from mpicampaign.base import this_machine
from mpicampaign.base.errors import did_you_mean
from mpicampaign.base.expectation import MOST_TO_DECIDE, UNTIL_DECIDED, UNTIL_KNOWN, fewest_blocks
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import ALL_PAIRS, BLOCKS, TO_REFERENCE, defined_name
from mpicampaign.base.text import counted
from mpicampaign.base.this_machine import physical_cores
from mpicampaign.base.units import parse_size
from mpicampaign.base.yaml_lines import Key, lookup, shown
from mpicampaign.campaign.checks import Notes, check_reference, check_spread
from mpicampaign.campaign.designs import Design, decided_together, designs_of
from mpicampaign.campaign.each import hosts_of
from mpicampaign.campaign.model import (
    BETWEEN_NODES,
    CORES,
    Benchmark,
    Campaign,
    Each,
    HostFabric,
    HostGroup,
    MatrixEntry,
    Mpi,
    Placement,
    System,
)
from mpicampaign.campaign.variants import for_ranks, library_of, named
from mpicampaign.schedulers import batch_scheduler
from mpicampaign.suites import SUITES
from mpicampaign.suites.suite import Request

MAX_CASES = 100_000
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

_SECTIONS = ("host_groups", "placements", "benchmarks")


class _Pair(NamedTuple):
    """A placement on a host group; ``key`` is where the matrix names the placement.

    ``system`` is ``None`` where the host group names none that is defined.
    """

    group: HostGroup
    placement: Placement
    system: System | None
    key: Key
    notes: Notes

    def note(self, message: str, hint: str = "", *, of_system: bool = False) -> None:
        """Note that the two do not fit; ``of_system``: for what the system or its MPI library is."""
        of = [*self.definitions, *(self.of_system if of_system else ())]
        self.notes.add(self.key, message, shown(self.placement.name), hint, of)

    @property
    def definitions(self) -> list[Key]:
        """The key paths of the two."""
        return [("host_groups", self.group.name), ("placements", self.placement.name)]

    @property
    def of_system(self) -> list[Key]:
        """The key paths of the system and its MPI library."""
        return [("systems", self.group.system), ("mpis", self.system.mpi.name if self.system else "")]

    @property
    def ranks_per_node(self) -> int | None:
        """``None`` where it depends on the machine."""
        per_node = self.placement.ranks_per_node
        if per_node != CORES:
            return int(per_node)
        return self.group.cores and max(self.group.cores // (self.placement.threads or 1), 1)

    @property
    def where(self) -> str:
        return f"host group {shown(self.group.name)}"


def check_matrix(campaign: Campaign, notes: Notes) -> None:
    """Note undefined names, duplicate cases and impossible combinations."""
    cases: dict[tuple[str, str, str], int] = {}
    pairs: dict[tuple[str, str], _Pair] = {}
    for index, entry in enumerate(notes.document.data.get("matrix") or []):
        if entry is None:
            continue
        names = {section: _names(campaign, index, section, notes) for section in _SECTIONS}
        names["host_groups"] = _with_libraries(campaign, index, names["host_groups"], notes)
        if _too_many(index, names, notes):
            continue
        for group in names["host_groups"]:
            for placement, key in names["placements"].items():
                defined = campaign.host_groups[group]
                system = campaign.systems.get(defined.system)
                pair = _Pair(defined, campaign.placements[placement], system, key, notes)
                pairs.setdefault((group, placement), pair)
                _check_benchmarks(campaign, pair, names["benchmarks"], notes)
        _check_twice(cases, index, names, notes)
    for pair in pairs.values():
        _check_pair(pair)
    entries = [*zip(notes.document.items(("matrix",)), campaign.matrix, strict=False)]
    for (key, _), entry in entries if not notes.problems else ():
        _check_blocks(campaign, entry, key, notes)
        if entry.repeats == UNTIL_DECIDED and not entry.race:
            _check_decided(campaign, entry, key, notes)
    for (key, _), entry in entries:
        if entry.each and not notes.is_doubted((*key, "each")):
            _check_each(campaign, entry, entry.each, key, notes)


def _check_each(campaign: Campaign, entry: MatrixEntry, each: Each, key: Key, notes: Notes) -> None:
    """Note what keeps nodes or pairs from being measured side by side."""
    given = lookup(notes.document.data, key)
    for other in ("repeats", "blocks", "race"):
        if given.get(other) is not None:
            hint = f"remove {other}: the results say which rounds are due"
            notes.add((*key, other), f"an entry with each takes no {other}", "", hint)
    if (each.nodes_per_job or each.nodes) < each.nodes:
        message = f"a job of one node cannot hold a {each.unit}"
        notes.add((*key, "each", "nodes_per_job"), message, "1", f"give at least {each.nodes}")
    for name in entry.placements:
        nodes = campaign.placements[name].nodes
        if nodes != each.nodes:
            message = f"each: {each.unit} takes placements with nodes: {each.nodes}; this one has {nodes}"
            notes.add((*key, "placements"), message, shown(name))
    for name in dict.fromkeys(map(defined_name, entry.host_groups)):
        group = next(campaign.host_groups[group] for group in named(campaign.host_groups, name))
        if not notes.is_doubted(("host_groups", group.name, "hosts")):
            _check_listed(group, each, key, notes)
    for name in {campaign.host_groups[group].system for group in entry.host_groups}:
        if system := campaign.systems.get(name):
            _check_launcher(system, each, key, notes)


def _check_listed(group: HostGroup, each: Each, entry: Key, notes: Notes) -> None:
    """Note host groups that do not list enough hosts to tell a slow one, each once, by names."""
    key: Key = ("host_groups", group.name, "hosts")
    hosts = hosts_of(group)
    odd = [host for host in hosts if not _HOST.fullmatch(host)]
    if len(hosts) < each.fewest:
        message = f"each: {each.unit} takes a list of {each.fewest} hosts or more, not {len(hosts)}"
        hint = "such as hosts: n[001-064]; mpicampaign doctor lists them"
        notes.add(key, message, ", ".join(hosts), hint)
    elif odd:
        notes.add(key, "each needs names of single hosts", shown(odd[0]))
    elif (each.nodes_per_job or 0) > len(hosts):
        message = f"host group {group.name} has {len(hosts)} hosts: a job has no more"
        notes.warn((*entry, "each", "nodes_per_job"), message, str(each.nodes_per_job))


def _check_launcher(system: System, each: Each, key: Key, notes: Notes) -> None:
    """Note a launcher that asks the scheduler for nodes of the whole job."""
    scheduler = batch_scheduler(system.scheduler)
    if scheduler and scheduler.launcher == system.launcher and not each.alone:
        message = (
            f"the runs of a round share a job, and in a job {system.launcher} cannot start them side by side"
        )
        hint = (
            f"give systems.{system.defined} the launcher of its MPI library, or nodes_per_job: {each.nodes}"
        )
        notes.add((*key, "each"), message, "", hint)


def _check_blocks(campaign: Campaign, entry: MatrixEntry, key: Key, notes: Notes) -> None:
    """Note what keeps an entry's blocks from showing a difference."""
    designs = designs_of(campaign, entry)
    if designs and entry.repeats == UNTIL_KNOWN:
        hint = f"such as {BLOCKS}, or until decided"
        notes.add((*key, "repeats"), "blocks take a number of repeats", "until known", hint)
        return
    if entry.race:
        _check_race(key, designs, notes)
    of_machine = grouped(designs, lambda design: next(iter(design.candidates.values()))[0].machine)
    for (_, group), several in of_machine.items():
        if len(several) > 1:
            nodes = ", ".join(str(design.nodes) for design in several)
            message = f"cases of host group {shown(group)} on {nodes} nodes are not compared together"
            notes.warn((*key, "blocks"), message, hint="blocks hold cases with one number of nodes")
    for design in designs:
        alone = [name for name, cases in design.candidates.items() if len(cases) == 1]
        if alone:
            message = (
                f"only one candidate of {', '.join(alone)} in blocks of {design.name}: nothing to compare"
            )
            notes.warn((*key, "blocks"), message)
        most = max(map(len, design.candidates.values()))
        if entry.race or entry.repeats == UNTIL_DECIDED:
            continue
        needed = fewest_blocks(most, all_pairs=design.compared == ALL_PAIRS)
        if most > 1 and entry.repeats <= needed:
            message = f"{entry.repeats} blocks can show no difference between {most} candidates"
            if entry.repeats == needed:
                message += " unless all blocks agree"
            hint = (
                f"ask for {needed + 1}, and for more to find a small one; without repeats there are {BLOCKS}"
            )
            notes.warn((*key, "repeats"), message, hint=hint)
    systems = {case.system for design in designs for cases in design.candidates.values() for case in cases}
    for name in {defined_name(system) for system in systems if campaign.systems[system].pack > 1}:
        message = "no effect on cases in blocks: each block is its own job"
        notes.warn(("systems", name, "pack"), message)


def _check_decided(campaign: Campaign, entry: MatrixEntry, key: Key, notes: Notes) -> None:
    """Note more candidates than can be decided on, and what has nothing to compare."""
    own_key = (*key, "repeats")
    where = own_key if lookup(notes.document.data, own_key) is not None else ("repeats",)
    in_blocks = [cases for design in designs_of(campaign, entry) for cases in design.candidates.values()]
    for cases in in_blocks or decided_together(campaign, entry):
        of = f"{cases[0].benchmark} on {cases[0].host_group}"
        if len(cases) > MOST_TO_DECIDE:
            message = f"until decided takes at most {MOST_TO_DECIDE} candidates; {of} has {len(cases)}"
            notes.add(where, message, "", "give fewer placements or MPI libraries, or a number of repeats")
        elif len(cases) == 1 and not in_blocks:
            notes.warn(where, f"until decided has one candidate of {of}: nothing to compare")


def _check_race(key: Key, designs: Sequence[Design], notes: Notes) -> None:
    """Note what a race cannot do: with a number of repeats, one candidate, or other ones elsewhere."""
    given = lookup(notes.document.data, key)
    if given.get("repeats") is not None:
        hint = "remove repeats: the results say how many blocks are due"
        notes.add((*key, "repeats"), "a race takes no repeats", str(given["repeats"]), hint)
    if given.get("blocks") == ALL_PAIRS:
        notes.add((*key, "blocks"), "a race needs the reference", ALL_PAIRS, f"write {TO_REFERENCE}")
    for design in designs:
        kinds = {
            name: [(case.placement, case.library, case.benchmark.partition(" ")[2]) for case in cases]
            for name, cases in design.candidates.items()
        }
        few = min(map(len, kinds.values()))
        if few < 2:
            message = f"a race needs two candidates or more; {design.name} has {few}"
            notes.add((*key, "race"), message, hint="give more settings as a list of values")
        elif any(candidates != next(iter(kinds.values())) for candidates in kinds.values()):
            message = f"the benchmarks {', '.join(kinds)} have different candidates"
            notes.add((*key, "race"), message, hint="give each its own matrix entry")


def _with_libraries(campaign: Campaign, index: int, groups: dict[str, Key], notes: Notes) -> dict[str, Key]:
    """The host groups with the MPI libraries that the entry names; a library that none has is noted."""
    items = notes.document.items(("matrix", index, "mpis"))
    if not items:
        return groups
    of_groups = {group: library_of(campaign, group) for group in groups}
    wanted = [str(name) for _, name in items]
    for key, name in items:
        if name not in of_groups.values() and groups:
            known = sorted(set(of_groups.values()))
            message = f"no system of these host groups has this MPI library (they have: {', '.join(known)})"
            notes.add(key, message, shown(name), did_you_mean(str(name), known))
    return {group: key for group, key in groups.items() if of_groups[group] in wanted}


def _too_many(index: int, names: dict[str, dict[str, Key]], notes: Notes) -> bool:
    count = prod(len(choices) for choices in names.values())
    if count > MAX_CASES:
        notes.add(("matrix", index), f"an entry holds at most {MAX_CASES} cases", str(count))
    return count > MAX_CASES


def _names(campaign: Campaign, index: int, section: str, notes: Notes) -> dict[str, Key]:
    """The defined names of a matrix entry's key, with their places; others are noted."""
    key: Key = ("matrix", index, section)
    known: dict[str, Any] = getattr(campaign, section)
    first: dict[str, Key] = {}
    for item, name in notes.document.items(key):
        if name in map(defined_name, first):
            notes.add(item, "named twice", shown(name))
        elif check_reference(item, section, name, known, notes):
            first |= dict.fromkeys(named(known, name), item)
    return first


def _check_twice(
    cases: dict[tuple[str, str, str], int], index: int, names: dict[str, dict[str, Key]], notes: Notes
) -> None:
    wanted = [(group, placement, benchmark) for group, placement, benchmark in product(*names.values())]
    twice = [case for case in wanted if cases.setdefault(case, index) != index]
    if twice:
        line = notes.document.mark(("matrix", cases[twice[0]])).line
        more = f" (and {len(twice) - 1} more)" if len(twice) > 1 else ""
        message = f"the entry of line {line} has the same case{more}"
        hint = "name it once; for more repeats, set repeats: there"
        notes.add(("matrix", index), message, shown(" ".join(twice[0])), hint)


def _check_benchmarks(campaign: Campaign, pair: _Pair, names: dict[str, Key], notes: Notes) -> None:
    per_node = pair.ranks_per_node
    if per_node is None and pair.system and pair.system.local and not pair.group.hosts:
        per_node = max(physical_cores() // (pair.placement.threads or 1), 1)
    if per_node is None:
        return
    ranks = per_node * pair.placement.nodes
    for name, key in names.items():
        benchmark: Benchmark = campaign.benchmarks[name]
        _check_request(benchmark, pair, per_node)
        if ranks < benchmark.ranks_minimum:
            place = shown(pair.placement.name)
            message = f"needs at least {benchmark.ranks_minimum} ranks; placement {place} has "
            message += counted(ranks, "rank")
            notes.add(key, message, shown(name), of=[("benchmarks", name), *pair.definitions])


def _check_request(benchmark: Benchmark, pair: _Pair, per_node: int) -> None:
    """Note what the suite refuses, at the parameter or the arguments that are at fault."""
    suite = SUITES.get(benchmark.suite)
    if suite is None:
        return  # noted with the benchmark
    request = request_of(benchmark, pair.placement, pair.group, pair.system, per_node)
    place: Key = ("benchmarks", benchmark.name)
    for refusal in suite.refuses(request):
        part: Key = ("parameters", refusal.parameter) if refusal.parameter else ("arguments",)
        value = shown(refusal.value) if refusal.value else ""
        pair.notes.add((*place, *part), refusal.message, value, refusal.hint, pair.definitions)


def _check_pair(pair: _Pair) -> None:
    _check_cores(pair)
    if pair.placement.transport in BETWEEN_NODES and not pair.placement.loopback:
        _check_fabric(pair)
    if pair.system is not None:
        _check_nodes(pair, pair.system)
        _check_cores_known(pair, pair.system)
        _check_mpi(pair, pair.system.mpi)
        if pair.placement.gpus_per_node:
            _check_gpus(pair, pair.system)


def _check_gpus(pair: _Pair, system: System) -> None:
    """Note a scheduler that cannot be asked for GPUs, and a host group that asks for them, too."""
    scheduler = batch_scheduler(system.scheduler)
    if scheduler and "gpu_type" not in scheduler.selectors:
        message = f"mpicampaign cannot request GPUs from scheduler {scheduler.name} of {pair.where}"
        pair.note(message, of_system=True)
    if re.search(r"(^|[,/])gpu\b", pair.group.gres):
        message = f"both gpus_per_node and gres of {pair.where} request GPUs"
        pair.note(message, "leave gpu out of gres; gpu_type names the type")


def _check_mpi(pair: _Pair, mpi: Mpi) -> None:
    transport = pair.placement.settings
    if transport != "any" and mpi.launcher and transport not in mpi.transports:
        known = ", ".join(mpi.transports) or "none"
        message = f"MPI library {shown(mpi.name)} has no settings for transport {transport} (has: {known})"
        hint = f"give mpis.{mpi.name}.transports.{transport}, or write within_node: network"
        pair.note(message, hint if "+" in transport else "", of_system=True)


def _check_nodes(pair: _Pair, system: System) -> None:
    nodes, hosts = pair.placement.nodes, len(pair.group.hosts)
    if system.hosts_from != "list" or nodes <= max(hosts, 1):
        return
    if hosts == 0 and system.local:
        message = f"needs {nodes} nodes; {pair.where} is this machine only"
    else:
        message = f"needs {nodes} nodes; {pair.where} names {hosts} hosts"
    hint = f"name its hosts under host_groups.{pair.group.name}.hosts"
    pair.note(message, hint, of_system=True)


def _check_cores_known(pair: _Pair, system: System) -> None:
    if pair.ranks_per_node is None and (not system.local or pair.group.hosts):
        message = f"needs one rank per core; {pair.where} gives no number of cores"
        pair.note(message, f"give host_groups.{pair.group.name}.cores", of_system=True)


def _check_cores(pair: _Pair) -> None:
    ranks, cores, threads = pair.ranks_per_node, pair.group.cores, pair.placement.threads or 1
    if ranks is None:
        return
    if pair.placement.ranks_per_node == CORES:
        check_spread(pair.placement, ranks, pair.notes)
    elif cores is not None and pair.placement.binding == "core" and ranks * threads > cores:
        of_each = f" of {threads} threads" if threads > 1 else ""
        message = f"binds {ranks} ranks{of_each} per node to separate cores; {pair.where} has {cores} cores"
        pair.note(message)


def _check_fabric(pair: _Pair) -> None:
    """A placement between nodes needs exactly one fabric, with the values that the MPI library needs."""
    transport, wanted, fabrics = pair.placement.transport, pair.placement.fabric, pair.group.fabrics
    fitting = [fabric for fabric in fabrics.values() if fabric.transport == transport]
    where = pair.where
    if wanted and wanted not in fabrics:
        pair.note(f"{where} has no fabric {shown(wanted)}", did_you_mean(wanted, fabrics))
    elif wanted and fabrics[wanted].transport != transport:
        other = fabrics[wanted].transport
        pair.note(f"fabric {shown(wanted)} of {where} is for {other}, not {transport}")
    elif wanted:
        _check_fabric_values(pair, fabrics[wanted])
    elif len(fitting) > 1:
        names = ", ".join(fabric.name for fabric in fitting)
        hint = f"choose one with placements.{pair.placement.name}.fabric"
        pair.note(f"{where} has several fabrics for {transport}: {names}", hint)
    elif fitting:
        _check_fabric_values(pair, fitting[0])
    elif transport != "tcp" or _mentions(pair, "{interface}"):
        hint = f"describe it under host_groups.{pair.group.name}.fabrics, if there is one"
        pair.note(f"{where} has no fabric for transport {transport}", hint, of_system=transport == "tcp")


def _check_fabric_values(pair: _Pair, fabric: HostFabric) -> None:
    for attribute in ("interface", "device"):
        if _mentions(pair, "{" + attribute + "}") and not getattr(fabric, attribute):
            key: Key = ("host_groups", pair.group.name, "fabrics", fabric.name)
            name = pair.system.mpi.name if pair.system else ""
            message = f"MPI library {shown(name)} needs the {attribute} of this fabric"
            pair.notes.add(key, message, "", f"give {attribute}: …", pair.of_system)


def _mentions(pair: _Pair, mark: str) -> bool:
    """Whether the MPI library's settings for the placement use this value of the fabric."""
    settings = pair.system.mpi.transports.get(pair.placement.settings) if pair.system else None
    return settings is not None and any(
        mark in text for text in (*settings.options, *settings.environment.values())
    )


# ---- what each case asks of its suite


def request_of(
    benchmark: Benchmark,
    placement: Placement,
    group: HostGroup,
    system: System | None,
    ranks_per_node: int,
    time_limit: int = 0,
) -> Request:
    """A benchmark in a placement on a host group; ``time_limit`` in s."""
    here = system is not None and system.local and not group.hosts
    benchmark = for_ranks(benchmark, placement, ranks_per_node)
    return Request(
        benchmark.program,
        benchmark.arguments,
        benchmark.parameters,
        tuple(Path(file).name for file in benchmark.inputs),
        placement.nodes,
        ranks_per_node,
        _memory(group, here),
        this_machine.physical_cores() if here and group.cores is None else group.cores,
        time_limit,
        len(placement.gpus),
    )


def _memory(group: HostGroup, here: bool) -> int | None:
    """The memory (B) that a node has for the ranks: no more than the scheduler is asked for.

    Slurm's --mem is in MiB without a unit; 0 asks for all of it.
    """
    unit = "iB" if group.memory[-1:].isalpha() else "MiB"
    requested = None if group.memory in ("", "0") else parse_size(f"{group.memory}{unit}")
    available = group.node_memory or (this_machine.memory() if here else None)
    return min(filter(None, (requested, available)), default=None)
