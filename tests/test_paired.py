"""Placements of single repeats: paired over message sizes, counted over settings."""

from __future__ import annotations

import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.records import Case, Record
from mpicampaign.show.make import to_terminal
from mpicampaign.show.pairs import paired_lines
from mpicampaign.show.summary import summary


def run(group: str, placement: str, bandwidth: float, repeat: int = 1) -> Record:
    case = Case("s", group, placement, "PingPong")
    return synthetic.run(case, repeat, synthetic.pingpong(1e-6, bandwidth))


def test_settings_that_disagree_are_counted_on_both_sides() -> None:
    records = [run(group, *one) for group in "ab" for one in (("IB", 2e9), ("ROCE", 1e9))]
    records += [run(group, *one) for group in "cd" for one in (("IB", 1e9), ("ROCE", 2e9))]
    [line] = paired_lines(compare(records))
    assert "better than ROCE in the median over sizes in 2 of 4 settings and worse in 2: by a" in line
    assert line.endswith("(1 repeat each; not tested, since the order changes with the size)")


def test_pairs_of_host_groups_do_not_hide_what_is_not_judged() -> None:
    """Three placements in two host groups: two host groups can be paired, two placements cannot."""
    speeds = (("SHM", 3e9), ("IB", 2e9), ("ROCE", 1e9))
    records = [
        run(group, name, times * speed) for group, times in (("a", 2), ("b", 1)) for name, speed in speeds
    ]
    found = summary(compare(records))
    assert [line.partition(" in ")[0] for line in found.paired] == ["a was better than b"]
    assert "Not judged, fewer than 4 repeats: 6 of 6 candidates (" in " ".join(found.answers[0].said)


def test_two_that_are_alike_are_not_said_to_differ() -> None:
    records = [run(group, name, 2e9) for group in "abc" for name in ("SHM", "SHM-1")]
    [line] = paired_lines(compare(records))
    assert line.startswith("No clear difference between SHM and SHM-1 in the median over sizes in any of 3 ")


def test_many_settings_are_exchanged_at_random() -> None:
    """Of 14 settings all agree: by chance in 2 of 16,384 exchanges."""
    records = [run(f"g{n}", *one) for n in range(14) for one in (("IB", 2e9), ("ROCE", 1e9))]
    [found] = compare(records).paired
    assert found.settings == 14 and found.p < 0.01
    records += [run(f"h{n}", *one) for n in range(9) for one in (("IB", 1e9), ("ROCE", 2e9))]
    [found] = compare(records).paired
    assert len(found.found) == 14 and 0.3 < found.p < 0.5, "14 of 23 or more on either side: 0.40"


def test_a_placement_that_is_better_above_a_size_in_all_settings() -> None:
    """The same latency, twice the bandwidth: better at every size but the smallest."""
    records = [run(group, *one) for group in "abcd" for one in (("IB", 2e9), ("ROCE", 1e9))]
    [found] = compare(records).paired
    assert (found.better, found.worse, len(found.found), found.settings) == ("IB", "ROCE", 4, 4)
    assert found.p == 2 / 16, "4 of 4 settings agree in 2 of 16 exchanges"
    [line] = paired_lines(compare(records))
    assert line.startswith(
        "IB was better than ROCE in 4 of 4 settings at every size above 0 B: by a factor of "
    )
    assert line in to_terminal(compare(records)).replace("\n    ", " ")
