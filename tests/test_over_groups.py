"""Placements over host groups, these by their attributes, and pairs of few repeats over their settings."""

from __future__ import annotations

import json
from dataclasses import replace

import build_records as make
import pytest
import stfc_runs
from build_campaigns import campaign, plan

from mpicampaign.base.plan_file import plan_from, plan_json
from mpicampaign.base.presentation import ReferenceChoice
from mpicampaign.base.records import Record, Series, record_from, record_line
from mpicampaign.compare.compare import compare
from mpicampaign.compare.metrics import choose_metrics
from mpicampaign.compare.tables import Table
from mpicampaign.questions.over_groups.find_attributes import by_attributes
from mpicampaign.questions.over_groups.find_settings import TOO_FEW, OverGroups
from mpicampaign.questions.over_groups.say import (
    attribute_lines,
    lines_of_few,
    order_sentences,
    over_group_lines,
)
from mpicampaign.questions.published.find import published_for
from mpicampaign.questions.ranking.find import PLACEMENTS, rank
from mpicampaign.report.make import to_csv, to_terminal
from mpicampaign.report.summary import summary
from mpicampaign.show.view import DEFAULT
from mpicampaign.statistics.modes import Band, Split, Stretch


def runs(group: str, placement: str, rate: float, **attributes: str) -> list[Record]:
    """Three repeats of HPL."""
    hosts = ("n1",) if placement == "SHM" else ("n1", "n2")
    fields = {"suite": "hpl", "attributes": attributes, "hosts": hosts}
    rates = [rate * (1 + n / 1000) for n in (-1, 0, 1)]
    return [
        make.run(make.case(placement, "HPL", group), n, make.series("HPL", 4, flops=one, time=1.0), **fields)
        for n, one in enumerate(rates, 1)
    ]


def table(records: list[Record]) -> Table:
    return compare(records).tables[0]


# The order of placements


def of_latency(group: str, placement: str, latency: float) -> list[Record]:
    """Repeats that scatter by less than 1 %."""
    return make.runs(make.case(placement, group=group), [latency * (1 + n / 1000) for n in range(1, 7)])


def of_latencies(times: dict[str, float], *groups: str) -> list[Record]:
    return [run for group in groups for name, time in times.items() for run in of_latency(group, name, time)]


def sentences(records: list[Record]) -> tuple[str, ...]:
    return order_sentences(table(records).over_groups[0])


def test_the_order_of_placements_and_the_host_groups_that_reverse_it() -> None:
    """Each pair counts in all host groups that have both; what is within 1 % is equal."""
    a, b = {"A": 1e-6, "B": 2e-6, "C": 9e-6}, {"A": 1e-6, "B": 2e-6}
    assert sentences(of_latencies(a, *"abc")) == ("A < B < C in 3 of 3 host groups (shown in each).",)
    records = of_latencies(a, *"abc") + of_latencies(b, *"de") + of_latencies({"A": 3e-6, "B": 2e-6}, "f")
    assert sentences(records) == (
        "A < B in 5 of 6 host groups (shown in each), B < C in 3 of 3 host groups (shown in each).",
        "Exceptions: B < A in f.",
    )
    rare = records + of_latencies({"D": 1e-3}, "f")
    assert sentences(rare)[0].endswith("; D left out: too few host groups.")
    equal = of_latencies({"A": 1e-6, "B": 1.001e-6, "C": 9e-6}, *"ab")
    assert sentences(equal) == ("A = B < C in 2 of 2 host groups (shown in each).",)
    assert not table(of_latencies(a, "a")).over_groups, "of one host group its own ranking says it"
    [said] = [one for one in summary(compare(records)).answers if "latency" in one.title]
    assert said.said[0].startswith("A < B in 5 of 6 ")


