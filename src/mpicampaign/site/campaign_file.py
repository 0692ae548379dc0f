"""A campaign file for a site, from what the doctor found. No I/O.

Every text from a site goes through the YAML dumper, or is a comment of one printable line.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import yaml

from mpicampaign.base.grouping import grouped
from mpicampaign.base.network_devices import CN5000, EFA, INFINIBAND, IWARP, MANA, OMNI_PATH, ROCE, SLINGSHOT
from mpicampaign.base.places import schema_line
from mpicampaign.base.units import format_rate
from mpicampaign.base.yaml_lines import printable, shortened
from mpicampaign.mpis import MPIS
from mpicampaign.schedulers import BatchScheduler, Scheduler
from mpicampaign.schedulers.listings import NodeClass
from mpicampaign.site.facts import NodeGroup, NodeProbe, Port, Site, SiteLibrary
from mpicampaign.site.names import name_from, usable
from mpicampaign.site.text import selection_notes

WHEEL = "wheel"
MAX_HOSTS = 64
# Every YAML reader takes these for text, except constants such as "no", which the dumper knows.
_PLAIN = re.compile(r"[A-Za-z/-][A-Za-z0-9 _./:-]*|[0-9.]+ [A-Za-z][A-Za-z/]*")
_KERNELS = {
    "point_to_point": {"arguments": "--max-size 1MiB --budget 1"},
    "tree_gather": {"arguments": "--min-size 1KiB --max-size 1MiB --budget 1"},
}
_PING_PONG = "-iter 5000,250 -time 1 -msglog 0:22 PingPong"


# What reaches each network: a name for the fabric, and its keys. UCX has no transport for iWARP.
_REACHED = {
    "": ("rdma", {"transport": "ibv"}),
    INFINIBAND: ("ib", {"transport": "ibv", "link": INFINIBAND}),
    ROCE: ("roce", {"transport": "ibv", "link": ROCE}),
    IWARP: ("iwarp", {"transport": "ofi", "provider": "verbs", "link": IWARP}),
    EFA: ("efa", {"transport": "ofi", "provider": "efa"}),
    OMNI_PATH: ("omni-path", {"transport": "ofi", "provider": "psm2"}),
    CN5000: ("omni-path", {"transport": "ofi", "provider": "opx"}),
    SLINGSHOT: ("slingshot", {"transport": "ofi", "provider": "cxi"}),
}


class FlowMapping(dict[str, Any]):
    """A mapping that is written in one line."""


class _Dumper(yaml.SafeDumper):
    """Quotes texts that another YAML reader could take for a number; lists of texts are one line."""


def _scalar(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = None if _PLAIN.fullmatch(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _line(dumper: _Dumper, line: FlowMapping) -> yaml.MappingNode:
    return dumper.represent_mapping("tag:yaml.org,2002:map", line, flow_style=True)


def _list(dumper: _Dumper, items: list[Any]) -> yaml.SequenceNode:
    one_line = all(isinstance(item, str) for item in items)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=one_line)


_Dumper.add_representer(str, _scalar)
_Dumper.add_representer(FlowMapping, _line)
_Dumper.add_representer(list, _list)


def dumped(data: Any, indent: int = 0) -> str:
    """Plain data as YAML."""
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=10**6, allow_unicode=True)
    return textwrap.indent(text, " " * indent)


def comment(text: str, indent: int = 0) -> str:
    """Any text as a comment of one line."""
    return f"{' ' * indent}# {shortened(printable(text), 300)}\n"


def refusal(nodes: NodeClass, scheduler: BatchScheduler) -> str:
    """Why these nodes cannot be a host group of a campaign file; empty where they can."""
    if not usable("word", nodes.queue):
        return f"the name {printable(nodes.queue)!r} cannot be used in a job script"
    if not all(usable("hosts", node) for node in scheduler.host_group(nodes).get("hosts", ())):
        return f"a host name of {printable(nodes.queue)!r} cannot be used in a job script"
    return ""


def named(groups: Iterable[NodeGroup], scheduler: Scheduler) -> list[NodeGroup]:
    """Host groups, named after what selects the nodes."""
    made: list[NodeGroup] = []
    for group in groups:
        taken = {other.name for other in made}
        keys = scheduler.host_group(group.nodes) if isinstance(scheduler, BatchScheduler) else {}
        text = keys.get("constraint") or group.nodes.queue
        made.append(replace(group, name=name_from(text, taken)))
    return made


def campaign_text(site: Site) -> str:
    """The campaign file. It loads, and its plan holds every group with usable nodes.

    Unknown values are left out, with a comment on how to fill them in.
    """
    parts = [_heading(site), system_text(site), host_groups_text(site), _placements(site)]
    parts += [_benchmarks(site), _matrix(site)]
    return "\n".join(part for part in parts if part)


def _heading(site: Site) -> str:
    name = name_from(site.host.split(".")[0], (), "site")
    text = schema_line() + comment(
        f"Written by mpicampaign doctor on {site.host or 'this machine'}. Edit it as you like, then:"
    )
    text += comment("    mpicampaign check FILE    # all errors at once")
    text += comment("    mpicampaign plan FILE     # matrix and node-hours")
    limit = "1 min" if site.scheduler.local else "2 min"
    title = {"campaign": name, "title": f"Placements of {name}", "repeats": 6, "time_limit": limit}
    return text + dumped(title)


def system_text(site: Site) -> str:
    """The system, with other MPI libraries as comments."""
    chosen = site.libraries[0] if site.libraries else SiteLibrary(WHEEL)
    name = _system_name(site)
    entry: dict[str, Any] = {"scheduler": site.scheduler.name, **_library_keys(site, chosen)}
    text = dumped({"systems": {name: entry}})
    others = site.libraries[1:]
    if others:
        text += comment(
            "Other MPI libraries found here. mpi: [{…}, {…}] compares several. The bundled kernels", 4
        )
        text += comment("run with each of them, IMB with the library that it was built with.", 4)
    for library in others:
        text += _other_library(site, library)
    for note in site.notes:
        text += comment(note, 4)
    return text


def _system_name(site: Site) -> str:
    return "this-machine" if site.scheduler.local else "cluster"


def _library_keys(site: Site, library: SiteLibrary) -> dict[str, Any]:
    built_in = MPIS.get(library.mpi)
    as_root = dict(built_in.as_root) if site.as_root and built_in else {}
    keys = {
        "mpi": library.mpi,
        "modules": library.module,
        "prefix": library.prefix,
        "environment": FlowMapping(as_root) if as_root else None,
    }
    return {key: value for key, value in keys.items() if value}


def _other_library(site: Site, library: SiteLibrary) -> str:
    if not library.mpi:
        name = library.module or library.about
        return comment(f"{name}: not one of the built-in libraries; describe it under mpis:", 4)
    about = f"  ({library.about})" if library.about else ""
    return comment(f"- {dumped(FlowMapping(_library_keys(site, library))).strip()}{about}", 4)


def host_groups_text(site: Site) -> str:
    """The host groups, with what is known of their nodes as comments."""
    text = "host_groups:\n"
    for group in site.groups:
        for note in _group_notes(site, group):
            text += comment(note, 2)
        text += dumped({group.name: _group_keys(site, group)}, 2)
        for note in _fabric_notes(group):
            text += comment(note, 4)
    return text


def _group_keys(site: Site, group: NodeGroup) -> dict[str, Any]:
    keys: dict[str, Any] = {"system": _system_name(site)}
    if isinstance(site.scheduler, BatchScheduler):
        keys |= site.scheduler.host_group(group.nodes)
        keys |= {"hosts": keys["hosts"][:MAX_HOSTS]} if "hosts" in keys else {}
        keys |= {"exclusive": "exclusive" in site.scheduler.selectors, "cores": group.cores}
    return {key: value for key, value in keys.items() if value} | _fabrics(site, group)


def _group_notes(site: Site, group: NodeGroup) -> list[str]:
    nodes = group.nodes
    if not isinstance(site.scheduler, BatchScheduler):
        return []
    names = shortened(", ".join(nodes.names), 120)
    notes = [f"{len(nodes.names)} nodes, {nodes.usable} of them usable: {names}"]
    notes += selection_notes(site.scheduler, nodes)
    if nodes.features:
        notes.append(f"features of all of them: {', '.join(nodes.features)}")
    if len(site.scheduler.host_group(nodes).get("hosts", ())) > MAX_HOSTS:
        notes.append(f"the first {MAX_HOSTS} of these hosts are listed; LSF's own host group is shorter")
    notes += [note for queue in site.queues if queue.name == nodes.queue for note in queue.notes]
    if group.hardware:
        notes.append(group.hardware)
    if not group.probe:
        notes.append(f"not examined by a probe job: {group.unknown}")
    return notes


def _fabrics(site: Site, group: NodeGroup) -> dict[str, Any]:
    if site.scheduler.local or not group.probe:
        return {}
    fabrics: dict[str, Any] = {}
    for interface in group.probe.fabrics:
        known = {name.lower() for name in fabrics}
        if (
            usable("device", interface.name)
            and len(interface.name) <= 40
            and interface.name.lower() not in known
        ):
            fabrics[interface.name] = FlowMapping(transport="tcp", interface=interface.name)
            if interface.hardware and interface.megabits:
                fabrics[interface.name]["rate"] = _rate(interface.megabits / 1000)
    for port in _used_ports(group.probe):
        name, keys = _REACHED[port.network]
        name = name_from(name, {other.lower() for other in fabrics})
        fabrics[name] = FlowMapping(**keys, device=port.device)
        if port.gigabits:
            fabrics[name]["rate"] = _rate(port.gigabits)
    return {"fabrics": fabrics} if fabrics else {}


def _used_ports(probe: NodeProbe) -> list[Port]:
    """The first active port of each network."""
    ports = [
        port for port in probe.active_ports if port.network in _REACHED and usable("device", port.device)
    ]
    return [alike[0] for alike in grouped(ports, lambda port: port.network).values()]


def _rate(gigabits: float) -> str:
    return format_rate(gigabits * 1e9 / 8)


def _fabric_notes(group: NodeGroup) -> list[str]:
    if not group.probe:
        return ["fabrics: {eth: {transport: tcp, interface: eth0, rate: 10 Gbit/s}}   # for TCP placements"]
    notes = []
    for interface in group.probe.fabrics:
        if interface.megabits and not interface.hardware:
            notes.append(
                f"{interface.name} reports {interface.megabits} Mbit/s, but is virtual: no rate is given"
            )
    for interface in group.probe.interfaces:
        if not interface.usable:
            why = "has no IPv4 route" if interface.up else "is not up"
            notes.append(f"interface {interface.name} {why}")
    used = _used_ports(group.probe)
    for port in group.probe.ports:
        if port.network == MANA:
            notes.append(f"device {port.device}: MPI libraries use MANA by its network interface, over tcp")
    others = [port for port in group.probe.ports if port.network != MANA and port not in used]
    for active, ports in grouped(others, lambda port: port.active).items():
        names = ", ".join(f"{port.device}/{port.number}" for port in ports)
        notes.append(f"ports {'also' if active else 'not'} active ({len(ports)}): {shortened(names, 200)}")
    if any(port.network == OMNI_PATH for port in used):
        notes.append("Omni-Path: provider opx instead, where libfabric has it (fi_info -l)")
    return notes


def _networks(site: Site, group: NodeGroup) -> list[tuple[str, str]]:
    """Transport and name of each fabric, as far as the MPI library has settings for it."""
    library = MPIS.get(site.libraries[0].mpi) if site.libraries else None
    fabrics = _fabrics(site, group).get("fabrics", {})
    networks = [(fabric["transport"], name) for name, fabric in fabrics.items()]
    return [
        network for network in networks if library is None or network[0] in library.settings["transports"]
    ]


def _labels(site: Site) -> dict[tuple[str, str], str]:
    """The label of each network: TCP, IBV, OFI; TCP-eth0 where nodes have several and TCP is ambiguous."""
    of_groups = [_networks(site, group) for group in _usable(site)]
    counts = [Counter(transport for transport, _ in networks) for networks in of_groups]
    several = {transport for count in counts for transport in count if count[transport] > 1}
    networks = dict.fromkeys(network for networks in of_groups for network in networks)
    return {
        (transport, name): transport.upper() + (f"-{name}" if transport in several else "")
        for transport, name in networks
    }


def _placements(site: Site) -> str:
    """A placement for each network with a label of its own."""
    over = "one rank on each of two nodes over"
    base = {"nodes": 2, "ranks_per_node": 1}
    entries = {
        label: {"description": f"{over} {name}", **base, "transport": transport, "fabric": name}
        for (transport, name), label in _labels(site).items()
        if "-" in label
    }
    return dumped({"placements": entries}) if entries else ""


def _usable(site: Site) -> list[NodeGroup]:
    return [group for group in site.groups if site.scheduler.local or group.nodes.usable]


def placements_of(site: Site, group: NodeGroup) -> list[str]:
    """Placements for these nodes, as far as known."""
    cores, sockets = group.cores or 1, group.sockets or 1
    placements = _within_socket(group.probe, sockets) if cores // sockets >= 2 else []
    placements += ["SHM-2"] if sockets >= 2 else []
    placements += ["SHM"] if cores >= 2 or not group.cores else []
    if site.scheduler.local:
        return [*placements, "TCP-loopback"] if cores >= 2 or not group.cores else ["SHM"]
    if group.nodes.usable >= 2:
        labels = _labels(site)
        placements += [labels[network] for network in _networks(site, group)]
    return placements or ["SHM"]


def _within_socket(probe: NodeProbe | None, sockets: int) -> list[str]:
    """Also within and between the L3 caches and NUMA domains of a socket, where it has several."""
    domains, caches = (probe.numa_domains, probe.l3_caches) if probe else (0, 0)
    placements = ["SHM-L3-1"] if caches > sockets else []
    placements += ["SHM-L3-2"] if caches > domains > 0 else []
    placements += ["SHM-NUMA-2"] if domains > sockets else []
    return ["SHM-1", *placements]


def _benchmarks(site: Site) -> str:
    """IMB's PingPong, or kernels that are built with the library where no IMB of that library was found."""
    provider = _imb_provider(site)
    if provider is None:
        text = "benchmarks:\n" + dumped(_KERNELS, 2)
        text += comment("No IMB-MPI1 of this MPI library was found. If there is one, add a benchmark:", 2)
        return text + comment("PingPong: {provider: {kind: path, location: /its/IMB-MPI1}}", 2)
    entry = {"arguments": _PING_PONG} | ({"provider": provider} if provider else {})
    return "benchmarks:\n" + dumped({"PingPong": entry}, 2)


def _imb_provider(site: Site) -> dict[str, str] | None:
    """Where IMB comes from; empty for the wheel, None where the library has none here."""
    if not site.imb:
        return None
    chosen = site.libraries[0] if site.libraries else SiteLibrary(WHEEL)
    if chosen.mpi == WHEEL:
        return {}
    paths = {group.probe.programs.get("IMB-MPI1", "") for group in site.groups if group.probe} - {""}
    return {"kind": "path", "location": min(paths)} if paths else None


def _matrix(site: Site) -> str:
    groups = _usable(site)
    benchmarks = [*_KERNELS] if _imb_provider(site) is None else ["PingPong"]
    text = "".join(
        comment(f"{group.name} is left out: none of its nodes can be used now")
        for group in site.groups
        if group not in groups
    )
    blocks: dict[tuple[str, ...], list[str]] = {}
    for group in groups:
        blocks.setdefault(tuple(placements_of(site, group)), []).append(group.name)
    entries = [
        {"host_groups": names, "placements": list(placements), "benchmarks": benchmarks}
        for placements, names in blocks.items()
    ]
    return text + dumped({"matrix": entries})
