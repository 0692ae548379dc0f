"""Job scripts: quoting, directives, the library; bash and shellcheck accept them."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from build_campaigns import BENCHMARK, PLACEMENTS, ROOT, campaign, plan, prepared_in, script_of, with_draft
from conftest import completed, succeeded

from mpicampaign.base.errors import UserError
from mpicampaign.base.identity import canonical
from mpicampaign.campaign.model import Campaign, Placement
from mpicampaign.evidence.evidence import read_evidence
from mpicampaign.evidence.judge import CLAIMS
from mpicampaign.jobs.claim import claim_text
from mpicampaign.jobs.prepare import write_scripts
from mpicampaign.jobs.render import minutes, script_text
from mpicampaign.jobs.run import Run
from mpicampaign.mpis import libfabric
from mpicampaign.schedulers import SCHEDULERS
from mpicampaign.suites import SUITES, OutputError, parse

HOSTILE = [
    "two words",
    "quote ' and \" double",
    "$(touch pwned) `touch pwned` ${HOME} $HOME",
    "line\nbreak\n#SBATCH --evil\nEND\nEND_OF_RANK",
    "über ÄÖ 漢字 \U0001f600",
    "; touch pwned; | & > < * ? [ ] { } ! # ~ \\",
    "line\nbreak beside a back\\slash and a quote '\\n",
    "-leading dash",
    "{{ 7*7 }} {% raw %} ${{ x }}",
    "",
]


def first(made: Campaign, placement: str = "SHM-1") -> Run:
    return next(run for run in plan(made).runs if run.case.placement == placement and run.repeat == 1)


def text_of(made: Campaign, placement: str = "SHM-1", root: Path = ROOT) -> str:
    return script_text(script_of(first(made, placement), root))


def test_a_claim_has_what_the_frozen_ones_lack_and_all_that_is_judged() -> None:
    benchmark = replace(BENCHMARK, suite="osu", program="osu_latency", arguments=("-m", "1:64"))
    run = first(campaign(benchmark=benchmark, group={"members": ("n1", "n2")}))
    claim = read_evidence("", claim_text(with_draft(run, libraries="ab cd"), ["a", "b"])).claim
    expected = {"scripts": "a b", "libraries": "ab cd", "members": "n1 n2", "largest_size": "64"}
    assert expected.items() <= claim.items() and set(CLAIMS) <= claim.keys()
    assert (claim["identity"], claim["declared"]) == (run.identity, canonical(run.declared))


def test_the_library_is_checked_before_it_is_sourced(tmp_path: Path) -> None:
    script = prepared_script(tmp_path, campaign())
    [library] = (tmp_path / "results/c/lib").glob("*.sh")
    library.write_text(library.read_text() + "# changed\n")
    done = completed(["bash", script], timeout=240)
    assert done.returncode == 72
    assert "is not the library that this script was made with" in done.stderr
    assert not any(script.parent.glob("attempt-*"))


def prepared_script(folder: Path, made: Campaign) -> Path:
    """The only script of a campaign, written as for a user."""
    found = prepared_in(folder / "results", made)
    found = replace(found, plan=replace(found.plan, runs=found.plan.runs[:1]))
    write_scripts(found)
    return found.runs[0].path


@pytest.mark.parametrize("scheduler", ["slurm", "lsf"])
def test_no_value_brings_a_directive_to_the_start_of_a_line(scheduler: str) -> None:
    evil = "a\n#SBATCH --evil\n#BSUB -evil\r#BSUB -evil\n"
    benchmark = replace(BENCHMARK, arguments=(evil,))
    made = campaign(benchmark=benchmark, scheduler=scheduler, environment={"X": evil}, source=(evil,))
    lines = re.split(r"[\r\n]", text_of(made))
    assert not [line for line in lines if line.startswith(("#SBATCH", "#BSUB")) and "evil" in line]


@pytest.mark.parametrize("value", ["a b\nc", 'quo"te', "$(id)", "`id`", "back\\slash", "bang!"])
@pytest.mark.parametrize("scheduler", ["slurm", "lsf"])
def test_directive_values_that_could_be_misread_are_refused(value: str, scheduler: str) -> None:
    made = campaign(scheduler=scheduler, group={"reservation": value})
    with pytest.raises(UserError, match="directive"):
        text_of(made)


def test_interface_of_the_fabric_reaches_the_library() -> None:
    loopback = {"TCP-loopback": Placement("TCP-loopback", 1, 2, "tcp", loopback=True)}
    assert " FI_TCP_IFACE=lo\n" in text_of(campaign(loopback), "TCP-loopback")
    assert libfabric.variables("shm", "eth0") == {"FI_PROVIDER": "shm"}  # none takes an interface


@pytest.mark.parametrize("scheduler", ["slurm", "lsf", "none"])
def test_shellcheck_and_bash_take_a_script_with_hostile_values(scheduler: str, tmp_path: Path) -> None:
    benchmark = replace(BENCHMARK, arguments=tuple(HOSTILE))
    made = campaign(benchmark=benchmark, scheduler=scheduler, environment={"X": HOSTILE[2]})
    script = tmp_path / "job.sh"
    script.write_text(script_text(script_of(first(made)), inline=True), encoding="utf-8")
    subprocess.run(["bash", "-n", script], check=True, timeout=240)
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    # notes of a lower severity are guesses at what hostile values were meant to be
    command = ["shellcheck", "--severity=warning", script]
    assert succeeded(completed(command, timeout=240))


FIXTURES = Path(__file__).parent / "fixtures"


def is_taken(suite: str, path: Path) -> bool:
    try:
        return bool(parse(suite, path.read_text()).series)
    except OutputError:
        return False


@pytest.mark.parametrize("suite", ["imb", "osu"])
def test_whole_outputs_pass_the_scripts_own_check(suite: str) -> None:
    """The script must never refuse an output that the parser accepts."""
    found = [path for path in FIXTURES.glob(f"{suite}/*.out") if is_taken(suite, path)]
    assert len(found) > 10
    for path in found:
        for pattern in SUITES[suite].whole:
            assert succeeded(subprocess.run(["grep", "-Eq", pattern, path], check=False))
        if SUITES[suite].refused:
            assert subprocess.run(["grep", "-Eq", SUITES[suite].refused, path], check=False).returncode == 1


def test_unbound_placement_switches_the_librarys_binding_off_too() -> None:
    assert " I_MPI_PIN=off " in text_of(campaign(), "SHM")
    library = {
        "SHM-2": replace(PLACEMENTS["SHM-1"], binding="library", launcher_options=("-bind-to", "core"))
    }
    made = campaign({"SHM-1": library["SHM-2"]})
    assert "I_MPI_PIN" not in text_of(made)
    assert "-bind-to core" in text_of(made)


def test_time_limit_of_the_scheduler_leaves_room_for_set_up() -> None:
    assert [minutes(seconds) for seconds in (60, 61, 2400, 36000)] == [6, 7, 45, 605]
    assert [SCHEDULERS["lsf"].time(each) for each in (6, 45, 60, 605)] == ["0:06", "0:45", "1:00", "10:05"]
