"""What the checks of a verdict hand back: a finding, with words that a person understands."""

from __future__ import annotations

from dataclasses import dataclass

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
