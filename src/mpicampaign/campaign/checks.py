"""Errors within single definitions of a campaign: references, scheduler keys, contradictions."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any

from mpicampaign.base.errors import Problem, did_you_mean, nearest, suggestion
from mpicampaign.base.expectation import FEWEST_OF_RATIO, FEWEST_OF_VALUE, UNTIL_KNOWN, Limit
from mpicampaign.base.host_lists import expand, fold, is_member, named_twice
from mpicampaign.base.keys import Values, rule
from mpicampaign.base.places import shipped, working_folder
from mpicampaign.base.records import BLOCKS, defined_name
from mpicampaign.base.reference import reference_names
from mpicampaign.base.shape import either
from mpicampaign.base.text import counted, listed
from mpicampaign.base.units import format_duration, parse_duration
from mpicampaign.base.yaml_lines import Document, Key, lookup, shown
from mpicampaign.campaign.each import hosts_of
from mpicampaign.campaign.model import (
    BETWEEN_NODES,
    CORES,
    LEVELS,
    SHM,
    Benchmark,
    Campaign,
    HostFabric,
    HostGroup,
    Mpi,
    OwnMetric,
    Placement,
    System,
)
from mpicampaign.campaign.variants import MAPPINGS, MAX_VARIANTS, NUMBERS, OPTIONS
from mpicampaign.mpis import launcher_names, libfabric, library_launcher
from mpicampaign.schedulers import SCHEDULERS, Scheduler, batch_scheduler
from mpicampaign.suites import SUITES
from mpicampaign.suites.kernels import options_of
from mpicampaign.suites.own import SIZE, check_pattern

_TITLES = dict(zip(LEVELS, ("sockets", "NUMA domains", "L3 caches"), strict=True))
_KINDS = {
    "systems": "system",
    "host_groups": "host group",
    "placements": "placement",
    "mpis": "MPI library",
    "benchmarks": "benchmark",
}
# Keys of a host group that every scheduler has.
_FOR_ALL = {
    "name",
    "system",
    "hosts",
    "members",
    "cores",
    "node_memory",
    "core_peak",
    "fabrics",
    "attributes",
}
_NO_SELECTOR = HostGroup("", "").keys
_INPUT_NAME, _NO_INPUT_NAME = rule("not usable as the name of an input file", "_.+-", ".+-", 128)
_SECRET = re.compile(
    r"TOKEN|SECRET|PASSW(OR)?D|PASSPHRASE|CREDENTIAL|COOKIE|(API|ACCESS|AUTH|PRIVATE)_?KEY", re.IGNORECASE
)
# Keys that a provider needs, and keys that it does not use.
_PROVIDER_NEEDS = {"conda": ("location",), "spack": ("location",), "source": ("location", "build")}
_PROVIDER_REFUSES = {
    "wheel": ("location", "modules", "build"),
    "bundled": ("location", "modules", "build"),
    "module": ("location", "build"),
    **dict.fromkeys(("path", "conda", "spack"), ("build",)),
}


class Notes:
    """Errors by key path. ``doubts``: key paths of values already known to be wrong."""

    def __init__(self, document: Document, doubts: Sequence[Key]) -> None:
        self.document = document
        self._problems: dict[Problem, None] = {}  # in the order in which they were found, each once
        self._warnings: dict[Problem, None] = {}
        self._doubts = set(doubts)
        self._inside_doubt = {doubt[:length] for doubt in doubts for length in range(len(doubt))}

    def doubt(self, key: Key) -> None:
        """Note no more errors that only follow from the value at ``key``."""
        self._doubts.add(key)
        self._inside_doubt |= {key[:length] for length in range(len(key))}

    def add(
        self,
        key: Key,
        message: str,
        value: str = "",
        hint: str = "",
        of: Sequence[Key] = (),
        alone: bool = False,
    ) -> None:
        """Note an error at ``key``, unless it may only follow from a value that is already known to be wrong.

        Such a value is in the same definition, unless the one at ``key`` is wrong ``alone``, such as an
        unknown name, or in one of those that the error is ``of``.
        """
        key, about = _defined(key), map(_entry_of, map(_defined, of))
        if not any(map(self.is_doubted, (key if alone else _entry_of(key), *about))):
            self._problems[self.document.problem(key, message, value, hint)] = None

    def warn(self, key: Key, message: str, value: str = "", hint: str = "") -> None:
        """Note what may be right all the same."""
        self._warnings[self.document.problem(_defined(key), message, value, hint)] = None

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """All warnings noted, in order."""
        return tuple(self._warnings)

    @property
    def problems(self) -> list[Problem]:
        """All errors noted, in order."""
        return list(self._problems)

    def is_doubted(self, key: Key) -> bool:
        """Whether a value, or one around or inside it, is already known to be wrong."""
        around = (key[:length] for length in range(1, len(key) + 1))
        return key in self._inside_doubt or any(outer in self._doubts for outer in around)


def _entry_of(key: Key) -> Key:
    """The key path of a definition, of anything in it; any other as it is."""
    return key[:2] if key[0] in _KINDS else key


def _defined(key: Key) -> Key:
    """The key path of what a variant was made from."""
    if len(key) > 1 and key[0] in _KINDS and isinstance(key[1], str):
        return (key[0], defined_name(key[1]), *key[2:])
    return key


def check_definitions(campaign: Campaign, mpis: dict[str, Mpi], notes: Notes) -> None:
    """Note the errors within each system, host group, placement and benchmark."""
    for section in _KINDS:
        _check_names(section, notes)
    _check_lists(notes)
    _warn_of_login_hosts(campaign, notes)
    _check_libraries(campaign, notes)
    _check_environments(notes)
    for mpi in mpis.values():
        launcher = lookup(notes.document.data, ("mpis", mpi.name, "launcher"))
        if launcher is not None and library_launcher(launcher) is None:
            _note_unknown(("mpis", mpi.name, "launcher"), launcher, launcher_names(), notes)
    for system in campaign.systems.values():
        _check_system(system, mpis, notes)
    for group in campaign.host_groups.values():
        _check_host_group(group, campaign.systems, notes)
    for placement in campaign.placements.values():
        _check_placement(placement, notes)
    _check_schedule(campaign, notes)
    _check_expect(campaign, notes)
    _check_until_known(campaign, notes)
    _warn_of_own_blocks(campaign, notes)
    check_time_limits(campaign, notes)
    for benchmark in campaign.benchmarks.values():
        _check_suite(benchmark, notes)
        _check_names_in_suite(benchmark, notes)
        _check_parameters(benchmark, notes)
        _check_declared(benchmark, notes)
        _check_inputs(benchmark, notes)
        _check_provider(benchmark, notes)
        _check_source(benchmark, notes)


def check_reference(key: Key, section: str, name: str, known: dict[str, Any], notes: Notes) -> bool:
    """Whether a name, or a variant of it, is defined in a section; if not, note it."""
    if name in known or name in map(defined_name, known):
        return True
    message = f"no {_KINDS[section]} {shown(name)} is defined"
    notes.add(key, message, "", did_you_mean(name, known), [(section, name)], alone=True)
    return False


def _check_names(section: str, notes: Notes) -> None:
    seen: dict[str, str] = {}
    for name in notes.document.data.get(section) or {}:
        first = seen.setdefault(name.lower(), name)
        if first != name:
            hint = "results are kept in folders of these names, and some file systems ignore case"
            notes.add((section, name), f"differs from {shown(first)} only in upper and lower case", "", hint)


def _warn_of_login_hosts(campaign: Campaign, notes: Notes) -> None:
    """Warn where nothing says from which machine the jobs of one of several systems are submitted."""
    systems = {defined_name(system.name): system for system in campaign.systems.values()}
    for name, system in systems.items() if len(systems) > 1 else ():
        if not system.local and not system.login_hosts:
            hint = "give login_hosts, or use --system; list several MPI libraries of one cluster under mpi"
            message = "nothing says which machines belong to this one of several systems"
            notes.warn(("systems", name), message, "", hint)


def _check_lists(notes: Notes) -> None:
    """Note values that a list has twice, which would be one case, and too many combinations."""
    for section in ("placements", "benchmarks"):
        for name, entry in (notes.document.data.get(section) or {}).items():
            keys = list(_listed((section, name), entry)) if isinstance(entry, dict) else []
            count = prod(_note_twice(key, "this value is in the list twice", notes) for key in keys)
            by_name = entry.get(OPTIONS) if isinstance(entry, dict) else None
            count *= len(by_name) if isinstance(by_name, dict) else 1
            if count > MAX_VARIANTS:
                message = f"the lists of one {_KINDS[section]} have at most {MAX_VARIANTS} combinations"
                notes.add((section, name), message, str(count))


def _note_twice(key: Key, message: str, notes: Notes) -> int:
    """Note what a list has twice; returns how many items it has."""
    items = notes.document.items(key)
    seen: set[str] = set()
    for item, value in items:
        if str(value) in seen:
            notes.add(item, message, shown(value))
        seen.add(str(value))
    return len(items)


def _listed(place: Key, entry: dict[str, Any]) -> Iterator[Key]:
    """The key paths of an entry's lists of values."""
    for name in NUMBERS:
        if isinstance(entry.get(name), list):
            yield (*place, name)
    options = entry.get(OPTIONS)
    if isinstance(options, list) and any(isinstance(option, list) for option in options):
        yield (*place, OPTIONS)
    for name in MAPPINGS:
        inner = entry.get(name)
        for key, value in inner.items() if isinstance(inner, dict) else ():
            if isinstance(value, list):
                yield (*place, name, key)


