"""Candidates of block designs: which blocks count, and what the pages say of them."""

from __future__ import annotations

import json
import pickle
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import build_records as make
import numpy as np
import pytest
from test_blocks import of_pairs
from test_report import Page

from mpicampaign.base.records import (
    ALL_PAIRS,
    BLOCK,
    COMPARED,
    CONTRADICTED,
    DISTURBED,
    FAILED,
    MISSING,
    OVERSUBSCRIBED,
    TIME_LIMIT_MET,
    TO_REFERENCE,
    Record,
)
from mpicampaign.compare.compare import compare
from mpicampaign.questions.blocks.find import BETTER, NOT_SHOWN, WORSE, InBlocks
from mpicampaign.questions.blocks.say import block_sentences
from mpicampaign.report.columns import ANSWERS
from mpicampaign.report.draw_figures import draw_all
from mpicampaign.report.filter import select
from mpicampaign.report.make import tables, to_markdown, to_terminal
from mpicampaign.report.summary import summary
from mpicampaign.report.write import write_report
from mpicampaign.show.view import Filter, View


def design(
    times: dict[str, float], blocks: int = 8, spread: float = 0.05, compared: str = TO_REFERENCE, **more: Any
) -> list[Record]:
    """PingPong of candidates whose blocks are on nodes that differ by more than they do; noise 0.5 %."""
    noise = random.Random("blocks")
    nodes = [noise.gauss(1, spread) for _ in range(blocks)]
    records = []
    for name, time in times.items():
        placement, _, library = name.partition(" with ")
        of = f" with {library}" if library else ""
        case = make.case(placement, more.get("benchmark", "PingPong"), f"g{of}", f"s{of}")
        metadata = {BLOCK: "g TCP, 2 nodes", COMPARED: compared}
        for repeat, node in enumerate(nodes, 1):
            took, hosts = time * node * noise.gauss(1, 0.005), (f"n{repeat}", f"m{repeat}")
            table = make.pingpong(took * 1e-6, 1e9 / took)
            records.append(make.run(case, repeat, table, hosts=hosts, metadata=metadata))
    return records


def changed(records: list[Record], name: str, repeats: set[int], how: dict[str, Any]) -> list[Record]:
    return [
        replace(one, **how) if one.case.placement == name and one.repeat in repeats else one
        for one in records
    ]


def seen_by(found: InBlocks) -> float:
    assert found.sight and found.sight.difference
    return found.sight.difference


def latency(records: list[Record]) -> InBlocks:
    return next(one for one in compare(records).blocks if one.metric.name == "latency at 0 B")


FAILURE: dict[str, Any] = {"status": FAILED, "series": (), "verdict": None}


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (FAILURE, "block 3 (B failed)"),
        ({**FAILURE, "status": MISSING}, "block 3 (B missing)"),
        ({"verdict": CONTRADICTED}, "block 3 (B contradicted)"),
        ({"condition": DISTURBED}, "block 3 (B disturbed)"),
        ({"earlier": "program"}, "block 3 (B earlier program or library)"),
        ({"hosts": ("n3", "other")}, "block 3 (not all on the same nodes)"),
        ({"hosts": ()}, "block 3 (not all on the same nodes)"),
    ],
)
def test_a_block_counts_only_as_a_whole(how: dict[str, Any], said: str) -> None:
    found = latency(changed(design({"A": 1, "B": 1.02}), "B", {3}, how))
    assert [block.repeat for block in found.blocks] == [1, 2, 4, 5, 6, 7, 8]
    [verdict] = found.verdicts
    assert verdict.word == WORSE and f"Left out: {said}." in list(block_sentences(found))


def test_a_block_counts_only_where_its_runs_were_made_side_by_side() -> None:
    """After an edit of B it alone has new runs, a day later on a machine that may have changed."""
    jobs = design({"A": 1, "B": 1.02})

    def timed(*later: int) -> list[Record]:
        days = [2 + (run.case.placement == "B" and run.repeat in later) for run in jobs]
        begins = [f"2026-01-0{day}T03:{run.repeat:02}:00Z" for day, run in zip(days, jobs, strict=True)]
        own = zip(jobs, begins, strict=True)  # without a scheduler, each run is a job of its own
        return [replace(run, started=begin, job_id=f"{begin} {run.case.placement}") for run, begin in own]

    assert latency(timed()).verdicts[0].word == WORSE
    found = latency(timed(3))
    assert [block.repeat for block in found.blocks] == [1, 2, 4, 5, 6, 7, 8]
    assert "Left out: block 3 (not all at the same time)." in list(block_sentences(found))
    edited = latency(timed(*range(1, 9)))
    assert not edited.blocks and "run --again A,B" in " ".join(block_sentences(edited))
    assert summary(compare(timed(*range(1, 9)))).lead == "Within blocks: too few blocks"
    parallel = [replace(run, started=f"2026-01-02T03:{n % 7:02}:00Z") for n, run in enumerate(jobs)]
    assert len(latency(parallel).blocks) == 8, "in jobs side by side"


