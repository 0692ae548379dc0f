"""The command line: one call of a subcommand, its errors and its exit status.

Each subcommand is a module of this folder, loaded only when called. It has ``run``, ``EXAMPLES``, and
``add_arguments``. With ``--json``, ``as_data`` takes the place of ``run``.
"""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

from mpicampaign.cli.common import discard_output, print_lines
from mpicampaign.cli.exit_status import INTERRUPTED, UNREAD, USER_ERROR
from mpicampaign.cli.parser import COMMANDS, command_parser
from mpicampaign.errors import Problem, UserError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand. Errors of the user are reported without a traceback.

    ``arguments``: of the call; ``None``: those of this process, whose signals are then handled, too.
    """
    if arguments is None:
        arguments = sys.argv[1:]
        _start_as_program()
    try:
        options = command_parser().parse_args(arguments)
        status = _json(options) if getattr(options, "json", False) else int(options.action(options))
    except UserError as error:
        _report(error.problems, arguments)
        return USER_ERROR
    except BrokenPipeError:  # the reader left early; something may not have been done
        discard_output()
        return UNREAD
    except OSError as error:
        # a full disk, a read-only file system, no permission
        _report([Problem(error.strerror or str(error), str(error.filename or "a file"))], arguments)
        return USER_ERROR
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C would change the exit status
        return INTERRUPTED
    print_lines()
    return status


def _start_as_program() -> None:
    """Complete a command line if the shell asks for it; end in order for signals, with their exit status."""
    import os

    if "_ARGCOMPLETE" in os.environ:
        from mpicampaign.cli.completion import complete

        complete()
    from mpicampaign.execution.interrupts import end_in_order

    end_in_order()


def _json(options: argparse.Namespace) -> int:
    """The document of a subcommand on standard output, and nothing else there."""
    from contextlib import redirect_stdout

    from mpicampaign.cli.json_output import document

    with redirect_stdout(sys.stderr):
        status, data = options.as_data(options)
    print_lines(document(options.command, status, data))
    return int(status)


def _report(problems: Sequence[Problem], arguments: Sequence[str]) -> None:
    """Print errors: as text on standard error, with ``--json`` as a document on standard output."""
    if "--json" in arguments:
        from mpicampaign.cli.json_output import document

        command = arguments[0] if arguments[0] in COMMANDS else None
        print_lines(document(command, USER_ERROR, {}, problems))
        return
    heading = "mpicampaign: " + ("" if len(problems) == 1 else f"{len(problems)} errors\n")
    print(heading + "\n".join(map(str, problems)), file=sys.stderr)