def test_each_mpi_library_has_an_order_and_averages_of_its_own() -> None:
    times = {"A": 1e-6, "B": 2e-6}
    records = of_latencies(times, *(f"{group} with mpich" for group in "abc"))
    records += of_latencies({"A": 4e-6, "B": 2e-6}, *(f"{group} with openmpi5" for group in "abc"))
    order, average, other, *_ = over_group_lines(table(records), DEFAULT)
    assert order.endswith(": A < B in 3 of 3 host groups with mpich (shown in each).")
    assert ": B is 2.00 times A on average over 3 host groups with mpich (" in average
    assert other.endswith(": B < A in 3 of 3 host groups with openmpi5 (shown in each).")


def test_host_groups_together_show_what_each_alone_cannot() -> None:
    """Three repeats in each: too few for a test. 7 of 7 by chance: 2/128, of three pairs 3 times that."""
    times = {"A": 1e-6, "B": 2e-6, "C": 9e-6}
    records = [run for run in of_latencies(times, *"abcdefg") if run.repeat <= 3]
    assert sentences(records) == ("A < B < C in 7 of 7 host groups; largest p = 0.047.",)
    six = [run for run in records if run.case.host_group != "a"]
    assert {pair.untested for pair in table(six).over_groups[0].steps} == {TOO_FEW}
    late = [
        replace(run, started=f"2026-03-{ord(run.case.placement) - 60:02}T00:0{run.repeat}:00")
        for run in records
    ]
    assert sentences(late)[0].endswith("; not tested over host groups: measured one after the other.")


@pytest.mark.parametrize(("factor", "written"), [(1.3, "30 %"), (1.05, "5.0 %"), (1.004, "0.40 %")])
def test_an_average_has_two_digits(factor: float, written: str) -> None:
    line = over_group_lines(table(of_latencies({"A": 1e-6, "B": factor * 1e-6}, *"abc")), DEFAULT)[1]
    assert f" B is {written} above A on average over 3 host groups (" in line


@stfc_runs.needed
def test_the_orders_of_the_report() -> None:
    latency, bandwidth = compare(stfc_runs.scarf_records()).tables[0].over_groups
    assert [one for one in latency.order if one != "SHM"] == ["SHM-1", "SHM-2", "IBV", "TCP"]
    assert bandwidth.order == ("SHM-1", "SHM-2", "IBV", "TCP") and bandwidth.mixed == ("SHM",)
    first, second, _ = bandwidth.steps
    assert [one.name for one in first.against] == ["scarf15", "scarf16"]
    assert [one.name for one in second.against] == ["scarf16"]


# Averages


def mean_difference(found: OverGroups, place: int) -> float:
    ratios = [one.ratio for one in found.behind[place].settings]
    return sum((one if found.metric.lower_is_better else 1 / one) - 1 for one in ratios) / len(ratios)


def test_the_averages_of_the_report_of_2017() -> None:
    label = "HPL (N 44640, NB 180, grid 2 x 2)"
    qualifiers = {"N": "44640", "NB": "180", "grid": "2 x 2"}
    metrics = choose_metrics("hpl", [Series("HPL", 4, {"flops": [1.0]}, qualifiers)], ())
    empty = Table("HPL", label, "hpl", metrics, (), ())
    own = replace(empty, published=published_for(empty, [ReferenceChoice("stfc-2017")]))
    [found] = own.over_groups
    ibv, tcp = found.behind
    assert (tcp.worse, tcp.better, len(tcp.settings)) == ("TCP", "SHM", 13)
    assert (ibv.worse, ibv.better, len(ibv.settings)) == ("IBV", "SHM", 7)
    assert [round(100 * mean_difference(found, place), 2) for place in (0, 1)] == [-0.23, -4.08]
    line = over_group_lines(own, DEFAULT)[2]
    assert "TCP is 4.1 % below SHM on average over 13 host groups published in stfc-2017" in line


