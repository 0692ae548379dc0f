"""The Snakemake workflow as people call it: dry runs, failures, signals, kills, two callers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from build_campaigns import write_trivial
from conftest import PROJECT, ProjectCopy, completed, made, new_environment, pip_of, succeeded, wait_until
from default_signals import popen_with_default_signals

pytestmark = pytest.mark.slow

CONFIG = ("--config", "campaign=trivial.yaml")
REPORT = "results/trivial/report.html"
RULES = {"kernels", "scripts", "measure", "report"}
NOTHING = "trivial: nothing to do, all 4 runs are there"
FAILS_SECOND = "n=$(ls {folder}/count.* 2>/dev/null | wc -l); touch {folder}/count.$n; [ $n != 1 ] || exit 7"
WAITS_SECOND = """\
[ ! -e {folder}/first ] || while [ ! -e {folder}/go ]; do touch {folder}/second; sleep .05; done
touch {folder}/first"""


def of_folder(project: ProjectCopy, body: str) -> str:
    return body.format(folder=project.folder.parent)


def planned(project: ProjectCopy, *targets: str) -> tuple[str, set[str]]:
    """What a dry run says of the runs, and which rules it would execute."""
    done = project.snakemake(*targets, "-n", *CONFIG)
    assert done.returncode == 0, done.stderr
    printed = done.stdout + done.stderr
    [sentence] = [line for line in printed.splitlines() if line.startswith("trivial: ")]
    rules = re.findall(r"^([a-z]+) +[0-9]+$", printed, re.MULTILINE)
    return sentence, set(rules) - {"total", "all"}


def begun(project: ProjectCopy, *arguments: str) -> subprocess.Popen[bytes]:
    """A call in a group of its own, whose second run waits."""
    write_trivial(project, body=of_folder(project, WAITS_SECOND))
    process = popen_with_default_signals(
        [sys.executable, "-m", "snakemake", *arguments],
        cwd=project.folder,
        env=project.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    wait_until((project.folder.parent / "second").exists)
    return process


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (["campain=other.yaml"], "--config campain: unknown key\n    did you mean 'campaign'?"),
        (["map=map.yaml", "folder=raw"], "--config folder: unknown key\n    did you mean 'folders'?"),
    ],
)
@pytest.mark.full
def test_an_unknown_key_of_the_configuration_is_reported(
    project: ProjectCopy, config: list[str], message: str
) -> None:
    done = project.snakemake("-n", "--config", *config)
    assert done.returncode != 0 and message in done.stdout + done.stderr


@pytest.fixture(scope="module")
def oldest_snakemake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The Python of an environment with the oldest Snakemake that pyproject.toml allows."""
    python = new_environment(tmp_path_factory.mktemp("oldest") / "environment")
    lock = "envs/requirements-oldest-snakemake.txt"  # with the Cython that it asks for, pip builds datrie
    made([*pip_of(python), "install", "--quiet", "--require-hashes", "--requirement", lock], PROJECT)
    return str(python)


@pytest.mark.parametrize("snakemake", ["newest", pytest.param("oldest", marks=pytest.mark.full)])
def test_a_dry_run_says_what_is_due_and_why_and_nothing_is_due_after_a_run(
    project: ProjectCopy, snakemake: str, request: pytest.FixtureRequest
) -> None:
    if snakemake == "oldest":
        project = replace(project, python=request.getfixturevalue("oldest_snakemake"))
    write_trivial(project)
    assert planned(project) == (
        "trivial: 4 of 4 runs to do, at most 4 min, the sum of their time limits: 4 not made yet (trivial 4)",
        RULES,
    )
    assert planned(project, REPORT)[1] == RULES
    assert succeeded(project.snakemake(REPORT, *CONFIG))
    assert len(project.results("trivial")) == 4
    assert not list((project.folder / ".snakemake").glob("mpicampaign-*")), "marks are left"
    for targets in ((), (REPORT,)):
        sentence, rules = planned(project, *targets)
        assert sentence.startswith(NOTHING) and not rules