def test_blocks_that_were_added_after_a_report_are_bet_on() -> None:
    """Ten at once show it; six, and four after a report, do not yet. What six showed stands."""

    def reported(b: float, looks: int) -> InBlocks:
        runs = design({"A": 1, "B": b}, blocks=10)
        return latency([replace(run, looks=looks * (run.repeat > 6)) for run in runs])

    assert reported(1.0055, 0).verdicts[0].word == WORSE
    found = reported(1.0055, 1)
    assert found.verdicts[0].word == NOT_SHOWN and found.sight and found.sight.repeats == 6
    said = "4 blocks were added after the first report (6 blocks): "
    assert f"{said}tested by bets, which hold at any time." in list(block_sentences(found))
    stands = reported(1.02, 1)
    assert stands.verdicts[0].word == WORSE and said in next(block_sentences(stands))


def test_a_time_limit_is_the_worst_rank_and_no_missing_cell() -> None:
    late = {**FAILURE, "exit_status": TIME_LIMIT_MET, "hosts": ("n3",)}
    found = latency(changed(design({"A": 1, "B": 1.02}), "B", {3}, late))
    assert len(found.blocks) == 8 and found.blocks[2].values[1] is None
    assert found.verdicts[0].word == WORSE and not found.left_out
    assert "B met its time limit in block 3: the worst rank." in list(block_sentences(found))
    always = latency(changed(design({"A": 1, "B": 0.9}), "B", set(range(1, 9)), late | {"hosts": ()}))
    assert always.verdicts[0].word == WORSE
    assert always.costs_to_reference(1) == (None, None, None)
    assert "B met its time limit in 8 of 8 blocks: it is worse than A" in next(block_sentences(always))
    half = latency(changed(design({"A": 1, "B": 1.02}), "B", {1, 2, 3, 4}, late | {"hosts": ()}))
    assert "B met its time limit in 4 of 8 blocks: it is worse than A" in next(block_sentences(half))
    both = changed(changed(design({"A": 1, "B": 1.02}), "A", {3}, late), "B", {3}, late)
    assert "Left out: block 3 (A failed, B failed)." in list(block_sentences(latency(both)))
    variants = design({"A": 1}, benchmark="PP") + changed(
        design({"B": 1}, benchmark="PP n=2"), "B", set(range(1, 9)), late | {"hosts": ()}
    )
    assert summary(compare(variants)).lead == "Within blocks: A is better than B n=2 in 2 of 2 comparisons"


@pytest.mark.parametrize("of_b", [{5, 6, 7, 8}, set()])
def test_disturbed_blocks_rank_and_are_marked_where_too_few_others_could(of_b: set[int]) -> None:
    records = changed(design({"A": 1, "B": 1.02}), "A", {1, 2, 3, 4}, {"condition": DISTURBED})
    records = changed(records, "B", of_b, {"condition": DISTURBED})
    found = latency(records)
    assert found.disturbed and len(found.blocks) == 8 and found.verdicts[0].word == WORSE
    assert " 8†" in to_terminal(compare(records)) and "8 blocks†" in next(block_sentences(found))


