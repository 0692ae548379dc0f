"""A machine that is plainly not quiet, known from the first runs of a call, and what the call leaves out.

This is a property of the call, not of the results: the next call makes on a quiet machine what is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.records import DISTURBED, NOT_JUDGED, RANKED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from mpicampaign.jobs.prepare import Script
    from mpicampaign.records import Case

FIRST, PLAIN = 10, 8  # of the first ten runs that were judged, eight disturbed ones
REPEATS = 3  # of a case, that a busy machine makes
LEFT_OUT = 4  # exit status of the process with Snakemake: nothing failed, but runs were left out
HELP = f"a quiet machine, an exclusive node, or busy_machine: {RANKED} in the campaign file"


class Call:
    """What a call has found out about its machine.

    ``left_out``: whether it leaves runs to a later call. ``failed``: whether a further repeat has failed that
    Snakemake does not know.
    """

    def __init__(self) -> None:
        self._judged: list[str] = []
        self.left_out = self.failed = False

    def add(self, condition: str) -> None:
        """Add the condition of a run that has ended."""
        if condition != NOT_JUDGED and len(self._judged) < FIRST:
            self._judged.append(condition)

    @property
    def disturbed(self) -> int:
        """How many of the first runs were disturbed."""
        return self._judged.count(DISTURBED)

    @property
    def is_busy(self) -> bool:
        """Whether the machine is plainly not quiet."""
        return self.disturbed >= PLAIN

    def text(self, process: str) -> str:
        """What the call says of it, once; ``process``: what takes the CPU, or empty."""
        of = f"{self.disturbed} of the first {len(self._judged)} runs were disturbed"
        taken = f": {process}" if process else ""
        return f"this machine is busy: {of}{taken}; disturbed runs are not repeated now; what helps: {HELP}"


THIS_CALL = Call()  # the process with Snakemake makes one call


def to_leave_out(due: Iterable[Script], expected: Callable[[Script], float], seconds: float) -> list[Script]:
    """The runs that a busy machine does not make now.

    Further repeats and those beyond `REPEATS`; then the longest cases, until the others fit into the time.

    Parameters
    ----------
    due : runs on this machine that have not begun
    expected : how long a run takes (s)
    seconds : the time left
    """
    kept: dict[Case, list[Script]] = {}
    left = []
    for script in due:
        if script.run.further or script.run.repeat > REPEATS:
            left.append(script)
        else:
            kept.setdefault(script.run.case, []).append(script)
    times = {case: sum(map(expected, scripts)) for case, scripts in kept.items()}
    for case in sorted(times, key=times.__getitem__):
        seconds -= times[case]
        left += kept[case] if seconds < 0 else []
    return left


def left_out_text(left: Collection[Script]) -> str:
    """One line on the runs that a later call makes, further repeats of disturbed ones among them."""
    skipped = dict.fromkeys(s.run.case for s in left if not s.run.further and s.run.repeat <= REPEATS)
    repeats = [s for s in left if not s.run.further and s.run.case not in skipped]
    parts = []
    if repeats:
        numbers = sorted({s.run.repeat for s in repeats})
        named = f"s {numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else f" {numbers[0]}"
        parts.append(f"repeat{named} of {_count(len({s.run.case for s in repeats}), 'case')}")
    parts += [f"{benchmark} ({', '.join(placements)})" for benchmark, placements in _by_benchmark(skipped)]
    further = sum(s.run.further for s in left)
    parts += [f"further repeats of {_count(further, 'disturbed run')}"] if further else []
    later = "the same command makes them when it is quieter"
    return f"not run since this machine is busy: {'; '.join(parts)}; {later}"


def _by_benchmark(cases: Iterable[Case]) -> Iterable[tuple[str, list[str]]]:
    found: dict[str, dict[str, None]] = {}
    for case in cases:
        found.setdefault(case.benchmark, {})[case.placement] = None
    return [(benchmark, list(placements)) for benchmark, placements in found.items()]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
