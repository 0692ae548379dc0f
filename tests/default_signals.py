"""Child processes with the default signal handling of a terminal.

Whoever starts pytest in the background of a non-interactive shell lets it inherit SIGINT and SIGQUIT
ignored, and so would its children: a shell cannot even trap them then.
"""

from __future__ import annotations

import signal
import subprocess
from typing import Any


def set_default_signals() -> None:
    """For a child, before it becomes its program."""
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def popen_with_default_signals(command: list[str], **options: Any) -> subprocess.Popen[Any]:
    """A process that can be interrupted, whatever its parent ignores."""
    return subprocess.Popen(command, preexec_fn=set_default_signals, **options)
