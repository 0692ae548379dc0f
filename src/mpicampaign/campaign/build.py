"""From the plain data of a campaign file to the typed campaign: what follows from several keys."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpicampaign.campaign.model import Benchmark, Campaign, MatrixEntry, Mpi, System
from mpicampaign.keys import Values
from mpicampaign.mpis import MPIS, wheel_library
from mpicampaign.places import wheel_folder
from mpicampaign.schedulers import is_local

if TYPE_CHECKING:
    from mpicampaign.yaml_lines import Key

WHEEL = "wheel"  # as MPI library: that of the Python environment; as prefix: the wheel of the MPI library


def build_campaign(values: Values, file: str) -> Campaign:
    """The campaign, as complete as its data."""
    mpis = {name: _mpi(values, name) for name in values.get(("mpis",)) or {}}
    systems = {name: _system(values, name, mpis) for name in values.get(("systems",)) or {}}
    made = values.entry(Campaign, (), mpis=mpis, systems=systems, file=file, document=values.document)
    matrix = tuple(_completed(entry, made) for entry in made.matrix)
    with_inputs = {name: _with_inputs(values, each) for name, each in made.benchmarks.items()}
    return replace(made, title=made.title or made.name, matrix=matrix, benchmarks=with_inputs)


def _with_inputs(values: Values, benchmark: Benchmark) -> Benchmark:
    """With input files relative to the file that names them."""
    key: Key = ("benchmarks", benchmark.name, "inputs")
    folders = [Path(values.document.mark(item).file).parent for item, _ in values.document.items(key)]
    named = zip(folders, benchmark.inputs, strict=False)
    return replace(benchmark, inputs=tuple(str(folder / Path(name).expanduser()) for folder, name in named))


def _mpi(values: Values, name: str) -> Mpi:
    key: Key = ("mpis", name)
    marks = values.document.marks.items()
    own = any(mark.file != values.document.foundation for path, mark in marks if path[:2] == key)
    return values.entry(Mpi, key, own=own)


def _system(values: Values, name: str, mpis: dict[str, Mpi]) -> System:
    key: Key = ("systems", name)
    named = values.text((*key, "mpi"))
    mpi_name = wheel_library(os.uname().machine) if named == WHEEL else named
    mpi = mpis.get(mpi_name) or Mpi(mpi_name, "", {})
    made = values.entry(System, key, mpi=mpi)
    default = not values.get((*key, "hosts_from"))
    prefix_name = made.prefix or (WHEEL if named == WHEEL else "")
    return replace(
        made,
        launcher=made.launcher or mpi.launcher,
        prefix=_wheel_prefix(mpi_name) if prefix_name == WHEEL else prefix_name,
        prefix_name=prefix_name,
        hosts_from="list" if default and is_local(made.scheduler) else made.hosts_from,
    )


def _wheel_prefix(mpi: str) -> str:
    """The environment with a library's wheel: this program's own, or one beside it."""
    library = MPIS.get(mpi)
    if library is None or not library.wheel or mpi == wheel_library(os.uname().machine):
        return sys.prefix
    return str(wheel_folder(library.wheel))


def _completed(entry: MatrixEntry, campaign: Campaign) -> MatrixEntry:
    """With the campaign's repeats and time limit where it gives none."""
    repeats = entry.repeats if entry.repeats is not None else campaign.repeats
    return replace(entry, repeats=repeats, time_limit=entry.time_limit or campaign.time_limit)
