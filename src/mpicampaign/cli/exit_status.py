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
    FAILED: "something failed: a run (run, tick, status), every value (run), a limit (judge), a label "
    "(prove), a pattern (try), a merged series (history --merge), a part of a bundle (bundle, merge)",
    USER_ERROR: "error in the call or in a file that it names, no run that this machine can make, or an "
    "import without any run; nothing was run",
    UNDECIDED: "judge: undecided, or no limit to propose; prove: the label is not proved",
    INTERRUPTED: "interrupted by Ctrl-C (SIGINT)",
    UNREAD: "the reader of the output stopped before its end (SIGPIPE)",
    TERMINATED: "ended by SIGTERM",
}
