"""The condition of results on disk, which planning needs for further repeats."""

from __future__ import annotations

from dataclasses import replace
from os.path import exists
from typing import TYPE_CHECKING

from mpicampaign.identity import identity
from mpicampaign.jobs.prepare import ThisMachine, prepare
from mpicampaign.records import DISTURBED
from mpicampaign.selection import ALL_RUNS
from mpicampaign.verdict.condition import condition, may_be_disturbed
from mpicampaign.verdict.evidence import read_evidence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

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
