"""mpicampaign status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpicampaign.cli.campaign_argument import add_campaign
from mpicampaign.cli.common import add_json, add_selection, beside, prepared_of, print_lines, selection_lines
from mpicampaign.cli.exit_status import DONE, FAILED

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from mpicampaign.execution.queue_status import RunStatus

EXAMPLES = (
    (
        "mpicampaign status mine.yaml",
        "queued, running, finished and failed runs; paths and reasons of failures",
    ),
    ("mpicampaign status mine.yaml --host-group scarf15 --benchmark PingPong", "of these runs only"),
    ("mpicampaign status mine.yaml --json | jq .counts", "for a program: the number of runs in each state"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, which runs of it, and the form of the answer."""
    add_campaign(parser)
    add_selection(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from mpicampaign.execution.queue_status import run_states, status_text
    from mpicampaign.jobs.plan_text import further_text

    prepared = prepared_of(options)
    states, older = run_states(prepared)
    further = [further_text(prepared.plan)] if prepared.plan.disturbed else []
    print_lines(*selection_lines(prepared), status_text(states, older), *further, *beside(prepared))
    return _status(states)


def _status(states: Iterable[RunStatus]) -> int:
    return FAILED if any(state.has_failed for state in states) else DONE


def as_data(options: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """The exit status, and the data of ``--json``."""
    from mpicampaign.cli.json_output import campaign_data
    from mpicampaign.execution.queue_status import counts, run_states

    prepared = prepared_of(options)
    states, older = run_states(prepared)
    return _status(states), {
        **campaign_data(prepared),
        "counts": counts(states),
        "runs": [_run_data(state) for state in states],
        "jobs_of_former_runs": [{"job": job.id, "name": job.name, "state": job.description} for job in older],
    }


def _run_data(status: RunStatus) -> dict[str, Any]:
    from mpicampaign.cli.json_output import run_data

    facts = {"state": status.state, "job": status.job_id or None, "reason": status.reason or None}
    return run_data(status.run) | facts
