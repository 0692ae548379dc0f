"""What was done with a scheduler for the runs of a campaign: submissions.txt, one line each time.

A line is a time (UTC), the identity of the run, and what was done: ``submitting`` before the scheduler
is asked, then ``submitted ID``; ``adopted ID``; ``again after REASON``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SUBMISSIONS = "submissions.txt"
SUBMITTING = "submitting"


def read_submissions(file: Path) -> dict[str, list[str]]:
    """What was done, by the identity of the run, in the order of time."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    found: dict[str, list[str]] = {}
    for parts in (line.split(" ", 2) for line in lines):
        if len(parts) == 3:
            found.setdefault(parts[1], []).append(parts[2])
    return found


def submissions_words(done: Sequence[str]) -> str:
    """How often a run was handed to a scheduler, and why more than once; empty where it never was."""
    count = sum(words.startswith(("submitted ", "adopted ")) for words in done)
    again = [words for words in done if words.startswith("again ")]
    return ", ".join([str(count), *again]) if count else ""
