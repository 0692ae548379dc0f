"""A machine that is plainly not quiet, known from the first runs of a call, and what the call leaves out.

This is a property of the call, not of the results: the next call makes on a quiet machine what is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.records import DISTURBED, NOT_JUDGED, RANKED, Case
from mpicampaign.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mpicampaign.jobs.run import Run

FIRST, PLAIN = 10, 8  # of the first ten runs that were judged, eight disturbed ones
REPEATS = 3  # of a case, that a busy machine makes
LEFT_OUT = 4  # exit status of the process with Snakemake: nothing failed, but runs were left out
HELP = f"a quiet machine, an exclusive node, or busy_machine: {RANKED} in the campaign file"


class Call:
    """What a call has found out about its machine.

    ``left_out``: whether it leaves runs to a later call. ``failed``: whether a further repeat has failed that
    Snakemake does not know. ``reports``: whether Snakemake makes the report.
    """

    def __init__(self) -> None:
        self._judged: list[str] = []
        self.left_out = self.failed = False
        self.reports = True

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

    def text(self, where: str, process: str) -> str:
        """What the call says of it, once.

        ``where``: ``this machine is`` or ``the nodes are``. ``process``: what takes the CPU, or empty.
        """
        of = f"{self.disturbed} of the first {len(self._judged)} runs were disturbed"
        taken = f": {process}" if process else ""
        return f"{where} busy: {of}{taken}; disturbed runs are not repeated now; what helps: {HELP}"


THIS_CALL = Call()  # the process with Snakemake makes one call


def is_left_out(run: Run) -> bool:
    """Whether a busy machine does not make a run, however short it is."""
    return run.further or run.repeat > REPEATS


def fitting(due: Iterable[Run], expected: Callable[[Run], float], seconds: float) -> set[str]:
    """The jobs of the runs that fit into the time left: first repeats first, then short ones.

    Parameters
    ----------
    due : runs on this machine that have not begun
    expected : how long a run takes (s)
    seconds : the time left
    """
    names = set()
    for _, time, job in sorted((each.repeat, expected(each), each.job_name) for each in due):
        if time <= seconds:
            seconds -= time
            names.add(job)
    return names


LATER = "no further repeats now, since time_when_busy is over: the same command makes them"


def left_out_text(left: Iterable[Run], where: str = "this machine is") -> str:
    """One line on the runs that a later call makes, further repeats of disturbed ones among them."""
    further, planned = 0, dict[Case, list[int]]()
    for run in left:
        further += run.further
        if not run.further:
            planned.setdefault(run.case, []).append(run.repeat)
    partly = [sorted(repeats) for repeats in planned.values() if min(repeats) > 1]
    parts = [f"{_repeats(partly)} of {counted(len(partly), 'case')}"] if partly else []
    wholly = [case for case, repeats in planned.items() if min(repeats) == 1]
    parts += [f"{benchmark} ({', '.join(placements)})" for benchmark, placements in _by_benchmark(wholly)]
    parts += [f"further repeats of {counted(further, 'disturbed run')}"] if further else []
    later = "the same command makes them when it is quieter"
    return f"not run since {where} busy: {'; '.join(parts)}; {later}"


def _repeats(of_cases: Sequence[Sequence[int]]) -> str:
    """``repeats 4 to 6``, or ``some of repeats 2 to 6`` where the cases differ."""
    first, last = min(repeats[0] for repeats in of_cases), max(repeats[-1] for repeats in of_cases)
    some = "" if all(repeats == of_cases[0] for repeats in of_cases) else "some of "
    return f"{some}repeat {first}" if first == last else f"{some}repeats {first} to {last}"


def _by_benchmark(cases: Iterable[Case]) -> Iterable[tuple[str, list[str]]]:
    placements_of: dict[str, dict[str, None]] = {}
    for case in cases:
        placements_of.setdefault(case.benchmark, {})[case.placement] = None
    return [(benchmark, list(placements)) for benchmark, placements in placements_of.items()]
