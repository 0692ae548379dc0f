"""Kernels are built for each system with its own compiler wrapper, and again when its MPI changes.

Their runs stay the same ones: what a campaign declares does not change with what it finds.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import ProjectCopy
from default_signals import popen_with_default_signals

pytestmark = pytest.mark.slow

# Stands for a compiler wrapper: it says who it is, and leaves that in what it compiles.
WRAPPER = """#!/bin/bash
case $1 in -show | --version | --showme:version | -v) echo "{mpi}" && exit ;; esac
while [ $# -gt 0 ]; do [ "$1" != -o ] || out=$2; shift; done
printf '#!/bin/bash\\necho "{mpi}"\\n' >"$out"
chmod +x "$out"
"""
# Stands for a module command: each module brings an mpicc that is on nobody's PATH before.
MODULES = 'module() {{ PATH="{folder}/$2:$PATH"; }}\n'
CAMPAIGN = """\
campaign: builds
repeats: 1
systems:
  one: {{scheduler: none, mpi: mpich-ofi, {one}}}
  two: {{scheduler: none, mpi: mpich-ofi, {two}}}
host_groups: {{one: {{system: one}}, two: {{system: two}}}}
matrix: [{{host_groups: [one, two], placements: SHM, benchmarks: tree_gather}}]
"""


class Systems:
    def __init__(self, project: ProjectCopy) -> None:
        self.project, self.folder = project, project.folder
        (self.folder / "modules.sh").write_text(MODULES.format(folder=self.folder))

    def wrapper(self, mpi: str, place: str) -> Path:
        """An mpicc of this MPI, in this folder."""
        path = self.folder / place / "mpicc"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(WRAPPER.format(mpi=mpi))
        path.chmod(0o755)
        launcher = path.with_name("mpiexec")
        launcher.write_text("#!/bin/sh\n")
        launcher.chmod(0o755)
        return path

    def module(self, name: str) -> str:
        return f"source: {self.folder}/modules.sh, modules: [{name}]"

    def write(self, one: str, two: str = "prefix: /none") -> None:
        (self.folder / "builds.yaml").write_text(CAMPAIGN.format(one=one, two=two))

    def call(self, command: str, system: str = "one") -> list[str]:
        """The lines of the answer; a build's are its progress, on standard error."""
        done = self.project.call(command, "--campaign", "builds.yaml", "--system", system)
        assert done.returncode == 0, done.stderr
        return (done.stderr if command == "build" else done.stdout).splitlines()

    def scripts(self, system: str = "one") -> dict[str, str]:
        """The texts of the job scripts (they name the programs) by their paths (they name the runs)."""
        return {path: Path(path).read_text() for path in self.call("render", system)}

    def built(self) -> list[str]:
        """The compiler of the kernels in each build folder."""
        found = self.folder.glob("build/*/*/tree_gather")
        return [path.read_text().split('"')[1] for path in sorted(found, key=lambda p: p.stat().st_mtime_ns)]


@pytest.fixture
def systems(project: ProjectCopy) -> Systems:
    return Systems(project)


def test_each_system_is_built_with_its_own_wrapper(systems: Systems) -> None:
    systems.wrapper("MPICH", "mpich/bin")
    other = systems.wrapper("Open MPI", "elsewhere")
    mpich = f"prefix: {systems.folder}/mpich"
    systems.write(mpich, f"{mpich}, environment: {{MPICC: {other}}}")
    for system in ("one", "two"):
        systems.call("build", system)
    assert systems.built() == ["MPICH", "Open MPI"]
    assert not set(systems.scripts().values()) & set(systems.scripts("two").values())


def test_a_wrapper_that_changes_is_another_build_of_the_same_runs(systems: Systems) -> None:
    systems.wrapper("Open MPI 5.0", "mpi/bin")
    systems.write(f"prefix: {systems.folder}/mpi")
    systems.call("build")
    before = systems.scripts()
    assert systems.scripts() == before
    systems.wrapper("Open MPI 5.1", "mpi/bin")
    now = systems.scripts()
    assert now.keys() == before.keys()
    assert now != before
    systems.call("build")
    assert systems.built() == ["Open MPI 5.0", "Open MPI 5.1"]


def test_another_version_of_a_module_is_another_build(systems: Systems) -> None:
    for version in ("5.0", "5.1"):
        systems.wrapper(version, f"openmpi/{version}")
    scripts = []
    for version in ("5.0", "5.1"):
        systems.write(systems.module(f"openmpi/{version}"))
        systems.call("build")
        scripts += systems.call("render")
    assert systems.built() == ["5.0", "5.1"]
    assert len(set(scripts)) == 2


def test_a_module_that_changes_behind_its_name_is_seen_by_the_next_build(systems: Systems) -> None:
    systems.wrapper("5.0.1", "openmpi/5")
    systems.write(systems.module("openmpi/5"))
    systems.call("build")
    first = systems.scripts()
    assert systems.call("build") == []  # nothing to do
    systems.wrapper("5.0.2", "openmpi/5")
    assert systems.scripts() == first  # no plan can see it
    assert "has changed since the last build" in systems.call("build")[0]
    assert systems.built() == ["5.0.1", "5.0.2"]
    second = systems.scripts()
    assert second.keys() == first.keys()
    assert second != first
    assert systems.call("build") == []
    systems.wrapper("5.0.1", "openmpi/5")
    systems.call("build")
    assert systems.scripts() == first  # as it was


# --- what a person sees of a build, and what is left when it is killed

LOUD = WRAPPER.replace(
    "while [", 'for line in {{1..40}}; do echo "loop $line was vectorized"; done\nwhile [', 1
)
REFUSING = LOUD.replace(
    "while [", """echo "tree.c:7:3: error: unknown type name 'tree'" >&2; exit 1\nwhile [""", 1
)
# Waits in the middle of a compilation, which has left a temporary file.
WAITING = WRAPPER.replace("while [", 'touch "$TMPDIR/cc.s"; [ -e "{folder}/go on" ] || sleep 60\nwhile [', 1)


@pytest.fixture
def spaced(project: ProjectCopy) -> Systems:
    return Systems(ProjectCopy(project.folder.rename(project.folder.with_name("a folder"))))


def test_a_build_is_one_line_and_a_failed_one_shows_the_error_alone(systems: Systems) -> None:
    systems.write(f"prefix: {systems.folder}/mpi")
    mpi = "mpicc: Open MPI 5.0.3 (Language: C)"
    systems.wrapper(mpi, "mpi/bin").write_text(REFUSING.format(mpi=mpi))
    done = systems.project.call("build", "--campaign", "builds.yaml", "--system", "one")
    first, error, make, log = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (1, "")
    assert first == "building the kernels for system one (mpicc of Open MPI 5.0.3) ... failed:"
    assert error == "tree.c:7:3: error: unknown type name 'tree'" and make.startswith("make: *** ")
    assert "loop 40 was vectorized" in Path(log.partition(" is in ")[2]).read_text()
    systems.wrapper(mpi, "mpi/bin").write_text(LOUD.format(mpi=mpi))
    [line] = systems.call("build")
    assert re.fullmatch(r"building the kernels for .* \.\.\. done in \d+ s", line)
    shutil.rmtree(systems.folder / "build")
    verbose = systems.project.call("build", "--campaign", "builds.yaml", "--system", "one", "--verbose")
    assert verbose.returncode == 0 and "loop 40 was vectorized" in verbose.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_killed_build_leaves_nothing(spaced: Systems, tmp_path: Path, number: signal.Signals) -> None:
    """Nothing in the folder for temporary files; beside the kernels nothing that the next build keeps."""
    spaced.wrapper("Open MPI", "mpi/bin").write_text(WAITING.format(mpi="Open MPI", folder=spaced.folder))
    spaced.write(f"prefix: {spaced.folder}/mpi")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    process = popen_with_default_signals(
        spaced.project.command("build", "--campaign", "builds.yaml", "--system", "one"),
        cwd=spaced.folder,
        env=spaced.project.environment | {"TMPDIR": str(temporary)},
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while (
        not (found := list(spaced.folder.glob("build/*/building-*/tmp/cc.s"))) and time.monotonic() < deadline
    ):
        time.sleep(0.02)
    part = found[0].parents[1]
    process.send_signal(number)
    if number == signal.SIGKILL:
        os.killpg(int(part.name.rpartition("-")[2]), number)
    assert process.wait(60) == (-number if number == signal.SIGKILL else 128 + number)
    assert list(temporary.iterdir()) == []
    assert part.exists() == (number == signal.SIGKILL)
    (spaced.folder / "go on").touch()
    spaced.call("build")
    assert spaced.built() == ["Open MPI"]
    assert list(spaced.folder.glob("build/*/building-*")) == []
