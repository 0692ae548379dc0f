"""What holds for every bundled kernel: each MPI library, memory checkers, wrong use, a rank that dies.

More ranks than cores is fine here: nothing is claimed about speed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from test_kernels import Build, Launch, demand_refusal, mpi_environment

from mpicampaign.suites import parse
from mpicampaign.suites.kernels import KERNELS

# A kernel that the Makefile builds and that has no file in suites/kernels fails the first test.
QUICK = {kernel.name: kernel.quick for kernel in KERNELS.built_in()}
SYSTEM_MPIS = {"openmpi": "mpirun.openmpi", "mpich": "mpiexec.mpich"}  # Debian's names

pytestmark = [pytest.mark.mpi, pytest.mark.slow]


def demand_success(launch: Launch, ranks: int) -> None:
    assert launch.statuses == [0] * ranks, launch.errors
    assert parse("kernel", launch.output).series


def test_no_kernel_is_left_out() -> None:
    command = ["make", "-C", "kernels", "--eval", "print:; @echo $(KERNELS)", "--no-print-directory", "print"]
    made = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True)
    assert sorted(made.stdout.split()) == sorted(QUICK)


def test_names_do_not_clash_with_what_smpicc_includes() -> None:
    """SimGrid's compiler puts getopt.h before each file and renames main."""
    kernels = Path(__file__).parents[1] / "kernels"
    before = ("-D_GNU_SOURCE=", "-include", "getopt.h", "-Dmain=smpi_main")
    flags = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", f"-I{kernels}/common")
    files = [path for path in kernels.rglob("*.c") if path.parent.name != "tests"]
    environment = mpi_environment()
    if not shutil.which("mpicc", path=environment["PATH"]):
        pytest.skip("mpicc is not installed")
    command = ["mpicc", *before, *flags, *files]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kernel", [name for name in QUICK if KERNELS[name].ranks_minimum > 1])
def test_one_rank_is_refused_with_the_command_to_use(build: Build, kernel: str) -> None:
    launch = build.launch(1, kernel, *QUICK[kernel])
    message = f"{kernel}: needs at least 2 ranks, was started with 1: mpirun -n 2 {kernel}"
    demand_refusal(launch, 1, kernel, message)


@pytest.mark.parametrize("kernel", QUICK)
def test_a_wrong_option_is_refused_by_all_ranks(build: Build, kernel: str) -> None:
    launch = build.launch(2, kernel, "--buget", "3")
    assert launch.status != 0
    demand_refusal(launch, 2, kernel, f"{kernel}: unknown option '--buget'")


# A value that only the kernel itself can judge, once it knows the ranks; the others refuse no more.
REFUSED = {
    "tree_gather": (("--tree", "natural,natural"), "'natural' is named twice"),
    "tree_merge": (("--key", "uint64", "--min-size", "4"), "not a whole number of keys of 8 B"),
    "point_to_point": (("--pairs", "2"), "'2' is not a number of pairs"),
    "b_eff": (("--lmax", "4096"), "Lmax is 4096 B, and must be more than 4096 B"),
}


@pytest.mark.parametrize("kernel", REFUSED)
def test_a_value_that_a_kernel_cannot_serve_is_refused_by_all_ranks(build: Build, kernel: str) -> None:
    options, message = REFUSED[kernel]
    launch = build.launch(3, kernel, *options)
    assert launch.status != 0
    demand_refusal(launch, 3, kernel, message)


@pytest.mark.parametrize("kernel", [name for name in QUICK if name != "stream"])  # which sends nothing
def test_a_rank_that_dies_brings_the_run_down(build: Build, kernel: str) -> None:
    """Within the time limit of `launch`, which would return 124."""
    receiver = "1" if kernel == "point_to_point" else "0"
    shim = {"preload": "damage.so", "DAMAGE": "die", "DAMAGE_RANK": receiver}
    launch = build.launch(3, kernel, *QUICK[kernel], **shim)
    assert launch.status not in (0, 124, 137)
    assert "#@end" not in launch.output