def test_candidates_are_named_by_what_tells_them_apart() -> None:
    libraries = latency(design({"TCP with openmpi5": 1, "TCP with intelmpi": 1.02}))
    assert libraries.names == ("TCP with openmpi5", "TCP with intelmpi")
    variants = design({"TCP": 1}, benchmark="PingPong UCX_TLS=tcp") + design(
        {"TCP": 1.1}, benchmark="PingPong UCX_TLS=rc"
    )
    assert latency(variants).names == ("PingPong UCX_TLS=tcp", "PingPong UCX_TLS=rc")
    own = [replace(r, series=(replace(r.series[0], benchmark=r.case.benchmark),)) for r in variants]
    slower = "PingPong UCX_TLS=rc takes 10 % longer than PingPong UCX_TLS=tcp ["
    assert summary(compare(own)).answers[0].said[0].startswith(slower)
    shared = design({"A": 1, "B": 1.02}) + changed(design({"C": 3, "D": 3}), "C", set(), {})
    apart = [
        replace(r, metadata={**r.metadata, OVERSUBSCRIBED: "4 ranks on 2 cores"})
        if r.case.placement in "CD"
        else r
        for r in shared
    ]
    assert [one.names for one in compare(apart).blocks if one.metric.name == "latency at 0 B"] == [
        ("A", "B"),
        ("C", "D"),
    ]


def test_all_pairs_are_compared_on_demand_and_none_of_equal_ones_is_shown() -> None:
    records = design({"A": 1, "B": 1.05, "C": 1, "D": 0.9}, compared=ALL_PAIRS)
    assert summary(compare(records)).lead == "Within blocks: D is the best in 2 of 2 comparisons"
    found = latency(records)
    assert found.leaders == ("D",)
    assert next(block_sentences(found)) == "D is fastest; C takes 11 % longer than D."
    verdicts = {(one.candidate, one.other): one.word for one in found.verdicts}
    assert verdicts == {
        (1, 0): WORSE,
        (2, 0): NOT_SHOWN,
        (3, 0): BETTER,
        (2, 1): BETTER,
        (3, 1): BETTER,
        (3, 2): BETTER,
    }
    near = latency(design({"A": 1, "B": 1.007, "C": 1.1}, blocks=12, spread=0.001, compared=ALL_PAIRS))
    assert [one.word for one in near.verdicts] == [WORSE, WORSE, WORSE] and near.leaders == ("A", "B")


def test_what_blocks_could_have_seen_stands_beside_what_they_do_not_show() -> None:
    """The largest p of eight blocks within 5 % is 0.039: Student's t with 7 degrees is 2.534."""
    found = latency(design({"TCP": 1.0, "IBV": 1.0, "SHM": 1.5}))
    assert [one.word for one in found.verdicts] == [NOT_SHOWN, WORSE]
    logs = np.log([block.values for block in found.blocks])
    differences = logs[:, 1] - logs[:, 0]
    spread = 1.25 * np.abs(differences - np.median(differences)).mean() * 8 / 7
    smallest = np.expm1(1.1 * (2.534 + 0.8416) * spread / np.sqrt(8))
    assert seen_by(found) == pytest.approx(smallest, rel=2e-3)
    assert f"8 blocks find {100 * smallest:.1g} % here in 8 of 10 cases." in list(block_sentences(found))
    # of all pairs of four each has 0.0253, within which p is 0.023 and t 2.89
    alike = {"TCP": 1.0, "IBV": 1.0, "SHM": 1.0, "OFI": 1.0}
    to_one, every = (latency(design(alike, compared=each)) for each in (TO_REFERENCE, ALL_PAIRS))
    logs = np.log([block.values for block in every.blocks])
    for found, t, first in ((every, 2.89, range(3)), (to_one, 2.534, [0])):
        pairs = [logs[:, b] - logs[:, a] for a in first for b in range(a + 1, 4)]
        spread = 1.25 * np.mean([np.abs(each - np.median(each)).mean() for each in pairs]) * 8 / 7
        seen = np.expm1(1.1 * (t + 0.8416) * spread / np.sqrt(8))
        assert seen_by(found) == pytest.approx(seen, rel=5e-3)
    assert latency(design({"TCP": 1.0, "IBV": 1.5})).sight is None


# What pages say


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return design({"R": 1, "S": 1.03, "T": 1.001}, blocks=6)


def test_a_page_has_sentences_table_blocks_and_figure_and_no_other_test(
    records: list[Record], tmp_path: Path
) -> None:
    comparison = compare(records)
    assert not comparison.rankings
    figures = draw_all(comparison, tmp_path / "figures", few=True)
    assert figures[0].chart.title == "PingPong in blocks, g TCP, 2 nodes"
    assert pickle.loads(pickle.dumps(figures)) == figures, "another process draws them"
    assert not figures[0].chart.folded
    write_report(tmp_path / "report.html", comparison, records, lambda: figures)
    page = re.sub(r"<[^>]+>", " ", (tmp_path / "report.html").read_text())
    for text in (to_markdown(comparison), page):
        assert "Side by side: compared within blocks" in text and "g TCP, 2 nodes: ratio to R:" in text
        assert "m3, n3" in text and "Mann" not in text
    assert "repeats agree" not in page and "The ratios in each block, with its nodes" in page
    shown = sum(one.metric.headline for one in comparison.blocks)
    assert page.count("m3, n3") == shown, "each ratio of a block stands once"
    assert "S latency at 0 B, times R: 1.0" in figures[0].chart.alt


