"""mpicampaign plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.cli.common import beside, prepared_of, print_lines

if TYPE_CHECKING:
    import argparse


def run(options: argparse.Namespace) -> int:
    from mpicampaign.collect.outputs_read import OutputsRead
    from mpicampaign.execution.set_aside import fault_of
    from mpicampaign.jobs.plan_text import plan_text

    prepared = prepared_of(options)
    done = [script for script in prepared.scripts if script.output.exists()]
    before = OutputsRead(prepared.folder)
    faults = [(each, fault) for each in done if (fault := fault_of(each, before=before))]
    before.keep()
    again = [f"to be run again: {each.label}: {fault.reason}" for each, fault in faults]
    pending = len(prepared.pending) + len(again)
    print(plan_text(prepared.plan, pending, prepared.campaign.node_hours_cap))
    doubts = [f"warning: {each}" for each in prepared.campaign.warnings]
    print_lines(*doubts, *again, *beside(prepared))
    return 0
