"""The condition of results on disk, which planning needs for further repeats."""

from __future__ import annotations

from dataclasses import replace
from os.path import exists
from typing import TYPE_CHECKING

from mpicampaign.identity import identity
from mpicampaign.jobs.prepare import ThisMachine, prepare
from mpicampaign.records import DISTURBED, OK, ROUND_TRIP, Record
from mpicampaign.selection import ALL_RUNS
from mpicampaign.verdict.condition import condition, may_be_disturbed
from mpicampaign.verdict.evidence import read_evidence
from mpicampaign.verdict.machine_state import probes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from mpicampaign.jobs.further import Repeated
    from mpicampaign.jobs.prepare import Prepared
    from mpicampaign.jobs.run import Run
    from mpicampaign.records import Case
    from mpicampaign.selection import RunSelection

ANY_OTHER = "any other"


def condition_of(folder: Path) -> str:
    """``disturbed`` where the result in a run's folder says so, ``any other``, or empty without a result.

    Each planning asks this of all results, so that evidence without any wait is not parsed.
    """
    try:
        # a Path takes longer than the reading
        with open(f"{folder}/result/evidence.txt", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            text = file.read()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        text = ""
    if may_be_disturbed(text) and condition(read_evidence(text))[0] == DISTURBED:
        known = DISTURBED
    else:
        known = ANY_OTHER
    return known if exists(f"{folder}/result/output.txt") else ""  # noqa: PTH110


class MachineWithResults(ThisMachine):
    """This machine, with what the results in the campaign's folder say."""

    def condition_of(self, case: Case, repeat: int, identity: str) -> str:
        return condition_of(self.run_folder(case, repeat, identity))

    def is_known(self, case: Case, suite: str, identities: Sequence[str]) -> bool:
        from mpicampaign.collect.runs import RunFolder, read_run
        from mpicampaign.compare.stopping import is_known

        repeats = enumerate(identities, start=1)
        folders = (RunFolder(self.run_folder(case, number, named), number) for number, named in repeats)
        return is_known([read_run(case, suite, folder) for folder in folders])

    def blocks(self, cases: Sequence[Repeated]) -> dict[Case, int]:
        """Whole blocks: when the last one is made, the next one follows while a case lacks repeats there.

        Cases without any probed run, such as those that cannot be run here, take no part.
        """
        from mpicampaign.compare.states import find_states

        made = max((self._further_begun(each) for each in cases), default=0)
        runs = {each.case: self._ended_runs(each, made) for each in cases}
        part = [each for each in cases if any(ROUND_TRIP in run.probes for run in runs[each.case])]
        whole = all(len(runs[each.case]) == each.planned + min(made, each.limit) for each in part)
        if not (made or whole):
            return {}
        states = find_states([run for each in part for run in runs[each.case]])
        if not states.names:
            return {}
        lacks = any(
            sum(run.counts and states.name_of(run) == states.headline for run in runs[each.case])
            < each.planned
            and made < each.limit
            for each in part
        )
        return {each.case: min(made + (whole and lacks), each.limit) for each in part}

    def _further_begun(self, each: Repeated) -> int:
        """The number of the last further repeat that was begun."""
        numbers = range(each.limit, 0, -1)
        begun = (
            n for n in numbers if self.begun(each.case, each.planned + n, each.identity_of(each.planned + n))
        )
        return next(begun, 0)

    def _ended_runs(self, each: Repeated, further: int) -> list[Record]:
        """The runs that have a result, with what their evidence says of the machine alone."""
        from mpicampaign.collect.runs import evidence_in

        found = []
        for number in range(1, each.planned + min(further, each.limit) + 1):
            folder = self.run_folder(each.case, number, each.identity_of(number))
            state = condition_of(folder)
            if not state:
                continue
            evidence = evidence_in(folder / "result")
            found.append(
                Record(
                    each.case,
                    "",
                    number,
                    OK,
                    started=evidence.job.get("started", ""),
                    condition=state,
                    probes=probes(evidence),
                    further=number > each.planned,
                )
            )
        return found


def prepare_with_results(
    campaign_file: Path,
    system: str = "",
    results: Path | None = None,
    selection: RunSelection = ALL_RUNS,
) -> Prepared:
    """As `prepare`, with the further repeats that the results on disk ask for, and the selection of a call.

    Raises
    ------
    UserError
        as `prepare`, and where the selection names what the campaign has not.
    """
    prepared = prepare(campaign_file, system, results, MachineWithResults)
    runs = ((planned.case, run.repeat) for planned in prepared.plan.cases for run in planned.runs)
    selection.check(runs, prepared.campaign.file)
    return replace(prepared, selection=selection)


def further_of(cases: Collection[str], pending: Iterable[Run]) -> list[Run]:
    """The pending further repeats of ``cases`` (see `case_of`), of none that is now declared otherwise."""
    return [each for each in pending if each.further and case_of(each) in cases]


def case_of(run: Run) -> str:
    """The same for all repeats of what is declared of a run."""
    return identity({**run.declared, "repeat": 0})
