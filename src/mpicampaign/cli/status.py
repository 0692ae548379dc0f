"""mpicampaign status."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from mpicampaign.cli.campaign_argument import add_campaign
from mpicampaign.cli.exit_status import DONE, FAILED
from mpicampaign.cli.options import add_json, add_selection, prepared_of
from mpicampaign.cli.output import beside, print_lines, selection_lines

if TYPE_CHECKING:
    from mpicampaign.run.queue_status import RunStatus

BETWEEN = 30  # s between two looks at the queue
EXAMPLES = (
    (
        "mpicampaign status mine.yaml",
        "queued, running, finished and failed runs; paths and reasons of failures",
    ),
    ("mpicampaign status mine.yaml --host-group scarf15 --benchmark PingPong", "of these runs only"),
    ("mpicampaign status mine.yaml --watch", "again every 30 s, until no run is queued or running"),
    ("mpicampaign status mine.yaml --json | jq .counts", "for a program: the number of runs in each state"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, which runs of it, and the form of the answer."""
    add_campaign(parser)
    add_selection(parser)
    parser.add_argument(
        "--watch", action="store_true", help="print it again until no run is queued or running"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    states = _printed(options)
    while options.watch and any(state.is_active for state in states):
        time.sleep(BETWEEN)
        print_lines(f"\n{datetime.now().astimezone():%H:%M:%S}")
        states = _printed(options)
    return _status(states)


def _printed(options: argparse.Namespace) -> list[RunStatus]:
    from mpicampaign.jobs.plan_text import blocks_text, further_text
    from mpicampaign.run.queue_status import rounds_text, run_states, status_text

    prepared = prepared_of(options)
    states, older = run_states(prepared)
    further_lines = [further_text(prepared.plan)] if prepared.plan.disturbed else []
    lines = [
        status_text(states, older),
        *blocks_text(prepared.plan),
        *rounds_text(prepared),
        *further_lines,
        *beside(prepared),
    ]
    print_lines(*selection_lines(prepared), *lines)
    return states


def _status(states: Iterable[RunStatus]) -> int:
    return FAILED if any(state.has_failed for state in states) else DONE


def as_data(options: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """The exit status, and the data of ``--json``."""
    from mpicampaign.cli.json_output import blocks_data, campaign_data
    from mpicampaign.run.queue_status import counts, run_states

    prepared = prepared_of(options)
    states, older = run_states(prepared)
    return _status(states), {
        **campaign_data(prepared),
        "counts": counts(states),
        "runs": [_run_data(state) for state in states],
        "blocks": blocks_data(prepared),
        "jobs_of_former_runs": [{"job": job.id, "name": job.name, "state": job.description} for job in older],
    }


def _run_data(status: RunStatus) -> dict[str, Any]:
    from mpicampaign.cli.json_output import run_data

    facts = {"state": status.state, "job": status.job_id or None, "reason": status.reason or None}
    return run_data(status.run) | facts
