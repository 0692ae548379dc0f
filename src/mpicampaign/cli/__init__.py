"""The command line: mpicampaign init, check, plan, run, report, import, tables, bundle, doctor and others.

Each subcommand is a module of this folder, loaded only when called. It has ``run``, and ``add_arguments`` if
its options are not just those of a campaign.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mpicampaign import __version__
from mpicampaign.cli.common import EXIT_ERROR, add_campaign, discard_output, print_lines
from mpicampaign.errors import UserError
from mpicampaign.execution.interrupts import end_in_order
from mpicampaign.files import system_error_text

if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_INTERRUPTED = 130
EXIT_UNREAD = 141  # as for a program ended by SIGPIPE

COMMANDS = {
    "init": "make the current folder ready: write the default campaign file, and what Snakemake needs",
    "check": "check the campaign file and show what it defines",
    "plan": "show the matrix of cases and the node-hours that they may take",
    "render": "write all job scripts, submit nothing",
    "build": "build the bundled kernels for this system",
    "run": "make the runs that are not done yet, then tables and report",
    "tick": "make what the campaign's schedule asks for now; cron calls it",
    "schedule": "print, install or remove the lines of cron, or a timer, that call tick",
    "status": "show what is queued, running, finished or failed",
    "cancel": "cancel the campaign's jobs that are in the queue",
    "report": "make records, tables, figures and report from the results so far",
    "import": "import raw outputs from elsewhere, then make records and tables",
    "tables": "show the results as tables; choose rows, columns, layout and format",
    "judge": "check the results against what the campaign expects: passed, failed or undecided",
    "history": "show the campaign over time: series, curves, changes and their causes",
    "doctor": "examine this site (scheduler, nodes, networks, MPI) and write a campaign file for it",
    "bundle": "write one checksummed file of a campaign's results, for another site",
    "merge": "merge bundles of other sites; refuse damaged ones, never mix systems of the same name",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand. Errors of the user are reported without a traceback."""
    options = _parser().parse_args(arguments)
    if arguments is None:  # not called by another program, whose signals these are
        end_in_order()
    try:
        status = int(options.action(options))
    except UserError as error:
        print(_error_text(error), file=sys.stderr)
        return EXIT_ERROR
    except BrokenPipeError:  # the reader left early; something may not have been done
        discard_output()
        return EXIT_UNREAD
    except OSError as error:
        print(f"mpicampaign: {system_error_text(error)}", file=sys.stderr)
        discard_output()  # not written so far, and Python would try again
        return EXIT_ERROR
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    print_lines()
    return status


def _error_text(error: UserError) -> str:
    count = len(error.problems)
    heading = "mpicampaign: " + ("" if count == 1 else f"{count} errors\n")
    return heading + "\n".join(str(problem) for problem in error.problems)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mpicampaign", description=str(__doc__).partition("\n")[0])
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Subcommand)
    for name, summary in COMMANDS.items():
        commands.add_parser(name, help=summary, description=summary).set_defaults(command=name)
    return parser


class _Subcommand(argparse.ArgumentParser):
    """Takes its arguments from the subcommand's module when it is called."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        name = self.get_default("command")
        module = import_module(f"{__name__}.{'import_' if name == 'import' else name}")
        getattr(module, "add_arguments", add_campaign)(self)
        self.set_defaults(action=module.run)
        return super().parse_known_args(args, namespace)
