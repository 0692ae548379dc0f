"""Statements about the rankings of several host groups."""

from __future__ import annotations

import stfc_runs
import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.compare.consensus import StatedRanking
from mpicampaign.records import Case, Record
from mpicampaign.show.rankings import consensus, stated_lines, statement


def runs(group: str, placement: str, latency: float, repeats: int = 6) -> list[Record]:
    """Repeats that scatter by less than 1 %."""
    case = Case("s", group, placement, "PingPong")
    times = ((n, latency * (1 + n / 1000)) for n in range(1, repeats + 1))
    return [synthetic.run(case, n, synthetic.pingpong(time, 1e9)) for n, time in times]


def stated(records: list[Record]) -> StatedRanking:
    return compare(records).tables[0].stated_rankings[0]


def test_one_host_group_has_an_order_only() -> None:
    found = stated(runs("a", "SHM", 1e-6) + runs("a", "TCP", 9e-6))
    assert stated_lines(found) == ("latency at 0 B: SHM < TCP (a; supported)",)
    found = stated(runs("a", "SHM", 1e-6) + runs("a", "TCP", 1.001e-6))
    assert statement(found) == "latency at 0 B: SHM = TCP (a; the repeats do not support every step)"


def test_an_order_that_holds_in_all_host_groups() -> None:
    found = stated(
        [run for group in "abc" for p, t in (("SHM", 1e-6), ("TCP", 9e-6)) for run in runs(group, p, t)]
    )
    assert stated_lines(found) == ("latency at 0 B: SHM < TCP: supported in 3 of 3 host groups",)


def test_an_exception_among_host_groups_of_the_shorter_order_only() -> None:
    times = {"A": 1e-6, "B": 2e-6, "C": 9e-6}
    records = [run for group in "abc" for name, time in times.items() for run in runs(group, name, time)]
    for group, slower in (("d", 1), ("e", 1), ("f", 3)):
        records += runs(group, "A", 1e-6 * slower) + runs(group, "B", 2e-6)
    assert consensus(compare(records).tables[0].stated_rankings[:2]) == (
        "Exceptions: B < A in f.",
        "A < B < C in 3 of 3 host groups that have all of them, A < B in 5 of 6 host groups.",
    )


@stfc_runs.needed
def test_the_rankings_of_the_report() -> None:
    latency, bandwidth = compare(stfc_runs.scarf_records()).tables[0].stated_rankings
    assert statement(latency) == "latency at 0 B: SHM-1 < SHM-2 < IBV < TCP: supported in 7 of 7 host groups"
    assert bandwidth.order == ("SHM-1", "SHM-2", "IBV", "TCP")
    steps = {(step.better, step.worse): step for step in (*bandwidth.steps, *bandwidth.against)}
    assert steps["SHM-1", "SHM-2"].reversed == ("scarf15", "scarf16")
    assert steps["SHM-1", "IBV"].reversed == ("scarf16",)
    assert steps["SHM-1", "IBV"].leaning == ("scarf15",)
