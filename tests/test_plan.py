"""The plan: order, blocks, systems, what is not available, and the cap."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from build_campaigns import BENCHMARK, MACHINE, campaign, plan
from conftest import executable

from mpicampaign.base.errors import UserError
from mpicampaign.base.expectation import UNTIL_KNOWN
from mpicampaign.base.plan_file import plan_json
from mpicampaign.base.records import DISTURBED
from mpicampaign.base.selection import RunSelection
from mpicampaign.campaign.model import Benchmark, Provider
from mpicampaign.jobs.plan import choose_systems, selected_plan
from mpicampaign.jobs.plan_text import no_runs_text, plan_text
from mpicampaign.jobs.software import find_program


def test_systems_are_chosen_by_host_name() -> None:
    made = campaign(login_hosts=("login*.blue",))
    assert choose_systems(made, ["login1.blue"]) == ("here",)
    assert choose_systems(made, ["laptop"]) == ()
    assert choose_systems(made, ["laptop"], "here") == ("here",)
    with pytest.raises(UserError, match="no system 'there'"):
        choose_systems(made, ["laptop"], "there")
    elsewhere = plan(made)
    assert "(laptop) belongs to no system" in no_runs_text(replace(elsewhere, systems=()), "laptop")


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


def test_further_repeats_that_were_made_are_not_counted_twice() -> None:
    disturbed = replace(MACHINE, condition_of=lambda case, repeat, identity: DISTURBED if repeat < 6 else "")
    made = plan(campaign(), disturbed)
    assert (len(made.runs), made.most(None)[0]) == (12, 18)  # 18: where the machine moves between states
    known = plan(campaign(repeats=UNTIL_KNOWN))
    assert "12 runs here, 12 still to be done; at most 80 until all cases are known" in plan_text(
        known, 12, None
    )
    assert selected_plan(known, RunSelection(repeats=((1, 8),))).most(None)[0] == 16


def test_benchmark_of_a_module_is_looked_for_on_the_node() -> None:
    loaded = Benchmark("osu_bw", "osu", "osu_bw", Provider("module", modules=("osu/7.4",)))
    program = find_program(campaign().systems["here"], loaded)
    assert (program.command, program.not_available) == ("osu_bw", "")


def test_folders_of_a_suite_below_a_conda_environment(tmp_path: Path) -> None:
    program = tmp_path / "libexec" / "osu-micro-benchmarks" / "mpi" / "pt2pt" / "osu_bw"
    program.parent.mkdir(parents=True)
    executable(program, "#!/bin/sh\n")
    benchmark = Benchmark("osu_bw", "osu", "osu_bw", Provider("conda", str(tmp_path)))
    assert find_program(campaign().systems["here"], benchmark).command == str(program)
    other = replace(benchmark, suite="imb")
    assert "osu_bw is not at" in find_program(campaign().systems["here"], other).not_available


def test_a_program_without_a_wheel_names_the_package() -> None:
    wanted = replace(BENCHMARK, program="IMB-NONE", provider=Provider("wheel"))
    reason = find_program(campaign().systems["here"], wanted).not_available
    assert "environment: pip install 'mpicampaign[mpi]', if impi-rt has a wheel for" in reason


def test_program_of_the_system_goes_before_the_provider(tmp_path: Path) -> None:
    program = executable(tmp_path / "IMB-MPI1", "#!/bin/sh\n")
    found = find_program(campaign(programs={"IMB-MPI1": str(program)}).systems["here"], BENCHMARK)
    assert (found.command, found.not_available) == (str(program), "")
    assert len(found.sha256) == 64
