"""Commands of a scheduler, without variables of our shell that would change what they do, or MPI in a job."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from mpicampaign.base.commands import CommandResult, call
from mpicampaign.base.this_machine import allocation
from mpicampaign.base.yaml_lines import printable
from mpicampaign.mpis import places, steers
from mpicampaign.schedulers import BatchScheduler

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpicampaign.schedulers import Scheduler

_NAMED = 6  # variables; more are counted


def caller(scheduler: BatchScheduler) -> Callable[..., CommandResult]:
    """`commands.call` for the commands of this scheduler."""
    return partial(call, without=lambda variable: scheduler.ignores(variable) or steers(variable))


def ignored_lines(scheduler: Scheduler) -> list[str]:
    """One line that names the variables of our shell that do not count; empty where there are none.

    Those that an allocation around us set are of no interest to anybody.
    """
    queue = scheduler if isinstance(scheduler, BatchScheduler) else None
    kept, outer = places(), allocation()
    ignored = [
        name
        for name in sorted(os.environ)
        if (steers(name) and name not in kept) or (queue and queue.ignores(name))
        if not (outer and name.startswith(outer.variables))
    ]
    if not ignored:
        return []
    more = f" and {len(ignored) - _NAMED} more" if len(ignored) > _NAMED else ""
    names = ", ".join(map(printable, ignored[:_NAMED])) + more
    return [f"ignored from your shell: {names}; put what you want into the campaign file"]