def _check_libraries(campaign: Campaign, notes: Notes) -> None:
    """Note MPI libraries of a system that have one name."""
    for name, entry in (notes.document.data.get("systems") or {}).items():
        key: Key = ("systems", name, "mpi")
        items = notes.document.items(key) if isinstance(entry.get("mpi"), list) else []
        seen: list[str] = []
        for item, data in items:
            label = data if isinstance(data, str) else data.get("name") or data.get("mpi")
            if label in seen:
                hint = "give each a name: and what differs, such as its modules"
                notes.add(item, "two MPI libraries have this name", shown(label), hint)
            seen.append(label)


def _check_environments(notes: Notes) -> None:
    for key in notes.document.marks:
        if key[-2:-1] == ("environment",) and _SECRET.search(str(key[-1])):
            hint = "set it in your shell, or in a file that only you can read, listed under source:"
            notes.add(key, "secrets do not belong in a campaign file", "", hint)


def _warn_of_own_blocks(campaign: Campaign, notes: Notes) -> None:
    """Warn where the campaign's repeats do not count, as an entry in blocks has a default of its own."""
    data = notes.document.data
    for index, entry in enumerate(campaign.matrix) if lookup(data, ("repeats",)) else ():
        own = lookup(data, ("matrix", index, "repeats"))
        if own is None and entry.blocks and not entry.race and campaign.repeats != entry.repeats == BLOCKS:
            message = f"does not count for the blocks of matrix[{index}]: there are {BLOCKS}"
            notes.warn(("repeats",), message, hint="give repeats in that matrix entry")


