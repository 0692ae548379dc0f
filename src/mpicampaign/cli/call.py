"""One call of a subcommand, its errors and its exit status.

Each subcommand is a module of this folder, loaded only when called. It has ``run``, ``EXAMPLES``, and
``add_arguments``. With ``--json``, ``as_data`` takes the place of ``run``.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import sys
from collections.abc import Sequence

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.files import keep_others_out, system_error_text
from mpicampaign.base.interrupts import end_at_once, end_in_order
from mpicampaign.cli.exit_status import INTERRUPTED, UNREAD, USER_ERROR
from mpicampaign.cli.output import discard_output, print_lines, say
from mpicampaign.cli.parser import COMMANDS, command_parser

_GC_THRESHOLD = 1_000_000  # objects: a call leaves next to no garbage


def call(arguments: Sequence[str] | None) -> int:
    """Run one subcommand; see `mpicampaign.cli.main`."""
    if arguments is not None:
        return _call(arguments)
    _start_as_program()
    try:
        return _call(sys.argv[1:])
    finally:
        end_at_once()  # nothing is left to clean up


def _call(arguments: Sequence[str]) -> int:
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
        _report([Problem(system_error_text(error))], arguments)
        discard_output()  # not written so far, and Python would try again
        return USER_ERROR
    except KeyboardInterrupt:
        return INTERRUPTED
    print_lines()
    return status


def _start_as_program() -> None:
    """Complete a command line if the shell asks for it; end in order for signals, with their exit status."""
    import os

    if "_ARGCOMPLETE" in os.environ:
        from mpicampaign.cli.completion import complete

        complete()
    end_in_order()
    keep_others_out()
    gc.set_threshold(_GC_THRESHOLD)
    atexit.register(gc.freeze)  # at its end, Python would look through all objects for garbage


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
    own_arguments = arguments[: [*arguments, "--"].index("--")]  # not those of a command that follows
    if "--json" in own_arguments:
        from mpicampaign.cli.json_output import document

        command = arguments[0] if arguments[0] in COMMANDS else None
        print_lines(document(command, USER_ERROR, {}, problems))
        return
    heading = "mpicampaign: " + ("" if len(problems) == 1 else f"{len(problems)} errors\n")
    say(heading + "\n".join(map(str, problems)))
