"""The plan: order, blocks, systems, what is not available, and the cap."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import BENCHMARK, MACHINE, campaign, plan

from mpicampaign.campaign.model import Benchmark, Fabric, Placement, Provider
from mpicampaign.errors import UserError
from mpicampaign.expectation import UNTIL_KNOWN
from mpicampaign.jobs.plan import check_cap, choose_systems, make_plan, selected_plan
from mpicampaign.jobs.plan_text import no_runs_text, pending_text, plan_text
from mpicampaign.jobs.software import Program, find_program
from mpicampaign.plan_file import plan_json
from mpicampaign.records import DISTURBED, RANKED
from mpicampaign.selection import RunSelection


def names(runs: object) -> list[tuple[str, int]]:
    return [(run.case.placement, run.repeat) for run in runs]  # type: ignore[attr-defined]


def test_every_case_and_repeat_once_in_blocks() -> None:
    runs = plan(campaign(repeats=5)).runs
    assert sorted(names(runs)) == [(p, r) for p in ("SHM", "SHM-1") for r in range(1, 6)]
    assert [run.repeat for run in runs] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert [run.order for run in runs] == list(range(1, 11))


def test_order_is_shuffled_by_the_recorded_seed_alone() -> None:
    many = {f"P{n}": Placement(f"P{n}", 1, 2, "shm", sockets=1) for n in range(9)}
    made = campaign(many)
    assert names(plan(made).runs) == names(plan(made).runs)
    assert names(plan(made).runs) != names(plan(replace(made, seed=2)).runs)
    assert names(plan(made).runs)[:9] != [(name, 1) for name in many]


def test_program_that_is_not_there_makes_a_case_with_a_reason_and_no_run() -> None:
    machine = replace(
        MACHINE, find_program=lambda system, benchmark: Program("x", not_available="no OSU here")
    )
    made = plan(campaign(), machine)
    assert made.runs == ()
    assert [case.not_available for case in made.cases] == ["no OSU here"] * 2
    text = plan_text(made, 0, None)
    assert "n/a: no OSU here" in text
    assert (
        text.count("to get IMB: Python package impi-rt, Spack package intel-mpi-benchmarks, module IMB") == 1
    )


def test_full_node_asks_the_host_group_then_the_machine() -> None:
    full = {"full": Placement("full", 1, "cores", "shm")}
    assert plan(campaign(full)).runs[0].job.ranks == 8
    assert plan(campaign(full, group={"cores": 12})).runs[0].job.ranks == 12


def test_cases_of_other_systems_are_known_but_have_no_runs() -> None:
    made = campaign()
    away = replace(made.systems["here"], name="away")
    elsewhere = make_plan(replace(made, systems={**made.systems, "away": away}), ["away"], MACHINE)
    assert elsewhere.runs == ()
    assert len(elsewhere.cases) == 2
    assert "(elsewhere)" in plan_text(elsewhere, 0, None)


def test_systems_are_chosen_by_host_name() -> None:
    made = campaign(login_hosts=("login*.blue",))
    assert choose_systems(made, ["login1.blue"]) == ("here",)
    assert choose_systems(made, ["laptop"]) == ()
    assert choose_systems(made, ["laptop"], "here") == ("here",)
    with pytest.raises(UserError, match="no system 'there'"):
        choose_systems(made, ["laptop"], "there")
    elsewhere = plan(made)
    assert "(laptop) belongs to no system" in no_runs_text(replace(elsewhere, systems=()), "laptop")


@pytest.mark.parametrize(
    ("scheduler", "login_hosts", "chosen"),
    [
        ("none", (), ("here", "twin")),  # two MPI libraries of one machine
        ("slurm", ("login*",), ("here", "twin")),
        ("slurm", (), ()),  # nothing says to which of them this machine belongs
        ("none", ("other*",), ()),
    ],
)
def test_a_machine_may_belong_to_several_systems(
    scheduler: str, login_hosts: tuple[str, ...], chosen: tuple[str, ...]
) -> None:
    made = campaign(scheduler=scheduler, login_hosts=login_hosts)
    both = {**made.systems, "twin": replace(made.systems["here"], name="twin")}
    assert choose_systems(replace(made, systems=both), ["login1"]) == chosen


def test_runs_of_two_systems_take_turns() -> None:
    made = campaign(repeats=2)
    twin = replace(made.systems["here"], name="twin")
    group = replace(made.host_groups["blue"], name="red", system="twin")
    both = replace(
        made,
        systems={**made.systems, "twin": twin},
        host_groups={**made.host_groups, "red": group},
        matrix=(replace(made.matrix[0], host_groups=("blue", "red")),),
    )
    runs = make_plan(both, ["here", "twin"], MACHINE).runs
    assert [run.repeat for run in runs] == [1] * 4 + [2] * 4
    assert {run.case.system for run in runs[:4]} == {"here", "twin"}


def test_cap_refuses_and_names_both_values() -> None:
    made = plan(campaign(repeats=60))  # 120 runs of a minute on one node
    assert made.node_seconds == 7200
    check_cap(made, replace(campaign(), node_hours_cap=2.0))
    with pytest.raises(UserError, match=r"2\.00 node-hours, the campaign allows 1\.9"):
        check_cap(made, replace(campaign(), node_hours_cap=1.9))


def test_plan_as_json_names_order_and_identity_of_each_run() -> None:
    made = plan(campaign(repeats=2))
    data = json.loads(plan_json(replace(made, campaign_file="../../campaign.yaml")))
    assert (data["format"], data["version"], data["seed"]) == ("mpicampaign-plan", 2, 1)
    assert (data["systems"], data["campaign_file"]) == (["here"], "../../campaign.yaml")
    found = {(run.case.placement, run.repeat): (run.identity, run.order) for run in made.runs}
    for case in data["cases"]:
        assert [run["repeat"] for run in case["runs"]] == [1, 2]
        for run in case["runs"]:
            assert (run["identity"], run["order"]) == found[case["placement"], run["repeat"]]


def test_arguments_before_a_campaign() -> None:
    made = plan(campaign(repeats=2))
    assert "3 of 4 runs to do, about 4 min" in pending_text(made, 3, "", "about 4 min")
    assert "nothing to do, all 4 runs are there (yesterday)" in pending_text(made, 0, "c", "yesterday")


def test_plan_text_shows_the_matrix() -> None:
    text = plan_text(plan(campaign()), 6, 10.0)
    rows = [line.split() for line in text.splitlines()]
    assert ["PingPong", "SHM-1", "SHM"] in rows
    assert ["blue", "×3", "×3"] in rows
    assert "at most 0.10, then 0.20 node-hours" in text
    assert "10 allowed" in text


@pytest.mark.parametrize(
    ("changes", "scheduler", "most", "hours"),
    [
        ({}, "none", "; at most 12 if this machine is busy", "0.10, then 0.20 node-hours"),
        ({}, "slurm", "; at most 12 if the nodes are busy", "0.10, then 0.20 node-hours"),
        ({"further_repeats": 1}, "none", "; at most 8 if this machine is busy", "0.10, then 0.13 node-hours"),
        ({"node_hours_cap": 9 / 60}, "none", "; at most 9 if this machine is busy", "0.10, then 0.15 node-"),
        ({"node_hours_cap": 6 / 60}, "none", "", "0.10 node-hours"),
        ({"further_repeats": 0}, "none", "", "0.10 node-hours"),
        ({"busy_machine": RANKED}, "none", "", "0.10 node-hours"),
    ],
)
def test_plan_text_counts_the_further_repeats_that_there_may_be(
    changes: dict[str, Any], scheduler: str, most: str, hours: str
) -> None:
    made = replace(campaign(scheduler=scheduler), **changes)
    *_, runs, node_hours = plan_text(plan(made), 6, made.node_hours_cap).splitlines()
    assert runs == f"6 runs here, 6 still to be done{most}"
    assert node_hours.startswith(f"at most {hours}")


def test_further_repeats_that_were_made_are_not_counted_twice() -> None:
    disturbed = replace(MACHINE, condition_of=lambda case, repeat, identity: DISTURBED if repeat < 6 else "")
    made = plan(campaign(), disturbed)
    assert (len(made.runs), made.most(None)[0]) == (12, 12)
    known = plan(campaign(repeats=UNTIL_KNOWN))
    assert "12 runs here, 12 still to be done; at most 80 until all cases are known" in plan_text(
        known, 12, None
    )
    assert selected_plan(known, RunSelection(repeats=((1, 8),))).most(None)[0] == 16


def test_benchmark_of_a_module_is_looked_for_on_the_node() -> None:
    loaded = Benchmark("osu_bw", "osu", "osu_bw", Provider("module", modules=("osu/7.4",)))
    program = find_program(campaign().systems["here"], loaded)
    assert (program.command, program.not_available) == ("osu_bw", "")


def test_program_that_is_not_where_it_should_be() -> None:
    missing = replace(BENCHMARK, provider=Provider("path", "/no/such/IMB-MPI1"))
    assert "not at /no/such/IMB-MPI1" in find_program(campaign().systems["here"], missing).not_available


def test_folders_of_a_suite_below_a_conda_environment(tmp_path: Path) -> None:
    program = tmp_path / "libexec" / "osu-micro-benchmarks" / "mpi" / "pt2pt" / "osu_bw"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    benchmark = Benchmark("osu_bw", "osu", "osu_bw", Provider("conda", str(tmp_path)))
    assert find_program(campaign().systems["here"], benchmark).command == str(program)
    other = replace(benchmark, suite="imb")
    assert "osu_bw is not at" in find_program(campaign().systems["here"], other).not_available


def test_a_program_without_a_wheel_names_the_package() -> None:
    wanted = replace(BENCHMARK, program="IMB-NONE", provider=Provider("wheel"))
    reason = find_program(campaign().systems["here"], wanted).not_available
    assert "IMB-NONE is not in the Python environment: no wheel of impi-rt for" in reason


def test_program_of_the_system_goes_before_the_provider(tmp_path: Path) -> None:
    program = tmp_path / "IMB-MPI1"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    found = find_program(campaign(programs={"IMB-MPI1": str(program)}).systems["here"], BENCHMARK)
    assert (found.command, found.not_available) == (str(program), "")
    assert len(found.sha256) == 64


def test_the_line_rate_reaches_the_analysis_through_the_plan_and_changes_no_run() -> None:
    tcp = {"TCP": Placement("TCP", 2, 1, "tcp"), "SHM": Placement("SHM", 1, 2, "shm")}
    plans = []
    for rate in (None, 1.25e8):
        fabrics = {"eth": Fabric("eth", "tcp", "eth0", bytes_per_second=rate)}
        made = plan(campaign(tcp, group={"fabrics": fabrics}))
        plans.append(made.cases)
    rates = [{entry.case.placement: entry.line_rate for entry in entries} for entries in plans]
    assert rates == [{"TCP": None, "SHM": None}, {"TCP": 1.25e8, "SHM": None}]
    assert [entry.declared for entry in plans[0]] == [entry.declared for entry in plans[1]]
