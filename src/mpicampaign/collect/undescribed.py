"""Results that the current campaign file does not describe: which ones, what differs, and their records."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from glob import iglob
from pathlib import Path
from typing import Any, NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.base.identity import differences, run_path
from mpicampaign.base.plan_file import CaseEntry, PlanFile, case_of
from mpicampaign.base.records import RANKED, Case, Record
from mpicampaign.base.run_files import result_in
from mpicampaign.base.text import counted, repeats_text
from mpicampaign.collect.campaign import mark_copies
from mpicampaign.collect.runs import RunFolder, evidence_in, read_run, with_peak
from mpicampaign.evidence.machine_state import mark_distances
from mpicampaign.suites import SUITES

NO_CASE = "the campaign has no such case"


class _Result(NamedTuple):
    """A result that is not in the plan. ``run``: its folder below the campaign's.

    ``declared``: without the repeat; empty where its claim does not say. ``entry``: of the case of its names,
    where lists make several of them the one most alike; ``None`` without one.
    """

    run: Path
    repeat: int
    declared: Mapping[str, Any]
    entry: CaseEntry | None

    @property
    def case(self) -> Case:
        """The case under its present name; under that of its results if the campaign has none."""
        return self.entry.case if self.entry else case_of(self.declared)

    @property
    def changed(self) -> tuple[str, ...]:
        """What differs from the case now; that there is none."""
        return tuple(differences(self.declared, self.entry.declared)) if self.entry else (NO_CASE,)


def _folders(folder: Path) -> tuple[set[str], list[str]]:
    """Of runs, and of those that were set aside: one look, as there may be a hundred thousand."""
    inside = {*iglob("runs/*/*/*/*", root_dir=folder, include_hidden=True)}  # noqa: PTH207 - faster
    earlier = [path for path in inside if path.endswith("/earlier")]
    aside = [f"{path}/{run.name}" for path in earlier for run in (folder / path).glob("r*-*")]
    return inside.difference(earlier), aside


def _results(plan: PlanFile, folder: Path, runs: Collection[str]) -> Iterator[_Result]:
    """The results in these folders that are not in the plan."""
    if not runs:
        return
    cases = grouped(plan.cases, lambda entry: entry.kept)
    described = {run_path(entry.kept, run.repeat, run.identity) for entry in plan.cases for run in entry.runs}
    for path in map(Path, sorted({*runs} - described)):
        if not (path.match("r*-*") and result_in(folder / path)):
            continue
        repeat = int(path.name[1:].partition("-")[0])
        try:
            declared = json.loads(evidence_in(Path(result_in(folder / path))).claim["declared"])
            kept_case = case_of(declared)
        except (KeyError, ValueError, AttributeError, TypeError):
            yield _Result(path, repeat, {}, None)
            continue
        declared.pop("repeat", 0)
        alike = sorted(cases.get(kept_case, ()), key=lambda entry: len(differences(declared, entry.declared)))
        yield _Result(path, repeat, declared, next(iter(alike), None))


# ---- as text


def undescribed_lines(plan: PlanFile, folder: Path) -> list[str]:
    """Text on the results that are not in the plan; empty where there are none."""
    runs, set_aside = _folders(folder)
    reasons = undescribed(plan, folder, runs)
    lines = [f"  {reason} ({_named(of_cases)})" for reason, of_cases in reasons.items()]
    if lines:
        count = sum(len(repeats) for of_cases in reasons.values() for repeats in of_cases.values())
        lines.insert(0, f"{counted(count, 'result')} that the campaign no longer describes:")
    return lines + _earlier(folder, set_aside)


def undescribed(
    plan: PlanFile, folder: Path, runs: Collection[str] | None = None
) -> dict[str, dict[str, list[int]]]:
    """The repeats of the results (in these folders) that are not in the plan, by what differs and by case."""
    reasons: dict[str, dict[str, list[int]]] = {}
    for result in _results(plan, folder, _folders(folder)[0] if runs is None else runs):
        if reason := _reason(result):
            repeats = reasons.setdefault(reason, {}).setdefault(" ".join(result.run.parts[1:4]), [])
            repeats.append(result.repeat)
    return reasons


def _reason(result: _Result) -> str:
    """Why it is not in the plan; empty where it is under an earlier name, such as that of a merged bundle."""
    if not result.declared:
        return "made by an earlier version of this program, which identified a run by the text of its script"
    if result.changed or result.entry is None:
        return "; ".join(result.changed)
    planned = {run.repeat for run in result.entry.runs}
    beyond = f"repeat {result.repeat}: the campaign has {len(planned)} repeats"
    return "" if result.repeat in planned else beyond


def _named(of_cases: Mapping[str, list[int]]) -> str:
    return ", ".join(f"{case} {repeats_text(repeats)}" for case, repeats in of_cases.items())


def _earlier(folder: Path, set_aside: Iterable[str]) -> list[str]:
    """Text on the results that were set aside."""
    count = sum(bool(result_in(folder / run)) for run in set_aside)
    where = "of another machine, or of an earlier program or MPI library, in runs/*/*/*/earlier/"
    return [f"{counted(count, 'result')} {where}"] if count else []


# ---- as records


class EarlierRuns(NamedTuple):
    """The runs of a case as it was defined once. ``changed``: what differs from the case now.

    Runs of one definition with another program or library are a definition of their own.
    """

    case: Case
    changed: tuple[str, ...]
    records: tuple[Record, ...]

    @property
    def began(self) -> str:
        """When the first run began (UTC, ISO 8601); empty if none is known."""
        return min((record.started for record in self.records if record.started), default="")


def earlier_runs(plan: PlanFile, folder: Path, now: Iterable[Record]) -> list[tuple[Record, tuple[str, ...]]]:
    """The runs on disk that earlier definitions made, each with what differs from its case now.

    ``now``: the records of the plan; those among them of an earlier program or library are such runs.
    Members of a machine have none, as they are compared in rounds.
    """
    results = [
        result
        for set_aside, runs in enumerate(_folders(folder))
        for result in _results(plan, folder, runs)
        if (result.changed or set_aside)
        and result.declared.get("suite") in SUITES
        and not (result.entry and result.entry.each)
    ]
    read = mark_distances(mark_copies([_record(plan, folder, result) for result in results]))
    changed = (result.changed for result in results)
    replaced = ((replace(run, earlier=""), ()) for run in now if run.earlier)
    return [*zip(read, changed, strict=True), *replaced]


def _record(plan: PlanFile, folder: Path, result: _Result) -> Record:
    entry, run = result.entry, RunFolder(folder / result.run, result.repeat)
    if entry is None:
        return read_run(result.case, result.declared["suite"], run)
    record = read_run(entry.kept, result.declared["suite"], run, entry.line_rate, entry.reading)
    return replace(
        with_peak(record, entry.core_peak),
        case=entry.case,
        ranks_busy=plan.busy_machine == RANKED,
        attributes=dict(entry.attributes),
    )


def numbered(records: Iterable[Record]) -> tuple[Record, ...]:
    """In the order of time: those set aside twice, or of several series, have the same number of repeat."""
    in_time = sorted(records, key=lambda record: record.started)
    return tuple(replace(record, repeat=number) for number, record in enumerate(in_time, 1))
