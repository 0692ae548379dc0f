"""Snakemake without its own chatter, in a copy of this process: what a run has loaded is not loaded again.

Its log file keeps all of it, and ``--verbose`` shows it.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from mpicampaign.execution.busy import LEFT_OUT, THIS_CALL
from mpicampaign.execution.lean_snakemake import load_less
from mpicampaign.interrupts import end_at_once, end_in_order, signalled

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# What Snakemake adds to failures of our commands, which say why themselves, and to a report not made: the one
# before stays as it is.
_OUR_COMMAND = re.compile(r"-m mpicampaign\.cli .*(non-zero exit status|died with)|^Cannot restore ", re.S)
_SEE_ABOVE = (
    "Exiting because a job execution failed.",
    "WorkflowError:\nAt least one job did not complete successfully.",
)


def show_problems_only() -> None:
    """Show warnings and errors of Snakemake on the terminal, nothing else."""
    for handler in logging.getLogger("snakemake.logging").handlers:
        if handler.name == "DefaultStreamHandler":
            handler.addFilter(_is_problem)


def _is_problem(record: logging.LogRecord) -> bool:
    if record.levelno < logging.WARNING:
        return False
    message = record.getMessage()
    return not message.startswith(_SEE_ABOVE) and _OUR_COMMAND.search(message) is None


def snakemake_process(profile: str, options: Sequence[str], folder: Path, report: bool) -> None:
    """All that the process does; our caller has blocked the signals."""
    os.chdir(folder)
    if not sys.flags.safe_path:
        del sys.path[0]  # the user's files do not hide Python modules
    THIS_CALL.reports = report
    if not report:  # there are no options of the user
        load_less()
    status = 1
    with suppress(KeyboardInterrupt):
        status = main(profile, options)
    sys.exit(signalled() or status)


def main(profile: str, options: Sequence[str]) -> int:
    """As Snakemake's own main function, which prints the profile's name before it reads its options.

    `LEFT_OUT` where nothing failed, but runs were left to a later call.
    """
    end_at_once()  # these imports take a second
    from snakemake.cli import args_to_api, get_argument_parser
    from snakemake.exceptions import print_exception

    end_in_order()
    try:
        parser = get_argument_parser(profiles=[profile])
        parser.prog, parser.usage = "snakemake", "mpicampaign run FILE [options] [-- SNAKEMAKE_OPTIONS]"
        if not args_to_api(parser.parse_args(options), parser) or THIS_CALL.failed:
            return 1
        return LEFT_OUT if THIS_CALL.left_out else 0
    except Exception as error:  # as Snakemake does
        print_exception(error)
        return 1