def _check_until_known(campaign: Campaign, notes: Notes) -> None:
    """Note repeats until known, or decided, without a cap, which alone limits their node-hours."""
    keys: list[Key] = [("repeats",), *((*key, "repeats") for key, _ in notes.document.items(("matrix",)))]
    for key in keys:
        until = lookup(notes.document.data, key)
        if until in ("until known", "until decided") and campaign.node_hours_cap is None:
            hint = "add node_hours_cap: the most node-hours that the campaign may use"
            notes.add(key, f"{until} needs a cap", "", hint)


def _check_expect(campaign: Campaign, notes: Notes) -> None:
    """Note limits that limit nothing or too much, and names that the campaign does not define."""
    names: dict[str, dict[str, Any]] = {
        "host_groups": dict(campaign.host_groups),
        "placements": dict(campaign.placements),
    }
    for (key, data), limit in zip(notes.document.items(("expect",)), campaign.expect, strict=False):
        if not isinstance(data, dict):
            continue
        given = [name for name in ("at_most", "at_least", "against") if name in data]
        if len(given) != 1:
            notes.add(key, "a limit has exactly one of at_most, at_least and against", ", ".join(given))
        if "alarm" in data and "against" in data:
            notes.add((*key, "alarm"), "an alarm needs at_most or at_least, not against")
        if "tolerance" in data and "against" not in data:
            notes.add((*key, "tolerance"), "tolerance goes with against only")
        if "benchmark" in data:
            check_reference((*key, "benchmark"), "benchmarks", limit.benchmark, campaign.benchmarks, notes)
        for section, known in names.items():
            for item, name in notes.document.items((*key, section)):
                check_reference(item, section, str(name), known, notes)
        _warn_of_few(key, limit, campaign, notes)


