"""Programs built from source with each system's MPI library, by the user's own command."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from build_campaigns import AS_ROOT, write_campaign
from conftest import PROJECT, ProjectCopy
from test_local_mpi import Site
from test_software import OF_MPICH

from mpicampaign.base.records import OK, VERIFIED

pytestmark = pytest.mark.slow


DEBIAN = {
    "open": {"mpi": "openmpi4", "environment": AS_ROOT},
    "mpich": {"mpi": "mpich-ucx"},
}


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
