"""The settings files that the libraries of a run read: whether the label accounts for what they set.

A site's files, beside the library or below /etc, are part of the library as it is there; a user's are part of
nothing that the campaign declares, as a variable of the shell is. Earlier evidence has no finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from mpicampaign.evidence.evidence import Evidence, Rank, below
from mpicampaign.evidence.findings import CONTRADICTS, LACKS, SUPPORTS, Finding, number
from mpicampaign.mpis import asks_for, steers_library
from mpicampaign.mpis.settings_files import file_setting

KIND = "settings files"
USER, SITE = "user", "site"
_SHOWN = 12  # digits of a checksum


class SettingsFile(NamedTuple):
    """A file that a rank's libraries read, with what it sets by line; ``whose``: the user's or the site's.

    ``total``: how many settings it has; None where the file is not a text of settings.
    """

    whose: str
    path: str
    reader: str
    sha256: str
    lines: dict[int, str]
    total: int | None

    @property
    def tokens(self) -> list[str]:
        """What repeats must have in common: ``openmpi-mca-params.conf:btl=^uct``, or the file's checksum."""
        name = self.path.rpartition("/")[2]
        if self.total is None or self.total > len(self.lines):
            return [f"{name}:{self.sha256[:_SHOWN]}"]
        return [f"{name}:{'_'.join(line.replace(' = ', '=').split())}" for line in self.lines.values()]


def settings_files(evidence: Evidence) -> dict[int, list[SettingsFile]] | None:
    """The files by the ranks that recorded them, one on each node; None where nothing was recorded."""
    recorded = {
        rank: number(seen["end.settings_files"]) or 0
        for rank, seen in sorted(evidence.ranks.items())
        if "end.settings_files" in seen
    }
    return {
        rank: [_file(below(evidence.ranks[rank], f"end.settings.{place}.")) for place in range(count)]
        for rank, count in recorded.items()
    } or None


def _file(seen: Rank) -> SettingsFile:
    whose = USER if USER in seen else SITE
    lines = {at: text for place, text in below(seen, "line.").items() if (at := number(place))}
    checksum = seen.get("content_sha256", "")
    return SettingsFile(
        whose, seen.get(whose, "?"), seen.get("reader", "?"), checksum, lines, number(seen.get("count", ""))
    )


def unread_settings(evidence: Evidence, names: Iterable[str]) -> list[str]:
    """The variables that no library of any rank asked for; none where that is not known."""
    read = [seen["end.settings_read"] for seen in evidence.ranks.values() if "end.settings_read" in seen]
    mpi = evidence.claim.get("mpi", "")
    unread = {name for name in names if asks_for(mpi, name)} - set(" ".join(read).split())
    return sorted(unread) if read else []


def settings_file_findings(evidence: Evidence, claimed: Mapping[str, str]) -> Iterator[Finding]:
    """Whether nothing but the claim and the site's files steers the library; ``claimed``: its variables."""
    of_ranks = settings_files(evidence)
    if of_ranks is None:
        return
    read = dict.fromkeys(
        f"{file.path} of the site" for files in of_ranks.values() for file in files if file.tokens
    )
    for rank, files in of_ranks.items():
        for file in files:
            if wrong := _wrong(evidence, file, claimed):
                outcome, why = wrong
                yield Finding(KIND, outcome, f"rank {rank}: {file.reader} read {file.path}, {why}")
                return
    yield Finding(KIND, SUPPORTS, ", ".join(read) or "none sets anything")


def _wrong(evidence: Evidence, file: SettingsFile, claimed: Mapping[str, str]) -> tuple[str, str] | None:
    """Outcome and reason of a file that steers beside the claim; None where the claim accounts for it."""
    if any(file.path.removeprefix("~") in value for value in claimed.values()):
        return None  # a variable of the claim names it
    mpi, asking = evidence.claim.get("mpi", ""), "campaign" if "declared" in evidence.claim else "command"
    for at, line in file.lines.items():
        setting = file_setting(file.path, file.reader, line)
        if setting is None and file.whose == USER:
            return LACKS, f"line {at}: {line!r} is not in the {asking}"
        if setting is None or not steers_library(mpi, setting.variable):
            continue
        name, value, overrides = setting
        if overrides and claimed.get(name, value) != value:
            return CONTRADICTS, f"line {at}: {name} is {value}, claimed: {claimed[name]}"
        if file.whose == USER and name not in claimed:
            way = f"give {name} under environment:" if asking == "campaign" else f"set {name}"
            why = f"which the {asking} does not set ({way}, or remove the line)"
            return CONTRADICTS, f"line {at}: {line!r}, {why}"
    if file.whose == USER and (file.total is None or file.total > len(file.lines)):
        return LACKS, "whose settings were not all recorded, and no variable of the claim names it"
    return None
