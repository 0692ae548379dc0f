"""What holds for every bundled kernel: wrong use, memory checkers, a rank that dies, one damaged byte."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from conftest import completed, succeeded
from test_kernels import Build, Launch, demand_refusal, mpi_environment

from mpicampaign.suites import OutputError, parse
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
    made = completed(command, cwd=Path(__file__).parents[1], check=True)
    assert sorted(made.stdout.split()) == sorted(QUICK)


@pytest.mark.full
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
    assert succeeded(completed(command, env=environment))


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
    "collectives": (("--size", "12"), "sizes are multiples of 8 B"),
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
    shim |= {"DAMAGE_SMALLEST": "8"} if kernel == "collectives" else {}  # no larger ones by MPI_Recv
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


MARKS = ([], *[[pytest.mark.soak]] * 4)
TRIES = [pytest.param(number, marks=marks) for number, marks in enumerate(MARKS)]


@dataclass(frozen=True)
class Messages:
    """Messages of a kernel, as the shim's filters find them.

    ``count``: how many the victim surely receives. ``rows``: kinds of rows that hold values of a size, with
    the name of the column of the size.
    """

    kernel: str
    arguments: tuple[str, ...]
    count: int
    filters: dict[str, str] = field(default_factory=dict)
    rows: tuple[tuple[str, str], ...] = ()
    ranks: int = 2


PAIRS = (("samples", "size"), ("pairs_seconds", "size"))
TREES = (("samples", "size"), ("levels", "size"))
BLOCKS = ("--min-size", "8", "--max-size", "4KiB", "--tree", "natural", "--budget", "0.3")
RINGS = (("rings", "size"),)
PATIENT = ("--budget", "10")  # spent only where other programs keep the processors busy
B_EFF = ("--lmax", "64KiB", "--split-methods", "--budget", "0.5")
SHORT = ("--budget", "0.1")
CALL, TAG, ABOVE, RANK = "DAMAGE_CALL", "DAMAGE_TAG", "DAMAGE_ABOVE", "DAMAGE_RANK"
LEFT = "31"  # in rings, to the left neighbour; the warm-up of all pairs has another tag

MESSAGES = {
    "tree_gather, at the root": Messages("tree_gather", BLOCKS, 200, {TAG: "10", RANK: "0"}, TREES, 3),
    "tree_gather, where it is forwarded": Messages(
        "tree_gather", BLOCKS, 200, {TAG: "10", RANK: "2"}, TREES, 4
    ),
    "tree_gather, 1 B": Messages(
        "tree_gather", ("--size", "1", *SHORT), 200, {TAG: "10", RANK: "0"}, TREES, 3
    ),
    "MPI_Gather": Messages("tree_gather", BLOCKS, 200, {CALL: "MPI_Gather", RANK: "0"}, TREES, 3),
    "tree_merge, uint32": Messages("tree_merge", BLOCKS, 200, {TAG: "11", RANK: "0"}, TREES, 3),
    "tree_merge, uint64, where it is forwarded": Messages(
        "tree_merge", (*BLOCKS, "--key", "uint64"), 200, {TAG: "11", RANK: "2"}, TREES, 4
    ),
    **{
        f"point_to_point, {size}": Messages(
            "point_to_point", ("--size", size.replace(" ", ""), *SHORT), 300, {TAG: "12"}, PAIRS
        )
        for size in ("1 B", "8 B", "4 KiB")
    },
    "ping-pong of 8 B": Messages(
        "latency_bandwidth", SHORT, 130, {CALL: "MPI_Recv", TAG: "30"}, (("ping_pong", "size"), *RINGS)
    ),
    "ping-pong of 2 MB": Messages(
        "latency_bandwidth", SHORT, 12, {CALL: "MPI_Recv", TAG: "30", ABOVE: "8"}, RINGS
    ),
    "rings by MPI_Sendrecv, 8 B": Messages(
        "latency_bandwidth", SHORT, 180, {CALL: "MPI_Sendrecv", TAG: LEFT}
    ),
    "rings by MPI_Irecv, 8 B": Messages("latency_bandwidth", SHORT, 180, {CALL: "MPI_Irecv", TAG: LEFT}),
    "rings by MPI_Sendrecv, 2 MB": Messages(
        "latency_bandwidth", SHORT, 30, {CALL: "MPI_Sendrecv", TAG: LEFT, ABOVE: "8"}
    ),
    **{
        f"b_eff by {call}": Messages("b_eff", B_EFF, 300, {CALL: call})
        for call in ("MPI_Sendrecv", "MPI_Alltoallv", "MPI_Irecv", "MPI_Recv")
    },
    "core_pairs, 8 B": Messages("core_pairs", PATIENT, 60, {CALL: "MPI_Recv", TAG: "20"}),
    "core_pairs, 2 MB": Messages("core_pairs", PATIENT, 6, {CALL: "MPI_Recv", TAG: "20", ABOVE: "8"}),
}


def damaged(build: Build, messages: Messages, number: int) -> Launch:
    chance = random.Random(f"{messages} {number}")
    shim = {"DAMAGE": "ends", "DAMAGE_RANK": "1", "DAMAGE_SMALLEST": "1", **messages.filters}
    shim |= {"DAMAGE_AFTER": str(chance.randrange(messages.count)), "DAMAGE_SEED": str(chance.randrange(16))}
    return build.launch(messages.ranks, messages.kernel, *messages.arguments, preload="damage.so", **shim)


@pytest.mark.parametrize("number", TRIES)
@pytest.mark.parametrize("name", MESSAGES)
def test_one_damaged_byte_of_one_message_is_found(build: Build, name: str, number: int) -> None:
    messages = MESSAGES[name]
    launch = damaged(build, messages, number)
    assert "damage: byte" in launch.errors  # otherwise there was no such message
    assert launch.statuses == [1] * messages.ranks, launch.errors
    wrong = re.search(rf"{messages.kernel}: wrong data in .*?([0-9]+) B", launch.errors)
    assert wrong, launch.errors
    assert not [row for kind, column in messages.rows for row in launch.rows(kind) if row[column] == wrong[1]]
    assert launch.end.endswith("status=failed")
    with pytest.raises(OutputError, match="reports status 'failed'"):
        parse("kernel", launch.output)


def test_b_eff_prints_nothing_from_the_damaged_measurement_on(build: Build) -> None:
    """Without the split methods MPI_Recv brings the messages of pairs alone, which follow the rings."""
    shim = {"DAMAGE": "ends", "DAMAGE_RANK": "1", "DAMAGE_SMALLEST": "1", CALL: "MPI_Recv", TAG: "30"}
    launch = build.launch(2, "b_eff", "--lmax", "64KiB", "--budget", "0.5", preload="damage.so", **shim)
    assert launch.statuses == [1, 1], launch.errors
    assert "wrong data in best with ping_pong at 1 B" in launch.errors
    assert {row["set"] for row in launch.rows("rates")} == {"ring"}


STALE = {
    "latency_bandwidth": (SHORT, {}),
    "b_eff": (B_EFF, {}),
    "core_pairs": (PATIENT, {TAG: "20"}),
    "tree_gather": (("--size", "1", *SHORT), {TAG: "10", "DAMAGE_SMALLEST": "1"}),
    "tree_merge": (("--size", "8", *SHORT), {TAG: "11"}),
}


@pytest.mark.parametrize("kernel", STALE)
def test_stale_data_in_one_call_are_found(build: Build, kernel: str) -> None:
    """The memory keeps its old content, which a later message overwrites: only the sequence tells."""
    arguments, filters = STALE[kernel]
    victim = "0" if kernel.startswith("tree") else "1"
    shim = {"DAMAGE": "stale", "DAMAGE_RANK": victim, "DAMAGE_SMALLEST": "8", "DAMAGE_AFTER": "20"}
    shim |= {"DAMAGE_TIMES": "1"} | filters
    launch = build.launch(2, kernel, *arguments, preload="damage.so", DAMAGE_CALL="MPI_Recv", **shim)
    assert launch.statuses == [1, 1], launch.errors


@pytest.mark.parametrize("kernel", [kernel.name for kernel in KERNELS.built_in()])
def test_header_and_record_say_how_much_was_checked(build: Build, kernel: str) -> None:
    arguments = PATIENT if kernel == "core_pairs" else KERNELS[kernel].quick
    launch = build.launch(2, kernel, *arguments)
    assert launch.statuses == [0, 0], launch.errors
    output = parse("kernel", launch.output)
    metadata = output.metadata
    assert output.version == str(KERNELS[kernel].version)
    assert 0 < int(metadata["bytes_checked"]) <= int(metadata["bytes_timed"])
