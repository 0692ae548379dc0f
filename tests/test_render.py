"""Job scripts: quoting, directives, the library; bash and shellcheck accept them."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from builders import BENCHMARK, ROOT, campaign, plan, script_of

from mpicampaign.campaign.model import Campaign
from mpicampaign.errors import UserError
from mpicampaign.jobs.plan import Run
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
    return script_of(first(made, placement), root).text()


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


@pytest.mark.parametrize("scheduler", ["slurm", "lsf", "none"])
def test_shellcheck_and_bash_take_a_script_with_hostile_values(scheduler: str, tmp_path: Path) -> None:
    benchmark = replace(BENCHMARK, arguments=tuple(HOSTILE))
    made = campaign(benchmark=benchmark, scheduler=scheduler, environment={"X": HOSTILE[2]})
    script = tmp_path / "job.sh"
    script.write_text(script_of(first(made)).text(inline=True), encoding="utf-8")
    subprocess.run(["bash", "-n", script], check=True, timeout=240)
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    # notes of a lower severity are guesses at what hostile values were meant to be
    command = ["shellcheck", "--severity=warning", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout


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
            done = subprocess.run(["grep", "-Eq", pattern, path], check=False)
            assert done.returncode == 0, (path.name, pattern)
        if SUITES[suite].refused:
            assert subprocess.run(["grep", "-Eq", SUITES[suite].refused, path], check=False).returncode == 1