def _warn_of_few(key: Key, limit: Limit, campaign: Campaign, notes: Notes) -> None:
    """Note a limit that the repeats asked for cannot decide."""
    if limit.alarm:
        return
    entries = (entry for entry in campaign.matrix if limit.benchmark in entry.benchmarks and not entry.each)
    ratio = limit.against is not None and limit.against.source not in reference_names()
    needed = FEWEST_OF_RATIO if ratio else FEWEST_OF_VALUE
    if few := [entry.repeats for entry in entries if UNTIL_KNOWN < entry.repeats < needed]:
        hint = f"it needs {needed} repeats; set repeats: {needed}"
        notes.warn(key, f"{counted(few[0], 'repeat')} cannot decide this limit", hint=hint)


def _check_schedule(campaign: Campaign, notes: Notes) -> None:
    key: Key = ("schedule", "every")
    if campaign.schedule and campaign.schedule.every % 60:
        notes.add(key, "must be whole minutes, as in cron", shown(lookup(notes.document.data, key)))
    at = lookup(notes.document.data, ("schedule", "at"))
    if at is not None and campaign.schedule and campaign.schedule.every % 86400:
        notes.warn(("schedule", "at"), "has no effect unless every is in days", shown(at), "remove it")
    if campaign.schedule and any(map(_SECRET.search, campaign.schedule.notify)):
        hint = "let notify name a script that only you can read, and keep them there"
        notes.add(("schedule", "notify"), "secrets do not belong in a campaign file", "", hint)


def _check_system(system: System, mpis: dict[str, Mpi], notes: Notes) -> None:
    key: Key = ("systems", defined_name(system.name))
    if system.scheduler and system.scheduler not in SCHEDULERS:
        _note_unknown((*key, "scheduler"), system.scheduler, list(SCHEDULERS), notes)
        notes.doubt(("systems", system.name, "scheduler"))
    if check_reference((*key, "mpi"), "mpis", system.mpi.name, {**mpis, "wheel": None}, notes):
        _check_launcher(system, notes)
    if system.local:
        for name in ("directives", "max_queued", "pack"):
            if lookup(notes.document.data, (*key, name)):
                message = f"without a scheduler a system has no {name}"
                notes.add((*key, name), message, hint="remove it")
        if system.hosts_from != "list":
            message = "hosts_from must be 'list' when scheduler is 'none'"
            notes.add((*key, "hosts_from"), message, shown(system.hosts_from))
    _check_directives((*key, "directives"), system.scheduler, notes)


def _check_launcher(system: System, notes: Notes) -> None:
    key: Key = ("systems", defined_name(system.name), "launcher")
    mpi, launcher = system.mpi, system.launcher
    if lookup(notes.document.data, key) == "":
        notes.add(key, "must name a launcher", "''")
    if library_launcher(mpi.launcher) is None:
        return  # noted with the library
    if launcher == mpi.launcher:
        return
    owners = {scheduler.launcher: scheduler for scheduler in SCHEDULERS.values() if scheduler.launcher}
    hint = ""
    if launcher not in owners:
        others = "".join(f", or by {name} under {owner.title}" for name, owner in owners.items())
        message = f"MPI library {shown(mpi.name)} is launched by {mpi.launcher}{others}"
        hint = suggestion(launcher, [mpi.launcher, *owners])
    elif system.scheduler != owners[launcher].name:
        message = f"{launcher} starts ranks only under {owners[launcher].title}"
    elif not mpi.pmi:
        message = f"{launcher} cannot start MPI library {shown(mpi.name)}: no pmi is given for it"
    else:
        return
    notes.add(key, message, shown(launcher), hint, [("mpis", mpi.name)])


def _note_unknown(key: Key, name: str, known: list[str], notes: Notes) -> None:
    notes.add(key, f"must be {either(known)}", shown(name), suggestion(name, known), alone=True)


def _check_directives(key: Key, scheduler: str, notes: Notes) -> None:
    known = batch_scheduler(scheduler)
    if known is None:
        return
    for item, directive in notes.document.items(key):
        try:
            options = shlex.split(directive)  # schedulers, too, accept several options in a line
        except ValueError as error:
            message = f"the scheduler cannot split this line into options: {str(error).lower()}"
            notes.add(item, message, shown(directive))
            continue
        for option in dict.fromkeys(map(known.own_option, options)):
            if option:
                message = f"each job script sets {option} itself, from its placement"
                notes.add(item, message, shown(directive))


