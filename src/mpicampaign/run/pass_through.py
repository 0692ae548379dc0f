"""Runs a command as if nothing were between it and the caller, and keeps what it printed."""

from __future__ import annotations

import fcntl
import os
import pty
import selectors
import signal
import subprocess
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from mpicampaign.base.interrupts import SIGNALS

STDOUT, STDERR = 1, 2
MOST = 32 << 20  # bytes of a stream that are kept
SECONDS_OF_SILENCE = 1.0  # of what a command left behind, which may hold its streams open


class Passed(NamedTuple):
    """The exit status, as shells count, and the output; None where it was too long to be kept."""

    status: int
    out: str | None
    err: str | None


def pass_through(command: Sequence[str], out: int = STDOUT) -> Passed:
    """Run a command with our standard input; its output goes to ``out`` and to our standard error.

    Bytes are passed on as they come. Where ours is a terminal, so is the command's: it would hold back its
    lines else.
    """
    ends = [_channel(ours) for ours in (out, STDERR)]
    process = subprocess.Popen(command, stdout=ends[0][1], stderr=ends[1][1])
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in (number for number in SIGNALS if before[number] is not signal.SIG_IGN):
        signal.signal(number, lambda number, _: _pass_on(process, number))
    for _, writing in ends:
        os.close(writing)
    streams = {reading: _CopiedStream(ours) for (reading, _), ours in zip(ends, (out, STDERR), strict=True)}
    _copy(process, streams)
    status = process.wait()
    for number in SIGNALS:
        signal.signal(number, before[number])
    printed = [stream.text for stream in streams.values()]
    return Passed(status if status >= 0 else 128 - status, *printed)


class _CopiedStream:
    """One of our streams, with what was passed on to it."""

    def __init__(self, ours: int) -> None:
        self._ours = ours
        self._kept = bytearray()

    @property
    def text(self) -> str | None:
        """All of it; None where it was too long to be kept."""
        return self._kept.decode(errors="replace") if len(self._kept) < MOST else None

    def pass_on(self, reading: int) -> bool:
        """Pass on what there is; whether more may come. Once our reader left, the command's writing fails."""
        try:
            read = unwritten = os.read(reading, 1 << 16)
            while unwritten:
                unwritten = unwritten[os.write(self._ours, unwritten) :]
        except OSError:  # a terminal or a pipe without its other end
            return False
        self._kept += read[: MOST - len(self._kept)]
        return bool(read)


def _channel(ours: int) -> tuple[int, int]:
    """Two ends, of a terminal of the same size where ours is one: it changes no bytes, as ours does that."""
    if not os.isatty(ours):
        return os.pipe()
    reading, writing = pty.openpty()
    with suppress(OSError, termios.error):
        modes = termios.tcgetattr(writing)
        modes[1] &= ~termios.OPOST
        termios.tcsetattr(writing, termios.TCSANOW, modes)
        fcntl.ioctl(writing, termios.TIOCSWINSZ, fcntl.ioctl(ours, termios.TIOCGWINSZ, bytes(8)))
    return reading, writing


def _pass_on(process: subprocess.Popen[bytes], number: int) -> None:
    """Ctrl-C reaches the command by itself; a second one would have launchers kill their ranks at once."""
    if number == signal.SIGINT and _is_in_foreground():
        return
    with suppress(ProcessLookupError):
        process.send_signal(number)


def _is_in_foreground() -> bool:
    try:
        with open("/dev/tty", "rb") as terminal:  # noqa: PTH123 - a device
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False


def _copy(process: subprocess.Popen[bytes], streams: Mapping[int, _CopiedStream]) -> None:
    """Until the streams end; or the command has, and nobody prints any more."""
    with selectors.DefaultSelector() as selector:
        for reading in streams:
            selector.register(reading, selectors.EVENT_READ)
        while selector.get_map():
            ready = [key.fd for key, _ in selector.select(SECONDS_OF_SILENCE)]
            closed = [descriptor for descriptor in ready if not streams[descriptor].pass_on(descriptor)]
            if not ready and process.poll() is not None:
                closed = [key.fd for key in selector.get_map().values()]
            for reading in closed:
                selector.unregister(reading)
                os.close(reading)
