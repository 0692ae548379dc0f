"""mpicampaign run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.base.records import RECORDS, each_record
from mpicampaign.cli.campaign_argument import add_campaign
from mpicampaign.cli.exit_status import DONE, FAILED
from mpicampaign.cli.limits import check_limits
from mpicampaign.cli.options import (
    add_names,
    add_only,
    add_selection,
    add_verbose,
    prepared_with_again,
    prepared_with_only,
)
from mpicampaign.cli.output import beside, doubts, print_lines, say, selection_lines
from mpicampaign.cli.report import answers_of, report_of

if TYPE_CHECKING:
    from mpicampaign.jobs.prepare import Prepared

EXAMPLES = (
    ("mpicampaign run mine.yaml", "makes the runs that have no result, then tables and report"),
    (
        "mpicampaign run mine.yaml --placement TCP,SHM-1 --repeat 1-3",
        "only these runs; the others stay as they are",
    ),
    ("mpicampaign run mine.yaml && mpicampaign tables mine.yaml --each-run --format csv", "also as data"),
    ("mpicampaign run site.yaml", "on a login node: submits the runs, and waits for them"),
    (
        "mpicampaign run machine.yaml --only n037",
        "after its repair: new rounds of a node beside eleven others",
    ),
    (
        "mpicampaign run mine.yaml --again TCP,SHM-1",
        "new runs of both, side by side: what to do after one of them was changed",
    ),
    ("mpicampaign run mine.yaml --dry-run", "what it would do; nothing runs"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, and which runs of it."""
    add_campaign(parser)
    add_selection(parser)
    add_only(parser)
    add_names(parser, "--again", "new runs of these placements or host groups, side by side in rows")
    parser.add_argument("--once", action="store_true", help="one repeat of each case, as a tick does")
    parser.add_argument("--no-report", action="store_true", help="measure only; make no tables and no report")
    parser.add_argument("--dry-run", action="store_true", help="say what would run; run nothing")
    add_verbose(parser, "show what the compiler prints, too")


def run(options: argparse.Namespace) -> int:
    from mpicampaign.jobs.plan import selected_plan
    from mpicampaign.jobs.plan_text import pending_text, warnings_text
    from mpicampaign.jobs.prepare import check_runs
    from mpicampaign.run.again import note_again
    from mpicampaign.run.durations import estimate, last_ended
    from mpicampaign.run.new_runs import alone_lines, note_request, request_text
    from mpicampaign.run.set_aside import set_aside_faulty

    prepared, again = prepared_with_only(options)
    request = None
    if options.again:
        prepared, request = prepared_with_again(options)
    check_limits(prepared.campaign)
    check_runs(prepared)
    asked = [request_text(request)] if request else alone_lines(prepared)
    if options.dry_run:
        print_lines(*selection_lines(prepared), *asked, *_dry_run(prepared))
        return DONE
    note_again(prepared.folder, again)
    if request:
        note_request(prepared.folder, request)
    say(f"results: {prepared.folder}")
    say(
        *doubts(prepared, "repeats", "time_limit", "program", "arguments", "expect"),
        *warnings_text(prepared.plan),
    )
    if lines := set_aside_faulty(prepared.selected):
        say(*lines)
        prepared = prepared.planned_again()
    say(*beside(prepared))
    plan, title = selected_plan(prepared.plan, prepared.selection), prepared.campaign.title
    say(*selection_lines(prepared), *asked)
    if pending := prepared.one_repeat if options.once else prepared.pending:
        say(pending_text(plan, len(pending), title, estimate(pending)))
        return _measured(prepared, options)
    nothing = pending_text(plan, 0, title, last_ended(prepared.selected))
    counted = [] if options.no_report else [*answer(prepared.folder, title), report_of(prepared)]
    print_lines(nothing, *counted)
    return DONE if options.no_report else _status(prepared)


def _measured(prepared: Prepared, options: argparse.Namespace) -> int:
    """Make the runs, and the report; the exit status."""
    import mpicampaign.report.analyse  # noqa: F401 - before the first measurement, which it would disturb
    from mpicampaign.jobs.plan_text import capped_text
    from mpicampaign.run.loop import measure

    warned = capped_text(prepared.plan)
    try:
        prepared, failed = measure(prepared, once=options.once, verbose=options.verbose)
    except KeyboardInterrupt:
        say(*_not_done(prepared.planned_again()))
        raise
    if not options.no_report:
        counted = report_of(prepared)
        print_lines(counted)
        if answers := answers_of(prepared.folder):
            print_lines(*answers, f"report.html, tables and figures: {prepared.folder}")
    say(*(line for line in capped_text(prepared.plan) if line not in warned))  # results ask for further runs
    say(*([] if options.once else _not_done(prepared)))
    if failed or options.no_report:  # without a report no output is read
        return FAILED if failed else DONE
    return _status(prepared)


def _status(prepared: Prepared) -> int:
    """Failed where no selected run gave a value, which is said; values of disturbed runs are shown, too."""
    records = each_record(prepared.folder / RECORDS)  # that the report has just written
    if any(record.sound and prepared.selection.takes(record.case, record.repeat) for record in records):
        return DONE
    say("no run gave a value that counts: 'mpicampaign status' says why")
    return FAILED


def _not_done(prepared: Prepared) -> list[str]:
    pending, selected = len(prepared.pending), len(prepared.selected)
    return [f"not done: {pending} of {selected} runs; the same command continues"] if pending else []


def _dry_run(prepared: Prepared) -> list[str]:
    """How many runs there are to make, and which."""
    from mpicampaign.jobs.plan import selected_plan
    from mpicampaign.jobs.plan_text import pending_text
    from mpicampaign.run.durations import estimate, last_ended
    from mpicampaign.run.queue_status import run_states, status_text

    plan, pending = selected_plan(prepared.plan, prepared.selection), prepared.pending
    time = estimate(pending) if pending else last_ended(prepared.selected)
    states, older = run_states(prepared)
    return [pending_text(plan, len(pending), prepared.campaign.title, time), status_text(states, older)]


def answer(folder: Path, title: str) -> list[str]:
    """The first answer in one line, if there is any."""
    summary = folder / "tables" / "summary.txt"
    head = summary.read_text(encoding="utf-8").partition("\n\n")[0] if summary.is_file() else ""
    return [" ".join(line for line in head.splitlines() if line != title)] if head else []
