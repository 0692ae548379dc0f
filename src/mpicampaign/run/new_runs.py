"""New runs of cases beside those that they are compared with, in rows: `run --again`.

A request is a line of the campaign's ``new-runs.jsonl``. Planning takes its runs from there, so that any
later call goes on with them. It names runs by their identities, and so is void for a case that is edited.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mpicampaign.base.errors import Problem, UserError, did_you_mean
from mpicampaign.base.expectation import FEWEST_ROWS, REPEAT_STAGES
from mpicampaign.base.files import append_lines, read_log
from mpicampaign.base.grouping import grouped
from mpicampaign.base.plan_file import case_of
from mpicampaign.base.records import Case, plain_fields
from mpicampaign.base.selection import ALL_RUNS, RunSelection, joined
from mpicampaign.base.text import counted, listed
from mpicampaign.base.yaml_lines import printable
from mpicampaign.run.durations import Durations
from mpicampaign.schemes.unit import RequestedRun

if TYPE_CHECKING:
    from mpicampaign.jobs.prepare import Prepared
    from mpicampaign.jobs.run import Run

    RunsOfCases = dict[Case, list[Run]]

FILE = "new-runs.jsonl"
OPTION = "--again"


# ---- the record


class NewRunsRequest(NamedTuple):
    """The runs that were asked for of each case, by its kept names; the n-th is in row n.

    ``left``: identities of runs in blocks of which the other candidates have results: such blocks are left,
    and made anew.
    """

    cases: tuple[tuple[Case, tuple[RequestedRun, ...]], ...]
    left: tuple[str, ...] = ()


def read_requests(campaign_folder: Path) -> list[NewRunsRequest]:
    """All that were made, in order."""
    return read_log(campaign_folder / FILE, _request)


def _request(data: dict[str, Any]) -> NewRunsRequest:
    def runs_of(case: dict[str, Any]) -> Iterator[RequestedRun]:
        for row, run in enumerate(case["runs"], start=1):
            yield RequestedRun(int(run["repeat"]), str(run["identity"]), row, bool(run["new"]))

    cases = tuple((case_of(case), tuple(runs_of(case))) for case in data["cases"])
    return NewRunsRequest(cases, tuple(map(str, data["left"])))


def note_request(campaign_folder: Path, request: NewRunsRequest) -> None:
    """Keep a request."""
    cases = [
        {
            **plain_fields(case),
            "runs": [{"repeat": run.repeat, "identity": run.identity, "new": run.new} for run in runs],
        }
        for case, runs in request.cases
    ]
    line = {"asked": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", "cases": cases, "left": request.left}
    append_lines(campaign_folder / FILE, [json.dumps(line, ensure_ascii=False)])


# ---- what is compared


# in what those are alike that are compared with each other
_PLACEMENTS = attrgetter("system", "host_group", "benchmark")
_HOST_GROUPS = attrgetter("placement", "benchmark")
_LIBRARIES = attrgetter("machine", "placement", "benchmark")


def _compared(
    prepared: Prepared, runs: Iterable[Run], alike: Callable[[Case], object]
) -> Iterator[RunsOfCases]:
    """The runs of cases that are compared with each other, in the order of the campaign file."""
    of_cases = grouped(runs, lambda run: run.case)
    in_order = [entry.case for entry in prepared.plan.cases if entry.case in of_cases] if of_cases else []
    for cases in grouped(in_order, alike).values():
        if len(cases) > 1:
            yield {case: of_cases[case] for case in cases}


def _due(runs: Iterable[Run]) -> list[Run]:
    return [run for run in runs if not run.closed and not run.has_result]


def _rows(prepared: Prepared, compared: RunsOfCases) -> int:
    """How many rows a request has: the repeats of the campaign, those that are due, as many as are tested."""
    planned = (prepared.unit_of(runs[0]).entry.repeats or REPEAT_STAGES[0] for runs in compared.values())
    return max(FEWEST_ROWS, *planned, *(len(_due(runs)) for runs in compared.values()))


# ---- a request


def request_of(prepared: Prepared, names: Sequence[str]) -> tuple[RunSelection, NewRunsRequest | None]:
    """The runs of the named placements or host groups, and what has to be noted before they are made.

    Raises
    ------
    UserError
        where the names are unknown, or are not of at least two cases that can be measured side by side.
    """
    selection, alike = _selection(prepared, names)
    runs = [run for run in prepared.runs if selection.takes_case(run.case)]
    compared = list(_compared(prepared, runs, alike))
    if not compared:
        first = next(_compared(prepared, prepared.runs, _PLACEMENTS), {})
        hint = f"such as {_option(case.placement for case in first)}" if first else ""
        raise _refused(prepared, names, "needs two that are compared and have runs here", hint)
    problems = [problem for cases in compared if (problem := _why_not(prepared, cases))]
    if problems:
        raise _refused(prepared, names, *problems[0])
    parts = [_part(prepared, cases) for cases in compared if not _is_in_rows(prepared, cases)]
    cases = tuple(case for part in parts for case in part.cases)
    left_identities = tuple(identity for part in parts for identity in part.left)
    return selection, NewRunsRequest(cases, left_identities) if cases else None


def _selection(prepared: Prepared, names: Sequence[str]) -> tuple[RunSelection, Callable[[Case], object]]:
    """What is selected with these placements, or else with these host groups."""
    cases = [planned.case for planned in prepared.plan.cases]
    known = set[str]()
    for kind, alike in (("placements", _PLACEMENTS), ("host_groups", _HOST_GROUPS)):
        selected: dict[str, RunSelection] = {name: replace(ALL_RUNS, **_named(kind, name)) for name in names}
        taken = {name for name, selection in selected.items() if any(map(selection.takes_case, cases))}
        if taken == set(names):
            return replace(prepared.selection, **_named(kind, *names)), alike
        known |= taken
    if unknown := next((name for name in names if name not in known), ""):
        hint = did_you_mean(unknown, {name for case in cases for name in (case.placement, case.host_group)})
        raise _refused(prepared, names, f"unknown name {printable(unknown)}", hint)
    hint = "name placements, or host groups"
    raise _refused(prepared, names, "some are placements, others host groups", hint)


def _named(kind: str, *names: str) -> dict[str, Any]:
    return {kind: names}


def _refused(prepared: Prepared, names: Sequence[str], message: str, hint: str) -> UserError:
    return UserError(Problem(message, prepared.campaign.file, None, OPTION, printable(joined(names)), hint))


def _why_not(prepared: Prepared, compared: RunsOfCases) -> tuple[str, str] | None:
    """Why new runs of cases cannot be asked for, and what can be done."""
    for case, runs in compared.items():
        unit = prepared.unit_of(runs[0])
        if unit.entry.race or unit.decided_with:
            scheme = "in a race" if unit.entry.race else "repeated until it is decided"
            return f"{case} is {scheme}, which plans its own runs", f"call run without {OPTION}"
        if unit.entry.each:
            return f"{case} is measured on each member", "--only NODE measures nodes again"
        beside = {draft.case for draft in unit.part_of(case).candidates if draft.is_made_here}
        if missing := beside - compared.keys():
            return (
                f"{case} is measured in blocks with {min(map(str, missing))}",
                "name all of their candidates",
            )
    return None


def _is_in_rows(prepared: Prepared, compared: RunsOfCases) -> bool:
    """Whether what is due is in rows already: by an earlier request, or as nothing was made yet."""
    due = [_due(runs) for runs in compared.values()]
    if not any(due):
        return False
    kept_cases = {runs[0].kept for runs in compared.values()}
    identities = {run.identity for runs in due for run in runs if not run.stands_in}
    for request in read_requests(prepared.folder):
        of_cases = dict(request.cases)
        known = {run.identity for case in kept_cases for run in of_cases.get(case, ())}
        if kept_cases <= of_cases.keys() and identities <= known:
            return True
    rows = [{run.row for run in runs} for runs in due]
    return all(numbers == rows[0] for numbers in rows)


def _part(prepared: Prepared, compared: RunsOfCases) -> NewRunsRequest:
    """Rows of the runs that are due and of new ones; where blocks were begun, these are left instead."""
    due = {case: sorted(_due(runs), key=lambda run: run.place) for case, runs in compared.items()}
    blocks = {run.repeat for runs in due.values() for run in runs if run.block}
    made = {run.repeat for runs in compared.values() for run in runs if run.has_result}
    left_identities = [
        run.identity for runs in due.values() for run in runs if run.block and run.repeat in made
    ]
    rows = 0 if blocks else _rows(prepared, compared)
    last = {planned.case: len(planned.runs) for planned in prepared.plan.cases}
    cases = []
    for case, runs in compared.items():
        draft = next(draft for draft in prepared.unit_of(runs[0]).candidates if draft.case == case)
        rows_of_case = [(run.repeat, False) for run in due[case][:rows]]
        rows_of_case += [(last[case] + number, True) for number in range(1, rows - len(rows_of_case) + 1)]
        asked = (
            RequestedRun(repeat, draft.identities[repeat], row, new)
            for row, (repeat, new) in enumerate(rows_of_case, 1)
        )
        cases.append((draft.kept, tuple(asked)))
    return NewRunsRequest(tuple(cases), tuple(left_identities))


def request_text(request: NewRunsRequest) -> str:
    """``asked for: 12 new runs in rows with 6 that are due``."""
    runs = [run for _, of_case in request.cases for run in of_case]
    new, left_runs = sum(run.new for run in runs), len(request.left)
    if left_runs:
        return f"asked for: new blocks instead of those that lack {counted(left_runs, 'run')}"
    beside = f" with {len(runs) - new} that are due" if new < len(runs) else ""
    return f"asked for: {counted(new, 'new run')} in rows{beside}"


# ---- what a plan says before


def _option(names: Iterable[str]) -> str:
    """``--again TCP,SHM``, as a shell takes it."""
    return f"{OPTION} {shlex.quote(joined(dict.fromkeys(names)))}"


def alone_lines(prepared: Prepared) -> list[str]:
    """A line for cases that are due alone, since they were added or edited when others had ended."""
    runs = [run for run in prepared.selected if not run.each and not prepared.unit_of(run).entry.race]
    kinds = (_PLACEMENTS, lambda case: case.placement), (_LIBRARIES, lambda case: case.host_group)
    return [
        line
        for alike, name_of in kinds
        for line in _alone(prepared, _compared(prepared, runs, alike), name_of)
    ]


def _alone(
    prepared: Prepared, comparisons: Iterable[RunsOfCases], name_of: Callable[[Case], str]
) -> Iterator[str]:
    new_runs: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Run]] = {}
    for compared in comparisons:
        due = {case: len(_due(runs)) for case, runs in compared.items()}
        alone = [case for case, runs in compared.items() if due[case] == len(runs)]
        ended = [case for case in compared if not due[case]]
        if alone and ended:
            rows = _rows(prepared, {case: compared[case] for case in (*alone, *ended)})
            names = tuple(map(name_of, alone)), tuple(map(name_of, ended))
            new_runs.setdefault(names, []).extend(compared[case][0] for case in ended for _ in range(rows))
    durations = Durations()
    for (alone_names, ended_names), new in new_runs.items():
        hours = sum(run.job.placement.nodes * durations.expected_or_limit(run) for run in new) / 3600
        are, them = ("is", "it") if len(alone_names) == 1 else ("are", "them")
        need = "needs" if len(ended_names) == 1 else "need"
        yield (
            f"{listed(alone_names)} alone {are} due: to compare {them} with {listed(ended_names)}, "
            f"{listed(ended_names)} {need} new runs, too ({len(new)}, {hours:.2g} node-hours): "
            f"{_option([*ended_names, *alone_names])}"
        )
