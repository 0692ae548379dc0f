"""The command line: mpicampaign init, check, plan, run, report, import, tables, bundle, doctor and others.

Each subcommand is a module of this folder with ``add_arguments`` and ``run``; it is loaded when it is called.
"""

from __future__ import annotations

import argparse
import signal
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mpicampaign import __version__
from mpicampaign.cli.common import EXIT_MISTAKE, go_on_unread, tell
from mpicampaign.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_INTERRUPTED = 130
EXIT_UNREAD = 141  # as of a program that SIGPIPE ended

COMMANDS = {
    "init": "make the current folder ready: write the default campaign file, and what Snakemake needs",
    "check": "check the campaign file and say what it holds",
    "plan": "show the matrix of cases and the node-hours they may take",
    "render": "write all job scripts, submit nothing",
    "build": "build the bundled kernels for this system",
    "run": "run what is not done yet, then make tables and report",
    "status": "show what is queued, running, finished or failed",
    "cancel": "cancel the campaign's jobs that are in the queue",
    "report": "make records, tables, figures and report from what is there",
    "import": "take in raw outputs that this program did not make, then make records and tables",
    "tables": "show the results as tables: rows, columns, layout and format as you choose",
    "doctor": "look at this site (scheduler, nodes, networks, MPI) and write a campaign file for it",
    "bundle": "write one checksummed file of a campaign's results, for another site",
    "merge": "take bundles of other sites in; refuse damaged ones, and never mix systems of one name",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; mistakes of the user are told without a traceback."""
    options = _parser().parse_args(arguments)
    try:
        status = int(options.action(options))
    except UserError as error:
        print(_mistakes(error), file=sys.stderr)
        return EXIT_MISTAKE
    except BrokenPipeError:  # nobody read to the end, and something may not have been done
        go_on_unread()
        return EXIT_UNREAD
    except OSError as error:
        # a full disk, a read-only file system, no permission
        print(f"mpicampaign: {error.filename or 'a file'}: {error.strerror}", file=sys.stderr)
        return EXIT_MISTAKE
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # pressed again, it would cut this exit status off
        return EXIT_INTERRUPTED
    tell()
    return status


def _mistakes(error: UserError) -> str:
    count = len(error.problems)
    heading = "mpicampaign: " + ("" if count == 1 else f"{count} mistakes\n")
    return heading + "\n".join(str(problem) for problem in error.problems)


def _parser() -> argparse.ArgumentParser:
    summary = str(__doc__).partition("\n")[0]
    parser = argparse.ArgumentParser(prog="mpicampaign", description=summary)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Subcommand)
    for name, words in COMMANDS.items():
        commands.add_parser(name, help=words, description=words).set_defaults(command=name)
    return parser


class _Subcommand(argparse.ArgumentParser):
    """Takes its arguments from the subcommand's module, once it is called."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        name = self.get_default("command")
        module = import_module(f"{__name__}.{'import_' if name == 'import' else name}")
        module.add_arguments(self)
        self.set_defaults(action=module.run)
        return super().parse_known_args(args, namespace)
