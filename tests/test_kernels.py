"""The bundled kernels and the evidence library, built and run with the MPI library of this environment.

More ranks than cores is fine here: nothing is claimed about speed.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import golden_messages
import pytest
from minicluster import COMPILERS

from mpicampaign.suites import parse

KERNELS = Path(__file__).resolve().parents[1] / "kernels"
TREES = ["max-inter", "min-inter", "natural", "random"]
QUICK = ("--budget", "0.1")
LIMIT = ("timeout", "--kill-after=10", "600")  # its signal lets mpirun end the ranks of a run that hangs

pytestmark = pytest.mark.mpi


def mpi_environment() -> dict[str, str]:
    """The environment in which mpicc and mpirun of this Python environment, or else the system's, work."""
    prefix = Path(sys.prefix)
    environment = {**os.environ, "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}"}
    if (prefix / "bin/mpiicc").exists():  # Intel MPI's wheels do not know where they were installed
        environment |= {"I_MPI_ROOT": str(prefix), "LD_LIBRARY_PATH": str(prefix / "lib")}
    environment |= {
        "I_MPI_FABRICS": "shm",
        "I_MPI_PIN": "off",
        "I_MPI_THREAD_YIELD": "2",  # ranks that wait give way: on a busy machine a run ends ten times sooner
        "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0",
    }
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        environment[name] = "1"
    environment |= {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}
    return environment


@dataclass(frozen=True)
class Launch:
    """The outcome of one mpirun; ``statuses`` holds the exit status of each rank that ended."""

    output: str
    errors: str
    status: int
    statuses: list[int]

    def rows(self, kind: str) -> list[dict[str, str]]:
        """The output's rows of one kind, by the names that the header gives."""
        lines = self.output.splitlines()
        prefix = f"#@columns.{kind}="
        columns = next(line.removeprefix(prefix) for line in lines if line.startswith(prefix)).split()
        rows = [line.split()[1:] for line in lines if line.startswith(kind + " ")]
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def header(self, key: str) -> str:
        prefix = f"#@{key}="
        return next(line for line in self.output.splitlines() if line.startswith(prefix)).removeprefix(prefix)

    @property
    def end(self) -> str:
        return self.output.splitlines()[-1] if self.output else ""


