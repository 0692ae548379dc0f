"""Programs and kernels are built for each system with its own compiler wrapper, and again for another MPI."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from build_campaigns import AS_ROOT, write_campaign
from conftest import PROJECT, ProjectCopy, completed, executable, wait_until
from test_local_mpi import Site
from test_software import OF_MPICH

from mpicampaign.base.records import OK, VERIFIED

pytestmark = pytest.mark.slow

KERNELS = Path(__file__).parents[1] / "kernels"
# Stands for a compiler wrapper: it says who it is, and leaves that in what it compiles.
WRAPPER = """#!/bin/bash
case $1 in -show | --version | --showme:version | -v) echo "{mpi}" && exit ;; esac
while [ $# -gt 0 ]; do [ "$1" != -o ] || out=$2; shift; done
printf '#!/bin/bash\\necho "{mpi}"\\n' >"$out"
chmod +x "$out"
"""
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

    def wrapper(self, mpi: str, place: str) -> Path:
        """An mpicc of this MPI, in this folder."""
        path = self.folder / place / "mpicc"
        path.parent.mkdir(parents=True, exist_ok=True)
        executable(path, WRAPPER.format(mpi=mpi))
        executable(path.with_name("mpiexec"), "#!/bin/sh\n")
        return path

    def write(self, one: str, two: str = "prefix: /none") -> None:
        (self.folder / "builds.yaml").write_text(CAMPAIGN.format(one=one, two=two))

    def call(self, command: str, system: str = "one") -> list[str]:
        """The lines of the answer; a build's are its progress, on standard error."""
        done = self.project.call(command, "--campaign", "builds.yaml", "--system", system)
        assert done.returncode == 0, done.stderr
        return (done.stderr if command == "build" else done.stdout).splitlines()

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
    said = completed(call, cwd=tmp_path, env={**os.environ, "PWD": str(tmp_path)}, check=True)
    assert f"{tmp_path}/bin/mpicc -cc=gcc -std=c11" in said.stdout


DEBIAN = {"open": {"mpi": "openmpi4", "environment": AS_ROOT}, "mpich": {"mpi": "mpich-ucx"}}


def write(project: ProjectCopy, systems: dict[str, Any], build: str = "make halo") -> Path:
    """The campaign, with the source in a folder whose name needs quotes."""
    source = project.folder / "my source"
    shutil.copytree(PROJECT / "campaigns/own-program", source, dirs_exist_ok=True)
    shutil.copy(source / "halo.in", project.folder)
    (source / "Makefile").write_text("halo: halo.c\n\t$(CC) -O2 -o $@ $<\n")
    pattern = "^([0-9.]+) steps per second"
    halo = {
        "suite": "own",
        "program": "halo",
        "provider": {"kind": "source", "location": str(source), "build": build},
        "inputs": "halo.in",
        "ranks_minimum": 2,
        "whole": ["^done$"],
        "metrics": {"steps": {"pattern": pattern, "unit": "steps/s", "better": "higher"}},
    }
    write_campaign(
        project.folder / "sources.yaml",
        repeats=1,
        busy_machine="rank",
        time_limit="1 min",
        systems={name: {"scheduler": "none", **keys} for name, keys in systems.items()},
        host_groups={name: {"system": name} for name in systems},
        placements="SHM-1",
        benchmarks={"halo": halo},
        entry={"host_groups": [*systems]},
    )
    return source


@pytest.mark.full
@pytest.mark.mpi
def test_one_source_is_built_and_run_with_two_libraries(project: ProjectCopy) -> None:
    if not shutil.which("mpirun.openmpi") or not shutil.which("mpiexec.mpich"):
        pytest.skip("Debian's Open MPI and MPICH are not installed")
    source = write(project, DEBIAN)
    before = sorted(path.name for path in source.iterdir())
    project.succeed("run", "--campaign", "sources.yaml")
    assert sorted(path.name for path in source.iterdir()) == before, "it is never built in place"
    records = project.records("sources")
    libraries = {"open": "(Open MPI 4", "mpich": "(MPICH 4"}
    for record in records:
        assert (record.status, record.verdict) == (OK, VERIFIED) or "cores" in record.reason, record
        assert record.status != OK or libraries[record.case.system] in " ".join(record.verdict_reasons)
    assert "to be run again" not in project.call("plan", "sources.yaml").stdout
    with (source / "halo.c").open("a") as file:
        file.write("/* changed */\n")
    again = project.call("plan", "sources.yaml").stdout
    assert again.count("its source or build command has changed") == sum(r.status == OK for r in records)


# ---- With a stand-in for the compiler wrapper, which copies a script


@pytest.fixture
def one(project: ProjectCopy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    folder = tmp_path / "site"
    folder.mkdir()
    site = Site(folder, monkeypatch)
    monkeypatch.undo()  # the PATH of the tests
    site.program("bin/mpiexec", OF_MPICH)
    site.program("bin/mpicc", "mpicc")
    wrapper = '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ncp /bin/true "$2"\n'
    (site.folder / "bin/mpicc").write_text(wrapper)
    return {"one": {"mpi": "mpich-ofi", "prefix": str(site.folder)}}


def build(project: ProjectCopy) -> tuple[int, str]:
    done = project.call("build", "--campaign", "sources.yaml")
    return done.returncode, done.stdout + done.stderr


def program(project: ProjectCopy) -> str:
    script = project.call("render", "--campaign", "sources.yaml").stdout.splitlines()[0]
    return next(line for line in Path(script).read_text().splitlines() if line.startswith("program="))


def test_it_is_built_again_when_its_source_changes_and_only_then(
    project: ProjectCopy, one: dict[str, Any]
) -> None:
    source = write(project, one)
    first = program(project)
    status, printed = build(project)
    assert (status, "building halo from" in printed) == (0, True), printed
    assert Path(first.partition("=")[2]).is_file()
    assert build(project)[1].count("building halo") == 0
    (source / "halo.c").write_text("int main(void) { return 0; }\n")
    assert program(project) != first
    assert "building halo from" in build(project)[1]


def test_copies_of_a_program_are_one(project: ProjectCopy, one: dict[str, Any]) -> None:
    write(project, one, "make halo && mkdir sub && cp halo sub")
    assert build(project)[0] == 0


def test_a_source_that_is_not_there_is_not_available(project: ProjectCopy, one: dict[str, Any]) -> None:
    shutil.rmtree(write(project, one))
    done = project.call("check", "--campaign", "sources.yaml")
    assert "my source is not on this machine" in done.stdout, done.stderr