def test_host_groups_alike_in_all_else_are_compared_with_each_other() -> None:
    records = []
    for number in range(8):  # one adapter gains 3 % where generations differ by 30 %
        for adapters, gain in (("1", 1.0), ("2", 1.03)):
            rate = 1e9 * 1.3**number * gain
            records += runs(f"g{number}x{adapters}", "TCP", rate, cpu=f"c{number}", adapters=adapters)
    found = {one.attribute: one for one in by_attributes(table(records))}
    (pair,) = found["adapters"].pairs
    assert (pair.better, pair.worse, pair.matched, pair.also) == ("2", "1", True, ())
    assert pair.factor == pytest.approx(1.03)
    assert pair.p == pytest.approx(2 / 2**8)
    assert all(pair.p is None for pair in found["cpu"].pairs)  # 28 pairs of 2 and 2 host groups


def test_of_times_the_lowest_is_the_best() -> None:
    """The placement that is the baseline, the order of levels, and by how much the better one is better."""
    records = [
        run
        for ib, slower in (("QDR", 3), ("FDR", 1))
        for n in range(4)
        for placement, latency in (("TCP", 2e-6), ("SHM", 1e-6))
        for run in make.case_runs(
            make.case(placement, group=f"{ib}{n}"), latency * slower, attributes={"cpu": ib}
        )
    ]
    [found] = [one for one in table(records).over_groups if one.metric.size == 0]
    assert [(one.better, one.worse) for one in found.behind] == [("SHM", "TCP")]
    assert mean_difference(found, 0) == pytest.approx(1.0, abs=0.1)
    levels = next(one for one in by_attributes(table(records)) if one.metric.size == 0)
    assert [level.name for level in levels.levels] == ["FDR", "QDR"]
    assert levels.pairs[0].factor == pytest.approx(3, rel=0.1)


def with_modes(found: Table, groups: set[str], placement: str) -> Table:
    """The table, where the latencies of a placement have several modes in some host groups."""
    stretch = Stretch({0: Split(Band((0,), 1.0), Band((1,), 2.0))})
    rows = tuple(
        replace(row, stretches=(stretch,))
        if row.case.host_group in groups and row.case.placement == placement
        else row
        for row in found.rows
    )
    return replace(found, rows=rows, rankings=rank(rows, found.metrics, kinds=(PLACEMENTS,)))


def test_host_groups_that_are_left_out_of_averages_are_counted_with_what_they_change() -> None:
    """12 host groups, 9 of them with two modes in SHM: of these SHM is 45 % below, of the others 13 %."""
    records = [
        run
        for n in range(12)
        for placement, latency in (("SHM-1", 1e-6), ("SHM", 0.87e-6 if n < 3 else 0.55e-6))
        for run in make.case_runs(make.case(placement, group=f"g{n}"), latency)
    ]
    found = table(records)
    odd = {f"g{n}" for n in range(3, 12)}
    order, line, *_ = over_group_lines(with_modes(found, odd, "SHM"), DEFAULT)
    assert "SHM < SHM-1 in 3 of 3 host groups (shown in each; 9 more in several modes)" in order
    assert "on average over 3 host groups" in line
    assert "; without 9 host groups whose repeats fall into several modes: with them it is " in line
    assert line.endswith("over all 12")
    line = over_group_lines(with_modes(found, {*odd, "g2"}, "SHM"), DEFAULT)[1]
    assert "on average over 12 host groups" in line
    assert line.endswith("; of 10 of them the repeats fall into several modes")
    assert "modes" not in "".join(over_group_lines(found, DEFAULT)[:2])