@dataclass(frozen=True)
class Build:
    """A folder of built programs and how to start them."""

    folder: Path
    environment: dict[str, str]

    def launch(
        self,
        ranks: int,
        program: str,
        *arguments: str,
        preload: str = "",
        before: tuple[str, ...] = (),
        hasten: bool = True,
        **environment: str,
    ) -> Launch:
        """Run a program of this folder; each rank notes its exit status in a file.

        hasten: shorten MPI's own start, which dominates a short run.
        """
        note = 'env ${SHIM:+LD_PRELOAD="$SHIM"} "$@"; status=$?; echo $status >> "$STATUSES"; exit $status'
        shims = [str(self.folder / name) for name in preload.split() + ["hasten.so"] * hasten]
        command = ["mpirun", "-n", str(ranks), "sh", "-c", note, "sh", *before]
        return self._run([*command, self.folder / program, *arguments], SHIM=":".join(shims), **environment)

    def refuse(self, ranks: int, kernel: str, *options: str, before: tuple[str, ...] = ()) -> Launch:
        """The refusal of wrong options by this many ranks, without mpirun, in a hundredth of its time."""
        return self._run([*before, self.folder / "test_options", str(ranks), kernel, *options])

    def _run(self, command: list[str | Path], **environment: str) -> Launch:
        statuses = self.folder / f"statuses-{os.urandom(6).hex()}"
        done = subprocess.run(
            [*LIMIT, *command],
            env={**self.environment, "STATUSES": str(statuses), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        ended = [int(line) for line in statuses.read_text().split()] if statuses.exists() else []
        return Launch(done.stdout, done.stderr, done.returncode, ended)

    def unit(self, program: str, *arguments: str, before: tuple[str, ...] = ()) -> str:
        """Standard output of a test program without MPI; it must succeed."""
        done = subprocess.run(
            [*before, self.folder / program, *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def make(folder: Path, *arguments: str) -> Build:
    environment = mpi_environment()
    for program in ("make", "cc", "mpicc", "mpirun", "timeout"):
        if shutil.which(program, path=environment["PATH"]) is None:
            pytest.skip(f"{program} is not installed")
    command = ["make", "-j2", "-C", KERNELS, "MPICC=mpicc", "STRICT=1", f"BUILD={folder}", *arguments]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:  # of two processes the second finds it built
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return Build(folder, environment)


# --- building


@pytest.mark.full
def test_the_same_source_gives_the_same_bytes(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.environ["PATH"].replace(f"{COMPILERS}:", ""))
    programs = ("tree_gather", "evidence.so")
    folder = tmp_path / "again"
    again = make(folder, *(str(folder / program) for program in programs))
    for program in programs:
        assert (again.folder / program).read_bytes() == (build.folder / program).read_bytes()


# --- right data


def tree_blocks(ranks: int) -> int:
    """Blocks in all messages of a binomial tree over this many ranks."""
    return sum(min(v & -v, ranks - v) for v in range(1, ranks))


def check_complete(launch: Launch, operation: str, ranks: int, sizes: list[int]) -> None:
    assert launch.status == 0, launch.errors
    assert launch.statuses == [0] * ranks
    assert launch.header("ranks") == str(ranks)
    rows = launch.rows("sizes")
    expected = {(operation, tree, size) for tree in TREES for size in sizes}
    expected |= {("MPI_Gather", "-", size) for size in sizes}
    assert {(row["operation"], row["tree"], int(row["size"])) for row in rows} == expected
    assert len(rows) == len(expected)
    assert all(row["verified"] == "1" and int(row["samples"]) > 0 for row in rows)
    assert parse("kernel", launch.output).series


@pytest.mark.parametrize("ranks", [3, *(pytest.param(n, marks=pytest.mark.full) for n in (2, 4, 5, 7))])
@pytest.mark.parametrize(
    ("kernel", "options", "sizes"),
    [
        ("tree_gather", (), [1, 2, 4, 8, 16]),
        ("tree_merge", ("--key", "uint32"), [4, 8, 16, 32]),
        ("tree_merge", ("--key", "uint64"), [8, 16, 32, 64]),
    ],
)
def test_all_trees_deliver_the_right_data(
    build: Build, ranks: int, kernel: str, options: tuple[str, ...], sizes: list[int]
) -> None:
    span = ("--min-size", f"{sizes[0]}", "--max-size", f"{sizes[-1]}B")
    launch = build.launch(ranks, kernel, *options, *span, *QUICK)
    check_complete(launch, kernel, ranks, sizes)
    for row in launch.rows("samples"):
        assert int(row["useful_bytes"]) == (ranks - 1) * int(row["size"])
        blocks = ranks - 1 if row["operation"] == "MPI_Gather" else tree_blocks(ranks)
        assert int(row["wire_bytes"]) == blocks * int(row["size"])
        assert float(row["seconds"]) > 0
    levels = launch.rows("levels")
    assert Counter((row["tree"], int(row["size"])) for row in levels) == {
        (tree, size): ranks - 1 for tree in TREES for size in sizes
    }
    merging = [float(row["merge_seconds"]) > 0 for row in levels]
    assert all(merging) if kernel == "tree_merge" else not any(merging)
    assert sum(int(row["bytes"]) for row in levels) == 4 * sum(sizes) * tree_blocks(ranks)


@pytest.mark.full
def test_large_blocks_take_the_rendezvous_path(build: Build) -> None:
    for kernel in ("tree_gather", "tree_merge"):
        launch = build.launch(3, kernel, "--min-size", "1MiB", "--max-size", "2MiB", *QUICK)
        check_complete(launch, kernel, 3, [1 << 20, 2 << 20])


@pytest.mark.parametrize(("nodes", "ranks", "crossing"), [(2, 4, 3), (2, 6, 5), (3, 7, 6)])
def test_several_nodes_synchronise_by_barrier_and_cross(
    build: Build, nodes: int, ranks: int, crossing: int
) -> None:
    sizes = ("--min-size", "8", "--max-size", "8")
    launch = build.launch(ranks, "tree_merge", *sizes, *QUICK, preload="pretend.so", PRETEND_NODES=str(nodes))
    check_complete(launch, "tree_merge", ranks, [8])
    assert launch.header("nodes") == str(nodes)
    assert launch.header("sync") == "dissemination_barrier"
    assert 0 < float(launch.header("sync_skew_seconds")) < 10
    assert 0 < float(launch.header("sync_skew_error_seconds")) < 10
    assert f"max-inter:{crossing}/{ranks - 1}," in launch.header("tree_messages_between_nodes")


def test_a_rank_that_leaves_the_barrier_late_shows_in_the_skew(build: Build) -> None:
    late = {"preload": "pretend.so", "PRETEND_NODES": "2", "PRETEND_LATE": "1"}
    launch = build.launch(2, "tree_gather", "--max-size", "8", *QUICK, **late)
    assert 0.19 < float(launch.header("sync_skew_seconds")) < 10


# --- the measurement


@pytest.mark.alone
def test_blocks_are_at_least_ten_microseconds_long(build: Build) -> None:
    launch = build.launch(2, "tree_gather", "--max-size", "1KiB", "--budget", "1")
    by_series: dict[tuple[str, str, str], list[float]] = {}
    for row in launch.rows("samples"):
        key = (row["operation"], row["tree"], row["size"])
        by_series.setdefault(key, []).append(float(row["seconds"]) * int(row["block_messages"]))
    for key, seconds in by_series.items():
        assert sorted(seconds)[len(seconds) // 2] >= 9e-6, key  # the median over those kept


@pytest.mark.full
def test_the_output_of_many_ranks_stays_small(build: Build) -> None:
    launch = build.launch(7, "tree_gather", "--min-size", "1", "--max-size", "64KiB", "--budget", "0.5")
    assert launch.status == 0, launch.errors
    assert len(launch.output.encode()) < 300_000
    assert launch.header("levels_ranks") == "all"


def test_no_baseline_leaves_mpi_gather_out(build: Build) -> None:
    sizes = ("--max-size", "8", "--tree", "natural,random")
    launch = build.launch(2, "tree_gather", *sizes, "--no-baseline", *QUICK)
    assert {row["tree"] for row in launch.rows("sizes")} == {"natural", "random"}
    assert launch.header("baseline") == "none"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("median", "3", "1", "2"), "2"),
        (("median", "4", "1", "2", "3"), "2.5"),
        # 1.96 standard deviations of Binomial(n, 1/2) from the middle, rounded outwards
        (("interval", "1", "2", "3", "4", "5"), "none"),
        (("interval", *map(str, range(1, 11))), "1 10"),
        (("interval", *map(str, range(1, 101))), "40 61"),
        (("agree", "1", "1.04", "0.05"), "1"),
        (("agree", "1", "1.06", "0.05"), "0"),
        (("converged", *["1"] * 19), "0"),
        (("converged", *["1"] * 20), "1"),
        (("converged", *["1", "1.05"] * 50), "0"),  # two modes: the interval spans both
        (("converged", *["0.985"] * 50, *["1.015"] * 50), "0"),  # the halves disagree
        (("converged", *["1"] * 60, *["9"] * 10, *["1"] * 30), "1"),  # outliers do not matter
    ],
)
def test_stopping_rules(build: Build, arguments: tuple[str, ...], expected: str) -> None:
    assert build.unit("test_sampling", *arguments).strip() == expected


# --- trees and merges


def tree_shapes(build: Build, tree: str, nodes: int, last: int = 88) -> list[tuple[int, ...]]:
    lines = build.unit("test_tree", tree, str(nodes), str(last)).splitlines()
    shapes = [tuple(map(int, line.split())) for line in lines]
    assert [shape[0] for shape in shapes] == list(range(2, last + 1))
    return shapes


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("nodes", [1, 2, 3, 5])
def test_every_tree_brings_each_block_to_the_root_once(build: Build, tree: str, nodes: int) -> None:
    assert all(is_tree for *_, is_tree in tree_shapes(build, tree, nodes, last=200))


def check_merges(build: Build) -> None:
    """Every version of the merge is right; those that this processor lacks are reported as skipped."""
    lines = build.unit("test_merge").splitlines()
    assert all(line.startswith("skipped: this processor does not support ") for line in lines), lines
    if lines:
        pytest.skip("; ".join(lines))


def test_merges_and_sort_agree_with_qsort(build: Build) -> None:
    check_merges(build)


def test_merges_are_measured_in_turn(build: Build) -> None:
    lines = build.unit("test_merge", "speed", "65536", "3").splitlines()
    names = [line.rpartition(" ")[0] for line in lines]
    once = list(dict.fromkeys(names))
    assert {"uint32 memcpy", "uint32 branchy", "uint64 portable"} <= set(once)
    first = [name for name in once if name.startswith("uint32")]
    assert names == first * 3 + [name.replace("32", "64") for name in first] * 3


def test_the_fastest_merge_of_the_processor_is_used(build: Build) -> None:
    fastest = build.unit("test_merge", "speed", "64", "1").splitlines()[-1].split()[1]
    for chosen in ((), ("--merge", "auto"), ("--merge", fastest)):
        launch = build.launch(2, "tree_merge", *chosen, "--max-size", "8", *QUICK)
        assert launch.header("merge") == fastest


@pytest.mark.full
def test_a_processor_without_avx512_refuses_its_version(build: Build) -> None:
    """Valgrind's processor has no AVX-512, whatever the one below has."""
    valgrind = ("valgrind", "--quiet")
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    launch = build.refuse(2, "tree_merge", "--merge", "avx512", before=valgrind)
    assert (launch.statuses, launch.output) == ([2, 2], "")
    assert launch.errors.count("--merge avx512: the processor of ") == 1


# --- refusals


def demand_refusal(launch: Launch, ranks: int, kernel: str, message: str) -> None:
    """All ranks end with the status of a refusal, one prints the reason, and nothing looks like an output."""
    assert launch.statuses == [2] * ranks
    assert launch.errors.count(f"{kernel}: ") == 1, launch.errors
    assert message in launch.errors
    assert launch.output == ""


def test_wrong_options_are_refused_by_all_ranks(build: Build) -> None:
    def said(call: str) -> str:
        ranks, kernel, *options = shlex.split(call)
        launch = build.refuse(int(ranks), kernel, *options)
        assert (launch.output, launch.statuses) == ("", [2] * int(ranks)), call
        return launch.errors

    golden_messages.check("mistakes/kernels", said)


def test_a_kernel_that_refuses_nothing_is_distinguished_from_one_that_does(build: Build) -> None:
    """Without mpirun it gets no further than the first message; help is not a refusal."""
    assert not {0, 2} & set(build.refuse(2, "tree_gather", "--max-size", "8").statuses)
    assert build.refuse(2, "tree_gather", "--help").statuses == [0, 0]
    assert build.refuse(2, "no_kernel").statuses == []


def test_more_than_half_of_the_memory_is_refused(build: Build) -> None:
    pages = 2 * 3 * 1024 * 1024 // os.sysconf("SC_PAGESIZE")  # half of it: three blocks of 1 MiB
    fits = ("--min-size", "8", "--max-size", "1MiB", *QUICK)
    memory = {"preload": "pretend.so", "PRETEND_PAGES": str(pages)}
    assert build.launch(2, "tree_gather", *fits, **memory).status == 0
    launch = build.launch(2, "tree_gather", "--max-size", "2MiB", **memory)
    assert launch.statuses == [2, 2]
    assert "more than half of its memory" in launch.errors


def test_help_names_every_option(build: Build) -> None:
    launch = build.launch(2, "tree_merge", "--help")
    assert launch.statuses == [0, 0]
    assert launch.output.count("usage:") == 1
    common = ("--min-size", "--max-size", "--size", "--budget", "--seed", "--no-baseline")
    for option in ("--tree", "--key", "--merge", *common):
        assert option in launch.output


# --- wrong data


@pytest.mark.parametrize("kernel", [pytest.param("tree_gather", marks=pytest.mark.full), "tree_merge"])
@pytest.mark.parametrize(
    ("damage", "victim"), [("byte", 0), ("tail", 0), ("unsort", 0), ("gather", 0), ("byte", 2)]
)
def test_damaged_data_fail_the_run_on_all_ranks(build: Build, kernel: str, damage: str, victim: int) -> None:
    sizes = ("--min-size", "1KiB", "--max-size", "4KiB", "--tree", "natural", *QUICK)
    shim = {"preload": "damage.so", "DAMAGE": damage, "DAMAGE_RANK": str(victim)}
    launch = build.launch(4, kernel, *sizes, **shim)
    assert launch.status != 0
    assert launch.statuses == [1] * 4
    operation = "MPI_Gather" if damage == "gather" else kernel
    assert f"{kernel}: wrong data in {operation}" in launch.errors
    assert "status=failed" in launch.end
    assert {row["verified"] for row in launch.rows("sizes")} == {"0"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_lost_output_fails_the_run(build: Build) -> None:
    launch = build.launch(
        2, "tree_gather", "--max-size", "8", *QUICK, before=("sh", "-c", '"$@" >/dev/full', "sh")
    )
    assert launch.statuses == [1, 1]
    assert "the output could not be written completely" in launch.errors


# --- sanitizers


@pytest.mark.full
def test_sanitizers_find_nothing_in_merges_and_trees(sanitized: Build) -> None:
    for tree in TREES:
        sanitized.unit("test_tree", tree, "3", "88")
    check_merges(sanitized)


# --- evidence


def read_evidence(path: Path) -> dict[str, dict[str, str]]:
    """Moment -> key -> value; every line must belong to rank 3."""
    found: dict[str, dict[str, str]] = {"start": {}, "end": {}}
    for line in path.read_text().splitlines():
        name, _, value = line.partition("=")
        word, rank, place = name.split(" ")
        moment, _, key = place.partition(".")
        assert (word, rank) == ("rank", "3")
        assert key not in found[moment], line
        found[moment][key] = value
    return found


def run_with_evidence(build: Build, path: Path, *before: str, **environment: str) -> Launch:
    """Two ranks; only the first has a rank number for its evidence."""
    first = (
        'case "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}}" in 0) ;; *) unset MPICAMPAIGN_RANK ;; esac; exec "$@"'
    )
    return build.launch(
        2,
        "tree_gather",
        *("--max-size", "8", *QUICK),
        preload="evidence.so",
        before=("sh", "-c", first, "sh", *before),
        MPICAMPAIGN_RANK="3",
        MPICAMPAIGN_EVIDENCE_FILE=str(path),
        **environment,
    )


ALWAYS = {
    "time",
    "host",
    "pid",
    "cpu",
    "allowed",
    "program",
    "library",
    "voluntary_switches",
    "involuntary_switches",
}


def test_evidence_reads_the_topology_of_another_sysfs(build: Build, tmp_path: Path) -> None:
    for cpu in os.sched_getaffinity(0):
        folder = tmp_path / f"sys/devices/system/cpu/cpu{cpu}"
        (folder / "topology").mkdir(parents=True)
        (folder / "topology/physical_package_id").write_text("5\n")
        (folder / "topology/core_id").write_text("-1\n")  # what a kernel says that does not know
        (folder / "topology/thread_siblings_list").write_text(f"{cpu},{cpu + 64}\n")
        (folder / "node7").mkdir()
        (folder / "nodes").mkdir()
    run_with_evidence(build, tmp_path / "evidence", MPICAMPAIGN_SYSFS=str(tmp_path / "sys"))
    start = read_evidence(tmp_path / "evidence")["start"]
    assert (start["socket"], start["numa"]) == ("5", "7")
    assert start["siblings"] == f"{start['cpu']},{int(start['cpu']) + 64}"
    assert "core" not in start


def test_evidence_leaves_out_what_cannot_be_read(build: Build, tmp_path: Path) -> None:
    launch = run_with_evidence(build, tmp_path / "evidence", MPICAMPAIGN_SYSFS=str(tmp_path / "nothing"))
    assert launch.statuses == [0, 0]
    start = read_evidence(tmp_path / "evidence")["start"]
    assert start.keys() >= ALWAYS
    assert not start.keys() & {"socket", "core", "numa"}


@pytest.mark.parametrize("rank", ["", "x", "1\nrank 0 start.cpu=9", "0 start.cpu=9"])
def test_evidence_writes_nothing_without_a_rank(build: Build, tmp_path: Path, rank: str) -> None:
    path = tmp_path / "evidence"
    launch = build.launch(
        2,
        "tree_gather",
        *("--max-size", "8", *QUICK),
        preload="evidence.so",
        MPICAMPAIGN_RANK=rank,
        MPICAMPAIGN_EVIDENCE_FILE=str(path),
    )
    assert launch.statuses == [0, 0]
    assert not path.exists()


def test_evidence_does_no_harm_where_it_cannot_write(build: Build, tmp_path: Path) -> None:
    launch = run_with_evidence(build, tmp_path / "no/such/folder/evidence")
    assert launch.statuses == [0, 0]
    assert launch.errors == ""


def test_evidence_leaves_programs_without_mpi_alone(build: Build, tmp_path: Path) -> None:
    path = tmp_path / "evidence"
    environment = {"LD_PRELOAD": str(build.folder / "evidence.so"), "MPICAMPAIGN_RANK": "0"}
    done = subprocess.run(
        ["sh", "-c", "echo $LD_PRELOAD"],
        env={**os.environ, **environment, "MPICAMPAIGN_EVIDENCE_FILE": str(path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout.strip(), done.stderr) == (environment["LD_PRELOAD"], "")
    assert not path.exists()
