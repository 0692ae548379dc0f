"""One orderly end for Ctrl-C, SIGTERM and SIGHUP, sent once or twice, with the signal's exit status."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_received: list[int] = []
_passes_on: list[bool] = []  # whether our children get the signal, too


def end_in_order(*, pass_on: bool = False) -> None:
    """Make the first of these signals raise KeyboardInterrupt and set this process's exit status.

    A signal that is ignored stays ignored, as with nohup. ``pass_on``: our children get it, too. Snakemake
    waits for its commands: a signal to it alone would be heeded when the last run has ended.
    """
    _passes_on[:] = [True] * pass_on
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may set handlers
    if sys.excepthook is not _without_traceback:
        sys.excepthook = _without_traceback
        atexit.register(_exit_as_signalled)
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # some daemons ignore it: then all children seem to succeed


def end_at_once() -> None:
    """Let these signals end this process without a word: there is nothing to clean up, yet or any more."""
    _handle(signal.SIG_DFL)


def end_quietly() -> None:
    """Let these signals end this process, a copy of another one, without a word, but no file half written."""
    _handle(_leave)


def _handle(how: Callable[[int, object], None] | signal.Handlers) -> None:
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, how)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def _leave(*_: object) -> None:
    _handle(signal.SIG_IGN)  # a second one would interrupt the clean-up
    sys.exit()


def _interrupt(number: int, _: object) -> None:
    _received.append(number)
    for child in _children() if _passes_on else ():
        with suppress(OSError):
            os.kill(child, number)
    if len(_received) == 1:  # a second one would interrupt the clean-up
        raise KeyboardInterrupt


def _children() -> list[int]:
    """The process ids of our children, by the kernel's list of processes."""
    children = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            parent = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1]
            children += [int(stat.parent.name)] * (int(parent) == os.getpid())
    return children


def signalled() -> int:
    """The exit status for the first of these signals that came; 0 where none did."""
    return 128 + _received[0] if _received else 0


def _exit_as_signalled() -> None:
    if status := signalled():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _without_traceback(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, where)
