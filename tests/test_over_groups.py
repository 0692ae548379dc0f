"""Averages over host groups, and host groups by their attributes."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import permutations, product

import pytest
import synthetic
from builders import campaign, plan

from mpicampaign.compare.compare import compare
from mpicampaign.compare.metrics import choose_metrics
from mpicampaign.compare.over_groups import averages, by_attributes
from mpicampaign.compare.published import published_for
from mpicampaign.compare.tables import Table
from mpicampaign.plan_file import plan_from, plan_json
from mpicampaign.presentation import ReferenceChoice
from mpicampaign.records import Case, Record, Series, record_from_json, record_to_json
from mpicampaign.show.make import to_csv, to_terminal
from mpicampaign.show.over_groups import attribute_lines, over_group_lines
from mpicampaign.show.view import DEFAULT
from mpicampaign.statistics.exchange import exchange


def runs(group: str, placement: str, rate: float, **attributes: str) -> list[Record]:
    """Three repeats of HPL."""
    case = Case("s", group, placement, "HPL")
    made = (Series("HPL", 4, {"flops": [rate * (1 + n / 1000)], "time": [1.0]}) for n in (-1, 0, 1))
    return [
        replace(synthetic.run(case, n, one, suite="hpl"), attributes=attributes)
        for n, one in enumerate(made, 1)
    ]


def table(records: list[Record]) -> Table:
    return compare(records).tables[0]


def test_exchange_is_the_share_of_all_exchanges() -> None:
    a, b = [3.0, 9.0, 4.0], [1.0, 2.0, 3.5, 5.0]

    def difference(values: tuple[float, ...]) -> float:
        return abs(sum(values[:3]) / 3 - sum(values[3:]) / 4)

    every = [difference(values) for values in permutations([*a, *b])]
    share = sum(each >= difference((*a, *b)) - 1e-9 for each in every) / len(every)
    assert exchange([(a, b)]).p == pytest.approx(share)
    assert exchange([([1.0], [0.0])] * 6)[:3] == pytest.approx((1.0, 2 / 64, 2 / 64))
    assert exchange([(list(range(12)), list(range(20, 32)))]).p < 0.01  # more ways than are tried


def test_the_averages_of_the_report_of_2017() -> None:
    label = "HPL (N 44640, NB 180, grid 2 x 2)"
    qualifiers = {"N": "44640", "NB": "180", "grid": "2 x 2"}
    metrics = choose_metrics("hpl", [Series("HPL", 4, {"flops": [1.0]}, qualifiers)], ())
    empty = Table("HPL", label, "hpl", metrics, (), ())
    own = replace(empty, published=published_for(empty, [ReferenceChoice("stfc-2017")]))
    tcp, ibv = averages(own)
    assert (tcp.placement, tcp.baseline, len(tcp.ratios)) == ("TCP", "SHM", 13)
    assert (ibv.placement, ibv.baseline, len(ibv.ratios)) == ("IBV", "SHM", 7)
    assert (round(100 * tcp.mean, 2), round(100 * ibv.mean, 2)) == (-4.08, -0.23)
    line = over_group_lines(own, DEFAULT)[0]
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


def test_what_changes_with_an_attribute_is_named_and_few_host_groups_are_not_judged() -> None:
    records = [run for n in range(4) for run in runs(f"q{n}", "IBV", 1e9 + n, ib="QDR", cpu="old")]
    fdr = [run for n in range(4) for run in runs(f"f{n}", "IBV", 2e9 + n, ib="FDR", cpu="new")]
    (line, _) = over_group_lines(table(records + fdr), DEFAULT)
    assert line.startswith("flop rate, 4 ranks, IBV by ib, highest first: FDR 2.000 Gflop/s (4 host groups: ")
    assert "FDR against QDR: 2.00 times (p = 0.029); cpu may be the cause as well" in line
    (line, _) = over_group_lines(table(records + fdr[:3]), DEFAULT)
    assert "Not judged: too few host groups" in line


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
    assert line.endswith("2.00 times among host groups alike in all else (p = 0.029)")


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
    assert record_from_json(json.loads(json.dumps(record_to_json(run)))) == run
    (plain, *_) = runs("a", "SHM", 1e9)
    assert "attributes" not in record_to_json(plain)


@pytest.mark.full
@pytest.mark.parametrize("groups", [7, 13])
def test_alike_placements_rarely_differ_and_others_are_found(groups: int) -> None:
    source = random.Random(groups)

    def differs(effect: float) -> bool:
        records = []
        for group, placement in product(range(groups), range(3)):
            rate = 1e9 * (1 + group) * source.lognormvariate(0, 0.02) * (1 - effect * (placement == 2))
            records += runs(f"g{group}", f"p{placement}", rate)[1:2]
        return any(one.p is not None and one.p <= 0.05 for one in averages(table(records)))

    assert sum(differs(0.0) for _ in range(100)) <= 11  # at most 1 in 200 such tests exceeds it at 5 %
    assert sum(differs(0.04) for _ in range(50)) >= {7: 22, 13: 45}[groups]


@pytest.mark.full
@pytest.mark.parametrize(("few", "many"), [(4, 4), (2, 5), (6, 6)])
def test_alike_levels_rarely_differ_whatever_their_spreads(few: int, many: int) -> None:
    source = random.Random(few)

    def differs() -> bool:
        sides = (("a", few, 0.02), ("b", many, 0.3))
        records = [
            runs(f"{level}{n}", "SHM", 1e9 * source.lognormvariate(0, spread), level=level)[0]
            for level, count, spread in sides
            for n in range(count)
        ]
        (found,) = by_attributes(table(records))
        (pair,) = found.pairs
        return pair.p is not None and pair.p <= 0.05

    assert sum(differs() for _ in range(200)) <= 19