def _check_host_group(group: HostGroup, systems: dict[str, System], notes: Notes) -> None:
    key: Key = ("host_groups", defined_name(group.name))
    _check_names_of_hosts((*key, "hosts"), notes)
    if not check_reference((*key, "system"), "systems", group.system, systems, notes):
        return
    system = systems[group.system]
    scheduler = SCHEDULERS.get(system.scheduler)
    if scheduler is not None:
        _check_selectors(group, system, scheduler, notes)
    _check_directives((*key, "directives"), system.scheduler, notes)
    _check_hosts(group, system, notes)
    for fabric in group.fabrics.values():
        _check_fabric((*key, "fabrics", fabric.name), fabric, notes)


def _check_fabric(key: Key, fabric: HostFabric, notes: Notes) -> None:
    if fabric.transport == "ofi" and not fabric.provider:
        hint = f"give provider: {', '.join(libfabric.PROVIDERS[:-1])} or {libfabric.PROVIDERS[-1]}"
        notes.add(key, "a fabric for ofi needs its provider", "", hint)
    for attribute, others in (("provider", ("tcp", "ibv")), ("link", ("tcp",))):
        if fabric.transport in others and getattr(fabric, attribute):
            message = f"a fabric for {fabric.transport} has no {attribute}"
            notes.add((*key, attribute), message, getattr(fabric, attribute))
    if fabric.link and not fabric.device and fabric.transport != "tcp":
        notes.add((*key, "link"), "a link needs its device", fabric.link, "give device: …")


def _check_selectors(group: HostGroup, system: System, scheduler: Scheduler, notes: Notes) -> None:
    """Note keys that the system's scheduler does not have, and pairs of keys that exclude each other."""
    key: Key = ("host_groups", group.name)
    given = {name: value for name, value in group.keys.items() if value != _NO_SELECTOR[name]}
    for selector in (name for name in given if name not in _FOR_ALL | scheduler.selectors):
        message = f"scheduler {scheduler.name} of system {shown(system.name)} has no {selector}"
        value = shown(given[selector]) if isinstance(given[selector], str) else ""
        others = [other.name for other in SCHEDULERS.values() if selector in other.selectors]
        hint = f"it is a key for {' and '.join(others)}"
        notes.add((*key, selector), message, value, hint, [("systems", system.name)])
    for first, second in scheduler.either:
        if first in given and second in given:
            message = f"{scheduler.title} takes either {first} or {second}"
            notes.add((*key, second), message, str(given[second]))


def _check_hosts(group: HostGroup, system: System, notes: Notes) -> None:
    """Note what a launcher does not take, and patterns of members that match none of the hosts."""
    key: Key = ("host_groups", defined_name(group.name))
    for item, host in notes.document.items((*key, "hosts")):
        if system.hosts_from == "list" and re.search(r"[+@]", host):
            message = "a host list for the launcher takes only host names and ranges"
            notes.add(item, message, shown(host), of=[("systems", system.name)])
    scheduler = batch_scheduler(system.scheduler)
    if notes.is_doubted(key) or (scheduler and "hosts" not in scheduler.granted):
        return  # LSF takes names of many hosts, too
    hosts = hosts_of(group)
    for item, pattern in notes.document.items((*key, "members")) if hosts else ():
        if not any(is_member(host, pattern) for host in hosts):
            notes.warn(item, f"matches none of the hosts: {pattern}", hint=did_you_mean(pattern, hosts))


def _check_names_of_hosts(key: Key, notes: Notes) -> None:
    """Note hosts with two names."""
    if notes.is_doubted(key):
        return
    items = dict(notes.document.items(key))
    names = {item: expand(host) for item, host in items.items()}
    if twice := named_twice(name for listed in names.values() for name in listed):
        last = [item for item, listed in names.items() if not set(twice).isdisjoint(listed)][-1]
        notes.add(last, f"named twice: {fold(twice)}", shown(items[last]))


def _check_placement(placement: Placement, notes: Notes) -> None:
    _check_transport(placement, notes)
    _check_binding(placement, notes)
    _check_gpus(placement, notes)
    if placement.ranks_per_node != CORES:
        check_spread(placement, int(placement.ranks_per_node), notes)


def _check_transport(placement: Placement, notes: Notes) -> None:
    key: Key = ("placements", placement.name)
    transport, nodes = placement.transport, placement.nodes
    if transport == "shm" and nodes > 1:
        notes.add((*key, "nodes"), "shared memory (shm) does not reach other nodes", str(nodes))
    if placement.loopback and (transport != "tcp" or nodes > 1):
        message = "the loopback interface is for transport tcp on one node"
        notes.add((*key, "loopback"), message, f"{transport} on {nodes} nodes")
    if transport == "tcp" and nodes == 1 and not placement.loopback:
        hint = "write loopback: true"
        notes.add((*key, "nodes"), "tcp inside one node goes over the loopback interface", "1", hint)
    if placement.within_node == SHM and (transport not in BETWEEN_NODES or nodes == 1):
        message = "only a placement over a network between nodes can use another transport within a node"
        notes.add((*key, "within_node"), message, f"{transport} on {nodes} nodes")
    if placement.fabric and (transport not in BETWEEN_NODES or placement.loopback):
        message = "only a placement over a network between nodes can name a fabric"
        notes.add((*key, "fabric"), message, shown(placement.fabric))


