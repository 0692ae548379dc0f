"""The exit status of every subcommand: the numbers, listed in docs/formats.md. No other module has one."""

from __future__ import annotations

DONE = 0
FAILED = 1
USER_ERROR = 2
UNDECIDED = 3
INTERRUPTED = 130  # SIGINT, as shells count
TERMINATED = 143  # SIGTERM
UNREAD = 141  # SIGPIPE
