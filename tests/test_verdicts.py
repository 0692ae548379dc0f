"""Verdicts follow from when the runs were made: whoever made them, and however often people add and edit."""

from __future__ import annotations

import math
import random
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations, product

import build_records as make
import numpy as np
import pytest

from mpicampaign.base.records import IMPORTED_FROM, Record
from mpicampaign.compare.compare import compare as compare_records
from mpicampaign.questions.answer import ALONE
from mpicampaign.questions.ranking.say import errors_text
from mpicampaign.report.make import to_terminal
from mpicampaign.report.summary import summary
from mpicampaign.verdicts.compare import APART_IN_TIME, FEW_REPEATS, NO_TIMES, WIDE_ROWS, compare
from mpicampaign.verdicts.rank_tests import aligned_ranks, midranks, plain_ranks, signed_ranks
from mpicampaign.verdicts.rows import TimedRun, rows_of, unevenness

MINUTE, DAY = 60.0, 86400.0
Story = list[tuple[str, float]]  # name and begin of each run


def in_rows(*orders: str, begin: float = 0.0, step: float = MINUTE) -> Story:
    """``"AB", "BA"``: A, B, B, A, a step apart."""
    return [(who, begin + step * place) for place, who in enumerate("".join(orders))]


EVEN = ("AB", "BA", "BA", "AB", "AB", "BA", "AB", "BA")
# A and B are alike; the machine is 3 % slower a day later.
ONE_AFTER_THE_OTHER = {
    "in turn": in_rows("A" * 8, "B" * 8, step=3 * DAY / 16),
    "added later": in_rows("A" * 8) + in_rows("B" * 8, begin=2 * DAY),
    "edited later": in_rows("A" * 8) + in_rows("B" * 8, begin=2 * DAY),
    "one overlaps": in_rows("AAAB", "AAAA") + in_rows("B" * 7, begin=2 * DAY),
    "one again": in_rows("A" * 7) + in_rows("B" * 4, "A", "B" * 4, begin=2 * DAY),
    "batches by days": [
        (who, DAY * day + MINUTE * run) for day, who in enumerate("ABABABAB") for run in range(2)
    ],
    "another week": in_rows("A" * 8) + in_rows("B" * 8, begin=7 * DAY),
}


def records(story: Story, metadata: dict[str, str], cost: float = 1.0) -> list[Record]:
    """Runs of two placements, alike but that B takes ``cost`` times as long, and all 3 % more a day later."""
    noise, found = random.Random(5), []
    count = dict.fromkeys((who for who, _ in story), 0)
    for who, begin in sorted(story, key=lambda run: run[1]):
        count[who] += 1
        slower = (1.03 if begin > DAY else 1.0) * (cost if who == "B" else 1.0)
        series = make.pingpong(1e-6 * slower * noise.uniform(0.998, 1.002), 1e9)
        started = (datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=begin)).isoformat()
        found.append(make.run(who, count[who], series, started=started, metadata=metadata))
    return found


@pytest.mark.parametrize("metadata", [{}, {IMPORTED_FROM: "a folder"}], ids=["own", "imported"])
@pytest.mark.parametrize("story", ONE_AFTER_THE_OTHER.values(), ids=ONE_AFTER_THE_OTHER)
def test_alike_ones_of_different_days_are_not_tested(story: Story, metadata: dict[str, str]) -> None:
    comparison = compare_records(records(story, metadata))
    [ranking] = [one for _, one in comparison.rankings if one.metric.size == 0]
    [pair] = ranking.pairs
    assert (pair.clear, pair.verdict.alone, pair.verdict.reason) == (False, None, APART_IN_TIME)
    assert ranking.leaders == () and not ranking.judged
    found = summary(comparison)
    assert found.lead == "The placements are not tested: measured one after the other"
    [said] = [answer.said for answer in found.answers if "0 B" in answer.title]
    assert re.fullmatch(
        r"The medians .* are 1\.0\d µs \(.*\) for [AB] and 1\.03 µs \(.*\) for [AB]\.", said[1]
    )
    assert ("run --again" in said[2]) == (metadata == {}) and "would decide" in said[2]
    assert "p = " not in to_terminal(comparison)


@pytest.mark.parametrize("metadata", [{}, {IMPORTED_FROM: "a folder"}], ids=["own", "imported"])
def test_new_runs_of_both_in_rows_decide(metadata: dict[str, str]) -> None:
    """B was edited later and is truly 2 % slower: earlier runs of A do not hide it, nor show it."""
    later = in_rows("A" * 8) + in_rows(*EVEN, begin=2 * DAY)
    comparison = compare_records(records(later, metadata, cost=1.02))
    [ranking] = [one for _, one in comparison.rankings if one.metric.size == 0]
    [pair] = ranking.pairs
    assert pair.clear and pair.verdict.rows == 8 and ranking.leaders == ("A",)
    assert "ranked within 8 rows in time" in " ".join(
        a.said[2] for a in summary(comparison).answers if "0 B" in a.title
    )


