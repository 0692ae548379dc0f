"""mpicampaign tick: what cron or a timer calls."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from mpicampaign.base.errors import UserError
from mpicampaign.base.interrupts import signalled
from mpicampaign.base.records import RECORDS, read_records
from mpicampaign.cli.campaign_argument import add_campaign
from mpicampaign.cli.exit_status import DONE, FAILED, INTERRUPTED
from mpicampaign.cli.options import prepared_of
from mpicampaign.cli.output import print_lines
from mpicampaign.cli.report import report_of

if TYPE_CHECKING:
    from mpicampaign.jobs.prepare import Prepared

EXAMPLES = (
    ("mpicampaign tick mine.yaml", "one tick of the campaign's schedule, now"),
    ("mpicampaign tick mine.yaml --due", "only if the last tick is old enough, as a timer calls it"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, and whether to look at the clock."""
    add_campaign(parser)
    parser.add_argument("--due", action="store_true", help="do nothing if the last tick is too recent")


def run(options: argparse.Namespace) -> int:
    from mpicampaign.schedule.tick import Work, tick

    prepared = prepared_of(options)

    return tick(prepared, Work(partial(_make_runs, options), _finish, print_lines), options.due)


def _make_runs(options: argparse.Namespace, once: bool) -> int:
    """Make the runs that are due in the series of this tick, and the report; the exit status."""
    from mpicampaign.run.loop import measure
    from mpicampaign.run.set_aside import set_aside_faulty

    prepared = prepared_of(options)  # again: the tick may have begun a new series
    if lines := set_aside_faulty(prepared.selected):
        print_lines(*lines)
        prepared = prepared.planned_again()
    try:
        outcome = measure(prepared, once=once)
    except KeyboardInterrupt:
        return signalled() or INTERRUPTED
    print_lines(report_of(outcome.prepared))
    return FAILED if outcome.failed else DONE


def _finish(prepared: Prepared, lines: Sequence[str]) -> None:
    """Add this tick to the history, keep the changes that it found, write its page, and send a notice."""
    from mpicampaign.history.overview import overview
    from mpicampaign.report.history import write_history_page
    from mpicampaign.report.write import HISTORY
    from mpicampaign.schedule.notice import notice_text, notify
    from mpicampaign.schedule.tick import schedule_of

    records = prepared.folder / RECORDS
    if not records.is_file():
        return  # no run has ended: there is no report either
    try:
        history = overview(prepared.folder, write=True)
    except UserError as error:  # no reason to fail a tick, whose runs are made
        print_lines(str(error))
        return
    write_history_page(prepared.folder / HISTORY, history, prepared.campaign.title)
    text = notice_text(history, read_records(records)[1], [*lines, *_failed_limits(prepared)])
    if text:
        print_lines(*notify(prepared.folder, text, schedule_of(prepared).notify))


def _failed_limits(prepared: Prepared) -> list[str]:
    """The limits of the contract that are failed now, a line each; all outcomes go to its files."""
    from mpicampaign.cli.judge import judge_folder, write_judgement
    from mpicampaign.questions.limits.find import FAILED
    from mpicampaign.questions.limits.say import judged_text

    try:
        outcomes = judge_folder(prepared.folder, prepared.campaign) if prepared.campaign.expect else []
    except UserError as error:  # such as a metric that no run has; it must not stop the tick
        return [f"the contract cannot be judged: {problem}" for problem in error.problems]
    if outcomes:
        write_judgement(prepared.folder, prepared.campaign.name, outcomes)
    return [f"failed: {judged_text(judged)}" for judged in outcomes if judged.outcome == FAILED]
