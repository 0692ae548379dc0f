"""Why a node may be slow, as its own runs recorded it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpicampaign.records import Record


def causes_by_node(records: Iterable[Record]) -> dict[str, tuple[str, ...]]:
    """What the runs of one host group recorded of each node that may make it slow, the most telling first.

    Nodes have the names of their evidence (``record.hosts``); those without a cause are left out. Such as
    ``throttled: its counter rose by 12 in 3 of its 20 runs``, ``clock rate 14 % below the others'``,
    ``mlx5_0/1 rate: 50 Gb/sec (4X EDR), the 63 others 100 Gb/sec (4X EDR)``, ``disturbed in 12 of 20 runs by
    python3``. Counters count over all its runs, facts are those of its last run.
    """
    return {}
