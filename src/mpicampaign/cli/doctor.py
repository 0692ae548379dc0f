"""mpicampaign doctor."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpicampaign.base.errors import UserError, did_you_mean
from mpicampaign.base.records import plain_fields
from mpicampaign.base.units import parse_duration
from mpicampaign.cli.exit_status import DONE
from mpicampaign.cli.options import add_json
from mpicampaign.cli.output import print_lines

if TYPE_CHECKING:
    from mpicampaign.site.examine import DoctorOptions
    from mpicampaign.site.facts import NodeGroup, NodeProbe, Site


EXAMPLES = (
    ("mpicampaign doctor", "asks the scheduler, probes a node of each kind, writes site.yaml"),
    ("mpicampaign doctor --partition milan --no-probe", "one partition, without starting jobs"),
    ("mpicampaign doctor --json --output mine.yaml", "what was found, for a program"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where to look, and what to write."""
    queue = "examine only this partition or queue; may be given several times"
    wait = "how long to wait for probe jobs before they are cancelled (default: %(default)s)"
    parser.add_argument("--output", type=Path, default=Path("site.yaml"), help="default: %(default)s")
    parser.add_argument("--overwrite", action="store_true", help="replace the file if it exists")
    parser.add_argument("--partition", "--queue", dest="queues", action="append", default=[], help=queue)
    parser.add_argument("--no-probe", action="store_true", help="start no jobs; ask only the scheduler")
    parser.add_argument("--time-limit", default="3 min", metavar="TIME", help=wait)
    chosen = "such as slurm, or none; default: the one found here"
    parser.add_argument("--scheduler", type=_scheduler, metavar="NAME", help=chosen)
    add_json(parser)


def _scheduler(name: str) -> str:
    from mpicampaign.schedulers import SCHEDULERS

    if name not in SCHEDULERS:
        raise argparse.ArgumentTypeError(f"no scheduler {name!r}; {did_you_mean(name, SCHEDULERS)}")
    return name


def run(options: argparse.Namespace) -> int:
    from mpicampaign.site.examine import examine

    examine(_doctor_options(options), print_lines)
    return DONE


def as_data(options: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """The exit status, and the data of ``--json``."""
    from mpicampaign.site.examine import examine

    chosen = _doctor_options(options)
    site = examine(chosen, say=lambda line: None)
    return DONE, {"campaign_file": str(chosen.output), **site_data(site)}


def _doctor_options(options: argparse.Namespace) -> DoctorOptions:
    from mpicampaign.site.examine import DoctorOptions

    try:
        seconds = parse_duration(options.time_limit)
    except ValueError as error:
        raise UserError(f"--time-limit: {error}") from error
    queues, scheduler, probe = tuple(options.queues), options.scheduler or "", not options.no_probe
    return DoctorOptions(options.output, options.overwrite, queues, scheduler, probe, seconds)


def site_data(site: Site) -> dict[str, Any]:
    """The scheduler, its queues, the MPI libraries and the host groups; unknown is null."""
    return {
        "host": site.host,
        "scheduler": site.scheduler.name,
        "queues": [
            {name: getattr(queue, name) for name in ("name", "default", "open")}
            | {"time_limit": queue.time_limit or None, "notes": list(queue.notes)}
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
