"""mpicampaign cancel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.cli.common import prepared_of

if TYPE_CHECKING:
    import argparse


def run(options: argparse.Namespace) -> int:
    from mpicampaign.execution.queue_status import cancel

    print(cancel(prepared_of(options)))
    return 0
