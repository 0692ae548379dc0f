"""Repeats with another program, MPI, BLAS or GPU library than the latest repeat are not averaged with it.

A campaign's declaration does not change when a module loads another program under the same name; what the
runs observed does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import BLAS, IMPORTED_FROM, MPI_LIBRARY, Record
from mpicampaign.evidence.blas import blas_of
from mpicampaign.evidence.evidence import Evidence
from mpicampaign.evidence.gpus import gpu_libraries

# Keys of the metadata: by content, never by path.
PROGRAM, LIBRARY, BLAS_LIBRARY = "program checksum", MPI_LIBRARY, "BLAS checksum"
LIBRARY_SUM = "MPI library SHA-256"  # a changed file may keep its build-id
GPU_LIBRARIES = "GPU libraries"  # by their names, which have versions
_SHOWN = 12  # digits


def observed(evidence: Evidence) -> dict[str, str]:
    """The recorded checksums of program, MPI and BLAS library, what the latter calls itself, GPU libraries.

    A bundled kernel is identified by its version.
    """
    blas = blas_of(evidence)
    bundled = '"provider":"bundled"' in evidence.claim.get("declared", "")
    program = "" if bundled else evidence.job.get("program_sha256", "")
    identities = {PROGRAM: program[:_SHOWN], LIBRARY: evidence.library[1][:_SHOWN]}
    identities |= {BLAS: blas.name, BLAS_LIBRARY: blas.build_id[:_SHOWN]} if blas else {}
    sums = (seen.get("end.library_sha256", "") for seen in evidence.ranks.values())
    identities[LIBRARY_SUM] = next(filter(None, sums), "")[:_SHOWN]
    identities[GPU_LIBRARIES] = gpu_libraries(evidence)
    return {key: value for key, value in identities.items() if value}


def mark_earlier(records: Iterable[Record]) -> list[Record]:
    """The records; in each case, those of another state than the run that began last are marked."""
    records = list(records)
    latest: dict[int, Mapping[str, str]] = {}
    told = (run for run in records if run.sound and IMPORTED_FROM not in run.metadata and software_of(run))
    for runs in grouped(told, lambda run: run.case).values():
        states = {frozenset(software_of(run).items()) for run in runs}
        if len(states) > 1:
            present = software_of(max(runs, key=lambda run: run.started))
            latest |= {id(run): present for run in runs}
    return [_marked(record, latest[id(record)]) if id(record) in latest else record for record in records]


def software_of(record: Record) -> dict[str, str]:
    """What a run recorded of its program and libraries, by the key in its metadata."""
    keys = (PROGRAM, LIBRARY, LIBRARY_SUM, BLAS_LIBRARY, BLAS, GPU_LIBRARIES)
    return {key: record.metadata[key] for key in keys if key in record.metadata}


def _marked(record: Record, present: Mapping[str, str]) -> Record:
    mine = software_of(record)
    other = [key for key in mine if mine[key] != present.get(key, mine[key])]
    reason = "; ".join(f"{key} {mine[key]}, now {present[key]}" for key in other)
    return replace(record, earlier=reason) if other else record
