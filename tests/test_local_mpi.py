"""Which launcher, compiler wrapper and program belongs to which MPI library on this machine.

Launchers and wrappers are stand-ins that print what the real ones do. Libraries and programs are made by this
machine's compiler. The real libraries are in test_two_libraries.py.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from build_campaigns import AS_ROOT, BENCHMARK
from conftest import executable
from test_software import OF_DEBIAN, OF_INTEL, OF_MPICH, OF_OPEN_MPI

from mpicampaign.campaign.model import Mpi, Provider, System
from mpicampaign.jobs.local_mpi import LocalMpi, find_mpi
from mpicampaign.jobs.software import find_program
from mpicampaign.mpis import MPIS

BOTH = f"{OF_MPICH} Configure options: --with-device=ch4:ucx,ofi --with-pm=hydra"
SONAMES = {
    "Open MPI v": "libmpi.so.40",
    "Intel(R) MPI Library": "libmpi.so.12",
    "MPICH Version": "libmpi.so.12",
}


class Site:
    """Folders with stand-ins, some of them on the PATH."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self._patch = folder, monkeypatch
        self.path()

    def path(self, *folders: str) -> None:
        tools = self.folder / "tools"
        if not tools.exists():
            tools.mkdir()
            for tool in ("env", "bash"):
                (tools / tool).symlink_to(str(shutil.which(tool)))
        self._patch.setenv("PATH", ":".join(f"{self.folder}/{each}" for each in (*folders, "tools")))

    def program(self, name: str, says: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        executable(path, f'#!/bin/sh\necho "{says}"\n')
        return str(path)

    def library(self, folder: str, says: str) -> Path:
        """A shared library that holds this text."""
        path = self.folder / folder / SONAMES[says]
        path.parent.mkdir(parents=True, exist_ok=True)
        self._compile(
            path,
            f'const char *says = "{says}"; int MPI_Init(void) {{ return 0; }}',
            "-shared",
            f"-Wl,-soname,{path.name}",
        )
        return path

    def linked(self, name: str, library: Path, *options: str) -> Path:
        """A program that is linked to a library."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        self._compile(
            path, "int MPI_Init(void); int main(void) { return MPI_Init(); }", str(library), *options
        )
        return path

    def _compile(self, path: Path, source: str, *options: str) -> None:
        command = [
            "/usr/bin/env",
            "PATH=/usr/bin:/bin",
            "cc",
            "-x",
            "c",
            "-",
            "-x",
            "none",
            *options,
            "-fPIC",
            "-o",
            str(path),
        ]
        subprocess.run(command, input=source, text=True, check=True)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return Site(tmp_path, monkeypatch)


def system(mpi: str, **keys: object) -> System:
    library = MPIS[mpi]
    command = str(library.settings.get("command", "mpirun"))
    return replace(System("here", "none", Mpi(mpi, library.launcher.name, {}, command)), **keys)  # type: ignore[arg-type]


def found(mpi: str, **keys: object) -> LocalMpi:
    return find_mpi(system(mpi, **keys))


# ---- launchers


def test_where_there_is_none_the_reason_names_what_there_is(site: Site) -> None:
    intel, open_mpi = site.program("bin/mpirun", OF_INTEL), site.program("bin/mpirun.openmpi", OF_DEBIAN)
    site.path("bin")
    reason = found("openmpi5").not_available
    assert "no launcher of openmpi5 is on the PATH" in reason
    assert f"{intel} is Intel MPI 2021.18.1 (intelmpi)" in reason
    assert f"{open_mpi} is Open MPI 4.1.4 (openmpi4)" in reason
    site.path()
    assert found("openmpi5").not_available.startswith("no launcher of openmpi5 is on the PATH: install it")


def test_what_settles_the_launcher_is_not_asked(site: Site) -> None:
    site.program("bin/mpirun", OF_INTEL)
    site.path("bin")
    assert found("openmpi4", modules=("openmpi",)).command == "mpirun"
    assert found("openmpi4", source=("/etc/profile",)).command == "mpirun"
    assert found("openmpi4", scheduler="slurm").command == "mpirun"
    own = system("openmpi4")
    ours = replace(own, mpi=replace(own.mpi, command="ours"))
    assert find_mpi(ours).not_available == "the launch command ours of openmpi4 is not on this machine"
    site.program("bin/ours", OF_INTEL)
    site.path("bin", "x")
    assert find_mpi(ours) == LocalMpi("ours")


# ---- root


def test_open_mpi_refuses_root_unless_it_is_allowed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.program("bin/mpirun", OF_OPEN_MPI)
    site.program("bin/mpiexec", BOTH)
    site.path("bin")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for name in AS_ROOT:
        monkeypatch.delenv(name, raising=False)
    assert found("openmpi4").not_available == (
        "Open MPI refuses to run as root: give system here environment: "
        "{OMPI_ALLOW_RUN_AS_ROOT: 1, OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: 1}"
    )
    assert "root" in found("openmpi4", environment={"OMPI_ALLOW_RUN_AS_ROOT": "1"}).not_available
    assert not found("openmpi4", environment=AS_ROOT).not_available
    assert not found("openmpi4", launcher_options=("--allow-run-as-root",)).not_available
    assert not found("openmpi4", scheduler="slurm").not_available
    assert not found("mpich-ofi").not_available
    for name in AS_ROOT:
        monkeypatch.setenv(name, "1")
    assert not found("openmpi4").not_available


# ---- compiler wrappers


def test_the_compiler_wrapper_links_the_library(site: Site) -> None:
    site.library("intel/lib", "Intel(R) MPI Library")
    site.library("mpich/lib", "MPICH Version")
    site.library("open/lib", "Open MPI v")
    for name, launcher, says in (
        ("intel", "mpirun", OF_INTEL),
        ("mpich", "mpiexec", BOTH),
        ("open", "mpirun", OF_OPEN_MPI),
    ):
        site.program(f"{name}/bin/{launcher}", says)
        site.program(
            f"{name}/bin/mpicc", f"cc -I{site.folder}/{name}/include -L{site.folder}/{name}/lib -lmpi"
        )
    site.path("intel/bin", "mpich/bin", "open/bin")
    for mpi, name in (("intelmpi", "intel"), ("mpich-ofi", "mpich"), ("openmpi4", "open")):
        assert found(mpi).compiler == f"{site.folder}/{name}/bin/mpicc"
    # set to another library by an administrator
    site.program("other/bin/mpirun", OF_OPEN_MPI)
    site.program("other/bin/mpicc", f"cc -L{site.folder}/mpich/lib -lmpi")
    own = site.program("other/bin/mpicc.openmpi", f"cc -L{site.folder}/open/lib -lmpi")
    site.path("other/bin")
    assert found("openmpi4").compiler == own
    assert found("openmpi4", environment={"MPICC": own}).compiler == own


def test_a_kernel_is_not_available_without_a_compiler_wrapper(site: Site) -> None:
    site.program("bin/mpirun", OF_OPEN_MPI)
    site.path("bin")
    kernel = replace(BENCHMARK, suite="kernel", program="tree_gather", provider=Provider("bundled"))
    assert find_program(system("openmpi4"), kernel).not_available.startswith(
        "no mpicc of openmpi4 is on the PATH"
    )
    assert not find_program(system("openmpi4", modules=("openmpi",)), kernel).not_available


# ---- programs


def wrong_mpi(program: Path, **keys: object) -> str:
    wanted = replace(BENCHMARK, provider=Provider("path", str(program)))
    mpi = str(keys.pop("mpi"))
    return find_program(system(mpi, **keys), wanted).not_available


@pytest.fixture
def libraries(site: Site) -> dict[str, Path]:
    """Intel MPI and MPICH below a prefix each, and an Open MPI."""
    for name, launcher, says in (
        ("intel", "mpirun", OF_INTEL),
        ("mpich", "mpiexec", BOTH),
        ("open", "mpirun", OF_OPEN_MPI),
    ):
        site.program(f"{name}/bin/{launcher}", says)
    site.path("intel/bin", "mpich/bin", "open/bin")
    return {
        "intel": site.library("intel/lib", "Intel(R) MPI Library"),
        "mpich": site.library("mpich/lib", "MPICH Version"),
        "open": site.library("open/lib", "Open MPI v"),
    }


def test_the_wheel_needs_mpi_wheel_since_its_launcher_finds_no_library_for_others(
    site: Site, libraries: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own programs have no rpath: each run of `mpi: intelmpi` ended with exit status 127."""
    program = site.linked("intel/bin/IMB-MPI1", libraries["intel"])
    assert wrong_mpi(program, mpi="intelmpi") == ""
    monkeypatch.setattr("sys.prefix", str(site.folder / "intel"))
    monkeypatch.setattr("mpicampaign.jobs.local_mpi.wheel_library", lambda machine: "intelmpi")
    assert wrong_mpi(program, mpi="intelmpi").endswith(
        "only the Python environment has; system here uses intelmpi: write mpi: wheel, which is there"
    )
    assert wrong_mpi(program, mpi="intelmpi", prefix=str(site.folder / "intel")) == ""
    site.path("nothing")
    assert found("intelmpi").not_available.endswith(", or write mpi: wheel, which is there")
    monkeypatch.setattr("sys.prefix", str(site.folder / "bare"))
    reason = found("intelmpi", prefix=str(site.folder / "bare")).not_available
    assert reason.endswith(": pip install 'mpicampaign[mpi]', or give system here its prefix or modules")


def test_a_program_of_the_mpich_abi_runs_with_each_library_that_it_loads(
    site: Site, libraries: dict[str, Path]
) -> None:
    program = site.linked("apps/IMB-MPI1", libraries["intel"])
    for mpi, name in (("intelmpi", "intel"), ("mpich-ofi", "mpich")):
        assert wrong_mpi(program, mpi=mpi, prefix=f"{site.folder}/{name}") == ""
        assert wrong_mpi(program, mpi=mpi) == ""  # launchers add their own folder
    bound = site.linked(
        "bound/IMB-MPI1", libraries["intel"], f"-Wl,-rpath,{site.folder}/intel/lib", "-Wl,--disable-new-dtags"
    )
    reason = wrong_mpi(bound, mpi="mpich-ofi", prefix=f"{site.folder}/mpich")
    assert f"would load {site.folder}/intel/lib/libmpi.so.12; system here uses mpich-ofi below" in reason
    assert f"would load {site.folder}/intel/lib/libmpi.so.12; system here" in wrong_mpi(
        bound, mpi="mpich-ofi"
    )
    assert wrong_mpi(bound, mpi="intelmpi") == ""
