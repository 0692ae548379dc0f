"""The exit status of every subcommand: the numbers, and what they mean. No other module has one."""

from __future__ import annotations

DONE = 0
FAILED = 1
USER_ERROR = 2
UNDECIDED = 3
INTERRUPTED = 130  # SIGINT, as shells count
TERMINATED = 143  # SIGTERM
UNREAD = 141  # SIGPIPE

MEANINGS = {
    DONE: "done",
    FAILED: "something failed, such as a run (run, status, tick), a limit (judge) or a label (prove); run: "
    "no value counts",
    USER_ERROR: "error in the call or in a file that it names; nothing was run",
    UNDECIDED: "judge: undecided, or no limit to propose; prove: the label is not proved",
    INTERRUPTED: "interrupted by Ctrl-C (SIGINT)",
    UNREAD: "the reader of the output stopped before its end (SIGPIPE)",
    TERMINATED: "ended by SIGTERM",
}