@pytest.mark.full
def test_some_runs_are_due_and_by_other_causes(project: ProjectCopy) -> None:
    write_trivial(project, body=of_folder(project, FAILS_SECOND))
    assert project.call("run", "trivial.yaml").returncode == 1
    sentence, rules = planned(project)
    assert "1 of 4 runs to do" in sentence and "1 failed before (trivial 1)" in sentence
    assert rules == RULES == planned(project, REPORT)[1]
    write_trivial(project, repeats=3)
    assert "1 failed before" in planned(project)[0] and "2 not made yet" in planned(project)[0]


@pytest.mark.full
def test_some_runs_alone_and_one_repeat_of_each_case(project: ProjectCopy) -> None:
    write_trivial(project)
    assert succeeded(project.snakemake(*CONFIG, "placement=one", "repeat=2"))
    assert [path.parts[-4] for path in project.results("trivial")] == ["one"]
    assert succeeded(project.snakemake(*CONFIG, "once=true"))
    assert len(project.results("trivial")) == 3
    assert not list((project.folder / ".snakemake").glob("mpicampaign-*")), "marks are left"


@pytest.mark.full
def test_a_failed_run_makes_the_call_fail_and_its_report_is_made(project: ProjectCopy) -> None:
    write_trivial(project, body=of_folder(project, FAILS_SECOND))
    done = project.snakemake(*CONFIG)
    assert done.returncode == 1 and "4 runs: 1 failed, 3 ok" in done.stdout + done.stderr
    assert (project.folder / REPORT).is_file()
    assert planned(project)[1] == planned(project, REPORT)[1] == RULES
    done = project.snakemake(REPORT, *CONFIG)
    assert done.returncode == 0 and planned(project)[0].startswith(NOTHING)


@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_group_stops_the_run_which_has_not_failed(
    project: ProjectCopy, number: signal.Signals
) -> None:
    process = begun(project, *CONFIG)
    os.killpg(process.pid, number)
    printed = process.communicate(timeout=240)[0].decode()
    assert process.returncode != 0 and "Traceback" not in printed
    assert "1 stopped" in project.call("status", "trivial.yaml").stdout
    assert "1 stopped" in project.call("report", "trivial.yaml").stdout
    assert "1 stopped before" in planned(project)[0]
    (project.folder.parent / "go").touch()
    assert project.snakemake(REPORT, *CONFIG).returncode == 0
    assert len(project.results("trivial")) == 4


@pytest.mark.full
def test_after_a_kill_the_next_call_goes_on(project: ProjectCopy) -> None:
    process = begun(project, *CONFIG)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=240)
    assert len(project.results("trivial")) == 1
    assert planned(project)[1] == planned(project, REPORT)[1] == RULES
    (project.folder.parent / "go").touch()
    done = project.snakemake(*CONFIG)
    assert done.returncode == 0, done.stderr
    assert "LockException" not in done.stderr and "IncompleteFiles" not in done.stderr
    assert len(project.results("trivial")) == 4


@pytest.mark.full
def test_a_second_caller_is_kept_away_and_told_by_whom(project: ProjectCopy) -> None:
    process = begun(project, *CONFIG)
    done = project.snakemake(*CONFIG)
    assert done.returncode == 1 and "LockException" not in done.stderr
    assert re.search(r"campaign trivial is being run by another call \(process [0-9]+ on ", done.stderr)
    (project.folder.parent / "go").touch()
    assert process.communicate(timeout=240) and process.returncode == 0
    assert len(project.results("trivial")) == 4
    assert planned(project)[0].startswith(NOTHING)


@pytest.mark.full
def test_an_executor_that_submits_is_given_nothing(project: ProjectCopy) -> None:
    write_trivial(project)
    executor = ("--executor", "cluster-generic", "--cluster-generic-submit-cmd", "false", "--jobs", "2")
    assert succeeded(project.snakemake(*executor, *CONFIG))
    assert len(project.results("trivial")) == 4


