"""Start-up: how long the ranks of a run took from their launch to the end of MPI_Init.

The job script recorded when it launched, each rank when its program and MPI_Init began and ended. Only the
wall clock is common to hosts, and it may differ between them: where a rank would have begun before it was
launched, or left MPI_Init after the launcher had ended, nothing but the time within MPI_Init is known.
"""

from __future__ import annotations

from typing import NamedTuple

from mpicampaign.evidence.evidence import Evidence

# Keys of a record's start-up: how many ranks it is of, and times (s) of the slowest one
RANKS, START_UP, MPI_INIT, LAUNCHER = "ranks", "start-up", "MPI_Init", "launcher"
_STEPS = 20_000  # us: the duration of the launch is counted in steps of 10 ms, at both ends


class _Moments(NamedTuple):
    """By a rank's wall clock (us): its program begins, MPI_Init begins, MPI_Init ends."""

    began: int
    init_began: int
    init_ended: int


def startup(evidence: Evidence) -> dict[str, float]:
    """The times (s) from launch to the end of MPI_Init, within it, and from launch to the program's begin.

    Empty where not all ranks recorded them, as in older evidence.
    """
    ranks = [_moments(seen.get("start.startup_us", "")) for seen in evidence.ranks.values()]
    known = [times for times in ranks if times]
    of_two_ranks = any(key.endswith(" start.startup_us") for key in evidence.repeated)
    if len(known) < len(ranks) or str(len(ranks)) != evidence.claim.get("ranks") or of_two_ranks:
        return {}
    times = {RANKS: len(known), MPI_INIT: max(times.init_ended - times.init_began for times in known) / 1e6}
    launched, took = (_number(evidence.job.get(key, "")) for key in ("launched_us", "launch_ms"))
    if launched and took:
        first, began, ended = (of(times[at] for times in known) for of, at in ((min, 0), (max, 0), (max, 2)))
        if launched <= first and ended <= launched + 1000 * took + _STEPS:
            times |= {START_UP: (ended - launched) / 1e6, LAUNCHER: (began - launched) / 1e6}
    return times


def _moments(text: str) -> _Moments | None:
    numbers = [_number(word) for word in text.split(" ")]
    return _Moments(*numbers) if len(numbers) == 3 and all(numbers) and sorted(numbers) == numbers else None


def _number(text: str) -> int:
    """A count of microseconds; 0 where the text is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 18 else 0
