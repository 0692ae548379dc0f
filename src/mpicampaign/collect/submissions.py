"""The log of submissions to a scheduler, submissions.txt, one line for each action.

A line is a time (UTC), the identity of the run, and the action: ``submitting`` before the scheduler is
called, then ``submitted ID`` or ``refused``; ``adopted ID``; ``again after REASON``. If the last
action is ``submitting``, it is unknown whether the job was accepted.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

SUBMISSIONS = "submissions.txt"
SUBMITTING = "submitting"
REFUSED = "refused"
SUBMITTED, ADOPTED = "submitted", "adopted"  # with the job's id


def read_submissions(file: Path) -> dict[str, list[str]]:
    """The actions by the identity of the run, in the order of time."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    jobs: dict[str, list[str]] = {}
    for parts in (line.split(" ", 2) for line in lines):
        if len(parts) == 3:
            jobs.setdefault(parts[1], []).append(parts[2])
    return jobs


def submissions_text(actions: Sequence[str]) -> str:
    """How often a run was submitted, and why more than once; empty where it never was."""
    count = sum(action.startswith(("submitted ", "adopted ")) for action in actions)
    again = [action for action in actions if action.startswith("again ")]
    return ", ".join([str(count), *again]) if count else ""