def test_host_groups_of_other_placements_are_not_compared() -> None:
    runs = records(in_rows(*EVEN), {})
    apart = [replace(run, case=replace(run.case, host_group=f"g{run.case.placement}")) for run in runs]
    assert {answer.real for answer in summary(compare_records(apart)).answers} == {ALONE}


def of(story: Story, costs: dict[str, list[float]] | None = None) -> list[list[TimedRun]]:
    names = sorted({who for who, _ in story})
    values = {who: iter((costs or {}).get(who, [0.0] * len(story))) for who in names}
    runs = {who: [TimedRun(at, next(values[who])) for name, at in story if name == who] for who in names}
    return [runs[who] for who in names]


def test_rows_hold_each_once_end_at_pauses_and_with_the_allocation() -> None:
    story = in_rows("AB", "BA", "AAB", "BBA")
    assert [[run.begin for run in row] for row in rows_of(of(story), (0, 1))] == [
        [0 * MINUTE, 1 * MINUTE],
        [3 * MINUTE, 2 * MINUTE],
        [5 * MINUTE, 6 * MINUTE],
        [9 * MINUTE, 8 * MINUTE],
    ]
    pause = in_rows("AB", "A") + in_rows("B", "BA", begin=2 * MINUTE + 11 * MINUTE)
    assert len(rows_of(of(pause), (0, 1))) == 2
    assert len(rows_of(of([*pause[:3], *[(who, at - MINUTE) for who, at in pause[3:]]]), (0, 1))) == 3
    a, b = of(in_rows("AB", "AB"))
    other = [b[0], b[1]._replace(allocation="2")]
    assert len(rows_of([a, other], (0, 1))) == 1
    # two keep their rows whatever a third lacks
    assert len(rows_of(of(in_rows("AB", "AB", "ABC")), (0, 1))) == 3
    assert len(rows_of(of(in_rows("AB", "AB", "ABC")), (0, 1, 2))) == 1


def test_rows_of_dates_and_of_unknown_times() -> None:
    """One row a date; runs of the same second by the plan's order."""
    dates = [(who, DAY * day) for day in range(5) for who in "AABB"]
    assert len(rows_of(of(dates), (0, 1))) == 5
    ordered = [[TimedRun(0.0, 0.0, order=place) for place in places] for places in ((0, 3), (1, 2))]
    assert [[run.order for run in row] for row in rows_of(ordered, (0, 1))] == [[0, 1], [3, 2]]
    unknown = [[TimedRun(None, 1.0)] * 5, [TimedRun(1.0, 2.0)] * 5]
    assert compare(unknown).pairs[0, 1].reason == NO_TIMES


def test_reasons_and_who_is_judged() -> None:
    """C ran later, D has few repeats: neither leads nor is led."""
    story = [*in_rows(*EVEN), ("D", 1.0), *in_rows("C" * 8, begin=9 * DAY)]
    costs = {"A": [0.0] * 8, "B": [0.1] * 8, "C": [-1.0] * 8, "D": [-2.0]}
    verdict = compare(of(story, costs))
    assert verdict.judged == {0, 1} and verdict.may_be_best == (0,) and verdict.led_by == {1: 0}
    assert {verdict.pairs[0, 2].reason, verdict.pairs[1, 2].reason} == {APART_IN_TIME}
    assert verdict.pairs[0, 3].reason == FEW_REPEATS and verdict.why_not(2) == APART_IN_TIME
    assert verdict.why_not(3) == FEW_REPEATS and verdict.why_not(0) == ""


def test_out_is_whom_any_judged_one_leads() -> None:
    """B leads C; A, with the best median, scatters too much to lead anybody."""
    small = [0.001 * place for place in range(8)]
    story = in_rows("ABC", "CBA", "BCA", "ACB", "ABC", "CBA", "CAB", "BAC")
    costs = {
        "A": [each + (0.06 if place in (1, 4, 6) else -0.02) for place, each in enumerate(small)],
        "B": small,
        "C": [each + 0.04 for each in reversed(small)],
    }
    verdict = compare(of(story, costs))
    assert verdict.may_be_best == (0, 1) and verdict.led_by == {2: 1}


