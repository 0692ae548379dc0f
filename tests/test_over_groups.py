"""Placements over host groups, these by their attributes, and pairs of few repeats over their settings."""

from __future__ import annotations

import csv
from dataclasses import replace

import build_records as make
import stfc_runs

from mpicampaign.base.records import Record
from mpicampaign.compare.compare import compare
from mpicampaign.compare.tables import Table
from mpicampaign.questions.over_groups.find_attributes import by_attributes
from mpicampaign.questions.over_groups.say import attribute_lines, lines_of_few, over_group_lines
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


@stfc_runs.needed
def test_the_orders_of_the_report() -> None:
    latency, bandwidth = compare(stfc_runs.scarf_records()).tables[0].over_groups
    assert [one for one in latency.order if one != "SHM"] == ["SHM-1", "SHM-2", "IBV", "TCP"]
    assert bandwidth.order == ("SHM-1", "SHM-2", "IBV", "TCP") and bandwidth.mixed == ("SHM",)
    first, second, _ = bandwidth.steps
    assert [one.name for one in first.against] == ["scarf15", "scarf16"]
    assert [one.name for one in second.against] == ["scarf16"]


# Averages


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
    assert "(1 repeat each)" in line


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


# Attributes in files and tables


def test_rows_are_grouped_by_an_attribute() -> None:
    records = runs("a", "SHM", 1e9, ib="FDR") + runs("b", "SHM", 2e9) + runs("c", "SHM", 3e9, ib="FDR")
    grouped = compare(records, by="ib")
    assert [grouped.place(row) for row in grouped.tables[0].rows] == ["a (FDR)", "c (FDR)", "b"]
    view = replace(DEFAULT, by="ib")
    assert "a (FDR)" in to_terminal(grouped, view)
    lines = csv.DictReader(to_csv(grouped, view).splitlines())
    assert [line["group"] for line in lines][:1] == ["FDR"]
