"""The sides of ``mpicampaign compare``: what its arguments name, and what is known of it beside its runs."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from mpicampaign.base import places
from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.grouping import grouped
from mpicampaign.base.plan_file import FILE as PLAN_FILE
from mpicampaign.base.plan_file import PlanFile, plan_from, plan_json
from mpicampaign.base.presentation import TABLE_SIZES
from mpicampaign.base.records import MISSING, RECORDS, read_records
from mpicampaign.base.text import listed
from mpicampaign.bundle.merge import records_of
from mpicampaign.cli.campaign_argument import file_of_results, is_campaign_file, results_named
from mpicampaign.collect.campaign import collect_all, plan_of, records_in
from mpicampaign.collect.undescribed import EarlierRuns, numbered
from mpicampaign.history.before import definitions_of, known_changes
from mpicampaign.history.series import is_name, read_series
from mpicampaign.history.store import FOLDER, Store
from mpicampaign.questions.history.say import day, with_text
from mpicampaign.questions.two_sides.find import Side, TwoSides
from mpicampaign.questions.two_sides.say import NO_PAST, Past
from mpicampaign.run.conditions import prepare_with_results

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}Z)?)?", re.ASCII)
_MOST_NAMED = 5  # folders or definitions in a message


@dataclass(frozen=True)
class Source:
    """A side. ``series``: if it is one of the history; ``folder``: of the campaign whose past it is.

    ``past``: where its runs are of earlier definitions.
    """

    side: Side
    sizes: Sequence[int] = TABLE_SIZES
    series: str = ""
    folder: Path | None = None
    past: Past = NO_PAST


def sides_of(given: Sequence[str], campaign: str) -> tuple[Source, Source]:
    """The two sides; where one is given, a date is compared with now, a campaign with what it was before."""
    if len(given) == 2:
        before, after = (source_of(text, campaign) for text in given)
        return before, after
    if given and not results_named(given[0]):
        return _then(given[0], campaign), source_of(campaign, campaign)
    return _before_and_now(given[0] if given else campaign)


def check_different(before: Source, after: Source, campaign: str) -> None:
    """Refuse results beside themselves, such as by the day on which the newest series began."""
    folder, definitions = before.folder, before.past.definitions or after.past.definitions
    if folder is None or definitions or (folder, before.series) != (after.folder, after.series):
        return
    earlier = [name for name in _store(folder).names() if name < before.series]
    command = f"mpicampaign compare {earlier[-1]} {shlex.quote(campaign)}" if earlier else ""
    hint = f"the series before it: {command}" if earlier else _known(folder)
    message = f"both sides are the same results, those of series {before.series}"
    raise UserError(Problem(message, before.side.name, hint=hint))


def source_of(text: str, campaign: str) -> Source:
    path = results_named(text)
    if path is None:
        return _then(text, campaign)
    if path.is_file() and path.suffix != ".jsonl":
        return Source(Side(path.name, records_of(path)))
    if (path / PLAN_FILE).is_file():
        return _now(text, path, _present_plan(path) if is_campaign_file(text) else None)
    header, records = records_in(path)
    return Source(Side(text, records), header.table_sizes or TABLE_SIZES)


def _now(name: str, folder: Path, plan: PlanFile | None = None) -> Source:
    """The results in a campaign's folder, whether or not a report was made since.

    ``plan``: in place of that of the folder.
    """
    report = folder / RECORDS
    sizes = read_records(report)[0].table_sizes if report.is_file() else ()
    series = read_series(folder).name
    return Source(Side(name, collect_all(folder, plan)), sizes or TABLE_SIZES, series, folder)


def _present_plan(folder: Path) -> PlanFile:
    """The plan of the campaign file as it is now; nothing is written.

    That of the folder where the file is gone, or its runs are those of another machine.
    """
    kept_plan, file = plan_of(folder), Path(file_of_results(folder) or folder)
    if not file.is_file():
        return kept_plan
    present = prepare_with_results(file, results=folder.parent).plan
    return (
        plan_from(json.loads(plan_json(present))) if {*present.systems} == {*kept_plan.systems} else kept_plan
    )


# ---- before, on disk


def _before_and_now(text: str) -> tuple[Source, Source]:
    """Earlier definitions of a campaign beside its results now; without any its last finished series."""
    folder = results_named(text) or Path(text)
    if folder.is_file():
        hint = "give a second side: a campaign file, a folder, a bundle or a date"
        raise UserError(Problem("a bundle alone is compared with nothing", text, hint=hint))
    plan = _present_plan(folder)
    now = _now("now", folder, plan)
    earlier, present = definitions_of(plan, folder, now.side.records)
    if before := _defined_before(folder, earlier):
        cases = {record.case for record in before.side.records}
        made = [run for run in now.side.records if run.status != MISSING]
        here = [run for run in made if run.case in cases]
        more = [run for run in present if run.case in cases]
        if not (here or more):
            raise _without_runs(before.past)
        past = before.past._replace(unchanged=len({run.case for run in made} - cases))
        after = Side("now", numbered([*here, *more]) if more else here)
        return replace(before, past=past), replace(now, side=after)
    if names := [name for name in _store(folder).names() if name != now.series]:
        return _of_series(folder, names[-1], names[-1]), now
    message = "nothing on disk is of an earlier definition, and no series is finished"
    history = f"'mpicampaign history {shlex.quote(file_of_results(folder))}' looks for changes in all runs"
    raise UserError(Problem(message, str(folder), hint=f"{history}; {_known(folder)}"))


def _without_runs(past: Past) -> UserError:
    """Says that what the campaign file defines now was not run yet."""
    newest = max(runs.began for runs in past.definitions)
    cases = listed([*dict.fromkeys(str(runs.case) for runs in past.definitions)][:_MOST_NAMED])
    message = f"the present definition of {cases} has no runs yet; the newest results are of {newest}"
    hint = f"'mpicampaign run {shlex.quote(past.file)}' makes them"
    return UserError(Problem(message, past.file, hint=hint))


def _defined_before(folder: Path, earlier: Sequence[EarlierRuns], last: str = "") -> Source | None:
    """Of each case the newest earlier definition; ``last``: that had begun by this day or time (UTC)."""
    begun = [runs for runs in earlier if not last or runs.began[: len(last)] <= last]
    newest = [of_case[0] for of_case in grouped(begun, lambda runs: runs.case).values()]
    records = [record for runs in newest for record in runs.records]
    older = [runs for runs in begun if runs not in newest]
    past = Past(file_of_results(folder), newest, older)
    return Source(Side(last or "before", records), folder=folder, past=past) if newest else None


# ---- before, by a date or series


def _then(text: str, campaign: str) -> Source:
    """The series of a name, or the last one that had begun by a day or time (UTC), or definitions then."""
    if not (_is_date(text) or is_name(text)):
        hint = (
            f"give a campaign file, a folder, a bundle, a date such as 2026-11-20, or a series; {_folders()}"
        )
        raise UserError(Problem("no such file or campaign, and no date or series", text, hint=hint))
    folder = results_named(campaign) or Path(campaign)
    now = read_series(folder).name
    names = [*_store(folder).names(), *([now] if is_name(now) else [])]
    stamp = re.sub("[-:]", "", text)
    begun = [name for name in names if _is_date(text) and name[: len(stamp)] <= stamp]
    chosen = text if text in names else max(begun, default="")
    if chosen:
        return _of_series(folder, chosen, text)
    plan = _present_plan(folder)
    earlier = [] if is_name(text) else definitions_of(plan, folder, collect_all(folder, plan))[0]
    if then := _defined_before(folder, earlier, text):
        return then
    raise UserError(Problem(f"no series {text}, or none had begun by then", str(folder), hint=_known(folder)))


def _is_date(text: str) -> bool:
    """Whether a text is a day or time in one of our forms, and of the calendar."""
    try:
        return bool(_DATE.fullmatch(text) and datetime.fromisoformat(text.removesuffix("Z")))
    except ValueError:
        return False


def _of_series(folder: Path, series: str, name: str) -> Source:
    store = _store(folder)
    if series not in store.names():  # the open one
        return _now(name, folder)
    return Source(Side(name, store.records(series)), series=series, folder=folder)


def _store(folder: Path) -> Store:
    return Store(folder / FOLDER)


def _known(folder: Path) -> str:
    """The series, dates and folders that can be named."""
    names = _store(folder).names()
    series = f"series {names[0]} to {names[-1]}" if names else "no series (mpicampaign tick makes them)"
    plan = _present_plan(folder)
    times = sorted({runs.began for runs in definitions_of(plan, folder, collect_all(folder, plan))[0]})
    on_disk = [f"earlier definitions of {', '.join(times[-_MOST_NAMED:])}"] if times else []
    return "; ".join([f"known: {series}", *on_disk, _folders()])


def _folders() -> str:
    there = places.results_folder()
    names = sorted(path.name for path in there.iterdir() if path.is_dir()) if there.is_dir() else []
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"campaigns in {there}: {', '.join(names[:_MOST_NAMED]) or 'none'}{more}"


# ---- what is said of them


def changes_between(sides: TwoSides, before: Source, after: Source) -> dict[int, str]:
    """What the history knows of the values, by number, where both sides are series of one campaign."""
    folder, names = before.folder, (before.series, after.series)
    if folder is None or folder != after.folder or not all(map(is_name, names)):
        return {}
    changes = known_changes(sides, *names, folder)
    return {n: f"real: changed on {day(time)}, {with_text(causes)}" for n, time, causes in changes}


def past_of(before: Source, after: Source) -> Past:
    """What is known of two sides of one campaign beside their runs."""
    if before.past.definitions or before.folder is None or before.folder != after.folder:
        return before.past
    return Past(file_of_results(before.folder))
