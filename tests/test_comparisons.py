"""All pairs of a family: probabilities by ranks of sets of groups, compared with a plain computation."""

from __future__ import annotations

from test_many_groups import compare_groups


def test_no_pair_of_one_group() -> None:
    assert compare_groups([[1.0, 2.0]]).pairs == {}
    assert compare_groups([]).pairs == {}
