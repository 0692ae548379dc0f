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
EXIT_ERROR = 2


def add_campaign(parser: argparse.ArgumentParser) -> None:
    """The options of a subcommand for a campaign."""
    parser.add_argument("--campaign", type=Path, default=CAMPAIGN, help="default: %(default)s")
    parser.add_argument("--system", default="", help="plan for this system, whichever machine this is")


def prepared_of(options: argparse.Namespace) -> Prepared:
    """The campaign that the options name, checked and planned."""
    from mpicampaign.execution.conditions import prepare_with_results

    return prepare_with_results(options.campaign, options.system)


def print_lines(*lines: str) -> None:
    """Print; where the reader has left, as with ``| head``, go on without output."""
    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()


def discard_output() -> None:
    """Discard all further output, and output not yet written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def beside(prepared: Prepared) -> list[str]:
    """Lines about results that the campaign does not describe."""
    from mpicampaign.collect.undescribed import undescribed_lines

    return undescribed_lines(prepared.plan_file, prepared.folder)


def counts(records: list[Record]) -> str:
    """How the runs ended. Contradicted and disturbed ones are complete, but left out of all numbers."""
    from mpicampaign.records import CONTRADICTED, DISTURBED, OK

    def end(record: Record) -> str:
        if record.status == OK and record.verdict == CONTRADICTED:
            return CONTRADICTED
        return DISTURBED if record.status == OK and record.disturbed else record.status

    counts = Counter(map(end, records))
    ends_text = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in sorted(counts.items()))
    return f"{len(records)} runs: {ends_text}"
