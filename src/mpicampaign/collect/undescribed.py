"""Results that the current campaign file does not describe: which ones, and what differs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from glob import iglob
from pathlib import Path

from mpicampaign.base.grouping import grouped
from mpicampaign.base.identity import differences, run_path
from mpicampaign.base.plan_file import CaseEntry, PlanFile, case_of
from mpicampaign.base.records import Case
from mpicampaign.base.text import counted, repeats_text
from mpicampaign.collect.runs import evidence_in

_OUTPUT = "result/output.txt"
NO_CASE = "the campaign has no such case"


def undescribed_lines(plan: PlanFile, folder: Path) -> list[str]:
    """Text on the results that are not in the plan; empty where there are none."""
    reasons = undescribed(plan, folder)
    lines = [f"  {reason} ({_named(of_cases)})" for reason, of_cases in reasons.items()]
    if lines:
        count = sum(len(repeats) for of_cases in reasons.values() for repeats in of_cases.values())
        lines.insert(0, f"{counted(count, 'result')} that the campaign no longer describes:")
    return lines + _earlier(folder)


def undescribed(plan: PlanFile, folder: Path) -> dict[str, dict[str, list[int]]]:
    """The repeats of the results that are not in the plan, by what differs and by their case."""
    cases = grouped(plan.cases, lambda entry: entry.kept)
    described = {run_path(entry.kept, run.repeat, run.identity) for entry in plan.cases for run in entry.runs}
    reasons: dict[str, dict[str, list[int]]] = {}
    pattern = f"runs/*/*/*/r*-*/{_OUTPUT}"
    outputs = iglob(pattern, root_dir=folder, include_hidden=True)  # noqa: PTH207 - Paths take twice as long
    runs = {path.removesuffix(f"/{_OUTPUT}") for path in outputs}
    for run in sorted(map(Path, runs - described)):
        if reason := _reason(evidence_in(folder / run / "result").claim, cases):
            repeats = reasons.setdefault(reason, {}).setdefault(" ".join(run.parts[1:4]), [])
            repeats.append(int(run.name[1:].partition("-")[0]))
    return reasons


def _reason(claim: Mapping[str, str], cases: Mapping[Case, Sequence[CaseEntry]]) -> str:
    """What differs from the case of its names; where lists make several of them, from the most alike.

    Empty where it is a run of the plan under an earlier name, such as that of a merged bundle.
    """
    try:
        declared = json.loads(claim["declared"])
        case = case_of(declared)
    except (KeyError, ValueError, AttributeError):
        return "made by an earlier version of this program, which identified a run by the text of its script"
    if case not in cases:
        return NO_CASE
    repeat = declared.pop("repeat", 0)
    entry = min(cases[case], key=lambda entry: len(differences(declared, entry.declared)))
    if changed := differences(declared, entry.declared):
        return "; ".join(changed)
    planned = {run.repeat for run in entry.runs}
    return "" if repeat in planned else f"repeat {repeat}: the campaign has {len(planned)} repeats"


def _named(of_cases: Mapping[str, list[int]]) -> str:
    return ", ".join(f"{case} {repeats_text(repeats)}" for case, repeats in of_cases.items())


def _earlier(folder: Path) -> list[str]:
    """Text on the results that were set aside."""
    count = sum(1 for _ in folder.glob("runs/*/*/*/earlier/*/result/output.txt"))
    where = "of another machine, or of an earlier program or MPI library, in runs/*/*/*/earlier/"
    return [f"{counted(count, 'result')} {where}"] if count else []
