"""Names, options and values of IMB and of the bundled kernels, checked before a program starts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpicampaign.suites import SUITES
from mpicampaign.suites.imb.arguments import BENCHMARKS, OPTIONS
from mpicampaign.suites.kernels import KERNELS


def found(call: str) -> list[str]:
    """What the suite of a program says of it: ``value: message (hint)``; doubtful ones begin with ``?``."""
    program, *arguments = call.split()
    suite = SUITES["imb" if "IMB" in program else "kernel"]
    return [
        f"{'?' * each.doubtful}{each.value}: {each.message} ({each.hint})"
        for each in suite.arguments(program, arguments)
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("IMB-MPI1 PingPnog", "PingPnog: IMB-MPI1 has no such benchmark (did you mean 'PingPong'?)"),
        ("IMB-MPI1 -include Barier", "Barier: IMB-MPI1 has no such benchmark (did you mean 'Barrier'?)"),
        (
            "IMB-MPI1 PingPong,Alreduce",
            "Alreduce: IMB-MPI1 has no such benchmark (did you mean 'Allreduce'?)",
        ),
        ("IMB-MPI1 Window", "Window: IMB-MPI1 has no such benchmark (it is one of IMB-EXT)"),
        ("IMB-P2P Stencil4D", "Stencil4D: IMB-P2P has no such benchmark (did you mean 'Stencil3D'?)"),
        (
            "IMB-P2P PingPong,PingPing",
            "PingPong,PingPing: IMB-P2P reads no list: each benchmark is an argument",
        ),
        ("IMB-RMA Unidir_putt", "Unidir_putt: IMB-RMA has no such benchmark (did you mean 'Unidir_put'?)"),
        ("IMB-MPI1 -itre 10 PingPong", "-itre: IMB-MPI1 has no such option (did you mean '-iter'?)"),
        ("IMB-MPI1 -Iter 10 PingPong", "-Iter: IMB-MPI1 has no such option (did you mean '-iter'?)"),
        ("IMB-MPI1 -iter=10 PingPong", "-iter=10: IMB-MPI1 does not read values after = (give -iter 10)"),
        ("IMB-MPI1 PingPong -iter", "-iter: -iter needs a value (ITERATIONS"),
        ("IMB-MPI1 -iter -msglog 0:1 PingPong", "-iter: -iter needs a value (ITERATIONS"),
        ("IMB-MPI1 -iter 1k PingPong", "-iter 1k: the value of -iter must be ITERATIONS"),
        (
            "IMB-MPI1 -msglog 22:0 PingPong",
            "-msglog 22:0: the smallest size is above the largest (give -msglog",
        ),
        (
            "IMB-MPI1 -msglog 0:31 PingPong",
            "-msglog 0:31: the value of -msglog must be [MIN:]MAX, each up to 30",
        ),
        (
            "IMB-MPI1 -iter_policy of PingPong",
            "-iter_policy of: the value of -iter_policy must be dynamic, auto",
        ),
        ("IMB-MPI1 -npmin two PingPong", "-npmin two: the value of -npmin must be a whole number above 0"),
        ("IMB-MPI1 -list", "-list: with this option IMB-MPI1 prints no table"),
        ("/apps/IMB-MPI PingPong", "IMB-MPI: no such program in IMB 2017 to 2021.11 (did you mean 'IMB-MPI"),
        ("IMB-MPI1 PingPong -ours 3", "?: no option -ours of IMB-MPI1 in IMB 2017 to 2021.11"),
        ("IMB-MPI1 -iter 5", "?: no benchmark is named: IMB-MPI1 measures all of its own choice"),
        ("IMB-MPI1 OurTest", "?: no benchmark 'OurTest' of IMB-MPI1 in IMB 2017 to 2021.11"),
        ("IMB-OURS -x 3 OurTest", "?: no program 'IMB-OURS' in IMB 2017 to 2021.11"),
        ("IMB-MPI1.2018 PingPnog", "?: no program 'IMB-MPI1.2018' in IMB 2017 to 2021.11"),
        ("tree_gathr", "tree_gathr: no such program in the bundled kernels (did you mean 'tree_gather'?)"),
        (
            "tree_gather --budgt 3",
            "--budgt: kernel tree_gather has no such option (did you mean '--budget'?)",
        ),
        ("tree_gather --budget", "--budget: --budget needs a value (a number of seconds, at most 86400)"),
        ("tree_gather --tree max-intr", "--tree max-intr: the value of --tree must be max-inter, min-inter"),
        ("tree_gather --max-size 1k", "--max-size 1k: the value of --max-size must be a number of bytes"),
        ("core_pairs --max-size 1KiB", "--max-size: kernel core_pairs has no such option (known: --budget"),
        ("stream natural", "natural: kernel stream has no such option (its options: --array"),
        ("stream --help", "--help: with this option kernel stream prints no table"),
    ],
)
def test_each_error_has_its_value_and_what_was_meant(call: str, message: str) -> None:
    (only,) = found(call)
    assert only.startswith(message)


@pytest.mark.parametrize(
    "call",
    [
        "IMB-MPI1 pingpong,SENDRECV -iter 5000,250 -time 1 -msglog 0:22 -iter_policy off",
        "IMB-MPI1 -iter 1000,off -multi 0 -map 2x4 -mem .5 -off_cache -1 -sync On PingPong",  # series 2018
        "IMB-MPI1 -input /no/such/file -exclude PingPong,PingPing",
        "IMB-MPI1-GPU -mem_alloc_type host Uniband",
        "IMB-P2P -MSGLOG 22 -msgsz 8k Birandom PINGPONG",
        "IMB-RMA -aggregate_mode multi Truly_passive_put",
        "IMB-EXT Window Unidir_Get",
        "IMB-IO -npmin 2 P_IWrite_Priv Open_Close",
        "IMB-NBC Ireduce_scatter_pure",
        "IMB-MPI4 Alltoallv_persist_pure",
        "IMB-MT -thread_level multiple -count 1,2 -noheader -repeat 5 UniBandMT",
        "tree_merge --no-baseline --tree natural,random --size 0 --budget 0.1 --merge auto --key uint64",
    ],
)
def test_what_some_version_takes_is_not_refused(call: str) -> None:
    assert found(call) == []


TOKENS = sorted({name for each in OPTIONS.values() for name in each} | set(BENCHMARKS["IMB-MPI1"]))


@given(
    st.lists(st.text(max_size=6) | st.sampled_from(TOKENS), max_size=6),
    st.sampled_from([*BENCHMARKS, "IMB-x", *KERNELS]),
)
def test_any_arguments_are_checked(arguments: list[str], program: str) -> None:
    suite = SUITES["imb" if program.startswith("IMB") else "kernel"]
    assert all(each.message for each in suite.arguments(program, arguments))


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