@pytest.mark.full
def test_the_graph_of_rules_is_that_of_the_documentation(project: ProjectCopy) -> None:
    write_trivial(project)
    done = project.snakemake("--rulegraph", "mermaid-js", *CONFIG)
    assert done.returncode == 0, done.stderr
    name = dict(re.findall(r"(id[0-9]+)\[([a-z]+)\]", done.stdout))
    arrows = {
        (name[one], name[other]) for one, other in re.findall(r"(id[0-9]+) --> (id[0-9]+)", done.stdout)
    }
    documented = (PROJECT / "docs/development.md").read_text(encoding="utf-8").partition("```mermaid")[2]
    assert arrows == set(re.findall(r"([a-z]+) --> ([a-z]+)", documented.partition("```")[0]))
    assert set(name.values()) == RULES | {"all"}


@pytest.mark.full
def test_it_works_from_another_folder_by_the_path_that_the_command_prints(
    project: ProjectCopy, tmp_path: Path
) -> None:
    file, elsewhere = write_trivial(project), tmp_path / "elsewhere"
    elsewhere.mkdir()
    snakefile = project.call("--snakefile").stdout.strip()
    assert Path(snakefile) == project.folder / "Snakefile"
    command = [sys.executable, "-m", "snakemake", "-s", snakefile, REPORT, "--config", f"campaign={file}"]
    assert succeeded(completed(command, cwd=elsewhere, env=project.environment))
    assert len(project.results("trivial")) == 4
    assert [path.name for path in elsewhere.rglob("*") if path.is_dir()] == [".snakemake", "log"]


@pytest.mark.full
def test_errors_in_the_campaign_are_reported_without_a_traceback(project: ProjectCopy) -> None:
    (project.folder / "campaign.yaml").write_text("campaign: a b\nrepeat: 3\n")
    done = project.snakemake("--profile", "cluster", "-n")
    assert done.returncode != 0
    assert "campaign.yaml:2: repeat: unknown key 'repeat'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.full
def test_a_profile_with_the_former_executor_is_told_the_line_to_remove(project: ProjectCopy) -> None:
    write_trivial(project)
    profile = project.folder / "mine"
    profile.mkdir()
    (profile / "config.yaml").write_text("executor: campaign\njobs: 100\n")
    done = project.snakemake("--profile", "mine", *CONFIG)
    assert done.returncode != 0 and not project.results("trivial")
    assert "remove the line 'executor: campaign' from your profile" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.full
def test_a_clone_in_a_folder_with_braces_runs(project: ProjectCopy) -> None:
    braced = ProjectCopy(project.folder.rename(project.folder.with_name("a {folder} {1,2}")))
    write_trivial(braced, repeats=1)
    assert succeeded(braced.snakemake("--profile", "cluster", *CONFIG))
    assert len(braced.results("trivial")) == 2
    report = braced.folder / REPORT
    made = report.stat().st_mtime_ns
    write_trivial(braced, repeats=1, title="A new title")
    assert succeeded(braced.snakemake(*CONFIG))
    assert report.stat().st_mtime_ns > made
    assert "A new title" in report.read_text()


DOCUMENTED = re.compile(r"^\s*(from|import) snakemake|\bworkflow\.|sys\.modules")


def test_only_documented_interfaces_of_snakemake_are_used() -> None:
    """The workflow imports nothing of it; the package names it in the stub of the former executor alone."""
    stub = PROJECT / "src/snakemake_executor_plugin_campaign/__init__.py"
    files = [PROJECT / "Snakefile", *PROJECT.glob("workflow/rules/*"), *PROJECT.glob("src/*/**/*.py")]
    lines = [
        f"{file.relative_to(PROJECT)}: {line}"
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
        if file != stub and DOCUMENTED.search(line)
    ]
    assert lines == []
    assert not re.search(r"\._?\w+ = ", stub.read_text(encoding="utf-8")), "a name of Snakemake is replaced"
