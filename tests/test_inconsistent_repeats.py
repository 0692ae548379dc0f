"""Repeats that did not run alike: named with the differences, but still counted."""

from __future__ import annotations

from dataclasses import replace

import build_records as make
import pytest
from evidence_texts import read

from mpicampaign.base.records import Record
from mpicampaign.collect.common_settings import of_import, of_own_run
from mpicampaign.compare.compare import compare
from mpicampaign.compare.findings import UNLIKE
from mpicampaign.show.sentences import note_text

CASE = make.case("TCP")


def runs(*metadata: dict[str, str], suite: str = "imb") -> list[Record]:
    return make.case_runs(CASE, repeats=len(metadata), suite=suite, metadata=lambda n: metadata[n - 1])


def notes(records: list[Record]) -> list[str]:
    (table,) = compare(records).tables
    (row,) = table.rows
    return [note_text(note) for note in row.notes if note.kind == UNLIKE]


def test_another_version_of_the_benchmark() -> None:
    found = notes(runs(*({"version": version} for version in ["2019.6"] * 3 + ["2021.2"] * 2)))
    assert found == ["different setups: benchmark: repeats 1-3 IMB 2019.6; repeats 4-5 IMB 2021.2"]


@pytest.mark.parametrize(
    ("key", "one", "other", "said"),
    [
        ("mpi_library", "Intel MPI 2019 Update 7", "Intel MPI 2021.18.1", "MPI library"),
        ("mpi_library_file", "libmpi.so.40 (4.1.4)", "libmpi.so.40 (5.0)", "MPI library"),
        ("mpi_version", "3.0", "3.1", "MPI library"),
        ("modules", "gcc/9 openmpi/4.0.3", "gcc/9 openmpi/4.1.0", "modules"),
        ("command", "srun osu_bw -i 100 -x 10", "srun osu_bw -i 100", "options"),
        ("command", "srun osu_bw", "srun --cpu-bind=cores osu_bw", "launch"),
        ("arguments", "-i 100", "-i 10", "options"),
        ("slots", "2", "4", "launch"),
        ("settings", "none", "I_MPI_FABRICS=shm", "launch"),
        ("nodes", "1", "2", "nodes"),
    ],
)
def test_each_fact_that_must_be_alike(key: str, one: str, other: str, said: str) -> None:
    records = [replace(run, hosts=()) for run in runs({key: one}, {key: other})]
    (found,) = notes(records)
    assert found.startswith(f"different setups: {said}: repeat 1 ") and "; repeat 2 " in found


def test_what_an_own_run_tells() -> None:
    evidence = read(
        "#mpicampaign-evidence 2\nclaim mpi=openmpi\nclaim binding=core\nclaim setting.OMPI_MCA_pml=ob1\n"
        "claim setting.FI_TOKEN=x\nclaim arguments=-i 100 -x 10\n"
        "rank 0 start.library=/opt/openmpi-4.1.4/lib/libmpi.so.40\n"
    )
    assert of_own_run(evidence, "[0] MPI startup(): Intel(R) MPI Library, Version 2021.18.1\n") == {
        "mpi_library": "Intel MPI 2021.18.1",
        "mpi_library_file": "libmpi.so.40 (4.1.4)",
        "binding": "core",
        "settings": "OMPI_MCA_pml=ob1",
        "arguments": "-i 100 -x 10",
    }


def test_what_an_imported_run_tells() -> None:
    facts = {
        "command": "mpirun osu_bw",
        "directive.n": "4",
        "directive.R": "span[ptile=2]",
        "environment.UCX_TLS": "rc shm",
        "environment.HOME": "/home/one",
        "environment.MPI_ROOT": "/opt/mpi",
        "mpi_hosts": "2",
    }
    assert of_import(facts) == {
        "nodes": "2",
        "slots": "4",
        "slots_per_node": "2",
        "command": "mpirun osu_bw",
        "modules": "none",
        "settings": "UCX_TLS=rc_shm",
    }
    assert of_import({"mpi": "platform"}) == {"mpi": "platform"}
