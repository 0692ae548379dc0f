"""Results that do not stand are moved to their run's attempts, so that the run is made again."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from mpicampaign.collect.runs import unusable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpicampaign.jobs.prepare import Script


def set_aside(script: Script) -> None:
    """Move a result to the attempts, whole; nothing of it is lost, and its run is to be done again."""
    attempts = script.folder / "attempts"
    attempts.mkdir(exist_ok=True)
    # attempts are read in the order of their names, which begin with the time
    stamp = max((path.name[:16] for path in attempts.iterdir()), default="0")
    script.output.parent.rename(attempts / f"{stamp}-z-set-aside-{uuid.uuid4().hex[:8]}")


def set_aside_unusable(scripts: Iterable[Script]) -> list[str]:
    """Set aside what a call before, or a person, left and what does not stand; a line for each.

    Results are there by one rename, so that a job that ends meanwhile is not disturbed.
    """
    lines = []
    for script in scripts:
        if not script.output.exists():
            continue
        reason = unusable(script.run.benchmark.suite, script.output.parent)
        if reason:
            set_aside(script)
            lines.append(f"to be run again: {script.label}: {reason}")
    return lines
