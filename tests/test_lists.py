"""Lists in a campaign file: values of placements and benchmarks, and MPI libraries of a system."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from html import unescape
from pathlib import Path

import build_records as make
import golden_messages
import pytest
from build_campaigns import MACHINE, script_of

from mpicampaign.base.errors import UserError
from mpicampaign.base.plan_file import plan_from, plan_json
from mpicampaign.base.records import DISTURBED, SCALING, STRONG, Record
from mpicampaign.base.selection import RunSelection
from mpicampaign.campaign.file import load_campaign
from mpicampaign.collect.undescribed import undescribed
from mpicampaign.compare.compare import compare
from mpicampaign.interface.results import CampaignResults
from mpicampaign.jobs.claim import claim_text
from mpicampaign.jobs.plan import Plan, make_plan
from mpicampaign.jobs.plan_text import lists_text
from mpicampaign.jobs.render import script_text
from mpicampaign.questions.scaling.draw import scaling_charts
from mpicampaign.report.draw_figures import draw_all
from mpicampaign.report.make import to_markdown
from mpicampaign.report.questions import answers
from mpicampaign.report.summary import summary_text
from mpicampaign.report.write import write_report
from mpicampaign.run.batches import batches_of
from mpicampaign.schedulers import SCHEDULERS
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.view import DEFAULT

ONE = """
campaign: c
repeats: 3
systems: {{cluster: {{scheduler: slurm, mpi: {mpi}}}}}
host_groups: {{milan: {{system: cluster, cores: 16, fabrics: {{ib: {{transport: ibv, device: mlx5_0}}}}}}}}
placements: {{X: {{nodes: {nodes}, ranks_per_node: 2, transport: ibv{placement}}}}}
benchmarks:
  B: {{suite: kernel, program: tree_gather, provider: bundled, arguments: {arguments}{benchmark}}}
