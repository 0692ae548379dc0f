"""What the ranks ran: the program that each became and the MPI library that it mapped, as claimed or not.

Evidence of releases that did not record this has no finding here, and is judged as before.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mpicampaign.evidence.evidence import Evidence
from mpicampaign.evidence.findings import CONTRADICTS, LACKS, SUPPORTS, Finding, finding
from mpicampaign.mpis import launcher_version, library_title, library_version
from mpicampaign.suites import SUITES

BINARY, SCRIPT = "binary", "script"
_SHOWN = 12  # digits of a checksum
_SAME_ID = "another file with the same build-id"


class Library(NamedTuple):
    """The MPI library of a rank: its file, its build-id or else SHA-256, and what it calls itself.

    ``sha256``: empty where no rank of its host recorded that of the file.
    """

    path: str
    content: str
    says: str
    sha256: str = ""

    def __str__(self) -> str:
        name = library_version(self.says) or self.says or "of unknown version"
        return f"{self.path} ({name}, {self.content[:_SHOWN]})"

    def differs(self, other: Library) -> bool:
        """Whether it is another library, as far as is known of both; a build-id may be copied."""
        pairs = (self.says, other.says), (self.sha256, other.sha256)
        return self.content != other.content or any(one and two and one != two for one, two in pairs)


def software_findings(evidence: Evidence) -> list[Finding]:
    """The program of each rank, its MPI library, and the library's version."""
    if not evidence.ranks or "program_kind" not in evidence.job:
        return []
    return [_programs(evidence), *library_findings(evidence)]


def _programs(evidence: Evidence) -> Finding:
    """The finding of all ranks: the first contradiction, else the first rank without proof."""
    resolved = evidence.job.get("program_sha256", "")
    checksums = checksums_of(evidence, "program")
    programs = [_program(evidence, rank, checksums[rank], resolved) for rank in sorted(evidence.ranks)]
    return min(programs, key=lambda program: (CONTRADICTS, LACKS, SUPPORTS).index(program.outcome))


def _program(evidence: Evidence, rank: int, checksum: str, resolved: str) -> Finding:
    """Whether a rank became the program that the job script resolved, or the one that this starts.

    The file decides. A script, or a program that is none of its suite (a container's, a tracer), starts
    another one, which must have its name or be of the suite.
    """
    path, job = evidence.ranks[rank].get("end.program", "").removesuffix(" (deleted)"), evidence.job
    if not path or not resolved:
        whose = f"rank {rank} recorded no program" if resolved else "the checksum of the program is unknown"
        return Finding("program", LACKS, whose)
    if checksum == resolved:
        return Finding("program", SUPPORTS, f"{path}, checksum {checksum[:_SHOWN]}")
    name, claimed = name_of_file(path), name_of_file(job.get("program", ""))
    became = f"rank {rank} became {path}{f' (checksum {checksum[:_SHOWN]})' if checksum else ''}"
    if _starts(evidence, claimed, name):
        return Finding("program", SUPPORTS, f"{job['program']} started {path}")
    if job["program_kind"] == BINARY and not checksum:
        return Finding("program", LACKS, f"{became}, whose checksum was not recorded")
    if name == claimed or _of_suite(evidence, claimed):
        bad = f"{became}, not {job['program']} (checksum {resolved[:_SHOWN]}): another program ran"
        return Finding("program", CONTRADICTS, bad)
    return Finding("program", LACKS, f"{became}; nothing shows that {job['program']} should start it")


def _starts(evidence: Evidence, claimed: str, name: str) -> bool:
    """Whether the claimed program is one that starts another, and ``name`` is the one to be started."""
    kind, _, first_line = evidence.job["program_kind"].partition(" ")
    if kind == SCRIPT and (name in (claimed, f"lt-{claimed}") or _interprets(name, first_line)):
        return True  # libtool's scripts start lt-NAME
    return not _of_suite(evidence, claimed) and _of_suite(evidence, name)


def _interprets(name: str, first_line: str) -> bool:
    """Whether a program is the interpreter of the script: ``#!/usr/bin/env python3`` may run python3.11."""
    interpreters = [name_of_file(token) for token in first_line.removeprefix("#!").split()]
    return any(
        re.fullmatch(rf"{re.escape(interpreter)}[0-9.]*", name) for interpreter in interpreters if interpreter
    )


def _of_suite(evidence: Evidence, name: str) -> bool:
    suite = SUITES.get(evidence.claim.get("suite", ""))
    return bool(suite and suite.programs and re.fullmatch(suite.programs, name))


def name_of_file(path: str) -> str:
    """The last part of the path."""
    return path.rpartition("/")[2]


