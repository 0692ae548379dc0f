"""What the doctor found, as plain data for ``doctor --json``. Unknown is null."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpicampaign.records import plain_fields

if TYPE_CHECKING:
    from mpicampaign.site.facts import NodeGroup, NodeProbe, Site


def site_data(site: Site) -> dict[str, Any]:
    """The scheduler, its queues, the MPI libraries and the host groups."""
    return {
        "host": site.host,
        "scheduler": site.scheduler.name,
        "queues": [
            {
                "name": queue.name,
                "default": queue.default,
                "open": queue.open,
                "time_limit": queue.time_limit or None,
                "notes": list(queue.notes),
            }
            for queue in site.queues
        ],
        "modules": site.modules,
        "libraries": [plain_fields(library) for library in site.libraries],
        "host_groups": [_group(group) for group in site.groups],
        "notes": list(site.notes),
    }


def _group(group: NodeGroup) -> dict[str, Any]:
    return {
        "name": group.name,
        "hosts": list(group.nodes.names),
        "usable": group.nodes.usable,
        "queue": group.nodes.queue or None,
        "sockets": group.sockets,
        "cores": group.cores,
        "not_examined": group.unknown or None,
        "probe": _probe(group.probe) if group.probe else None,
        "seen_on": list(group.seen_on),
    }


def _probe(probe: NodeProbe) -> dict[str, Any]:
    """Rates in the units of their keys; memory in bytes."""
    return {
        **plain_fields(probe),
        "interfaces": [plain_fields(interface) for interface in probe.interfaces],
        "ports": [plain_fields(port) for port in probe.ports],
    }
