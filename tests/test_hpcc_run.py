"""Real runs of HPCC, where it is installed: input, results, the BLAS library that the ranks mapped."""

from __future__ import annotations

import shutil

import pytest
import yaml
from conftest import ProjectCopy

from mpicampaign.records import BLAS, read_records
from mpicampaign.verdict.blas import blas_of
from mpicampaign.verdict.evidence import Evidence

NEEDED = ("hpcc", "mpirun.openmpi")
MISSING = [name for name in NEEDED if shutil.which(name) is None]
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": 1, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1}


def campaign(orders: list[int]) -> dict[str, object]:
    hpcc = {"suite": "hpcc", "program": "hpcc", "provider": "path"}
    benchmarks = {f"HPCC-{order}": hpcc | {"parameters": {"N": order, "NB": 64}} for order in orders}
    return {
        "campaign": "hpcc",
        "repeats": 1,
        "busy_machine": "rank",
        "time_limit": "1 min",
        "mpis": {"openmpi4": {"command": "mpirun.openmpi"}},
        "systems": {
            "here": {
                "scheduler": "none",
                "mpi": "openmpi4",
                "environment": {"OPENBLAS_NUM_THREADS": 1, "MPICC": "mpicc.openmpi", **AS_ROOT},
            }
        },
        "host_groups": {"local": {"system": "here"}},
        "benchmarks": benchmarks,
        "matrix": [{"host_groups": "local", "placements": "SHM-1", "benchmarks": list(benchmarks)}],
    }


@pytest.mark.mpi
@pytest.mark.skipif(bool(MISSING), reason=f"not on this machine: {', '.join(MISSING)}")
def test_runs_of_unlike_linear_systems_are_cases_of_their_own(project: ProjectCopy) -> None:
    path = project.folder / "hpcc.yaml"
    path.write_text(yaml.safe_dump(campaign([300, 400]), sort_keys=False))
    done = project.call("run", "--campaign", str(path))
    assert done.returncode == 0, done.stdout + done.stderr
    _, records = read_records(project.folder / "results/hpcc/records.jsonl")
    assert [record.status for record in records] == ["ok", "ok"]
    labels = {series.label for record in records for series in record.series}
    assert labels == {f"HPCC (N {n}, NB 64, grid 1 x 2)" for n in (300, 400)}
    for record in records:
        assert record.verdict == "verified", record.verdict_reasons
        assert record.metadata[BLAS]
    for output in project.results("hpcc"):
        assert "End of HPC Challenge tests." in output.read_text()
        assert not (output.parent / "work").exists()


def test_ranks_with_different_libraries() -> None:
    """Not averaged with runs whose ranks had one."""
    ranks = [{"blas": "/a/libblas.so.3"}, {"blas": "/a/libmkl_rt.so.2"}]
    found = blas_of(evidence_of(*ranks))
    assert found
    assert found.name == "reference BLAS and Intel MKL"


def evidence_of(*ranks: dict[str, str]) -> Evidence:
    recorded = ({f"end.{key}": value for key, value in of_rank.items()} for of_rank in ranks)
    return Evidence(ranks=dict(enumerate(recorded)))
