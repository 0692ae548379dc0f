"""mpicampaign doctor."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.base.errors import UserError, did_you_mean
from mpicampaign.base.units import parse_duration
from mpicampaign.cli.exit_status import DONE
from mpicampaign.cli.output import print_lines

if TYPE_CHECKING:
    from mpicampaign.site.examine import DoctorOptions

EXAMPLES = (
    ("mpicampaign doctor", "asks the scheduler, probes a node of each kind, writes site.yaml"),
    ("mpicampaign doctor --partition milan --no-probe", "one partition, without starting jobs"),
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


def _scheduler(name: str) -> str:
    from mpicampaign.schedulers import SCHEDULERS

    if name not in SCHEDULERS:
        raise argparse.ArgumentTypeError(f"no scheduler {name!r}; {did_you_mean(name, SCHEDULERS)}")
    return name


def run(options: argparse.Namespace) -> int:
    from mpicampaign.site.examine import examine

    examine(_doctor_options(options), print_lines)
    return DONE


def _doctor_options(options: argparse.Namespace) -> DoctorOptions:
    from mpicampaign.site.examine import DoctorOptions

    try:
        seconds = parse_duration(options.time_limit)
    except ValueError as error:
        raise UserError(f"--time-limit: {error}") from error
    queues, scheduler, probe = tuple(options.queues), options.scheduler or "", not options.no_probe
    return DoctorOptions(options.output, options.overwrite, queues, scheduler, probe, seconds)
