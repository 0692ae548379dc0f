"""What a reader must know of the runs, in short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.base.records import CONTRADICTED, FAILED, OK, UNVERIFIED
from mpicampaign.base.text import listed
from mpicampaign.compare.findings import STOPPED
from mpicampaign.questions.configurations.say import configuration_lines
from mpicampaign.show.runs import (
    NAMED,
    beside_text,
    cliffs,
    help_text,
    not_available,
    not_made,
    not_read,
    quiet_text,
    run_counts,
    state_texts,
    were,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpicampaign.compare.tables import Comparison


def notices(comparison: Comparison) -> Iterable[str]:
    """Whether the machine was quiet, which runs count nowhere, what is not proved or not available."""
    runs = comparison.records
    yield from filter(None, [quiet_text(runs), help_text(runs), beside_text(runs), *state_texts(comparison)])
    yield from configuration_lines(comparison.configurations)
    yield from cliffs(comparison)
    counts = run_counts(runs)
    lost = [f"{counts[kind]} {kind}" for kind in (FAILED, CONTRADICTED) if counts.get(kind)]
    if lost:
        yield f"Runs left out: {listed(lost)}."
    if counts.get(STOPPED):
        yield f"{were(counts[STOPPED])} stopped by the time limit while others used the CPUs."
    yield from not_read(runs)
    yield from not_made(runs)
    if counts.get(UNVERIFIED):
        of = sum(run.status == OK for run in runs)
        yield f"{counts[UNVERIFIED]} of {of} runs are unverified: no evidence proves their placement."
    absent = not_available(comparison)
    yield from (f"{one}." for one in absent[:NAMED])
    if len(absent) > NAMED:
        yield f"{len(absent) - NAMED} more placements are not available: see Left out and in doubt."
