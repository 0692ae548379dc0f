"""Real runs of HPCC, where it is installed: input, results, the BLAS library that the ranks mapped."""

from __future__ import annotations

import shutil

import pytest
from build_campaigns import of_debian, write_campaign
from conftest import ProjectCopy

from mpicampaign.base.records import BLAS
from mpicampaign.evidence.blas import blas_of
from mpicampaign.evidence.evidence import Evidence

NEEDED = ("hpcc", "mpirun.openmpi")
MISSING = [name for name in NEEDED if shutil.which(name) is None]


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.skipif(bool(MISSING), reason=f"not on this machine: {', '.join(MISSING)}")
def test_runs_of_unlike_linear_systems_are_cases_of_their_own(project: ProjectCopy) -> None:
    hpcc = {"suite": "hpcc", "program": "hpcc", "provider": "path"}
    path = write_campaign(
        project.folder / "hpcc.yaml",
        repeats=1,
        busy_machine="rank",
        time_limit="1 min",
        **of_debian("openmpi4", OPENBLAS_NUM_THREADS=1),
        placements="SHM-1",
        benchmarks={f"HPCC-{order}": hpcc | {"parameters": {"N": order, "NB": 64}} for order in (300, 400)},
    )
    project.succeed("run", "--campaign", str(path))
    records = project.records("hpcc")
    assert [record.status for record in records] == ["ok", "ok"]
    labels = {series.label for record in records for series in record.series}
    assert labels == {f"HPCC (N {n}, NB 64, grid 1 x 2)" for n in (300, 400)}
    for record in records:
        assert record.verdict == "verified", record.verdict_reasons
        assert record.metadata[BLAS]
    for output in project.results("hpcc"):
        assert "End of HPC Challenge tests." in output.read_text()
        assert not (output.parent / "work").exists()


@pytest.mark.parametrize(
    ("recorded", "name"),
    [
        ({"blas": "/usr/lib/blas/libblas.so.3.11.0"}, "reference BLAS"),
        ({"blas": "/opt/lib/libcblas.so.3"}, "reference BLAS"),
        (
            {"blas": "/usr/lib/openblas/libblas.so.3", "blas_openblas": "OpenBLAS 0.3.21 DYNAMIC_ARCH Zen"},
            "OpenBLAS 0.3.21",
        ),
        ({"blas": "/opt/libmkl_rt.so.2"}, "Intel MKL"),
        (
            {"blas": "/opt/libmkl_rt.so.2", "blas_mkl": "Intel(R) oneAPI Math Kernel Library Version 2023.1"},
            "Intel MKL 2023.1",
        ),
        ({"blas": "/opt/libblis.so.4", "blas_blis": "0.9.0"}, "BLIS 0.9.0"),
        ({"blas": "/opt/libsatlas.so.3"}, "ATLAS"),
        ({"blas": "/opt/libours.so"}, "BLAS libours.so"),
    ],
)
def test_a_blas_library_is_called_by_what_it_says_or_else_by_its_file(
    recorded: dict[str, str], name: str
) -> None:
    found = blas_of(evidence_of(recorded))
    assert found
    assert found.name == name


def test_ranks_with_different_libraries() -> None:
    """Not averaged with runs whose ranks had one."""
    ranks = [{"blas": "/a/libblas.so.3"}, {"blas": "/a/libmkl_rt.so.2"}]
    found = blas_of(evidence_of(*ranks))
    assert found
    assert found.name == "reference BLAS and Intel MKL"


def test_no_library_is_not_a_name() -> None:
    assert blas_of(evidence_of({})) is None


def evidence_of(*ranks: dict[str, str]) -> Evidence:
    recorded = ({f"end.{key}": value for key, value in of_rank.items()} for of_rank in ranks)
    return Evidence(ranks=dict(enumerate(recorded)))