def checksums_of(evidence: Evidence, what: str) -> dict[int, str]:
    """The SHA-256 of each rank's file; empty where unknown. One rank of a host computes it for all."""
    key, ranks = f"end.{what}_sha256", evidence.ranks.items()
    files = {rank: (evidence.host_of(rank), seen.get(f"end.{what}_file", "")) for rank, seen in ranks}
    known = {files[rank]: seen[key] for rank, seen in ranks if files[rank][1] and key in seen}
    return {rank: known.get(file, "") for rank, file in files.items()}


def library_findings(evidence: Evidence) -> list[Finding]:
    """Whether all ranks have one library, which is the claimed one and of the launcher's version."""
    checksums = checksums_of(evidence, "library")
    libraries = {rank: library_of(evidence, rank, checksums[rank]) for rank in sorted(evidence.ranks)}
    for rank, library in libraries.items():
        if not library.path or not library.content:
            return [Finding("MPI library", LACKS, f"rank {rank} recorded no file of an MPI library")]
    first = min(libraries)
    for rank, library in libraries.items():
        if library.differs(libraries[first]):
            same = f", {_SAME_ID}" if library.content == libraries[first].content else ""
            bad = f"rank {first} mapped {libraries[first]}, rank {rank} {library}{same}"
            return [Finding("MPI library", CONTRADICTS, bad)]
        if not library.sha256 and any(checksums.values()):
            return [Finding("MPI library", LACKS, f"rank {rank} mapped {library}, whose content is unknown")]
    checks = (_kind, _version, _below_prefix)
    findings = [finding for check in checks for finding in check(evidence, libraries[first])]
    wrong = [finding for finding in findings if finding.outcome == CONTRADICTS]
    return wrong[:1] or findings


def library_of(evidence: Evidence, rank: int, checksum: str = "") -> Library:
    """The MPI library that a rank mapped; ``checksum``: where the file has no build-id."""
    seen = evidence.ranks[rank]
    says = " ".join(seen.get("end.library_version", "").replace("?", " ").split())  # "?": a tab, as recorded
    path, build_id = (seen.get(f"end.{key}", "") for key in ("library", "library_build_id"))
    return Library(path, build_id or checksum, says, checksum)


def _kind(evidence: Evidence, mapped: Library) -> list[Finding]:
    """The library calls itself what the claim does; of some libraries it is not known what they do."""
    title, called = library_title(evidence.claim.get("mpi", "")), library_version(mapped.says)
    if title and not called:
        return [Finding("MPI library", LACKS, f"{mapped} does not call itself {title}")]
    holds = not title or called.startswith(f"{title} ")
    return [finding("MPI library", holds, str(mapped), f"the ranks mapped {mapped}, not {title}")]


def _below_prefix(evidence: Evidence, mapped: Library) -> list[Finding]:
    """It is one of the libmpi.so* that lay below the system's prefix when the script was rendered."""
    known, sums = (evidence.claim.get(key, "").split() for key in ("libraries", "library_sums"))
    if not known or not name_of_file(mapped.path).startswith("libmpi.so"):
        return []
    if mapped.content in known:
        bad = f"the ranks mapped {mapped}, {_SAME_ID} as below the prefix"
        other = mapped.sha256 and sums and mapped.sha256 not in sums
        return [Finding("MPI library", CONTRADICTS, bad)] if other else []
    ids = ", ".join(version[:_SHOWN] for version in known)
    bad = f"the ranks mapped {mapped}, but below the prefix lies {ids}"
    return [Finding("MPI library", CONTRADICTS, bad)]


def _version(evidence: Evidence, mapped: Library) -> list[Finding]:
    """The version of the launcher that the job script resolved; none where the launcher was not asked."""
    if "launcher_version" not in evidence.job:
        return []
    mpi = evidence.claim.get("mpi", "")
    of_library = library_version(mapped.says).removeprefix(library_title(mpi)).strip()
    of_launcher = launcher_version(mpi, evidence.job["launcher_version"])
    if not of_library:
        return []  # a finding of its own
    if not of_launcher:
        return [Finding("MPI version", LACKS, "the launcher reported none")]
    bad = f"the ranks mapped {mapped}, but the launcher is of version {of_launcher}"
    return [finding("MPI version", _agree(of_library, of_launcher), f"{of_launcher}, as the launcher", bad)]


def _agree(one: str, other: str) -> bool:
    """Two versions as far as both go: a library may print 2021.18 and its launcher 2021.18.1."""
    pairs = zip(re.split("[. ]", one), re.split("[. ]", other), strict=False)
    return all(a == b for a, b in pairs)
