"""mpicampaign bench: a benchmark or a program without a campaign file, and the file that it writes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import golden_messages
import pytest
from conftest import ProjectCopy, executable

from mpicampaign.base.records import OK, read_records
from mpicampaign.campaign.file import load_campaign
from mpicampaign.cli import bench, main, run
from mpicampaign.schedulers import SCHEDULERS
from mpicampaign.schedulers.listings import Node, NodeClass
from mpicampaign.site import examine
from mpicampaign.site.campaign_file import WHEEL
from mpicampaign.site.facts import NodeGroup, NodeProbe, Site, SiteLibrary

PROBE = NodeProbe("here", sockets=1, cores=2, cpus=2)
LOCAL = NodeGroup("", NodeClass("local", (Node("here"),)), PROBE)
HERE = Site(SCHEDULERS["none"], (LOCAL,), libraries=(SiteLibrary(WHEEL),), host="here")


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[argparse.Namespace]:
    """The calls of run, of which none is made; this machine has one socket of two cores."""
    calls: list[argparse.Namespace] = []

    def note(options: argparse.Namespace) -> int:
        calls.append(options)
        return 0

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "run", note)
    monkeypatch.setattr(bench, "_schedulers", list)
    monkeypatch.setattr(examine, "examine_here", lambda: HERE)
    monkeypatch.setattr("mpicampaign.base.places.results_folder", lambda: tmp_path / "results")
    return calls


def made(calls: list[argparse.Namespace], *arguments: str) -> Any:
    """The case of the campaign that a call of bench runs: its only block and its benchmark."""
    assert main(["bench", *arguments]) == 0
    campaign = load_campaign(calls[-1].campaign)
    [block] = campaign.matrix
    return block, campaign.benchmarks[block.benchmarks[0]]


@pytest.mark.parametrize(
    ("arguments", "suite", "program", "tokens"),
    [
        ("PingPong", "imb", "IMB-MPI1", "-iter 5000,250 -time 1 -msglog 0:22 PingPong"),
        ("PingPong -- -iter 9", "imb", "IMB-MPI1", "-iter 9 PingPong"),
        ("Bcast", "imb", "IMB-MPI1", "-iter 5000,250 -time 1 -msglog 0:22 Bcast"),
        ("IMB-RMA -- Accumulate", "imb", "IMB-RMA", "-iter 5000,250 -time 1 -msglog 0:22 Accumulate"),
        ("IMB-P2P -- Stencil2D", "imb", "IMB-P2P", "Stencil2D"),
        ("tree_gather", "kernel", "tree_gather", "--budget 5"),
        ("stream -- --array 64MiB", "kernel", "stream", "--array 64MiB"),
    ],
)
@pytest.mark.usefixtures("imb")
def test_a_benchmark_of_any_suite_by_its_name(
    called: list[argparse.Namespace], arguments: str, suite: str, program: str, tokens: str
) -> None:
    block, benchmark = made(called, *arguments.split())
    assert (benchmark.suite, benchmark.program) == (suite, program)
    assert " ".join(benchmark.arguments) == tokens
    assert block.placements == ("SHM-1", "SHM", "TCP-loopback")
    assert block.repeats == 6


def test_programs_of_other_suites_are_looked_for_on_the_path(
    called: list[argparse.Namespace], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(Path.cwd()))
    assert main(["bench", "osu_latency"]) == 2
    assert "to get OSU: Spack package" in capsys.readouterr().err
    path = executable(Path("osu_latency")).absolute()
    for call in (["osu_latency"], ["--", "./osu_latency"]):
        block, benchmark = made(called, *call)
        assert (benchmark.suite, benchmark.provider.location) == ("osu", str(path))
    executable(Path("hpcc"))
    block, benchmark = made(called, "HPCC", "--repeats", "2")
    assert (block.placements, block.repeats) == (("SHM-full",), 2)
    assert benchmark.parameters == {"N": "4000", "NB": "128"}


@pytest.mark.usefixtures("called", "imb")
def test_mistakes_are_told_and_leave_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("text").write_text("")
    executable(Path("my%program"))
    executable(Path("own"))

    def said(arguments: str) -> str:
        assert main(["bench", *arguments.split()]) == 2
        assert [path.name for path in Path().iterdir() if path.suffix] == []
        return capsys.readouterr().err.replace(f"{tmp_path}/", "")

    golden_messages.check("mistakes/bench", said)


@pytest.mark.usefixtures("imb")
def test_no_file_takes_the_place_of_another(
    called: list[argparse.Namespace], capsys: pytest.CaptureFixture[str]
) -> None:
    def file(*arguments: str) -> str:
        assert main(["bench", "PingPong", *arguments]) == 0
        return str(called[-1].campaign)

    assert file() == file() == "bench-PingPong.yaml"  # the same call continues
    first = Path("bench-PingPong.yaml").read_text()
    Path("results/bench-PingPong-2").mkdir(parents=True)  # of a campaign elsewhere
    assert file("--repeats", "3") == "bench-PingPong-3.yaml"
    Path("bench-PingPong.yaml").write_text(first + "# mine\n")
    assert file() == "bench-PingPong-4.yaml"
    assert Path("bench-PingPong.yaml").read_text() == first + "# mine\n"
    said = capsys.readouterr()
    assert "bench-PingPong.yaml: written\nbench-PingPong.yaml: unchanged\n" in said.err
    assert said.out.endswith(
        "next: edit bench-PingPong-4.yaml, then: mpicampaign run bench-PingPong-4.yaml\n"
    )
    assert "# Written by: mpicampaign bench PingPong\n" in first
    assert len(first.splitlines()) < 30


PROGRAM = """\
#!/bin/bash
sleep "$(cat input)"
"""


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.usefixtures("imb")
def test_the_time_to_solution_of_a_program_is_that_of_its_launch(project: ProjectCopy) -> None:
    """No MPI program: nothing proves its placement."""
    folder = project.folder
    executable(folder / "wait", PROGRAM)
    (folder / "input").write_text("0.5\n")
    project.succeed("bench", "--repeats", "1", "--", "./wait", "input")
    [record] = read_records(folder / "results/bench-wait/records.jsonl")[1]
    [seconds] = record.series[0].columns["time to solution"]
    assert record.status == OK
    assert seconds is not None and 0.5 < seconds < 10
