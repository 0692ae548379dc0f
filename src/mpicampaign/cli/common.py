"""What several subcommands share."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from mpicampaign.jobs.prepare import Prepared
    from mpicampaign.records import Record

CAMPAIGN = Path("campaign.yaml")
EXIT_MISTAKE = 2


def add_campaign(parser: argparse.ArgumentParser) -> None:
    """The options of a subcommand that is about a campaign."""
    parser.add_argument("--campaign", type=Path, default=CAMPAIGN, help="default: %(default)s")
    parser.add_argument("--system", default="", help="plan for this system, wherever this machine is")


def prepared_of(options: argparse.Namespace) -> Prepared:
    """The campaign that the options name, checked and planned."""
    from mpicampaign.jobs.prepare import prepare

    return prepare(options.campaign, options.system)


def tell(*lines: str) -> None:
    """Print and go on where nobody reads any more: what is left to be done does not hang on ``| head``."""
    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        go_on_unread()


def go_on_unread() -> None:
    """Send what is printed from here on, and what waits to be written, to nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def beside(prepared: Prepared) -> list[str]:
    """What is to be said of results that are there and that the campaign does not describe."""
    from mpicampaign.collect.undescribed import undescribed_lines

    return undescribed_lines(prepared.plan_file, prepared.folder)


def counts(records: list[Record]) -> str:
    """How the runs ended; one that is contradicted is complete, and still left out of every figure."""
    from mpicampaign.records import CONTRADICTED, OK

    left_out = (record.status == OK and record.verdict == CONTRADICTED for record in records)
    ends = (CONTRADICTED if out else record.status for out, record in zip(left_out, records, strict=True))
    counts = Counter(ends)
    words = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in sorted(counts.items()))
    return f"{len(records)} runs: {words}"
