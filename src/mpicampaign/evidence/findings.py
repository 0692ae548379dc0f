"""The findings of a verdict's checks, each with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mpicampaign.base.records import CONTRADICTED, UNVERIFIED, VERIFIED

SUPPORTS, CONTRADICTS, LACKS = "supports", "contradicts", "lacks"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one kind of evidence says about the claim."""

    kind: str
    outcome: str
    reason: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}"


def finding(kind: str, holds: bool, good: str, bad: str) -> Finding:
    """A finding that supports or contradicts, with the reason for each."""
    return Finding(kind, SUPPORTS if holds else CONTRADICTS, good if holds else bad)


def number(text: str) -> int | None:
    """A recorded count; None where the text is not one, or damaged."""
    return int(text) if text.isdecimal() and len(text) < 20 else None


def conclude(findings: Sequence[Finding]) -> tuple[str, tuple[str, ...]]:
    """The verdict of all findings and its reasons: a contradiction decides, then missing evidence."""
    for outcome, verdict in ((CONTRADICTS, CONTRADICTED), (LACKS, UNVERIFIED)):
        reasons = tuple(str(finding) for finding in findings if finding.outcome == outcome)
        if reasons:
            return verdict, reasons
    return VERIFIED, tuple(map(str, findings))
