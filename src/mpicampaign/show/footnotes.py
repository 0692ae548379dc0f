"""Footnotes of a table: their marks, and in short what the notes of its rows have in common."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpicampaign.compare.findings import MODES, OFF, OUTLIER
from mpicampaign.show.sentences import KIND_NAMES, reason
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpicampaign.compare.findings import Note
    from mpicampaign.records import Case
    from mpicampaign.show.view import View

MOST = 4  # footnotes of one kind in a table; more are said as one
_LONG = "each is in the long layout and the report"
_FINDINGS = {
    OFF: "a whole run differs from the others over its message sizes",
    OUTLIER: "one repeat is far from the median of the repeats, at some sizes at least",
    MODES: "the repeats fall into two bands at some sizes; a median or mean may be a value that no run had",
}
# What tells one case from the next in a reason: quoted commands, and terms that hold a digit.
_OWN = re.compile(r"'[^']*'|\b\S*\d\S*?(?=[;,:.)]*(?:\s|$))")


class Footnotes:
    """Marks a, b, c… of footnotes, one for each text."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}

    def mark(self, text: str) -> str:
        """The mark of this text."""
        return self._marks.setdefault(text, _letters(len(self._marks)))

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """Every mark with its text, in order."""
        return tuple((mark, text) for text, mark in self._marks.items())


def _letters(index: int) -> str:
    """a to z, then aa, ab…"""
    first, second = divmod(index, 26)
    return (_letters(first - 1) if first else "") + chr(ord("a") + second)


def footnote_texts(notes: Iterable[Note], view: View) -> Mapping[Note, str]:
    """A text for each note of a table; those that differ only in numbers, names or commands share one."""
    kinds: dict[str, list[Note]] = {}
    for note in dict.fromkeys(notes):
        kinds.setdefault(note.kind, []).append(note)
    return {note: text for kind, found in kinds.items() for note, text in _texts(kind, found, view).items()}


def _texts(kind: str, notes: Sequence[Note], view: View) -> dict[Note, str]:
    reasons = {note: reason(note, view) for note in notes}
    groups: dict[str, list[str]] = {}
    for text in dict.fromkeys(reasons.values()):
        groups.setdefault("" if kind in _FINDINGS else _OWN.sub("…", text), []).append(text)
    shared = {text: _shared(kind, common, group) for common, group in groups.items() for text in group}
    if len(groups) > MOST:
        several = f"{KIND_NAMES[kind]}, for {len(shared)} reasons: {_LONG}"
        return dict.fromkeys(notes, several)
    return {note: shared[text] for note, text in reasons.items()}


def _shared(kind: str, common: str, reasons: Sequence[str]) -> str:
    """The only reason, or what several have in common."""
    name = KIND_NAMES[kind]
    if len(reasons) == 1:
        return f"{name}: {reasons[0]}" if reasons[0] else name
    if kind in _FINDINGS:
        return f"{name}: {_FINDINGS[kind]} ({len(reasons)} notes: {_LONG})"
    return f"{name}: {common}"


def row_texts(said: Iterable[tuple[Case, str]]) -> Mapping[tuple[Case, str], str]:
    """A text for what is said of each case, with all that it says.

    Those that differ only in the names of their own host group and placement, which the row shows, share
    one.
    """
    general = {(case, text): _without_names(text, case) for case, text in said}
    texts: dict[str, set[str]] = {}
    for (_, text), common in general.items():
        texts.setdefault(common, set()).add(text)
    return {key: common if len(texts[common]) > 1 else key[1] for key, common in general.items()}


def _without_names(text: str, case: Case) -> str:
    for name, general in ((case.host_group, "the host group"), (case.placement, "the placement")):
        # not within a longer name or a path
        text = re.sub(rf"(?<![\w./-]){re.escape(visible(name))}(?![\w/-])", general, text)
    return text