matrix: [{{host_groups: milan, placements: X, benchmarks: B{matrix}}}]
"""
DEFAULTS = {
    "mpi": "openmpi5",
    "nodes": "2",
    "placement": "",
    "benchmark": "",
    "arguments": '"--max-size 1MiB"',
    "matrix": "",
}


def plan_of(tmp_path: Path, **parts: str) -> Plan:
    file = tmp_path / "c.yaml"
    file.write_text(ONE.format(**DEFAULTS | parts))
    campaign = load_campaign(file)
    return make_plan(campaign, list(campaign.systems), MACHINE)


def test_each_value_reaches_the_script(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        nodes="[2, 4]",
        placement=", environment: {UCX_TLS: [rc, 'x$(id)']}, launcher_options: {a: -x A, b: -x B}",
        arguments='"--max-size {most} --min-size {ranks}"',
        benchmark=", parameters: {most: [1MiB, 2MiB]}",
    )
    assert len(plan.cases) == 16 and len({run.identity for run in plan.runs}) == 48
    assert lists_text(plan) == ["lists expand to 16 cases: placement X to 8, benchmark B to 2"]
    last = next(each for each in plan.runs if each.case == plan.cases[-1].case)
    assert str(last.case) == "cluster/milan X nodes=4 UCX_TLS=x$(id) b B most=2MiB"
    script = script_text(script_of(last))
    for part in ("#SBATCH --nodes=4", "UCX_TLS='x$(id)'", "-x B", "--max-size 2MiB --min-size 8"):
        assert part in script, script
    assert "claim placement=X\n" in claim_text(script_of(last), [])
    assert RunSelection(("X",), ("B",)).takes_case(last.case)
    assert not RunSelection(("X nodes=2",)).takes_case(last.case)
    again = plan_from(json.loads(plan_json(plan)))
    assert [each.kept for each in again.cases] == [each.kept for each in plan.cases]
    assert undescribed(again, tmp_path) == {}


LIBRARIES_OF_ONE = "[openmpi5, {mpi: intelmpi, name: impi, modules: impi/2021}]"


def test_the_libraries_of_a_system_share_its_places_in_the_queue(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, mpi=LIBRARIES_OF_ONE)
    runs = [script_of(run) for run in plan.runs]
    found = batches_of(runs, SCHEDULERS["slurm"], Counter({"cluster": 1}))  # type: ignore[arg-type]
    assert [len(batch.runs) for batch in found] == [1]


def test_mistakes_in_lists_are_named(tmp_path: Path) -> None:
    def said(parts: dict[str, str]) -> str:
        return golden_messages.refusal(tmp_path, lambda: plan_of(tmp_path, **parts))

    golden_messages.check("mistakes/lists", said)


@pytest.mark.parametrize(
    "parts",
    [{"placement": ", threads: [1, 1.0]"}, {"mpi": "[{mpi: openmpi5, name: a}, {mpi: openmpi5, name: b}]"}],
)
def test_cases_that_differ_in_name_alone_are_refused(tmp_path: Path, parts: dict[str, str]) -> None:
    """They would share the folders of their runs."""
    with pytest.raises(UserError, match=r"two cases of the matrix are the same run: cluster.* and cluster"):
        plan_of(tmp_path, **parts)


# What the records say


def work(placement: str, ranks: int, time: float, arguments: str = "100") -> list[Record]:
    """Repeats of an own program, a time to solution and a rate."""
    case = make.case(placement, "solve", "blue", "here")
    metrics = {"time": {"unit": "s", "better": "lower"}, "rate": {"unit": "step/s", "better": "higher"}}
    table = make.series("solve", ranks, metrics=metrics, time=time, rate=100 / time)
    fields = {"suite": "own", "metadata": {"arguments": arguments}}
    return [make.run(case, number, table, **fields) for number in range(1, 7)]


def test_values_of_a_list_without_blocks_are_told_once_and_how_to_compare_them(tmp_path: Path) -> None:
    variants = [make.case("SHM-1", f"PingPong iter={count}", "blue", "here") for count in (10, 100)]
    records = [run for case in variants for run in make.case_runs(case)]
    text, line = summary_text(compare(records)), "PingPong: 2 values of lists; 'blocks' in the matrix entry"
    assert f"{line} would compare them." in text
    assert text.count("PingPong") == 1
    write_report(tmp_path / "report.html", compare(records), records)
    first = unescape((tmp_path / "report.html").read_text()).partition('id="tables"')[0]
    told = re.sub(r"(?s)<(style|ul).*?</\1>", "", first)
    assert (told.count(line), told.count("Only SHM-1")) == (1, 0)


def declared(records: list[Record], word: str) -> list[Record]:
    return [replace(each, metadata=each.metadata | {SCALING: word}) for each in records]


def test_a_scaling_of_few_disturbed_repeats_says_so_and_once() -> None:
    ran = [*work("X", 2, 10.0), *work("X ranks_per_node=8", 8, 4.0)]
    few = [replace(run, condition=DISTURBED, ranks_busy=True) for run in ran if run.repeat < 3]
    for series in {id(run.series[0]): run.series[0] for run in few}.values():
        del series.columns["rate"]
    text = " ".join(summary_text(compare(few)).split())
    assert text.count("From 2 to 8 ranks") == text.count("; too few repeats (2); all runs disturbed.") == 1


def test_first_screens_answer_with_time_speed_up_and_efficiency(tmp_path: Path) -> None:
    ran = [*work("X", 2, 10.0), *work("X ranks_per_node=8", 8, 4.0)]
    ran += work("X nodes=2 ranks_per_node=4", 8, 5.0)
    comparison = compare(declared(ran, STRONG))
    text = " ".join(summary_text(comparison).split())
    assert "Nothing to compare" not in text
    assert "solve: time, blue X: From 2 to 8 ranks: speed-up 2.00 of 4.00, efficiency 50.0 %." in text
    text = " ".join(detail for answer in answers(comparison) for detail in answer.details)
    assert "10.00 s with 2 ranks" in text and "5.000 s with 8 ranks in X nodes=2 ranks_per_node=4" in text
    assert "(speed-up 2.50 of 4.00, efficiency 62.5 %)" in text, text
    assert "(speed-up 2.00 of 4.00, efficiency 50.0 %)" in text, (
        "as many ranks on other nodes are no row less"
    )
    lines = [line for line in CampaignResults("c", comparison).answers if line["metric"] == "time"]
    lines = [line for line in lines if line["verdict"] == "strong scaling"]
    assert {line["question"] for line in lines} == {"ranks"}
    assert [line["against"] for line in lines] == [None, "2 ranks", "2 ranks"]
    [chart] = scaling_charts(Scene(comparison, DEFAULT))
    assert {panel.title.rpartition(": ")[2] for panel in chart.panels} >= {"speed-up", "efficiency"}
    ideals = [dict(curve.median) for panel in chart.panels for curve in panel.curves if curve.name == "ideal"]
    assert {2: 1.0, 8: 4.0} in ideals and {2: 1.0, 8: 1.0} in ideals
    write_report(tmp_path / "r.html", comparison, comparison.records, lambda: draw_all(comparison, tmp_path))
    page = (tmp_path / "r.html").read_text()
    section = page[page.index('id="scaling"') : page.index('id="tables"')]
    assert "speed-up" in section and "<svg" in section and "all ran the same problem" in section
    assert page.count("Scaling over the number of ranks</h") == 1
    old = to_markdown(compare(ran)).partition("## Scaling over")[2]
    assert "Strong scaling" not in old and "Weak scaling" not in old and "No campaign file says" in old
