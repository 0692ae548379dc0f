"""mpicampaign doctor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.errors import UserError
from mpicampaign.units import parse_duration

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where to look, and what to write."""
    queue = "look at this partition or queue only; may be given several times"
    wait = "how long to wait for probe jobs, which are cancelled after it (default: %(default)s)"
    parser.add_argument("--output", type=Path, default=Path("site.yaml"), help="default: %(default)s")
    parser.add_argument("--overwrite", action="store_true", help="also where that file is there already")
    parser.add_argument("--partition", "--queue", dest="queues", action="append", default=[], help=queue)
    parser.add_argument("--no-probe", action="store_true", help="start no job; ask the scheduler only")
    parser.add_argument("--time-limit", default="3 min", metavar="TIME", help=wait)
    parser.add_argument(
        "--scheduler", choices=["slurm", "lsf", "none"], default="", help="default: the one that is there"
    )


def run(options: argparse.Namespace) -> int:
    from mpicampaign.doctor.examine import Wishes, examine

    try:
        seconds = parse_duration(options.time_limit)
    except ValueError as error:
        raise UserError(f"--time-limit: {error}") from error
    queues = tuple(options.queues)
    examine(
        Wishes(options.output, options.overwrite, queues, options.scheduler, not options.no_probe, seconds)
    )
    return 0
