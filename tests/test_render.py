"""Job scripts: quoting, hashes, what changes them, and that bash and shellcheck take them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from builders import BENCHMARK, INTEL_MPI, PLACEMENTS, ROOT, campaign, plan

from mpicampaign.campaign.model import Campaign, Placement
from mpicampaign.errors import UserError
from mpicampaign.jobs.plan import Run
from mpicampaign.jobs.render import COMPLETE, HASH_MARK, REFUSED, run_folder, script_text
from mpicampaign.jobs.schedulers import hours_minutes
from mpicampaign.parsers import OutputError, parse

HOSTILE = [
    "two words",
    "quote ' and \" double",
    "$(touch pwned) `touch pwned` ${HOME} $HOME",
    "line\nbreak\n#SBATCH --evil\nEND\nEND_OF_RANK",
    "über ÄÖ 漢字 \U0001f600",
    "; touch pwned; | & > < * ? [ ] { } ! # ~ \\",
    "-leading dash",
    "{{ 7*7 }} {% raw %} ${{ x }}",
    "",
]


def first(made: Campaign, placement: str = "SHM-1") -> Run:
    return next(run for run in plan(made).runs if run.case.placement == placement and run.repeat == 1)


def text_of(made: Campaign, placement: str = "SHM-1", root: Path = ROOT) -> str:
    return script_text(first(made, placement), root)[0]


def test_hash_can_be_checked_by_anyone() -> None:
    text, digest = script_text(first(campaign()), ROOT)
    marked = text.replace(digest, HASH_MARK)
    assert hashlib.sha256(marked.encode()).hexdigest()[:12] == digest
    assert run_folder(first(campaign()), ROOT, digest).name == f"r01-{digest}"
    assert f"/r01-{digest}" in text


def test_rendering_is_deterministic_and_repeats_differ_only_in_their_number() -> None:
    assert script_text(first(campaign()), ROOT) == script_text(first(campaign()), ROOT)
    hashes = {script_text(run, ROOT)[1] for run in plan(campaign(repeats=4)).runs}
    assert len(hashes) == 8


def test_order_in_the_plan_is_no_part_of_the_script() -> None:
    run = first(campaign())
    assert script_text(run, ROOT) == script_text(replace(run, order=99), ROOT)


def test_changing_one_placement_changes_only_its_scripts() -> None:
    changed = {**PLACEMENTS, "SHM-1": replace(PLACEMENTS["SHM-1"], sockets=2)}
    for placement, same in (("SHM-1", False), ("SHM", True)):
        assert (text_of(campaign(), placement) == text_of(campaign(changed), placement)) is same


def test_changed_program_is_another_script() -> None:
    run = first(campaign())
    assert script_text(run, ROOT) != script_text(replace(run, program_sha256="6" * 64), ROOT)


def fake_benchmark(folder: Path) -> Path:
    """A program that leaves its arguments and one variable, so that quoting can be checked end to end."""
    program = folder / "print arguments"
    program.write_text(
        '#!/bin/bash\nprintf "%s\\0" "$@" "$HOSTILE" >"${0%/*}/arguments"\necho "#@end rows=0 status=ok"\n'
    )
    program.chmod(0o755)
    launcher = folder / "bin/mpirun"
    launcher.parent.mkdir()
    launcher.write_text('#!/bin/bash\nshift 4\nexport PMI_RANK=0 MPI_LOCALRANKID=0\nexec "$@"\n')
    launcher.chmod(0o755)
    return program


@pytest.mark.parametrize("hostile", HOSTILE)
def test_values_reach_the_program_as_they_are(tmp_path: Path, hostile: str) -> None:
    program = fake_benchmark(tmp_path)
    benchmark = replace(BENCHMARK, suite="kernel", program=program.name, arguments=(hostile, "last"))
    unbound = {"SHM": replace(PLACEMENTS["SHM"], ranks_per_node=1)}
    made = campaign(unbound, benchmark, environment={"HOSTILE": hostile}, prefix=str(tmp_path))
    run = replace(first(made, "SHM"), program=str(program))
    text, digest = script_text(run, tmp_path / "results")
    folder = run_folder(run, tmp_path / "results", digest)
    folder.mkdir(parents=True)
    (folder / "job.sh").write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["bash", folder / "job.sh"], cwd=tmp_path, capture_output=True, timeout=240, env={**os.environ}
    )
    assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "arguments").read_bytes().decode().split("\0") == [hostile, "last", hostile, ""]
    assert not (tmp_path / "pwned").exists()
    evidence = (folder / "result/evidence.txt").read_text()
    assert f"job script_hash={digest}" in evidence


def test_a_title_cannot_leave_its_comment() -> None:
    text = script_text(replace(first(campaign()), campaign="c\n#SBATCH --evil\u2028rm -rf x"), ROOT)[0]
    assert not [line for line in text.splitlines() if line.startswith(("#SBATCH", "rm -rf x"))]


@pytest.mark.parametrize("value", ["a b\nc", 'quo"te', "$(id)", "`id`", "back\\slash", "bang!"])
@pytest.mark.parametrize("scheduler", ["slurm", "lsf"])
def test_directive_values_that_could_be_misread_are_refused(value: str, scheduler: str) -> None:
    made = campaign(scheduler=scheduler, group={"reservation": value})
    with pytest.raises(UserError, match="directive"):
        text_of(made)


def test_a_value_that_holds_the_mark_of_the_hash_is_refused() -> None:
    with pytest.raises(UserError, match="stands for the script's own hash"):
        text_of(campaign(environment={"X": f"a{HASH_MARK}b"}))


def test_directives_of_slurm() -> None:
    group = {
        "partition": "compute",
        "constraint": "haswell&ib",
        "exclusive": True,
        "hosts": ("n1", "n2"),
        "licenses": "fabric:1",
    }
    made = campaign(
        {"TCP": Placement("TCP", 2, 1, "tcp")}, scheduler="slurm", directives=("--mem=0",), group=group
    )
    text = text_of(made, "TCP")
    found = [line.removeprefix("#SBATCH ") for line in text.splitlines() if line.startswith("#SBATCH")]
    assert found[1:5] == ["--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--time=1"]
    assert "--exclusive" in found
    assert "--partition=compute" in found
    assert '--constraint="haswell&ib"' in found
    assert "--nodelist=n1,n2" in found
    assert "--licenses=fabric:1" in found
    assert found[-1] == "--mem=0"
    assert text.startswith("#!/bin/bash\n#SBATCH")


def test_time_limit_as_lsf_writes_it() -> None:
    assert [hours_minutes(seconds) for seconds in (60, 61, 2700, 3600, 36000)] == [
        "0:01",
        "0:02",
        "0:45",
        "1:00",
        "10:00",
    ]


def test_interface_of_the_fabric_reaches_the_library() -> None:
    loopback = {"TCP-loopback": Placement("TCP-loopback", 1, 2, "tcp", loopback=True)}
    assert "export FI_TCP_IFACE=lo\n" in text_of(campaign(loopback), "TCP-loopback")


def test_unbound_placement_switches_the_librarys_binding_off_too() -> None:
    assert "export I_MPI_PIN=off\n" in text_of(campaign(), "SHM")
    library = {
        "SHM-2": replace(PLACEMENTS["SHM-1"], binding="library", launcher_options=("-bind-to", "core"))
    }
    made = campaign({"SHM-1": library["SHM-2"]})
    assert "I_MPI_PIN" not in text_of(made)
    assert "-bind-to core" in text_of(made)


@pytest.mark.parametrize("scheduler", ["slurm", "lsf", "none"])
def test_shellcheck_and_bash_take_a_script_with_hostile_values(scheduler: str, tmp_path: Path) -> None:
    benchmark = replace(BENCHMARK, arguments=tuple(HOSTILE))
    made = campaign(benchmark=benchmark, scheduler=scheduler, environment={"X": HOSTILE[2]})
    script = tmp_path / "job.sh"
    script.write_text(text_of(made), encoding="utf-8")
    subprocess.run(["bash", "-n", script], check=True, timeout=240)
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    # notes of a lower severity are guesses at what hostile values were meant to be
    command = ["shellcheck", "--severity=warning", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout


def test_intel_mpi_under_a_prefix_gets_its_root() -> None:
    text = text_of(campaign(prefix="/opt/my mpi"))
    assert "export I_MPI_ROOT='/opt/my mpi'\n" in text
    assert "export PATH='/opt/my mpi'/bin:\"$PATH\"\n" in text
    assert INTEL_MPI.name == "intelmpi"


FIXTURES = Path(__file__).parent / "fixtures"


def is_taken(suite: str, path: Path) -> bool:
    try:
        return bool(parse(suite, path.read_text()).series)
    except OutputError:
        return False


@pytest.mark.parametrize("suite", ["imb", "osu"])
def test_whole_outputs_pass_the_scripts_own_check(suite: str) -> None:
    """The check of the script must never refuse an output that the parser takes."""
    found = [path for path in FIXTURES.glob(f"{suite}/*.out") if is_taken(suite, path)]
    assert len(found) > 10
    for path in found:
        for pattern in COMPLETE[suite]:
            done = subprocess.run(["grep", "-Eq", pattern, path], check=False)
            assert done.returncode == 0, (path.name, pattern)
        for pattern in REFUSED[suite]:
            assert subprocess.run(["grep", "-Eq", pattern, path], check=False).returncode == 1
