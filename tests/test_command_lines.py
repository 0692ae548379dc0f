"""Names of programs and of IMB's benchmarks: one that is almost a known one is doubtful, and no option is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from build_campaigns import write_campaign

from mpicampaign.campaign.file import load_campaign
from mpicampaign.suites.imb import BENCHMARKS


def doubts(folder: Path, suite: str, call: str) -> list[str]:
    """The warnings about a benchmark with this program and these arguments."""
    program, *arguments = call.split()
    path = write_campaign(
        folder / "c.yaml",
        system={"scheduler": "slurm", "mpi": "openmpi5"},
        group={"cores": 4, "node_memory": "8 GiB"},
        benchmarks={"b": {"suite": suite, "program": program, "provider": "path", "arguments": arguments}},
    )
    return [f"{each.key}: {each.message}, {each.hint}" for each in load_campaign(path).warnings]


@pytest.mark.parametrize(
    ("suite", "call", "key", "meant"),
    [
        ("imb", "IMB-NCB Ibcast", "program", "IMB-NBC"),
        ("imb", "IMB-MPI1 -iter 9 PingPnog", "arguments", "PingPong"),
        ("imb", "IMB-MPI1 PingPong,Alreduce", "arguments", "Allreduce"),
        ("imb", "IMB-MPI1 -include Barier", "arguments", "Barrier"),
        ("imb", "IMB-RMA Unidir_putt", "arguments", "Unidir_put"),
        ("kernel", "tree_gathr", "program", "tree_gather"),
        ("osu", "osu_latncy", "program", "osu_latency"),
        ("osu", "osu_mbw_rm", "program", "osu_mbw_mr"),
        ("osu", "OSU_BW", "program", "osu_bw"),
    ],
)
def test_a_name_that_is_almost_a_known_one_is_doubtful(
    tmp_path: Path, suite: str, call: str, key: str, meant: str
) -> None:
    (only,) = doubts(tmp_path, suite, call)
    assert only.startswith(f"benchmarks.b.{key}: no known ")
    assert only.endswith(f"did you mean {meant!r}?")


@pytest.mark.parametrize(
    ("suite", "call"),
    [
        ("imb", "IMB-MPI1 pingpong,SENDRECV -iter 5000,250 -time 1 -msglog 0:22 -of_a_new_version on"),
        ("imb", "IMB-MPI1 OurTest -input PingPong.txt -data_type double"),
        ("imb", "IMB-MPI1.2018 PingPong"),
        ("imb", "IMB-MPI1-GPU -mem_alloc_type host Uniband"),
        ("osu", "osu_bw2 --of-a-new-version -W 0"),
        ("osu", "osu_bw_ours"),
        ("osu", "osu_stencil"),
        ("osu", "osu_hello"),
        ("hpl", "xhpl_amd"),
        ("kernel", "tree_gather --budgt 3"),
    ],
)
def test_others_and_options_are_left_to_the_program(tmp_path: Path, suite: str, call: str) -> None:
    assert doubts(tmp_path, suite, call) == []


@pytest.mark.mpi
@pytest.mark.parametrize("program", ["IMB-MPI1", "IMB-RMA", "IMB-NBC"])
def test_the_benchmarks_are_those_that_the_program_lists(program: str) -> None:
    path = Path(sys.prefix) / "bin" / program
    if not path.is_file():
        pytest.skip("the environment holds no IMB")
    libraries = {**os.environ, "LD_LIBRARY_PATH": f"{sys.prefix}/lib"}
    listed = subprocess.run([path, "-list"], env=libraries, capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"^    (\w+)(?: \(non-default\))?$", listed, re.MULTILINE)) == set(
        BENCHMARKS[program]
    )
