"""A machine that is plainly not quiet, known from the last runs of a call, and what the call leaves out.

This is a property of the call, not of the results: the next call makes on a quiet machine what is missing.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import DISTURBED, NOT_JUDGED, RANKED
from mpicampaign.base.text import counted

if TYPE_CHECKING:
    from mpicampaign.jobs.run import Run

LAST, PLAIN = 10, 8  # of the last ten runs that were judged, eight disturbed or quiet ones
REPEATS = 3  # of a case, that a busy machine makes
HELP = f"a quiet machine, an exclusive node, or busy_machine: {RANKED} in the campaign file"
_PROCESS = re.compile(r"(?P<name>.+) \(pid (?P<pid>[0-9]+), uid (?P<uid>[0-9]+)\) used .*")
_WINDOW, _LEAST_TICKS = 0.5, 5  # s, and CPU time within it


class Busyness:
    """Whether the machine of a call is plainly not quiet, by the conditions of its last runs.

    It is from when eight of them were disturbed until eight were quiet. Runs too short to be judged say
    nothing.
    """

    def __init__(self) -> None:
        self._judged = deque[str](maxlen=LAST)
        self.is_busy = False

    def add(self, condition: str) -> None:
        """Add the condition of a run that has ended."""
        if condition != NOT_JUDGED:
            self._judged.append(condition)
        quiet = len(self._judged) - self._disturbed
        self.is_busy = quiet < PLAIN if self.is_busy else self._disturbed >= PLAIN

    @property
    def _disturbed(self) -> int:
        return self._judged.count(DISTURBED)

    def text(self, where: str, process: str) -> str:
        """The message of the call when the machine has become busy, or quiet again.

        ``where``: ``this machine is`` or ``the nodes are``. ``process``: what takes the CPU, or empty.
        """
        last = len(self._judged)
        if not self.is_busy:
            quiet = f"{last - self._disturbed} of the last {last} runs were"
            return f"{where} quiet again: {quiet}; what was left out is made"
        of = f"{self._disturbed} of the last {last} runs were disturbed"
        taken = f": {process}" if process else ""
        return f"{where} busy: {of}{taken}; disturbed runs are not repeated now; what helps: {HELP}"


def still_running(processes: Sequence[str]) -> str:
    """The last of the processes that evidence names which is on this machine and takes CPU time; or empty."""
    before = {process: ticks for process in reversed(processes) if (ticks := _ticks(process)) is not None}
    if before:
        sleep(_WINDOW)
    return next(
        (process for process in before if (_ticks(process) or 0) - before[process] >= _LEAST_TICKS), ""
    )


def _ticks(process: str) -> int | None:
    """The CPU time of a process so far; None where it has gone, or its number is that of another."""
    if not (named := _PROCESS.fullmatch(process)):
        return None
    folder = Path("/proc", named["pid"])
    try:
        name, _, fields = (folder / "stat").read_text(errors="replace").partition("(")[2].rpartition(")")
        owner = folder.stat().st_uid
    except OSError:
        return None
    if (name, str(owner)) != (named["name"], named["uid"]):
        return None
    user, system = fields.split()[11:13]
    return int(user) + int(system)


def is_left_out(run: Run) -> bool:
    """Whether a busy machine does not make a run, however short it is."""
    return run.further or run.row > REPEATS


def fitting(due: Iterable[Run], expected: Callable[[Run], float], seconds: float) -> set[str]:
    """The jobs of the runs that fit into the time left: first repeats first, then short ones.

    Parameters
    ----------
    due : runs on this machine that have not begun
    expected : how long a run takes (s)
    seconds : the time left
    """
    names = set()
    for _, time, job in sorted((run.row, expected(run), run.job_name) for run in due):
        if time <= seconds:
            seconds -= time
            names.add(job)
    return names


LATER = "no further repeats now, since time_when_busy is used up: the same command makes them"


def left_out_text(postponed: Iterable[Run], where: str = "this machine is") -> str:
    """One line on the runs that a later call makes, further repeats of disturbed ones among them."""
    runs = list(postponed)
    further_repeats = sum(run.further for run in runs)
    of_cases = grouped((run for run in runs if not run.further), lambda run: run.case)
    planned = {case: [run.repeat for run in of_case] for case, of_case in of_cases.items()}
    partly = [sorted(repeats) for repeats in planned.values() if min(repeats) > 1]
    parts = [f"{_repeats(partly)} of {counted(len(partly), 'case')}"] if partly else []
    wholly = grouped(
        (case for case, repeats in planned.items() if min(repeats) == 1), lambda case: case.benchmark
    )
    placements = {name: dict.fromkeys(case.placement for case in cases) for name, cases in wholly.items()}
    parts += [f"{benchmark} ({', '.join(names)})" for benchmark, names in placements.items()]
    parts += [f"further repeats of {counted(further_repeats, 'disturbed run')}"] if further_repeats else []
    later = "the same command makes them when it is quieter"
    return f"not run since {where} busy: {'; '.join(parts)}; {later}"


def _repeats(of_cases: Sequence[Sequence[int]]) -> str:
    """``repeats 4 to 6``, or ``some of repeats 2 to 6`` where the cases differ."""
    first, last = min(repeats[0] for repeats in of_cases), max(repeats[-1] for repeats in of_cases)
    some = "" if all(repeats == of_cases[0] for repeats in of_cases) else "some of "
    return f"{some}repeat {first}" if first == last else f"{some}repeats {first} to {last}"
