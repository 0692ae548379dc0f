"""mpicampaign status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.cli.common import beside, prepared_of, print_lines

if TYPE_CHECKING:
    import argparse


def run(options: argparse.Namespace) -> int:
    from mpicampaign.execution.queue_status import run_states, status_text
    from mpicampaign.jobs.plan_text import further_text

    prepared = prepared_of(options)
    print(status_text(*run_states(prepared)))
    further = [further_text(prepared.plan)] if prepared.plan.disturbed else []
    print_lines(*further, *beside(prepared))
    return 0
