"""The output of the probe job (templates/doctor/probe.sh), as facts. No I/O."""

from __future__ import annotations

import re

from mpicampaign.base.errors import UnreadableError
from mpicampaign.base.network_devices import network_of
from mpicampaign.base.yaml_lines import printable
from mpicampaign.site.facts import Interface, NodeProbe, Port

FIRST_LINE = "#mpicampaign-probe 1"
LAST_LINE = "end of probe"
ENVIRONMENT = "environment"  # program name of the MPI library of the Python environment
# Number of fields after the keyword of a line.
_FIELDS = {
    **{"host": 1, "topology": 3, "places": 2, "memory": 1, "model": 1},
    **{"interface": 5, "port": 5, "device": 3, "program": 2, "version": 2},
}


def read_probe(text: str) -> NodeProbe:
    """The facts of a node.

    Raises
    ------
    UnreadableError
        when the text is not a complete output of the probe.
    """
    lines = text.split("\n")
    if lines[0] != FIRST_LINE or lines[-2:] != [LAST_LINE, ""]:
        raise UnreadableError(f"not a complete output of the probe: it begins {printable(lines[0])[:80]!r}")
    rows: dict[str, list[list[str]]] = {kind: [] for kind in _FIELDS}
    for line in lines[1:-2]:
        kind, *fields = line.split("\t")
        if kind in rows and len(fields) == _FIELDS[kind]:
            rows[kind].append(fields)
        else:
            raise UnreadableError(f"the probe's output has an unknown line: {printable(line)[:120]!r}")
    sockets, cores, cpus = _topology(rows["topology"])
    memory = rows["memory"][0][0] if rows["memory"] else ""  # MemTotal of /proc/meminfo, in kB
    domains, caches = rows["places"][0] if rows["places"] else ("0", "0")
    devices = {name: (node_type, driver) for name, driver, node_type in rows["device"]}
    return NodeProbe(
        host=rows["host"][0][0] if rows["host"] else "",
        sockets=sockets,
        cores=cores,
        cpus=cpus,
        interfaces=tuple(_interface(*fields) for fields in rows["interface"]),
        ports=tuple(_port(*fields, *devices.get(fields[0], ())) for fields in rows["port"]),
        programs={row[0]: row[1] for row in rows["program"]},
        versions={row[0]: row[1] for row in rows["version"]},
        model=rows["model"][0][0] if rows["model"] else "",
        memory=int(memory) * 1024 if re.fullmatch(r"[1-9][0-9]{0,11}", memory) else None,
        numa_domains=_count(domains),
        l3_caches=_count(caches),
    )


def _topology(rows: list[list[str]]) -> tuple[int, int, int]:
    if len(rows) != 1 or not all(re.fullmatch(r"[0-9]{1,6}", number) for number in rows[0]):
        raise UnreadableError("the probe's output does not give sockets and cores")
    sockets, cores, cpus = map(int, rows[0])
    if not 0 < sockets <= cores <= cpus:
        raise UnreadableError(f"the probe counted {sockets} sockets, {cores} cores and {cpus} CPUs")
    return sockets, cores, cpus


def _count(number: str) -> int:
    """How many there are; 0 where the node does not tell."""
    return int(number) if re.fullmatch(r"[0-9]{1,6}", number) else 0


def _interface(name: str, state: str, speed: str, hardware: str, route: str) -> Interface:
    # Drivers without a known speed report -1, or the same as an unsigned number: 4294967295.
    known = re.fullmatch(r"[1-9][0-9]{0,7}", speed)
    return Interface(name, state == "up", int(speed) if known else None, hardware == "yes", route == "yes")


def _port(device: str, number: str, state: str, layer: str, rate: str, *more: str) -> Port:
    """``state`` is like "4: ACTIVE", ``rate`` like "100 Gb/sec (4X EDR)"; of Slingshot "up", "BS_200G".

    ``more``: node type and driver, which earlier releases did not look for.
    """
    known = re.match(r"([0-9]{1,6}(?:\.[0-9]+)?) Gb/sec|[A-Za-z]+_?([0-9]{1,6})G", rate)
    gigabits = float(known[1] or known[2]) if known else None
    active = state.endswith("ACTIVE") or state == "up"
    return Port(device, number, active, gigabits, network_of(device, layer, *more))
