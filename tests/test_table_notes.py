"""Footnotes: merging the notes of a table."""

from __future__ import annotations

from mpicampaign.base.records import UNVERIFIED
from mpicampaign.compare.findings import Recorded
from mpicampaign.show.tables import footnote_texts
from mpicampaign.show.view import View


def texts(kind: str, *reasons: str) -> list[str]:
    notes = [
        Recorded(kind=kind, reason=reason, repeats=(number,)) for number, reason in enumerate(reasons, 1)
    ]
    found = footnote_texts(notes, View())
    return [found[note] for note in notes]


def test_reasons_that_differ_in_a_number_a_host_or_a_command_share_a_footnote() -> None:
    found = texts(
        UNVERIFIED,
        "hosts: node1.site (of 4); asked for by 'numactl --a b'",
        "hosts: node22.site (of 6); asked for by '-cpu_bind'",
        "exit status: not recorded",
    )
    assert found == [
        "unverified: hosts: … (of …); asked for by …",
        "unverified: hosts: … (of …); asked for by …",
        "unverified: exit status: not recorded",
    ]


def test_many_reasons_become_one_footnote() -> None:
    found = texts(UNVERIFIED, "one", "two", "three", "four", "five")
    assert set(found) == {"unverified, for 5 reasons: each is in the long layout and the report"}
