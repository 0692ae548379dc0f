"""The runs that are due, made by Snakemake, and their report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.cli.common import prepared_of, print_lines
from mpicampaign.cli.exit_status import DONE
from mpicampaign.cli.report import report_of
from mpicampaign.interrupts import EXIT_SIGNALLED

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from mpicampaign.jobs.prepare import Prepared


def make_runs(
    prepared: Prepared, options: argparse.Namespace, more: Sequence[str] = (), *, once: bool = False
) -> tuple[int, Prepared]:
    """Make the runs that are due, and the report; the exit status, and the campaign with its results.

    Where cases are repeated until they are known, results may ask for more: these runs are made, too, unless
    the call left out runs since the machine is busy. ``more``: options for Snakemake, which then makes the
    report as far as they ask for it. ``once``: one repeat of each case.
    """
    import mpicampaign.analyse  # noqa: F401 - before the two processes part: both need most of it
    from mpicampaign.execution.busy import LEFT_OUT

    while True:
        status = _call_snakemake(prepared, options, more, once)
        known, prepared = len(prepared.selected), prepared_of(options)
        # with rounds, nodes that are absent, or fail, are an answer
        goes_on = (0, LEFT_OUT) if prepared.plan.rounds else (0,)
        if status not in goes_on or once or "-n" in more or not prepared.plan.until_known:
            break
        if len(prepared.selected) == known or not prepared.pending:
            break
    if not more and status not in EXIT_SIGNALLED:
        print_lines(report_of(prepared))
    return DONE if status == LEFT_OUT else status, prepared


def _call_snakemake(prepared: Prepared, options: argparse.Namespace, more: Sequence[str], once: bool) -> int:
    from mpicampaign.execution.execute import run_snakemake

    campaign, system, profile = Path(prepared.campaign.file), options.system, options.profile

    values: dict[str, object] = {"campaign": str(campaign.resolve()), "system": system}
    values |= prepared.selection.texts | ({"once": "true"} if once else {})
    # Snakemake strips quotes from the ends, then reads values as YAML, where a colon needs quotes.
    config = [f"{key}= {json.dumps(value)} " for key, value in values.items()]
    arguments, verbose = [*more, "--config", *config], getattr(options, "verbose", False)
    return run_snakemake(profile, arguments, verbose=verbose, report=bool(more))
