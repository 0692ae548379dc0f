"""What the ranks ran, as recorded, compared with the claim; ELF files as binutils reads them."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from evidence_texts import CLAIM, RUN, evidence_text, rank_lines, read

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


def library_lines(rank: int, says: str = INTEL, build_id: str = "abcd") -> str:
    lines = [
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


def test_a_rank_without_a_library_is_named() -> None:
    [_, found] = findings(PROGRAMS, library_lines(0))
    assert (found.outcome, "rank 1" in found.reason) == (LACKS, True)


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
    printed = subprocess.run(["readelf", "-ndW", file], capture_output=True, text=True, check=True).stdout

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
