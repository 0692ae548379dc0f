"""The bundle: one tar.gz of a campaign's results with checksums in its MANIFEST.json (docs/formats.md).

Bundles come from other sites and may be damaged or hostile, so reading is strict: only regular files, each
named in the manifest with its size and SHA-256, in the manifest's order.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import Any

from mpicampaign.base import keys
from mpicampaign.base.plan_file import FILE
from mpicampaign.base.planned_looks import FILE as LOOKS
from mpicampaign.base.records import defined_name

FORMAT = "mpicampaign-bundle"
VERSION = 2  # 1: of a release whose results were folders
MANIFEST = "MANIFEST.json"
MODE = 0o644  # of each file: nothing in a bundle is executed, and nobody else writes it
MAX_MEMBERS = 500_000
MAX_MANIFEST = 64 * 2**20  # B
MAX_MEMBER = 2 * 2**30
MAX_TOTAL = 20 * 2**30
NAME = re.compile(keys.NAME.schema["pattern"])

# The parts of a campaign's folder that are bundled; tables, figures and the report are made from them.
PARTS = (FILE, LOOKS, "records.jsonl", "submissions.txt", "runs", "imports")
CAMPAIGN_FILES = "campaign"


class BundleError(Exception):
    """Why a bundle is refused."""


@dataclass(frozen=True, slots=True)
class BundledFile:
    """One file: its path below the campaign's folder, size in bytes and SHA-256."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class SystemFacts:
    """Facts that identify a system whatever its name, as its runs recorded them."""

    hosts: tuple[str, ...] = ()
    cpu_models: tuple[str, ...] = ()
    mpi: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    runs: int = 0

    def __str__(self) -> str:
        lists = {"hosts": self.hosts, "CPU": self.cpu_models, "MPI": self.mpi, "cluster": self.clusters}
        facts = "; ".join(f"{key} {_some(values)}" for key, values in lists.items() if values)
        return facts or "no host is recorded"


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of a bundle. ``date``: the recorded end of its last run (equal results, equal bytes)."""

    campaign: str
    program: str
    date: str
    systems: dict[str, SystemFacts]
    members: tuple[BundledFile, ...] = field(default=())
    version: int = VERSION

    @property
    def identity(self) -> str:
        """A checksum of the content: only equal bundles have the same one."""
        return hashlib.sha256(manifest_text(self).encode()).hexdigest()[:16]


def manifest_text(manifest: Manifest) -> str:
    """The manifest as JSON."""
    data = {"format": FORMAT, **asdict(manifest)}
    return json.dumps(data, indent=1, ensure_ascii=True, sort_keys=True) + "\n"


def read_manifest(text: bytes) -> Manifest:
    """The manifest of a bundle.

    Raises
    ------
    BundleError
        when it is damaged, of another version, or names what no bundle may hold.
    """
    try:
        data = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{MANIFEST} is damaged: {error}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("version") not in (1, VERSION):
        raise BundleError(f"{MANIFEST} does not describe a bundle of version 1 or {VERSION} of mpicampaign")
    try:
        manifest = _manifest(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BundleError(f"{MANIFEST} is damaged: {type(error).__name__} {error}") from error
    _check(manifest)
    return manifest


def _manifest(data: dict[str, Any]) -> Manifest:
    systems = {str(name): _facts(facts) for name, facts in data["systems"].items()}
    members = tuple(
        BundledFile(_as_text(m["path"]), int(m["size"]), _as_text(m["sha256"])) for m in data["members"]
    )
    campaign, program, date = (_as_text(data[key]) for key in ("campaign", "program", "date"))
    return Manifest(campaign, program, date, systems, members, data["version"])


def _facts(data: dict[str, Any]) -> SystemFacts:
    keys = ("hosts", "cpu_models", "mpi", "clusters")
    lists = {key: tuple(_as_text(item) for item in data[key]) for key in keys}
    return SystemFacts(**lists, runs=int(data["runs"]))


def _as_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is not a string")
    return value


def _check(manifest: Manifest) -> None:
    for name in (manifest.campaign, *manifest.systems):
        if not (NAME.fullmatch(name) or (name in manifest.systems and is_shown_name(name))):
            raise BundleError(f"{MANIFEST}: {name!r:.80} is not a valid name of a campaign or system")
    if len(manifest.members) > MAX_MEMBERS:
        raise BundleError(f"{MANIFEST} names more than {MAX_MEMBERS} files")
    total = 0
    for member in manifest.members:
        check_path(member.path)
        if not 0 <= member.size <= MAX_MEMBER:
            raise BundleError(f"{member.path!r:.200}: larger than {MAX_MEMBER // 2**30} GiB")
        total += member.size
    if total > MAX_TOTAL:
        raise BundleError(f"it would hold {total} bytes, more than {MAX_TOTAL // 2**30} GiB")
    _check_clashes([member.path for member in manifest.members])


def is_shown_name(name: object) -> bool:
    """Whether it is a name, or that of a variant, such as ``cluster with openmpi5``: no file has it."""
    return isinstance(name, str) and name.isprintable() and bool(NAME.fullmatch(defined_name(name)))


def _check_clashes(paths: list[str]) -> None:
    if len(set(paths)) != len(paths):
        raise BundleError(f"{MANIFEST} names a file twice")
    folders = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    for path in paths:
        if path in folders:
            raise BundleError(f"{MANIFEST}: {path!r:.200} is a file and a folder")


def check_path(path: str) -> None:
    """Refuse a path that leads out of the folder or is not part of a bundle.

    Raises
    ------
    BundleError
        with the path.
    """
    parts = path.split("/")
    if path.startswith("/") or "\\" in path or any(part in ("", ".", "..") for part in parts):
        raise BundleError(f"{path!r:.200}: this path leads out of the bundle's folder")
    if any(ord(character) < 32 or ord(character) == 127 for character in path):
        raise BundleError(f"{path!r:.200}: this path has control characters")
    if any(len(part.encode("utf-8", "surrogateescape")) > 255 for part in parts) or len(path) > 2000:
        raise BundleError(f"{path!r:.200}: this path is too long")
    if parts[0] not in (*PARTS, CAMPAIGN_FILES):
        raise BundleError(f"{path!r:.200}: a bundle has no such part")


def _some(values: tuple[str, ...]) -> str:
    more = f" and {len(values) - 4} more" if len(values) > 4 else ""
    return ", ".join(repr(value) if not value.isprintable() else value for value in values[:4]) + more
