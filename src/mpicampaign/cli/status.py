"""mpicampaign status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.cli.common import beside, prepared_of, print_lines

if TYPE_CHECKING:
    import argparse


def run(options: argparse.Namespace) -> int:
    from mpicampaign.execution.queue_status import run_states, status_text

    prepared = prepared_of(options)
    print(status_text(*run_states(prepared)))
    print_lines(*beside(prepared))
    return 0