def _check_binding(placement: Placement, notes: Notes) -> None:
    key: Key = ("placements", placement.name, "binding")
    if placement.binding == "library" and not (placement.launcher_options or placement.program_prefix):
        hint = "give launcher_options or program_prefix"
        notes.add(key, "binding library needs an option that makes the library bind", "'library'", hint)
    for level in LEVELS:
        if placement.binding == "none" and getattr(placement, level) is not None:
            message = f"the placement claims {level}, but its ranks are not bound"
            notes.add(key, message, "'none'", f"remove {level}, or choose binding: core")


def _check_gpus(placement: Placement, notes: Notes) -> None:
    key: Key = ("placements", placement.name)
    gpus, binding = placement.gpus_per_node, placement.gpu_binding
    if gpus is None:
        if lookup(notes.document.data, (*key, "gpu_binding")) is not None:
            notes.add((*key, "gpu_binding"), "the placement has no gpus_per_node", shown(binding))
        return
    if placement.transport != "any":
        hint = "write transport: any, and what the library needs under environment"
        message = "settings that force a transport exclude those for device memory"
        notes.add((*key, "transport"), message, shown(placement.transport), hint)
    if wrong := _wrong_gpu_binding(placement, gpus):
        notes.add((*key, "gpu_binding"), wrong, shown(binding))


def _wrong_gpu_binding(placement: Placement, gpus: int) -> str:
    binding, ranks = placement.gpu_binding, placement.ranks_per_node
    if binding == "library":
        given = placement.launcher_options or placement.program_prefix
        return "" if given else "library needs launcher_options or program_prefix"
    if binding == "none":
        return ""
    if ranks == CORES:
        return f"share GPUs with gpu_binding: none, or give ranks_per_node as a number, not {CORES}"
    if binding == "closest" and placement.binding != "core":
        return "gpu_binding closest needs binding: core"
    shared = placement.gpus
    if len(set(shared)) < len(shared) or max(shared) >= gpus:
        return f"must name each GPU once, from 0 to {gpus - 1}"
    if len(shared) % int(ranks):
        return f"{ranks} ranks cannot have equal shares of {len(shared)} GPUs"
    return ""


