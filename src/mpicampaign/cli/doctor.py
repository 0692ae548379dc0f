"""mpicampaign doctor."""

from __future__ import annotations

import argparse
from pathlib import Path

from mpicampaign.errors import UserError, did_you_mean
from mpicampaign.units import parse_duration


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where to look, and what to write."""
    queue = "look at this partition or queue only; may be given several times"
    wait = "how long to wait for probe jobs, which are cancelled after it (default: %(default)s)"
    parser.add_argument("--output", type=Path, default=Path("site.yaml"), help="default: %(default)s")
    parser.add_argument("--overwrite", action="store_true", help="also where that file is there already")
    parser.add_argument("--partition", "--queue", dest="queues", action="append", default=[], help=queue)
    parser.add_argument("--no-probe", action="store_true", help="start no job; ask the scheduler only")
    parser.add_argument("--time-limit", default="3 min", metavar="TIME", help=wait)
    here = "such as slurm, or none; default: the one that is there"
    parser.add_argument("--scheduler", type=_scheduler, metavar="NAME", help=here)


def _scheduler(name: str) -> str:
    from mpicampaign.schedulers import SCHEDULERS

    if name not in SCHEDULERS:
        raise argparse.ArgumentTypeError(f"no scheduler {name!r}; {did_you_mean(name, SCHEDULERS)}")
    return name


def run(options: argparse.Namespace) -> int:
    from mpicampaign.doctor.examine import DoctorOptions, examine

    try:
        seconds = parse_duration(options.time_limit)
    except ValueError as error:
        raise UserError(f"--time-limit: {error}") from error
    queues = tuple(options.queues)
    examine(
        DoctorOptions(
            options.output, options.overwrite, queues, options.scheduler or "", not options.no_probe, seconds
        )
    )
    return 0
