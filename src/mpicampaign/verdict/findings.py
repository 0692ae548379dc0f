"""What the checks of a verdict hand back: a finding, with words that a person understands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.records import CONTRADICTED, UNVERIFIED, VERIFIED

if TYPE_CHECKING:
    from collections.abc import Sequence

SUPPORTS, CONTRADICTS, LACKS = "supports", "contradicts", "lacks"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one kind of evidence says about the claim, in words."""

    kind: str
    outcome: str
    words: str


def finding(kind: str, holds: bool, good: str, bad: str) -> Finding:
    """A finding that supports or contradicts, with the words for each."""
    return Finding(kind, SUPPORTS if holds else CONTRADICTS, good if holds else bad)


def number(text: str) -> int | None:
    """A recorded count, or None where the text is none."""
    return int(text) if text.isdecimal() else None


def conclude(findings: Sequence[Finding]) -> tuple[str, tuple[str, ...]]:
    """The verdict of all findings and its reasons: one that contradicts decides, then one that lacks."""
    for outcome, verdict in ((CONTRADICTS, CONTRADICTED), (LACKS, UNVERIFIED)):
        words = tuple(f"{found.kind}: {found.words}" for found in findings if found.outcome == outcome)
        if words:
            return verdict, words
    return VERIFIED, tuple(f"{found.kind}: {found.words}" for found in findings)