def test_ranks_within_a_node_are_not_compared_by_what_connects_nodes() -> None:
    """Not by a name that only contains such letters, and not as a cause of other differences."""
    records = [
        run
        for ib, cpu, rate in (("QDR", "old", 1e9), ("FDR", "new", 2e9))
        for n in range(4)
        for placement in ("SHM", "IBV")
        for run in runs(f"{ib}{n}", placement, rate, infiniband=ib, cpu=cpu, calibration=cpu)
    ]
    found = {(one.placement, one.attribute): one.pairs[0].also for one in by_attributes(table(records))}
    assert found == {
        ("IBV", "infiniband"): ("cpu", "calibration"),
        ("IBV", "cpu"): ("infiniband", "calibration"),
        ("IBV", "calibration"): ("infiniband", "cpu"),
        ("SHM", "cpu"): ("calibration",),
        ("SHM", "calibration"): ("cpu",),
    }
    last = over_group_lines(table(records), DEFAULT)[-1]
    assert last == "SHM: not compared by infiniband, which ranks within a node do not use"


def test_what_changes_with_an_attribute_is_named_and_few_host_groups_are_not_judged() -> None:
    records = [run for n in range(4) for run in runs(f"q{n}", "IBV", 1e9 + n, ib="QDR", cpu="old")]
    fdr = [run for n in range(4) for run in runs(f"f{n}", "IBV", 2e9 + n, ib="FDR", cpu="new")]
    (line, _) = over_group_lines(table(records + fdr), DEFAULT)
    assert line.startswith("flop rate, 4 ranks, IBV by ib, highest first: FDR 2.000 Gflop/s (4 host groups: ")
    assert "FDR against QDR: 2.00 times (p = 0.029); cpu may be the cause as well" in line
    (line, _) = over_group_lines(table(records + fdr[:3]), DEFAULT)
    assert "Not tested: too few host groups" in line


def test_what_is_spread_unlike_over_the_levels_is_named() -> None:
    """The processor makes all the difference; a quarter of each level has the other one."""
    records = [
        run
        for ib, news in (("QDR", 2), ("FDR", 6))
        for n in range(8)
        for run in runs(
            f"{ib}{n}", "IBV", (2e9 if n < news else 1e9) + n, ib=ib, cpu="new" if n < news else "old"
        )
    ]
    pairs = {one.attribute: one.pairs[0] for one in by_attributes(table(records))}
    assert pairs["ib"].also == ("cpu",) and not pairs["ib"].matched


def test_answers_show_what_nothing_else_explains_and_the_attribute_that_is_asked_for() -> None:
    sides = (("QDR", "old", 1e9), ("FDR", "new", 2e9))
    records = [
        run
        for ib, cpu, rate in sides
        for n in range(4)
        for run in runs(f"{ib}{n}", "IBV", rate, ib=ib, cpu=cpu)
    ]
    (metric,) = (one.metric for one in by_attributes(table(records)) if one.attribute == "ib")
    assert attribute_lines(table(records), metric, 4, DEFAULT) == ()
    (line,) = attribute_lines(table(records), metric, 4, replace(DEFAULT, by="ib"))
    assert "IBV by ib" in line
    alone = [replace(run, attributes={"ib": run.attributes["ib"]}) for run in records]
    (line,) = attribute_lines(table(alone), metric, 4, DEFAULT)
    assert line.endswith("2.00 times (p = 0.029)")


# Few repeats


def single(group: str, placement: str, bandwidth: float, repeat: int = 1) -> Record:
    return make.run(make.case(placement, group=group), repeat, make.pingpong(1e-6, bandwidth))


def test_settings_that_disagree_are_counted_on_both_sides() -> None:
    records = [single(group, *one) for group in "abc" for one in (("IB", 2e9), ("ROCE", 1e9))]
    records += [single(group, *one) for group in "de" for one in (("IB", 1e9), ("ROCE", 2e9))]
    [line] = lines_of_few(compare(records))
    assert line.startswith("IB was better than ROCE in 3 of 5 settings and worse in 2, by ")
    assert "(1 repeat each); above 0 B at every size in 3, by " in line