def test_hostile_names_of_designs_candidates_and_nodes_stay_text(tmp_path: Path) -> None:
    evil = make.HOSTILE
    named = [
        replace(
            r, hosts=(evil,), metadata={BLOCK: evil}, case=replace(r.case, placement=r.case.placement + evil)
        )
        for r in design({"A": 1, "B": 1.1})
    ]
    comparison = compare(named)
    for text in (to_terminal(comparison), to_markdown(comparison), tables(comparison, "csv").decode()):
        assert "\x1b" not in text and "\u202e" not in text
    write_report(tmp_path / "report.html", comparison, named)
    assert Page((tmp_path / "report.html").read_text()).ids


def test_data_have_the_ratio_of_each_candidate_and_metric(records: list[Record]) -> None:
    comparison = compare(records)
    lines = json.loads(tables(comparison, "json", table=ANSWERS))["rows"]
    of = {(line["candidate"], line["metric"]): line for line in lines if line["question"] == "blocks"}
    own, reference = of["S", "latency at 0 B"], of["R", "latency at 0 B"]
    assert (own["scope"], own["against"], own["verdict"]) == ("g TCP, 2 nodes", "R", "worse")
    assert 1 < own["ratio_low"] < own["ratio"] < own["ratio_high"] and own["p"] < 0.05
    assert (reference["against"], reference["ratio"], reference["p"]) == (None, 1, None)
    assert [of[name, "latency at 0 B"]["verdict"] for name in "RST"] == ["reference", "worse", "not shown"]
    for found in comparison.blocks:
        cost, low, high = found.costs_to_reference(1)
        assert low and cost and high and 1.01 < low < cost < high < 1.05, "of times and of bandwidths"
        assert found.costs_to_reference(0) == (1, None, None)
    chosen = Filter(metrics=("bandwidth at 8 KiB",))
    shown = to_terminal(select(comparison, chosen), View(only=chosen))
    assert "PingPong: bandwidth at 8 KiB" in shown.partition("Side by side")[2]
    assert not select(comparison, Filter(placements=("R",))).blocks


# How often they err, and what they find: more in bench/verdicts.py

_State = Callable[[np.random.Generator, int, int], "np.ndarray[Any, Any]"]


def moving(source: np.random.Generator, n: int, k: int) -> np.ndarray[Any, Any]:
    """Two states a factor of 2 apart; any run may begin the other one."""
    return (np.log(2) * (np.cumsum(source.random(n * k) < 1 / 6) % 2)).reshape(n, k)


def node(source: np.random.Generator, n: int, k: int) -> np.ndarray[Any, Any]:
    """Nodes of 5 %, with a drift of 5 %."""
    return 0.05 * source.standard_normal((n, 1)) + np.linspace(0, 0.05, n * k).reshape(n, k)


@pytest.mark.full
@pytest.mark.parametrize("course", [moving, node])
def test_simulated_blocks_err_at_most_as_often_as_they_say(course: _State) -> None:
    source = np.random.default_rng(32)
    false = np.zeros(2)
    found, cases = 0, 150

    def costs(truth: list[float]) -> np.ndarray[Any, Any]:
        places = source.random((8, len(truth))).argsort(axis=1)
        effects = np.take_along_axis(course(source, 8, len(truth)), places, axis=1)
        return np.asarray(effects + np.log(truth) + 0.01 * source.standard_normal(effects.shape))

    for _ in range(cases):
        three_alike = [1.0, 1.0, 1.0, 1.05]
        for with_reference in (False, True):
            alike = of_pairs(costs(three_alike), with_reference)
            false[with_reference] += min(p for (_, b), p in alike.items() if b < 3) <= 0.05
        found += of_pairs(costs([1.0, 1.02]), with_reference=True)[0, 1] <= 0.05
    assert (false <= 15).all()  # 7.5 are expected at most
    assert course is moving or found >= 0.80 * cases  # 0.88 is expected
