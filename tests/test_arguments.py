"""Arguments of benchmarks that are refused or doubtful before a run: names of programs, OSU's sizes."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import golden_messages
import pytest
from conftest import completed

from mpicampaign.suites import SUITES
from mpicampaign.suites.imb import MPI1
from mpicampaign.suites.osu import KINDS, largest_size
from mpicampaign.suites.suite import Request

SUITE = SUITES["osu"]


def request(program: str, arguments: str = "", ranks: int = 2, nodes: int = 1) -> Request:
    return Request(program, tuple(arguments.split()), {}, (), nodes, ranks // nodes)


@pytest.mark.parametrize("arguments", ["-m 1K", "-m 1:2:3", "-m :", "--message-size=all", "-fm 1K", "-m1K"])
def test_sizes_that_show_no_end_are_refused(arguments: str) -> None:
    (refusal,) = SUITE.refuses(request("osu_bw", arguments))
    assert refusal.message.startswith("the value of -m must be [MIN:]MAX in bytes")
    assert refusal.value == f"-m {arguments.rpartition('m')[2].strip() or ':'}" or "size=" in arguments


def test_what_a_placement_cannot_run_has_its_reason() -> None:
    def said(program: str, ranks: int, nodes: int, arguments: str) -> str:
        return SUITE.lacks(request(program, arguments, ranks, nodes))

    golden_messages.check("mistakes/osu", said)


def test_every_program_may_be_named_without_its_own_section() -> None:
    assert {name: SUITE.benchmarks[name]["program"] for name in KINDS} == {name: name for name in KINDS}


@pytest.mark.parametrize(
    ("program", "arguments", "last"),
    [
        ("osu_bw", "-m 2:", 4 << 20),
        ("osu_bw", "--message=64", 64),
        ("osu_bw", "-m 8 -I -Tmpi_int -Dcont --mem-limit=4 -m 32", 32),
        ("osu_bw", "-m 0", None),
        ("osu_bw", "-i 5 -m :64 H H", 64),
        ("osu_alltoallw", "", 1 << 20),
        ("osu_reduce_scatter", "-fm64", 64),
        ("osu_allgather_persistent", "-m 3:20", 12),
        ("osu_barrier", "-m 64", None),
    ],
)
def test_the_last_size_follows_from_the_options(program: str, arguments: str, last: int | None) -> None:
    assert largest_size(program, arguments.split(), 2) == last


@pytest.mark.mpi
def test_the_benchmarks_are_those_that_the_program_lists() -> None:
    path = Path(sys.prefix) / "bin/IMB-MPI1"
    if not path.is_file():
        pytest.skip("the environment holds no IMB")
    libraries = {**os.environ, "LD_LIBRARY_PATH": f"{sys.prefix}/lib"}
    listed = completed([path, "-list"], env=libraries, check=True).stdout
    assert set(re.findall(r"^    (\w+)(?: \(non-default\))?$", listed, re.MULTILINE)) == set(MPI1)
