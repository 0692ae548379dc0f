"""Footnotes: merging the notes of a table."""

from __future__ import annotations

from mpicampaign.compare.findings import MODES, OUTLIER, Recorded
from mpicampaign.records import UNVERIFIED, Case
from mpicampaign.show.footnotes import footnote_texts, row_texts
from mpicampaign.show.view import View


def texts(kind: str, *reasons: str) -> list[str]:
    notes = [
        Recorded(kind=kind, reason=reason, repeats=(number,)) for number, reason in enumerate(reasons, 1)
    ]
    found = footnote_texts(notes, View())
    return [found[note] for note in notes]


def test_a_single_reason_is_given_in_full() -> None:
    assert texts(OUTLIER, "its time is 2.03 × the median of the repeats") == [
        "outlier: its time is 2.03 × the median of the repeats"
    ]


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


def test_findings_have_numbers_throughout_and_a_general_sentence() -> None:
    first, second = texts(MODES, "two bands at 4 B: 1 µs", "two bands at 8 KiB: 3 µs and 4 µs")
    assert first == second
    assert first.startswith("several modes: the repeats fall into two bands") and "(2 notes: " in first


def test_many_reasons_become_one_footnote() -> None:
    found = texts(UNVERIFIED, "one", "two", "three", "four", "five")
    assert set(found) == {"unverified, for 5 reasons: each is in the long layout and the report"}


def test_texts_that_differ_only_in_the_names_of_the_row_appear_once() -> None:
    cases = [Case("s", group, placement, "b") for group in ("g1", "g2") for placement in ("SHM", "SHM-1")]
    said = [(case, f"{case.host_group} is by the map alone; {case.placement} not proven") for case in cases]
    other = (cases[0], "g2 is not SHM-1 of out/g1/SHM")
    found = row_texts([*said, other])
    assert {found[each] for each in said} == {"the host group is by the map alone; the placement not proven"}
    assert found[other] == other[1]
    assert row_texts(said[:1])[said[0]] == said[0][1]  # alone, it stays as it is
