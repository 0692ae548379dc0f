"""The command line as people meet it: help, mistakes, exit status, completion."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import golden_messages
import pytest
from conftest import completed
from default_signals import popen_with_default_signals

from mpicampaign.cli import main
from mpicampaign.cli.exit_status import INTERRUPTED, TERMINATED
from mpicampaign.cli.parser import COMMANDS, command_parser, subparsers
from mpicampaign.run.queue_status import RunStatus

CAMPAIGN = """\
campaign: mine
repeats: 2
time_limit: 1 min
systems: {here: {scheduler: none, mpi: intelmpi}}
host_groups: {local: {system: here}}
benchmarks: {trivial: {suite: osu, program: 'true', provider: {kind: path, location: /bin/true}}}
matrix: [{host_groups: local, placements: [SHM-1, TCP-loopback], benchmarks: trivial}]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a campaign file and no results."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mpicampaign.base.places.working_folder", lambda: tmp_path)
    monkeypatch.setattr("mpicampaign.base.places.results_folder", lambda: tmp_path / "results")
    (tmp_path / "mine.yaml").write_text(CAMPAIGN)
    return tmp_path


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The message of a call with a mistake: short, with exit status 2, and nothing on standard output."""
    status, out, err = called(capsys, *arguments)
    assert (status, out) == (2, "") and "Traceback" not in err
    assert len(err.splitlines()) <= 3, err
    return err


def test_the_campaign_file_is_an_argument_or_an_option(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no errors found" in called(capsys, "check", "mine.yaml")[1]
    assert called(capsys, "check", "--campaign", "mine.yaml") == called(capsys, "check", "mine.yaml")
    assert called(capsys, "check", "mine.yaml", "--campaign=mine.yaml")[0] == 0
    said = refused(capsys, "check", "mine.yaml", "--campaign", "other.yaml")
    assert "two campaign files: mine.yaml and other.yaml" in said
    (folder / "campaign.yaml").write_text(CAMPAIGN)
    assert "campaign.yaml: campaign mine" in called(capsys, "check")[1]


def test_status_is_watched_until_no_run_is_active(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([["running", "queued"], ["not submitted", "running"], ["not submitted", "finished"]])

    def run_states(_: object) -> tuple[list[RunStatus], list[object]]:
        return [RunStatus(None, state, "", "") for state in next(looks)], []  # type: ignore[arg-type]

    monkeypatch.setattr("mpicampaign.run.queue_status.run_states", run_states)
    monkeypatch.setattr("mpicampaign.run.queue_status.status_text", lambda found, _: str(len(found)))
    monkeypatch.setattr("mpicampaign.cli.status.BETWEEN", 0)
    assert called(capsys, "status", "mine.yaml", "--watch")[0] == 0
    assert not any(looks), "it looked three times"


def test_a_mistake_is_answered_in_two_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "results/former").mkdir(parents=True)
    (folder / "results/former/plan.json").write_text('{"campaign_file": "../../former.yaml"}')
    clone = f"{Path(__file__).parents[1]}/"
    golden_messages.check("mistakes/calls", lambda call: refused(capsys, *call.split()).replace(clone, ""))


def test_check_and_plan_answer_in_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = called(capsys, "check", "mine.yaml", "--json")
    data = json.loads(out)
    assert (status, data["status"], data["campaign"], data["systems"]) == (0, 0, "mine", ["here"])
    data = json.loads(called(capsys, "plan", "mine.yaml", "--json", "--placement", "SHM-1")[1])
    assert data["selection"] == {"placement": ["SHM-1"]}
    status, _, err = called(capsys, "run", "mine.yaml", "--placement", "shm-1")
    assert status == 2 and "did you mean 'SHM-1'?" in err
    assert [case["placement"] for case in data["cases"]] == ["SHM-1"]
    assert [run["repeat"] for run in data["runs"]] == [1, 2]
    assert {run["has_result"] for run in data["runs"]} == {False}
    assert data["node_hours"] == pytest.approx(2 / 60)


def test_the_help_fits_a_screen_and_names_every_subcommand(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    lines = capsys.readouterr().out.splitlines()
    assert ended.value.code == 0
    assert len(lines) <= 42 and max(map(len, lines)) <= 88
    assert [line.split()[0] for line in lines if line.startswith("  ")] == list(COMMANDS)


def test_the_help_loads_nothing_slow() -> None:
    code = "import sys; from mpicampaign.cli.parser import command_parser; command_parser().format_help();"
    code += "print({'yaml', 'argcomplete', 'numpy'} & set(sys.modules))"
    done = completed([sys.executable, "-c", code], check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("command", ["check", "plan", "status"])
def test_what_is_asked_before_any_run_loads_nothing_slow(folder: Path, command: str) -> None:
    call = [sys.executable, "-X", "importtime", "-m", "mpicampaign.cli", command, "mine.yaml"]
    done = completed(call, cwd=folder, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "yaml" in loaded
    assert loaded & {"numpy", "multiprocessing", "statistics"} == set()


def test_every_subcommand_has_examples_that_its_parser_takes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, parser in subparsers(command_parser()).items():
        examples = parser.load_arguments().EXAMPLES
        assert examples and name in parser.format_help()
        for command, effect in examples:
            assert f"mpicampaign {name}" in command and effect


WAITS = """
import sys, time
from mpicampaign.cli import build, main
def run(options):
    print("started", flush=True)
    time.sleep(60)
build.run = run
sys.argv = ["mpicampaign", "build"]
sys.exit(main())
"""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)])
def test_a_signal_gives_the_exit_status(number: signal.Signals, status: int) -> None:
    command = [sys.executable, "-c", WAITS]
    process = popen_with_default_signals(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"started\n"
    process.send_signal(number)
    assert process.communicate(timeout=60) == (b"", b"")
    assert process.returncode == status


COMPLETE = """
source <(mpicampaign completion bash)
complete -p mpicampaign >/dev/null || exit 1
while read -r line; do
    COMP_LINE=$line; COMP_POINT=${#line}; COMP_TYPE=9
    read -ra COMP_WORDS <<<"$line"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=(); _python_argcomplete mpicampaign
    echo "${COMPREPLY[*]}"
done
"""
LINES = {
    "mpicampaign pl": "plan",
    "mpicampaign plan --pla": "--placement",
    "mpicampaign plan mi": "mine.yaml",
    "mpicampaign tables --format jso": "json",
    "mpicampaign completion f": "fish",
}


def test_bash_completes_subcommands_options_and_files(folder: Path) -> None:
    (folder / "mine.yaml").write_text(CAMPAIGN)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = completed(
        ["bash", "-c", COMPLETE],
        input="".join(f"{line}\n" for line in LINES),
        env=os.environ | {"PATH": path},
        check=True,
    )
    answers = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert dict(zip(LINES, answers, strict=True)) == LINES


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_scripts_of_other_shells_are_read_by_them(shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    command = [sys.executable, "-m", "mpicampaign.cli", "completion", shell]
    script = subprocess.run(command, capture_output=True, check=True).stdout
    subprocess.run([shell, "-n"], input=script, check=True)