def test_pairs_of_host_groups_do_not_hide_what_is_not_judged() -> None:
    """Three placements in two host groups: two host groups can be paired, two placements cannot."""
    speeds = (("SHM", 3e9), ("IB", 2e9), ("ROCE", 1e9))
    records = [
        single(group, name, times * speed) for group, times in (("a", 2), ("b", 1)) for name, speed in speeds
    ]
    found = summary(compare(records))
    assert [line.partition(" in ")[0] for line in found.of_few] == ["a was better than b"]
    assert "Not judged, fewer than 4 repeats: 6 of 6 candidates (" in " ".join(found.answers[0].said)
    assert not table(records).over_groups, "two host groups of single repeats tell no order"


def test_two_that_are_alike_are_not_said_to_differ() -> None:
    records = [single(group, name, 2e9) for group in "abc" for name in ("SHM", "SHM-1")]
    [line] = lines_of_few(compare(records))
    assert line.startswith("No clear difference between SHM and SHM-1 in the median over sizes in any of 3 ")


def test_many_settings_are_tested_by_their_signed_ranks() -> None:
    """Of 14 settings all agree: by chance in 2 of 16,384 cases."""
    records = [single(f"g{n}", *one) for n in range(14) for one in (("IB", 2e9), ("ROCE", 1e9))]
    [found] = compare(records).of_few
    assert len(found.pair.leads) == 14 and found.pair.p == pytest.approx(2 / 2**14)
    records += [single(f"h{n}", *one) for n in range(9) for one in (("IB", 1e9), ("ROCE", 2e9))]
    [found] = compare(records).of_few
    assert (len(found.pair.leads), len(found.pair.against)) == (14, 9)
    assert (found.pair.p or 0) > 0.2


def test_of_rates_the_highest_is_the_best() -> None:
    """A benchmark that prints bandwidths alone."""
    records = [single(group, *one) for group in "abcd" for one in (("IB", 2e9), ("ROCE", 1e9))]
    rates = [
        replace(one, series=tuple(replace(s, columns={**s.columns, "time": [None] * 24}) for s in one.series))
        for one in records
    ]
    [found] = compare(rates).of_few
    assert (found.pair.better, found.pair.worse, len(found.pair.leads)) == ("IB", "ROCE", 4)


def test_a_placement_that_is_better_above_a_size_in_all_settings() -> None:
    """The same latency, twice the bandwidth: better at every size but the smallest."""
    records = [single(group, *one) for group in "abcd" for one in (("IB", 2e9), ("ROCE", 1e9))]
    [line] = lines_of_few(compare(records))
    assert line.startswith("IB was better than ROCE in 4 of 4 settings, by 1.")
    assert "; above 0 B at every size in 4, by " in line
    assert line in to_terminal(compare(records)).replace("\n    ", " ")


# Attributes in files and tables


def test_rows_are_grouped_by_an_attribute() -> None:
    records = runs("a", "SHM", 1e9, ib="FDR") + runs("b", "SHM", 2e9) + runs("c", "SHM", 3e9, ib="FDR")
    grouped = compare(records, by="ib")
    assert [grouped.place(row) for row in grouped.tables[0].rows] == ["a (FDR)", "c (FDR)", "b"]
    view = replace(DEFAULT, by="ib")
    assert "a (FDR)" in to_terminal(grouped, view)
    head, *lines = to_csv(grouped, view).splitlines()
    assert head.endswith(",ib")
    assert [line.rpartition(",")[2] for line in lines][:1] == ["FDR"]


def test_plan_and_records_carry_attributes() -> None:
    attributes = {"cpu": "Broadwell", "year": "2016"}
    made = plan(campaign(group={"attributes": attributes}))
    assert {json.dumps(dict(case.attributes)) for case in made.cases} == {json.dumps(attributes)}
    read = plan_from(json.loads(plan_json(made)))
    assert read.cases[0].attributes == attributes
    (run, *_) = runs("a", "SHM", 1e9, **attributes)
    assert record_from(record_line(run)) == run
    (plain, *_) = runs("a", "SHM", 1e9)
    assert b"attributes" not in record_line(plain)
