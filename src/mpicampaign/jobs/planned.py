"""What is due of a unit, as cases and runs of the plan."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from mpicampaign.base import plan_file
from mpicampaign.base.grouping import grouped
from mpicampaign.base.identity import run_path
from mpicampaign.base.records import Case, defined_name
from mpicampaign.jobs.drafts import Draft, oversubscribed
from mpicampaign.jobs.run import Run
from mpicampaign.schemes.due import due
from mpicampaign.schemes.unit import CaseDue, RepeatUnit, Results
from mpicampaign.suites import SUITES


@dataclass(slots=True)
class PlannedCase(plan_file.CaseEntry):
    """A case of the campaign, on any system; ``runs`` have all that is known of them if they are made here.

    ``absent``: why its program is not on this machine, one of the reasons of ``not_available``. ``addable``:
    how many more runs there may be, by the campaign. ``disturbed``: for how many runs further ones stand in.
    ``warnings``: what the runs may suffer from. ``whole``: of a member, the case of its host group.
    """

    absent: str = ""
    addable: int = 0
    disturbed: int = 0
    warnings: tuple[str, ...] = ()
    whole: Case | None = None

    @property
    def further(self) -> int:
        """How many further repeats there are."""
        return len(self.runs) - self.repeats

    def without(self, identities: Collection[str]) -> PlannedCase:
        """The case without these runs; with no other one nothing can be added."""
        runs = tuple(run for run in self.runs if run.identity not in identities)
        return replace(self, runs=runs, addable=self.addable if runs else 0)


def planned_case(unit: RepeatUnit[Draft], case: CaseDue[Draft], runs: Iterable[Run] = ()) -> PlannedCase:
    """The case with its repeats; ``runs``: where it is made here."""
    draft, design, members = case.candidate, unit.design, unit.entry.each
    return PlannedCase(
        draft.case,
        draft.benchmark.suite,
        draft.not_available,
        draft.job.line_rate,
        draft.job.group.core_peak,
        draft.identities.declared,
        tuple(runs) or case.repeats,
        oversubscribed(draft.job),
        draft.job.group.attributes,
        draft.reading,
        draft.kept if draft.kept != draft.case else None,
        design.name if design else "",
        design.compared if design else "",
        members.unit if members else "",
        members.tolerance if members else 0.0,
        draft.benchmark.scaling,
        unit.decided_with
        and (f"{design.name} {defined_name(draft.case.benchmark)}" if design else unit.decided_with),
        absent=draft.program.not_available,
        addable=case.addable,
        disturbed=case.disturbed,
        warnings=tuple(SUITES[draft.benchmark.suite].warns(draft.request)),
        whole=draft.whole,
    )


def planned_runs(unit: RepeatUnit[Draft], case: CaseDue[Draft], tried: Collection[str] = ()) -> list[Run]:
    """The runs of a case that this machine makes, also those that it made.

    ``tried``: identities that are left out, as to make thousands takes time.
    """
    draft = case.candidate
    return [
        Run(
            draft=draft,
            repeat=entry.repeat,
            row=case.rows.get(entry.repeat, entry.repeat),
            stands_in=entry.repeat in case.stand_ins,
            identity=entry.identity,
            further=entry.further,
            left=entry.left,
            closed=case.closes(entry.repeat),
            round=entry.round,
            block=unit.design.name if unit.design else "",
        )
        for entry in (case.repeats if draft.is_made_here else ())
        if entry.repeat not in case.skipped and entry.identity not in tried
    ]


def runs_due(unit: RepeatUnit[Draft], results: Results, tried: Collection[str]) -> list[Run]:
    """The runs of a unit by its results, without those that were ``tried``."""
    cases = due(unit, results).cases
    if not unit.design:
        return [run for case in cases for run in planned_runs(unit, case, tried)]
    runs = with_parts(run for case in cases for run in planned_runs(unit, case))
    return [run for run in runs if run.identity not in tried]


def with_parts(runs: Iterable[Run]) -> list[Run]:
    """The runs; those in blocks with the folders of the candidates beside them."""
    in_blocks = grouped(runs, lambda run: bool(run.block))
    placed = in_blocks.get(False, [])
    blocks = grouped(
        in_blocks.get(True, []), lambda run: (run.block, run.repeat, defined_name(run.case.benchmark))
    )
    for beside in blocks.values():
        folders = tuple(run_path(run.kept, run.repeat, run.identity) for run in beside)
        placed += [replace(run, part=folders) for run in beside]
    return placed
