"""Input files, results in files and the kernel stream on the test cluster, under real Slurm."""

from __future__ import annotations

import shutil

import pytest
from minicluster import MiniCluster
from on_cluster import cluster_project, system_of

from mpicampaign.base.records import BLAS, DECLARED, OK

pytestmark = [pytest.mark.full, pytest.mark.mpi]
NEEDED = ("hpcc", "mpirun.openmpi", "mpicc.openmpi")


def test_hpcc_and_stream_on_one_node_and_on_two(minicluster: MiniCluster) -> None:
    if missing := [name for name in NEEDED if shutil.which(name) is None]:
        pytest.skip(f"not on this machine: {', '.join(missing)}")
    environment = {**minicluster.environment, "MPICC": "mpicc.openmpi", "OPENBLAS_NUM_THREADS": 1}
    project = cluster_project(
        minicluster,
        "applications",
        ("blue", ["SHM-1", "TCP-first"], ["HPCC", "stream"]),
        time_limit="2 min",
        system=system_of(minicluster, mpi="openmpi4", prefix=None, environment=environment),
        mpis={"openmpi4": {"command": "mpirun.openmpi"}},
        benchmarks={
            "HPCC": {"parameters": {"N": 400, "NB": 64}},
            "stream": {"arguments": "--array 16MiB --repetitions 4"},
        },
    )
    records = project.run()
    assert len(records) == 4
    for record in records:
        assert (record.status, record.verdict) == (OK, DECLARED), (record.reason, record.verdict_reasons)
        [series] = record.series
        assert series.columns["stream_triad_star"][0]
        if record.case.benchmark == "HPCC":
            assert record.metadata[BLAS]
            assert series.qualifiers["N"] == "400"
