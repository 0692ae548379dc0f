"""The command line. Before Ctrl-C ends a call without a traceback, nothing is imported: see `call`."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal imports more


def main(arguments: list[str] | tuple[str, ...] | None = None) -> int:
    """Run one subcommand. Errors of the user are reported without a traceback.

    ``arguments``: of the call; ``None``: those of this process, whose signals are then handled, too.
    """
    if arguments is None and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # imports have nothing to clean up
    from mpicampaign.cli.call import call

    return call(arguments)
