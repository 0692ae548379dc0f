"""Candidates that are repeated until it is decided: who left at which look, and what ended it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mpicampaign.base.grouping import grouped
from mpicampaign.base.text import counted, listed, visible
from mpicampaign.questions.decided.find import ByLooks
from mpicampaign.show.document import Heading, Items, Node
from mpicampaign.show.view import rough_amount
from mpicampaign.verdicts.looks import ALIKE, DecidedCell


def decided_nodes(decisions: Sequence[ByLooks]) -> list[Node]:
    """What planned looks decided; nothing where none were planned."""
    sentences = tuple(sentence for decision in decisions for sentence in decided_sentences(decision))
    return [Heading("Until it is decided"), Items(sentences)] if sentences else []


def decided_sentences(looks: ByLooks) -> Iterator[str]:
    """``Decided after 12 repeats: A is the best. C left after 8 repeats.``"""
    names = {case: visible(name) for case, name in looks.names.items()}
    rows = looks.decision.rows
    if not looks.ended:
        yield f"Not decided yet: {looks.rows} of {counted(looks.decision.due, 'repeat')} for the next look."
    elif rows:
        [cell] = looks.decision.cells
        remaining = listed([names[case] for case in looks.remaining])
        yield _end(looks, cell, remaining)
    for after, cases in grouped(looks.left, lambda case: looks.left[case]).items():
        yield f"{listed([names[case] for case in cases])} left after {counted(after, 'repeat')}."
    if looks.out:
        yield f"Without any value: {listed([names[case] for case in looks.out])}."
    if not looks.were_planned:
        yield "No record shows that these looks were planned before the first run."


def _end(looks: ByLooks, cell: DecidedCell, remaining: str) -> str:
    after = f"after {counted(looks.decision.rows, 'repeat')}"
    if len(cell.remaining) == 1:
        return f"Decided {after}: {remaining} is the best."
    if cell.end == ALIKE:
        return f"Decided {after}: {remaining} are within 1 %."
    seen = looks.smallest_seen
    find = f": the repeats find {rough_amount(seen)} in 8 of 10 cases" if seen else ""
    return f"Not decided {after} which of {remaining} is the best{find}."
