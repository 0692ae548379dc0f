"""What several subcommands share."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from mpicampaign.jobs.prepare import Prepared
    from mpicampaign.records import Record

CAMPAIGN = Path("campaign.yaml")
EXIT_ERROR = 2


def add_campaign(parser: argparse.ArgumentParser) -> None:
    """The options of a subcommand for a campaign."""
    parser.add_argument("--campaign", type=Path, default=CAMPAIGN, help="default: %(default)s")
    parser.add_argument("--system", default="", help="plan for this system, whichever machine this is")


def add_verbose(parser: argparse.ArgumentParser, shows: str) -> None:
    """The option to show what is left out otherwise."""
    parser.add_argument("--verbose", action="store_true", help=shows)


def prepared_of(options: argparse.Namespace) -> Prepared:
    """The campaign that the options name, checked and planned."""
    from mpicampaign.execution.conditions import prepare_with_results

    return prepare_with_results(options.campaign, options.system)


def make_runs(
    prepared: Prepared, options: argparse.Namespace, more: Sequence[str] = (), *, once: bool = False
) -> int:
    """Make the runs that are due, and the report; the exit status. ``once``: one repeat of each case.

    Where cases are repeated until they are known, results may ask for more: these runs are made, too.
    """
    status = _call_snakemake(prepared, options, more, once)
    while status == 0 and not once and "-n" not in more and _asks_for_more(prepared):
        known, prepared = len(prepared.scripts), prepared_of(options)
        if len(prepared.scripts) == known or not prepared.pending:
            break
        status = _call_snakemake(prepared, options, more, once)
    return status


def _asks_for_more(prepared: Prepared) -> bool:
    from mpicampaign.expectation import UNTIL_KNOWN

    return any(entry.repeats == UNTIL_KNOWN for entry in prepared.campaign.matrix)


def _call_snakemake(prepared: Prepared, options: argparse.Namespace, more: Sequence[str], once: bool) -> int:
    from mpicampaign.execution.execute import run_snakemake

    campaign, system, profile = Path(prepared.campaign.file), options.system, options.profile

    values = {"campaign": str(campaign.resolve()), "system": system} | ({"once": "true"} if once else {})
    # Snakemake strips quotes from the ends, then reads values as YAML, where a colon needs quotes.
    config = [f"{key}= {json.dumps(value)} " for key, value in values.items()]
    arguments = [*more, "--config", *config]
    return run_snakemake(profile, arguments, verbose=getattr(options, "verbose", False))


def print_lines(*lines: str) -> None:
    """Print; where the reader has left, as with ``| head``, go on without output."""
    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()


def say(*lines: str) -> None:
    """Print what is no answer, such as progress; where nobody reads it, go on without."""
    with suppress(OSError):
        for line in lines:
            print(line, file=sys.stderr, flush=True)


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
    return f"{len(records)} run{'' if len(records) == 1 else 's'}: {ends_text}"
