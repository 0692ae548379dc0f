"""Input files of runs: kept once in the campaign's library, by checksum, and copied for each run."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mpicampaign.base.files import copy_whole, write_whole
from mpicampaign.campaign.model import Benchmark
from mpicampaign.suites import SUITES
from mpicampaign.suites.suite import Request


class Input(NamedTuple):
    """A file that a program finds where it starts: a copy of ``source``, or ``text`` where there is none."""

    name: str
    sha256: str
    text: str = ""
    source: Path | None = None

    def kept(self, campaign_folder: Path) -> Path:
        """Where the campaign's library keeps the file."""
        return campaign_folder / "lib" / "inputs" / f"{self.sha256[:16]}-{self.name}"

    @property
    def content(self) -> bytes:
        return self.source.read_bytes() if self.source else self.text.encode()


def inputs_of(benchmark: Benchmark, request: Request) -> tuple[Input, ...]:
    """The campaign's own files, and those that the suite makes under other names."""
    texts = SUITES[benchmark.suite].inputs(request).items()
    made = {name: Input(name, hashlib.sha256(text.encode()).hexdigest(), text) for name, text in texts}
    files = {file.name: Input(file.name, _sha256(file), source=file) for file in map(Path, benchmark.inputs)}
    return tuple((made | files).values())


def keep(file: Input, campaign_folder: Path) -> None:
    """Bring it into the library, unless it is there."""
    place = file.kept(campaign_folder)
    if place.exists():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    if file.source:
        copy_whole(file.source, place)
    else:
        write_whole(place, file.text)


@cache
def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
