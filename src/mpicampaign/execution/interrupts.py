"""One orderly end for Ctrl-C, SIGTERM and SIGHUP, sent once or twice, with the exit status of the signal."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_received: list[int] = []


def end_in_order() -> None:
    """Let each of the signals raise KeyboardInterrupt, the first time, and decide this process's exit status.

    Snakemake cleans up at a KeyboardInterrupt. Its own answer to SIGTERM is to finish all jobs that it handed
    over, which here are all there are. A signal that is ignored stays ignored: nohup does that for SIGHUP.
    """
    if threading.current_thread() is not threading.main_thread():
        return  # only that one may set handlers
    if sys.excepthook is not _without_traceback:
        sys.excepthook = _without_traceback
        atexit.register(_exit_as_signalled)
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def _interrupt(number: int, _: object) -> None:
    _received.append(number)
    if len(_received) == 1:  # pressed again, it would cut the end short
        raise KeyboardInterrupt


def _exit_as_signalled() -> None:
    if _received:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(128 + _received[0])


def _without_traceback(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, where)
