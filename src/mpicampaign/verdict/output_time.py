"""Whether an output may have been printed by its run: the time that it accounts for, and its dates."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from mpicampaign.suites import SUITES
from mpicampaign.verdict.findings import CONTRADICTS, SUPPORTS, Finding
from mpicampaign.verdict.launched import seconds_between

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mpicampaign.records import Series
    from mpicampaign.verdict.evidence import Evidence

ROUNDING = 1.01, 0.002  # share, and s: printed times are rounded
DATE_ERROR = 5  # s; dates have whole seconds, and a clock may be set meanwhile


def output_findings(evidence: Evidence, output: str, series: Iterable[Series]) -> list[Finding]:
    """None where the kernel's clock was not recorded, or nothing is known of the suite's outputs."""
    suite = SUITES.get(evidence.claim.get("suite", ""))
    passed = [
        span for seen in evidence.ranks.values() if (span := seconds_between(seen, "raw_ns")) is not None
    ]
    if suite is None or not passed:
        return []
    found = []
    if least := suite.least_time(series):
        share, more = ROUNDING
        said = (
            f"it accounts for {least:.2f} s or more; {max(passed):.2f} s passed from MPI_Init to MPI_Finalize"
        )
        holds = least <= share * max(passed) + more
        found.append(Finding("output", SUPPORTS if holds else CONTRADICTS, said))
    return found + list(_dates(evidence, suite.printed_times(output, _offset(evidence))))


def _offset(evidence: Evidence) -> int:
    """The offset (s) of local time at rank 0, which prints."""
    try:
        return int(evidence.ranks[0]["start.utc_offset"])
    except (KeyError, ValueError):
        return 0


def _dates(evidence: Evidence, moments: Iterable[float]) -> Iterator[Finding]:
    try:
        first, last = (
            datetime.fromisoformat(evidence.ranks[0][f"{moment}.time"]) for moment in ("start", "end")
        )
    except (KeyError, ValueError):
        return
    for moment in moments:
        if not first.timestamp() - DATE_ERROR <= moment <= last.timestamp() + DATE_ERROR:
            off = moment - first.timestamp()
            when = f"{abs(off):.0f} s {'before' if off < 0 else 'after'} MPI_Init of rank 0"
            yield Finding("output", CONTRADICTS, f"its date is {when}: another run printed it")
            return