@pytest.mark.parametrize("kernel", QUICK)
def test_an_odd_number_of_ranks_and_what_the_header_says_of_them(build: Build, kernel: str) -> None:
    """As users start it: with nothing loaded before it. More ranks are in the tests of each kernel."""
    launch = build.launch(3, kernel, *QUICK[kernel], "--seed", "7", hasten=False)
    demand_success(launch, 3)
    assert launch.header("seed") == "7"
    for key in ("mpi_library", "ranks", "nodes", "hosts", "oversubscribed", "clock", "sync", "seconds"):
        assert launch.header(key), key
    assert int(launch.header("memory_per_process_bytes")) >= 0
    assert len(launch.output) < 2_000_000


def test_a_kernel_that_measured_nothing_fails(build: Build) -> None:
    launch = build.launch(2, "measures_nothing")
    assert launch.statuses == [1, 1]
    assert launch.end == "#@end rows=0 status=failed"
    assert "measures_nothing: nothing was measured: the output has no rows" in launch.errors


@pytest.fixture(scope="module", params=SYSTEM_MPIS)
def system_build(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Build:
    name = str(request.param)
    compiler, launcher = shutil.which(f"mpicc.{name}"), shutil.which(SYSTEM_MPIS[name])
    if not compiler or not launcher:
        pytest.skip(f"{name} is not installed as a package of the system")
    folder = tmp_path_factory.mktemp(name)
    environment = {**mpi_environment(), "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    (folder / "bin").mkdir()
    (folder / "bin/mpirun").write_text(
        f'#!/bin/sh\nexec {launcher} "$@"\n'
    )  # it looks for its parts beside itself
    (folder / "bin/mpirun").chmod(0o755)
    shims = [str(folder / name) for name in ("hasten.so", "pretend.so")]
    command = ["make", "-C", "kernels", f"MPICC={compiler}", "STRICT=1", f"BUILD={folder}", "all", *shims]
    subprocess.run(command, cwd=Path(__file__).parents[1], check=True, capture_output=True, timeout=240)
    return Build(folder, environment)


@pytest.mark.full
@pytest.mark.parametrize("kernel", QUICK)
def test_mpi_libraries_of_the_system(system_build: Build, tmp_path: Path, kernel: str) -> None:
    """MPICH under valgrind, whose processor has no AVX-512; Open MPI itself sends unwritten bytes."""
    checker: tuple[str, ...] = ()
    if "mpich" in system_build.folder.name and shutil.which("valgrind"):
        checker = ("valgrind", "--quiet", "--error-exitcode=9", f"--log-file={tmp_path}/%p")
    launch = system_build.launch(2, kernel, *QUICK[kernel], before=checker)
    print("".join(path.read_text() for path in tmp_path.iterdir()))
    demand_success(launch, 2)
    if checker and kernel == "tree_merge":
        assert launch.header("merge") == "portable"


@pytest.mark.full
@pytest.mark.parametrize("kernel", [name for name in QUICK if name != "b_eff"])  # all methods in test_b_eff
def test_sanitizers_find_nothing(sanitized: Build, kernel: str) -> None:
    demand_success(sanitized.launch(3, kernel, *QUICK[kernel]), 3)


@pytest.mark.full
def test_ranks_on_different_processors_refuse_together(system_build: Build) -> None:
    """Some ranks have AVX-512, some (under valgrind) have not; making a tuned tree is collective.

    With MPICH: Intel MPI itself hangs if ranks use different paths through shared memory.
    """
    if "mpich" not in system_build.folder.name or not shutil.which("valgrind"):
        pytest.skip("needs MPICH and valgrind")
    mixed = ("sh", "-c", '[ "${PMI_RANK:-0}" -lt 2 ] && exec "$@"; exec valgrind --quiet "$@"', "sh")
    settings = {"preload": "pretend.so", "PRETEND_PROCESSORS": "8"}
    options = ("--merge", "avx512", "--tree", "tuned", "--max-size", "8", "--budget", "0.1")
    launch = system_build.launch(4, "tree_merge", *options, before=mixed, **settings)
    assert launch.statuses == [2] * 4, launch.errors
    assert "--merge avx512: the processor of " in launch.errors