def check_spread(placement: Placement, ranks: int, notes: Notes) -> None:
    """Note when this number of ranks per node leaves one of the placement's sockets, or the like, empty."""
    key: Key = ("placements", placement.name)
    for level in LEVELS:
        claimed = getattr(placement, level) or 1
        if (claimed - 1) * -(-ranks // claimed) >= ranks:
            message = f"{ranks} ranks per node leave one of {claimed} {_TITLES[level]} empty"
            notes.add((*key, level), message, str(claimed))


def _check_suite(benchmark: Benchmark, notes: Notes) -> None:
    key: Key = ("benchmarks", defined_name(benchmark.name), "suite")
    name = lookup(notes.document.data, key)
    suite = SUITES.get(name) if name is not None else None
    if name is not None and (suite is None or suite.only_imported):
        _note_unknown(key, name, [known.name for known in SUITES.values() if not known.only_imported], notes)


def _check_names_in_suite(benchmark: Benchmark, notes: Notes) -> None:
    """Warn of a program, or of a benchmark among the arguments, that is called almost as a known one.

    It may be of a newer version. What a program says of its arguments is the reason of its run.
    """
    suite = SUITES.get(benchmark.suite)
    key: Key = ("benchmarks", defined_name(benchmark.name))
    offers = [entry for _, entry in suite.offers()] if suite else []
    program = Path(benchmark.program).name
    _warn_of_name((*key, "program"), "program", program, {str(entry["program"]) for entry in offers}, notes)
    names = {str(entry.get("arguments", "")) for entry in offers if entry["program"] == program}
    in_any_case = {name.casefold() for name in names}
    for name in (part for argument in benchmark.arguments for part in argument.split(",")):
        if name[:1].isalpha() and name.casefold() not in in_any_case:
            _warn_of_name((*key, "arguments"), f"benchmark of {program}", name, names, notes)


def _warn_of_name(key: Key, what: str, name: str, known: set[str], notes: Notes) -> None:
    """A name that goes on after a known one, such as osu_bw2 and osu_bw_ours, may be a site's own version."""
    meant = nearest(name, known, 0.85) if known and name not in known else ""
    if meant and not re.match(f"{re.escape(meant)}[^A-Za-z]", name):
        notes.warn(key, f"no known {what}", shown(name), f"did you mean {meant!r}?")


def _check_parameters(benchmark: Benchmark, notes: Notes) -> None:
    suite = SUITES.get(benchmark.suite)
    known = suite.parameters if suite else {}
    for name in benchmark.parameters:
        if suite and name not in known:
            message = f"suite {suite.name} has no parameter {shown(name)}"
            hint = did_you_mean(name, known) or f"to use it in arguments, write {{{name}}} there"
            notes.add(("benchmarks", benchmark.name, "parameters", name), message, "", hint)


def _check_declared(benchmark: Benchmark, notes: Notes) -> None:
    """Note keys that say how to read outputs where the suite knows that itself, and those that it lacks."""
    suite = SUITES.get(benchmark.suite)
    key: Key = ("benchmarks", benchmark.name)
    for name in ("metrics", "whole", "refused", "scaling") if suite else ():
        if getattr(benchmark, name) and suite and name not in suite.declares:
            takers = listed([taker.name for taker in SUITES.values() if name in taker.declares])
            notes.add((*key, name), f"suite {suite.name} does not take this key: only {takers}")
    for name in suite.needs if suite else ():
        if not getattr(benchmark, name):
            hint = f"give {name}: see {shipped('docs/own-programs.md')}"
            notes.add((*key, "suite"), f"suite own needs {name}", shown(benchmark.suite), hint)
    for name in ("whole", "refused") if suite else ():
        for where, pattern in notes.document.items((*key, name)):
            _check_grep_pattern(where, str(pattern), notes)
    for name, metric in benchmark.metrics.items():
        _check_metric((*key, "metrics", name), metric, notes)


def _check_grep_pattern(key: Key, pattern: str, notes: Notes) -> None:
    from mpicampaign.base.commands import call  # few campaigns have patterns, and subprocess takes 5 ms

    tried = call(["env", "LC_ALL=C", "grep", "-E", "-e", pattern])
    if tried.status == 2:
        notes.add(key, f"not a pattern of grep -E: {tried.last_line}", shown(pattern))


def _check_metric(key: Key, metric: OwnMetric, notes: Notes) -> None:
    if metric.pattern and (fault := check_pattern(metric.pattern)):
        notes.add((*key, "pattern"), fault, shown(metric.pattern))
    if metric.name == SIZE:
        notes.add(key, f"a metric cannot be called {SIZE}: this group is for message sizes", "")
    if not metric.pattern and (metric.unit, metric.better) != ("s", "lower"):
        message = "without a pattern the metric is the time to solution, in s, lower is better"
        notes.add(key, message, "", "give the pattern of its lines, or unit: s, better: lower")
    if metric.take and f"(?P<{SIZE}>" in metric.pattern:
        notes.add((*key, "take"), "a metric over sizes has one value at each size", shown(metric.take))


def _check_inputs(benchmark: Benchmark, notes: Notes) -> None:
    """Note files that are not there, or that would overwrite each other in the folder of a run."""
    seen: set[str] = set()
    items = notes.document.items(("benchmarks", defined_name(benchmark.name), "inputs"))
    for file, (key, _) in zip(benchmark.inputs, items, strict=False):
        name = Path(file).name
        if not Path(file).is_file():
            notes.add(key, "no such file", shown(file), "it is relative to the file that names it")
        elif not re.fullmatch(_INPUT_NAME, name):
            notes.add(key, _NO_INPUT_NAME, shown(name))
        elif name in seen:
            notes.add(key, "a second input file of this name", shown(name))
        seen.add(name)


def _check_source(benchmark: Benchmark, notes: Notes) -> None:
    """Note a folder of source that holds what changes with each call or edit."""
    provider = benchmark.provider
    if provider.kind != "source" or not provider.location:
        return
    key: Key = ("benchmarks", benchmark.name, "provider", "location")
    folder, hint = Path(provider.location).resolve(), "move the source to its own folder"
    if (working_folder() / "build").resolve().is_relative_to(folder):
        message = "the source folder contains build/, where mpicampaign builds its copy"
        notes.add(key, message, shown(provider.location_name), hint)
    elif Path(notes.document.mark(_defined(key)).file).resolve().is_relative_to(folder):
        message = "the source folder contains the campaign file: each edit would make all runs due again"
        notes.warn(key, message, shown(provider.location_name), hint)


def _check_provider(benchmark: Benchmark, notes: Notes) -> None:
    key: Key = ("benchmarks", benchmark.name, "provider")
    kind = benchmark.provider.kind
    kernels = SUITES["kernel"].benchmarks
    if kind == "bundled" and benchmark.program not in kernels:
        hint = did_you_mean(benchmark.program, kernels)
        notes.add((*key[:2], "program"), "no kernel has this name", shown(benchmark.program), hint)
    elif kind == "bundled":
        known, message = options_of(benchmark.program), f"no option of kernel {benchmark.program}"
        for option in benchmark.arguments:
            if option.startswith("-") and option not in known:
                notes.add((*key[:2], "arguments"), message, shown(option), did_you_mean(option, known))
    needs = _PROVIDER_NEEDS.get(kind, ())
    for needed in needs:
        if not getattr(benchmark.provider, needed):
            hint = f"write provider: {{kind: {kind}, {': …, '.join(needs)}: …}}"
            what = "build command" if needed == "build" else needed
            notes.add(key, f"provider {kind} needs a {what}", shown(kind), hint)
    for refused in _PROVIDER_REFUSES.get(kind, ()):
        if getattr(benchmark.provider, refused):
            notes.add((*key, refused), f"provider {kind} does not use {refused}")


# ---- time limits that people read otherwise: 10:00 is 10 h here and 10 min to users of Slurm, 30 is no time

_TIME_LIMIT = "time_limit"
_OTHER_TIMES: tuple[Key, ...] = (("time_when_busy",), ("schedule", "every"), ("schedule", "limit"))
_NUMBER = re.compile(r"[0-9.]+", re.ASCII)
_TWO_NUMBERS = re.compile(r"([0-9]+):([0-9]{2})", re.ASCII)


def limits_text(campaign: Campaign) -> str:
    """Each time limit of the file as it is read, in one line: ``time_limit 10:00 = 10 h, 5 min``."""
    given = dict.fromkeys(_given(campaign.document).values())
    if not given:
        return f"{_TIME_LIMIT} {format_duration(campaign.time_limit)}, the default"
    read = (
        text if text[-1].isalpha() else f"{text} = {format_duration(parse_duration(text))}" for text in given
    )
    return f"{_TIME_LIMIT} {', '.join(read)}"


def check_time_limits(campaign: Campaign, notes: Notes) -> None:
    """Note numbers without a unit, and warn of H:MM where people know Slurm.

    A campaign with a schedule is only warned: no upgrade may stop what cron calls.
    """
    schedulers = (SCHEDULERS.get(system.scheduler) for system in campaign.systems.values())
    slurm = next((scheduler.title for scheduler in schedulers if scheduler and scheduler.minutes_first), "")
    note = notes.warn if campaign.schedule else notes.add
    for key, text in _given(notes.document, _OTHER_TIMES).items():
        pair = _TWO_NUMBERS.fullmatch(text)
        if _NUMBER.fullmatch(text):
            message = f"a number without a unit: {text} s here, {text} min in Slurm and LSF"
            note(key, message, text, f"write {text} s, {text} min or {text} h")
        elif pair and slurm:
            _warn_of_pair(key, int(pair[1]), int(pair[2]), slurm, notes)


def _warn_of_pair(key: Key, first: int, second: int, scheduler: str, notes: Notes) -> None:
    text, units = f"{first}:{second:02d}", ("h", "min") if second == 0 else ("min", "s")
    here, there = (f"{first * 60 + second if second else first} {unit}" for unit in units)
    message = f"{text} is {here} here (H:MM), and {there} to users of {scheduler} (M:SS)"
    notes.warn(key, message, "", f"write {here} or {there}")


def _given(document: Document, others: Sequence[Key] = ()) -> dict[Key, str]:
    """The time limits of the file, as they are written, and other durations."""
    values = Values(document)
    keys = [*others, (_TIME_LIMIT,), *((*block, _TIME_LIMIT) for block, _ in document.items(("matrix",)))]
    return {key: text.strip() for key in keys if (text := values.text(key))}
