"""Detection of an output's suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpicampaign.suites import OutputError, detect_suite

FIXTURES = Path(__file__).parent / "fixtures"
SUITES = ("imb", "osu", "kernel")


def text(suite: str, name: str) -> str:
    return (FIXTURES / suite / f"{name}.out").read_text(encoding="utf-8")


@pytest.mark.parametrize("suite", SUITES)
def test_every_fixture_is_of_its_suite(suite: str) -> None:
    for path in sorted((FIXTURES / suite).glob("*.out")):
        assert detect_suite(path.read_text(encoding="utf-8")) == suite, path.name


@pytest.mark.parametrize(
    "foreign",
    [
        "",
        "Sender: LSF System <a@b>\nSubject: Job 1: <HPL> in cluster <c> Exited\n",
        "mpirun: HPL, OSU, IMB and HPC Challenge are not installed\n",
        "# OSU micro-benchmarks are run below\n",
        "x" * 10**6 + "# OSU MPI Latency Test v7.4",
    ],
)
def test_none_of_them(foreign: str) -> None:
    assert detect_suite(foreign) is None


def test_wrapped_by_a_scheduler() -> None:
    report = "Sender: LSF System <a@b>\r\nJob <1> was submitted\r\n\r\n"
    assert detect_suite(report + text("imb", "pingpong").replace("\n", "\r\n")) == "imb"


def test_two_suites_in_one_file() -> None:
    with pytest.raises(OutputError, match=r"outputs of imb \(line 5\) and of osu \(line 67\) in one file"):
        detect_suite("\n" * 3 + text("imb", "pingpong") + text("osu", "latency"))
