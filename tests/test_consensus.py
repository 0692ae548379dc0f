"""Statements about the rankings of several host groups."""

from __future__ import annotations

import pytest
import stfc_runs
import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.compare.consensus import StatedRanking
from mpicampaign.records import Case, Record
from mpicampaign.show.rankings import stated_lines, statement, step_text


def runs(group: str, placement: str, latency: float, repeats: int = 6) -> list[Record]:
    """Repeats that scatter by less than 1 %."""
    case = Case("s", group, placement, "PingPong")
    times = ((n, latency * (1 + n / 1000)) for n in range(1, repeats + 1))
    return [synthetic.run(case, n, synthetic.pingpong(time, 1e9)) for n, time in times]


def stated(records: list[Record]) -> StatedRanking:
    return compare(records).tables[0].stated_rankings[0]


def test_an_order_that_holds_in_all_host_groups() -> None:
    times = {"SHM": 1e-6, "IBV": 2e-6, "TCP": 9e-6}
    records = [run for group in "abc" for p, time in times.items() for run in runs(group, p, time)]
    assert stated_lines(stated(records)) == (
        "latency at 0 B: SHM < IBV < TCP: supported in 3 of 3 host groups",
    )


def test_reversed_and_unclear_steps_are_named() -> None:
    times = {"a": (1, 2, 9), "b": (1, 2, 9), "c": (2, 1, 9), "d": (1, 1, 9)}
    records = [
        run
        for group, of_group in times.items()
        for placement, time in zip(("SHM", "IBV", "TCP"), of_group, strict=True)
        for run in runs(group, placement, time * 1e-6)
    ]
    records += runs("e", "SHM", 1e-6) + runs("e", "TCP", 9e-6)
    records += synthetic.not_available(Case("s", "e", "IBV", "PingPong"), "no such network")
    found = stated(records)
    assert found.order == ("SHM", "IBV", "TCP")
    assert stated_lines(found) == (
        "latency at 0 B: SHM < IBV < TCP: "
        "supported in 2 of 4 host groups that have all of them (1 more have some)",
        "SHM < IBV: supported in 2 of 4 host groups; reversed in c; unclear in d",
    )


def test_pairs_that_are_not_neighbours_are_named_where_they_are_reversed() -> None:
    times = {"a": (1, 2, 3), "b": (1, 2, 3), "c": (9, 2, 3)}
    records = [
        run
        for group, of_group in times.items()
        for placement, time in zip(("P", "Q", "R"), of_group, strict=True)
        for run in runs(group, placement, time * 1e-6)
    ]
    assert "P < R: supported in 2 of 3 host groups; reversed in c" in stated_lines(stated(records))


def test_too_few_repeats_state_nothing() -> None:
    records = runs("a", "SHM", 1e-6, 2) + runs("a", "TCP", 9e-6, 2)
    records += runs("b", "SHM", 1e-6, 2) + runs("b", "TCP", 9e-6, 2)
    assert compare(records).tables[0].stated_rankings == ()


def test_one_host_group_has_an_order_only() -> None:
    found = stated(runs("a", "SHM", 1e-6) + runs("a", "TCP", 9e-6))
    assert stated_lines(found) == ("latency at 0 B: SHM < TCP (a; supported)",)
    found = stated(runs("a", "SHM", 1e-6) + runs("a", "TCP", 1.001e-6))
    assert statement(found) == "latency at 0 B: SHM < TCP (a; the repeats do not support every step)"


def test_one_placement_states_nothing() -> None:
    assert compare(runs("a", "SHM", 1e-6)).tables[0].stated_rankings == ()


def test_a_placement_in_several_modes_is_left_out_and_named() -> None:
    records = runs("a", "SHM-1", 1e-6) + runs("a", "SHM-2", 3e-6)
    mixed = Case("s", "a", "SHM", "PingPong")
    for n in range(1, 7):
        latency, bandwidth = (1e-6, 2e9) if n % 2 else (3e-6, 1e9)
        records.append(synthetic.run(mixed, n, synthetic.pingpong(latency * (1 + n / 1000), bandwidth)))
    found = stated(records)
    assert found.order == ("SHM-1", "SHM-2")
    left_out = "SHM is left out: its repeats fall into several modes at some sizes in 1 of 1 host group; "
    assert stated_lines(found)[-1].startswith(left_out + "fewer pairs are compared here")


@stfc_runs.needed
def test_the_rankings_of_the_report() -> None:
    latency, bandwidth = compare(stfc_runs.scarf_records()).tables[0].stated_rankings
    assert statement(latency) == "latency at 0 B: SHM-1 < SHM-2 < IBV < TCP: supported in 7 of 7 host groups"
    assert bandwidth.order == ("SHM-1", "SHM-2", "IBV", "TCP")
    steps = {(step.better, step.worse): step for step in (*bandwidth.steps, *bandwidth.against)}
    assert steps["SHM-1", "SHM-2"].reversed == ("scarf15", "scarf16")
    assert steps["SHM-1", "IBV"].reversed == ("scarf16",)
    assert steps["SHM-1", "IBV"].leaning == ("scarf15",)


@pytest.mark.parametrize("repeats", [5, 6])
def test_five_placements_of_five_repeats_can_be_supported(repeats: int) -> None:
    records = [run for n in range(5) for g in "ab" for run in runs(g, f"P{n}", 10.0**n * 1e-7, repeats)]
    assert stated(records).whole == ("a", "b")


def test_reversed_medians_are_noted_though_the_repeats_do_not_support_them() -> None:
    times = {"a": (1, 2), "b": (1, 2), "c": (1.001, 1)}
    records = [
        run
        for group, of_group in times.items()
        for placement, time in zip(("SHM", "IBV"), of_group, strict=True)
        for run in runs(group, placement, time * 1e-6)
    ]
    found = stated(records)
    step = found.steps[0]
    assert (step.supported, step.reversed, step.leaning, step.unclear) == (("a", "b"), (), ("c",), ())
    assert step_text(step, found.metric).endswith("medians reversed, but not significantly, in c")


def test_placements_that_few_host_groups_have_are_left_out() -> None:
    """Of 12 host groups all have two placements, 8 a third, and one a fourth."""
    records = [run for n in range(12) for run in runs(f"g{n}", "SHM", 1e-6) + runs(f"g{n}", "TCP", 9e-6)]
    records += [run for n in range(8) for run in runs(f"g{n}", "IBV", 2e-6)]
    records += runs("g0", "TCP-loopback", 5e-6)
    assert stated_lines(stated(records)) == (
        "latency at 0 B: SHM < IBV < TCP: "
        "supported in 8 of 8 host groups that have all of them (4 more have some)",
        "TCP-loopback: left out, since too few host groups have it",
    )


def test_host_groups_without_a_common_pair_state_nothing() -> None:
    records = runs("a", "SHM", 1e-6) + runs("b", "TCP", 2e-6)
    assert compare(records).tables[0].stated_rankings == ()
