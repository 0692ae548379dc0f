"""What is known of a bundled kernel beside its C source."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mpicampaign.suites.kernels.frame import Layout
    from mpicampaign.suites.suite import ColumnMetric, Sends


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A bundled kernel.

    ``layout``: its rows, and how they become series. ``version``: raised by hand when it measures in another
    way, with a line of history in docs/formats.md. ``sends``: who sends to whom, by the names of its series.
    ``metrics``: its own, by column. ``published``: the published benchmark of the same definition.
    ``quick``: arguments of a short run, for tests. ``ranks_minimum``: with fewer ranks it does not run.
    """

    name: str
    layout: Callable[[], Layout]
    version: int = 1
    sends: Mapping[str, Sends] = field(default_factory=dict)
    metrics: Mapping[str, ColumnMetric] = field(default_factory=dict)
    published: str = ""
    quick: tuple[str, ...] = ("--budget", "0.5")
    ranks_minimum: int = 2
