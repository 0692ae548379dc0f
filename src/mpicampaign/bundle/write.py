"""Writing a bundle, completely or not at all; the same results give the same bytes."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import tarfile
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO

from mpicampaign import __version__
from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import FAILED, OK, Record
from mpicampaign.base.yaml_lines import printable
from mpicampaign.bundle.archive import (
    CAMPAIGN_FILES,
    MANIFEST,
    MODE,
    PARTS,
    BundledFile,
    BundleError,
    Manifest,
    SystemFacts,
    check_path,
    manifest_text,
)
from mpicampaign.bundle.read import is_bundle
from mpicampaign.evidence.evidence import read_evidence
from mpicampaign.schedulers import batch_schedulers

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Bundled:
    """The written bundle, and the files that were left out, with the reasons.

    ``runs_left_out``: the number of runs that are left out, since their output or evidence cannot be bundled.
    """

    path: Path
    manifest: Manifest
    left_out: tuple[str, ...]
    runs_left_out: int = 0


def write_bundle(
    path: Path,
    folder: Path,
    campaign: str,
    records: Sequence[Record],
    campaign_files: Mapping[str, bytes],
    parts: Sequence[str] = PARTS,
    made_anew: Mapping[str, bytes] = MappingProxyType({}),
) -> Bundled:
    """Bundle a campaign's folder.

    Parameters
    ----------
    path : the bundle, a .tar.gz
    folder : the campaign's folder below results/
    records : of the runs in it, for the facts that identify systems
    campaign_files : the campaign file and what it includes, by name
    parts : of the folder that are bundled
    made_anew : contents in place of those of files in the folder

    Raises
    ------
    UserError
        when there is nothing to bundle, a file changes while it is read, or the path is not a bundle.
    """
    _check_target(path)
    files, left_out = _files(folder, parts)
    if not files:
        raise UserError(Problem("no results to bundle", str(folder), hint="run the campaign first"))
    carried = [record for record in records if not _is_left_out(record, left_out)]
    contents: dict[str, Path | bytes] = {**files}
    contents |= {name: text for name, text in made_anew.items() if name in files}
    contents |= {f"{CAMPAIGN_FILES}/{name}": text for name, text in campaign_files.items()}
    members = tuple(_member(name, contents[name]) for name in sorted(contents))
    ended = max((record.ended for record in carried), default="")
    manifest = Manifest(campaign, f"mpicampaign {__version__}", ended, system_facts(carried), members)
    _write(path, manifest, contents)
    return Bundled(path, manifest, tuple(left_out.values()), len(records) - len(carried))


def _check_target(path: Path) -> None:
    """Refuse to overwrite another file than a bundle, such as the campaign file."""
    if path.is_file() and path.stat().st_size and not is_bundle(path):
        hint = "a bundle replaces only bundles: give another name, or remove this file"
        raise UserError(Problem("this file exists and is not a bundle", str(path), hint=hint))


def _is_left_out(record: Record, left_out: Mapping[Path, str]) -> bool:
    """Whether its output or evidence is left out; without its job script it is still a run."""
    needed = [record.files[name] for name in ("output", "evidence") if name in record.files]
    return any(Path(file) in left_out for file in needed)


def _files(folder: Path, parts: Sequence[str]) -> tuple[dict[str, Path], dict[Path, str]]:
    """The regular files of a campaign's folder by their path in it; those left out, with the reason."""
    files: dict[str, Path] = {}
    left_out: dict[Path, str] = {}
    for part in parts:
        for path in _below(folder / part):
            name = path.relative_to(folder).as_posix()
            reason = _unfit(path, name)
            if reason:
                left_out[path] = f"{printable(name)}: {reason}"
            elif not path.name.endswith(".part"):
                files[name] = path
    return files, left_out


def _below(path: Path) -> Iterator[Path]:
    """The path itself, or everything below it, without following links."""
    if path.is_symlink() or not path.is_dir():
        if path.is_symlink() or path.exists():
            yield path
        return
    for inner in sorted(path.iterdir()):
        yield from _below(inner)


def _unfit(path: Path, name: str) -> str:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return "a link; only regular files are bundled"
    if not stat.S_ISREG(mode):
        return "not a regular file"
    try:
        name.encode("utf-8")
        check_path(name)
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    except BundleError:
        return "its name is not portable: another site may not accept it"
    return ""


def _member(name: str, content: Path | bytes) -> BundledFile:
    digest, size = hashlib.sha256(), 0
    with _opened(content) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return BundledFile(name, size, digest.hexdigest())


def _opened(content: Path | bytes) -> IO[bytes]:
    if isinstance(content, bytes):
        return io.BytesIO(content)
    # a file that has become a link since it was listed is not followed
    return os.fdopen(os.open(content, os.O_RDONLY | os.O_NOFOLLOW), "rb")


def _write(path: Path, manifest: Manifest, contents: Mapping[str, Path | bytes]) -> None:
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        with part.open("wb") as raw:
            _write_archive(raw, manifest, contents)
            raw.flush()
            os.fsync(raw.fileno())
        part.replace(path)
    except OSError as error:
        message = f"the bundle cannot be written: {error.strerror or error}"
        raise UserError(Problem(message, str(path), hint="no partial file is left")) from error
    finally:
        part.unlink(missing_ok=True)


def _write_archive(raw: IO[bytes], manifest: Manifest, contents: Mapping[str, Path | bytes]) -> None:
    with (
        gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        text = manifest_text(manifest).encode()
        archive.addfile(_header(MANIFEST, len(text)), io.BytesIO(text))
        for member in manifest.members:
            content = contents[member.path]
            if _member(member.path, content) != member:
                message = f"{printable(member.path)} changed while it was bundled"
                raise UserError(Problem(message, hint="wait until no run of the campaign is running"))
            with _opened(content) as file:
                archive.addfile(_header(member.path, member.size), file)


def _header(name: str, size: int) -> tarfile.TarInfo:
    """A header without owner, time or mode of this machine."""
    header = tarfile.TarInfo(name)
    header.size, header.mode, header.mtime = size, MODE, 0
    return header


# ---- the facts that distinguish two systems of one name: hosts, processors, MPI, cluster

_CPU_MODEL = ": cpu_model"


def system_facts(records: Iterable[Record]) -> dict[str, SystemFacts]:
    """The facts of each system that has finished runs."""
    finished = (record for record in records if record.status in (OK, FAILED))
    of_systems = grouped(finished, lambda record: record.case.system)
    return {name: _facts(runs) for name, runs in sorted(of_systems.items())}


def _facts(runs: list[Record]) -> SystemFacts:
    hosts = {host for run in runs for host in run.hosts}
    models = {value for run in runs for key, value in run.metadata.items() if key.endswith(_CPU_MODEL)}
    mpi, clusters = set(), set()
    variables = [name for scheduler in batch_schedulers() for name in scheduler.cluster_variables]
    for run in runs:
        evidence = read_evidence(_text_of(run, "evidence") or _text_of(run, "output"), _text_of(run, "claim"))
        mpi.add(evidence.claim.get("mpi", ""))
        clusters |= {evidence.job.get(f"env.{name}", "") for name in variables}
    sets = {"hosts": hosts, "cpu_models": models, "mpi": mpi, "clusters": clusters}
    facts = {key: tuple(sorted(values - {""})) for key, values in sets.items()}
    return SystemFacts(**facts, runs=len(runs))


def _text_of(run: Record, name: str) -> str:
    path = run.files.get(name)
    return Path(path).read_bytes().decode("utf-8", errors="replace") if path else ""
