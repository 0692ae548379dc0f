"""Kernels are built for each system with its own compiler wrapper, and again when its MPI changes.

Their runs stay the same ones: what a campaign declares does not change with what it finds.
"""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import ProjectCopy, executable, wait_until

pytestmark = pytest.mark.slow

KERNELS = Path(__file__).parents[1] / "kernels"
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
        executable(path, WRAPPER.format(mpi=mpi))
        executable(path.with_name("mpiexec"), "#!/bin/sh\n")
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


# --- what a person sees of a build, and what is left when it is killed

# Waits in the middle of a compilation, which has left a temporary file.
WAITING = WRAPPER.replace("while [", 'touch "$TMPDIR/cc.s"; [ -e "{folder}/go on" ] || sleep 60\nwhile [', 1)


@pytest.fixture
def spaced(project: ProjectCopy) -> Systems:
    return Systems(ProjectCopy(project.folder.rename(project.folder.with_name("a folder"))))


@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, *(pytest.param(n, marks=pytest.mark.full) for n in (signal.SIGINT, signal.SIGKILL))],
)
def test_a_killed_build_leaves_nothing(spaced: Systems, tmp_path: Path, number: signal.Signals) -> None:
    """Nothing in the folder for temporary files; beside the kernels nothing that the next build keeps."""
    spaced.wrapper("Open MPI", "mpi/bin").write_text(WAITING.format(mpi="Open MPI", folder=spaced.folder))
    spaced.write(f"prefix: {spaced.folder}/mpi")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = spaced.project.environment | {"TMPDIR": str(temporary)}
    process = spaced.project.start("build", "--campaign", "builds.yaml", "--system", "one", env=environment)
    wait_until(lambda: any(spaced.folder.glob("build/*/building-*/tmp/cc.s")))
    [part] = spaced.folder.glob("build/*/building-*")
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


def test_a_relative_compiler_wrapper_is_one_from_where_make_was_called(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "mpicc").touch(0o755)
    call = [
        "make",
        "-n",
        "-C",
        str(KERNELS),
        "MPICC=bin/mpicc -cc=gcc",
        f"BUILD={tmp_path}",
        f"{tmp_path}/stream",
    ]
    said = subprocess.run(
        call,
        cwd=tmp_path,
        env={**os.environ, "PWD": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"{tmp_path}/bin/mpicc -cc=gcc -std=c11" in said.stdout