def test_nothing_is_shown_where_medians_say_the_opposite_of_rows() -> None:
    first = [float(n) for n in range(1, 17)]
    other = [0.5 if n == 9 else n + 0.1 for n in first]
    [pair] = compare(of(in_rows(*EVEN, *EVEN), {"A": first, "B": other})).pairs.values()
    assert pair.within and pair.alone is not None and pair.alone <= 0.05 and pair.p == 1.0


def test_the_same_order_is_tested_by_all_values_and_said() -> None:
    cron = in_rows(*["AB"] * 8)
    comparison = compare_records(records(cron, {}, cost=1.02))
    [ranking] = [one for _, one in comparison.rankings if one.metric.size == 0]
    [pair] = ranking.pairs
    assert pair.clear and not pair.verdict.within and pair.verdict.same_order
    assert "Where B always ran after A" in errors_text([ranking])
    mirrored = compare_records(records(in_rows(*EVEN), {}, cost=1.02))
    assert "always ran after" not in errors_text([ranking for _, ranking in mirrored.rankings])
    wide = [(who, DAY * day + hour * 3600) for day in range(8) for who, hour in (("A", 0.0), ("B", 1.1))]
    assert compare(of(wide)).pairs[0, 1].reason == WIDE_ROWS
    assert compare(of([(who, at - 720 * (who == "B")) for who, at in wide])).pairs[0, 1].reason == ""


def test_signed_ranks_are_exact() -> None:
    """Against all signs, with equal sizes and a zero."""
    for differences in ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -7.0, 8.0], [1.0, -1.0, 2.0, 2.0, 0.0, 3.0]):
        sizes = np.abs(differences)
        ranks = [(np.sum(sizes < each) + np.sum(sizes <= each) + 1) / 2 for each in sizes]
        ranks = [rank * (size > 0) for rank, size in zip(ranks, sizes, strict=True)]
        sums = [abs(np.dot(ranks, signs)) for signs in product((1, -1), repeat=len(ranks))]
        observed = abs(np.dot(ranks, np.sign(differences)))
        assert signed_ranks(differences) == pytest.approx(np.mean(np.array(sums) >= observed - 1e-9))
    assert signed_ranks([0.0] * 8) == 1.0 and signed_ranks([1.0] * 8) == 2 / 256
    far = signed_ranks([1.0 + place for place in range(101)])
    assert 0 < far < 1e-15  # the normal approximation


def test_rank_tests_of_several() -> None:
    """Hand-computed: Kruskal and Wallis' H, and the aligned ranks of rows in perfect agreement."""
    groups = [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]
    h = 12 / (12 * 13) * (10**2 + 26**2 + 42**2) / 4 - 3 * 13
    assert plain_ranks(np.array([[*groups[0], *groups[1], *groups[2]]]), [4, 4, 4])[0] == pytest.approx(
        math.exp(-h / 2)
    )
    rows = np.array([[[0.0, 1.0, 2.0]] * 8])
    ranks = midranks((rows - rows.mean(axis=2, keepdims=True)).reshape(1, -1)).reshape(8, 3)
    assert ranks[0].tolist() == [4.5, 12.5, 20.5]
    q = 2 * (64**2 + 64**2) / (8 * (8**2 + 8**2))
    assert aligned_ranks(rows)[0] == pytest.approx(math.exp(-q / 2))
    limit = np.array([[[0.0, 1.0, math.inf]] * 8])  # a met time limit is the worst rank
    assert aligned_ranks(limit)[0] == pytest.approx(aligned_ranks(rows)[0])


def test_every_set_with_both_must_differ() -> None:
    """The probabilities of a closed procedure, recomputed set by set."""
    source = np.random.default_rng(3)
    orders = ["ABCD", "DCBA", "BDAC", "CADB"] * 2
    story = in_rows(*orders)
    costs = {
        who: (source.standard_normal(8) + shift).tolist()
        for who, shift in zip("ABCD", (0, 0, 2, 5), strict=True)
    }
    candidates = of(story, costs)
    assert unevenness(rows_of(candidates, range(4))) <= 0.5
    verdict = compare(candidates)
    values = np.array([costs[who] for who in "ABCD"]).T
    for pair, found in verdict.pairs.items():
        if not found.shown:
            continue
        expected = 0.0
        for m in (2, 3, 4):
            for members in combinations(range(4), m):
                if {*pair} <= {*members}:
                    alone = (
                        signed_ranks(values[:, members[1]] - values[:, members[0]])
                        if m == 2
                        else (float(aligned_ranks(values[None, :, members])[0]))
                    )
                    share = 1.0 if m >= 3 else 0.5
                    expected = max(expected, 1 - (1 - alone) ** (1 / share))
        assert found.p == pytest.approx(expected, abs=1e-9)
    assert verdict.pairs[0, 3].shown and not verdict.pairs[0, 1].shown
