"""Merging bundles of other sites: each is checked completely before any of it becomes visible.

One rename makes a bundle results/CAMPAIGN/merged/ID. A killed merge leaves only a hidden folder, which the
next merge removes.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.files import locked, system_error_text, write_whole
from mpicampaign.base.plan_file import FILE
from mpicampaign.base.records import FAILED, OK, Record
from mpicampaign.base.yaml_lines import printable
from mpicampaign.bundle.archive import MANIFEST, BundleError, Manifest, SystemFacts, manifest_text
from mpicampaign.bundle.read import unpack, verify
from mpicampaign.bundle.write import system_facts
from mpicampaign.collect.campaign import collect_all, collect_own, holds_results, plan_of
from mpicampaign.collect.merged import MERGED, NOTE, read_note
from mpicampaign.collect.undescribed import NO_CASE, undescribed


def records_of(bundle: Path) -> list[Record]:
    """The records of a bundle that is only looked at, or of a packed series, which is one.

    Raises
    ------
    UserError
        where it is damaged, or no bundle.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            unpack(bundle, folder)
        except BundleError as error:
            raise UserError(Problem(str(error), printable(str(bundle)))) from None
        return collect_own(plan_of(folder), folder)


@dataclass(slots=True)
class Outcome:
    """The bundles of a merge: lines and folders of those that are merged now, problems of the refused ones.

    ``empty``: the names of bundles without a run that counts here.
    """

    lines: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    refused: list[Problem] = field(default_factory=list)


def merge(bundles: Sequence[Path], results: Path, names: Mapping[str, str]) -> Outcome:
    """Merge the valid bundles into a folder of results.

    ``names``: of the bundle's systems, old to new. An equal one states that it is that system here.

    Raises
    ------
    UserError
        when another merge is running, names are given for several bundles, or the folder is that of one
        campaign.
    """
    if len(bundles) > 1 and names:  # the same name may be another system in each
        message = f"--rename applies to the systems of one bundle, but {len(bundles)} are given"
        raise UserError(Problem(message, hint="merge each bundle in a separate call"))
    if holds_results(results):
        hint = f"name its parent folder, {printable(str(results.resolve().parent))}"
        raise UserError(Problem("this is the folder of one campaign", printable(str(results)), hint=hint))
    outcome = Outcome()
    results.mkdir(parents=True, exist_ok=True)
    with locked(results / "merging.lock", Problem("another merge is running here", str(results))):
        for path in bundles:
            try:
                folder, done = _merge_one(path, results, names)
                outcome.lines.append(f"{printable(path.name)}: {done}")
                outcome.folders.append(folder)
                left_out, taken = _left_out(folder)
                outcome.lines += [
                    f"  left out, since the campaign here differs: {reason}" for reason in left_out
                ]
                outcome.empty += [] if taken else [printable(path.name)]
            except BundleError as error:
                hint = "nothing was merged; copy the bundle again, or ask for a new one"
                outcome.refused.append(Problem(f"refused: {error}", printable(str(path)), hint=hint))
            except OSError as error:
                message = f"refused: {system_error_text(error)}"
                outcome.refused.append(Problem(message, printable(str(path)), hint="nothing was merged"))
            except UserError as error:
                outcome.refused += [replace(problem, file=printable(str(path))) for problem in error.problems]
    return outcome


def _merge_one(path: Path, results: Path, names: Mapping[str, str]) -> tuple[Path, str]:
    """The folder of the merged bundle, and a text on what happened."""
    manifest = verify(path)
    folder = results / manifest.campaign
    target = folder / MERGED / manifest.identity
    renamed = {old: new for old, new in sorted(names.items()) if old != new}
    if target.exists():
        return target, _there_already(target, manifest, renamed)
    with _unpacked(path, manifest, target) as part:
        facts = system_facts(_readable(part))
        _check_systems(facts, folder, names)
        note = {"bundle": path.name, "renamed": renamed}
        write_whole(part / NOTE, json.dumps(note, indent=1) + "\n")
        write_whole(part / MANIFEST, manifest_text(manifest))
        part.rename(target)
    runs = sum(fact.runs for fact in facts.values())
    systems = ", ".join(renamed.get(name, name) for name in facts) or "none"
    return target, f"merged into campaign {manifest.campaign}: {runs} runs, systems: {systems}"


def _left_out(merged: Path) -> tuple[list[str], int]:
    """The runs of a merged bundle that the plan here leaves out, and the number of those that count."""
    folder = merged.parents[1]
    results = sum(record.status in (OK, FAILED) for record in _readable(merged))
    if not (folder / FILE).exists():
        return [], results
    left_out = undescribed(plan_of(folder), merged)
    left_out.pop(NO_CASE, None)
    count = sum(len(repeats) for of_cases in left_out.values() for repeats in of_cases.values())
    lines = [f"{reason} ({', '.join(of_cases)})" for reason, of_cases in left_out.items()]
    return lines, results - count


def _there_already(target: Path, manifest: Manifest, renamed: Mapping[str, str]) -> str:
    """A text on a bundle that was merged before; nothing is overwritten."""
    for member in manifest.members:
        file = target / member.path
        if not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != member.sha256:
            message = f"merged before, and {file} was changed or removed since; it is not overwritten"
            raise UserError(Problem(message, hint=f"to merge the bundle again, remove {target}"))
    before = read_note(target)
    if before["renamed"] != renamed:
        names = ", ".join(f"{old}={new}" for old, new in before["renamed"].items()) or "none renamed"
        message = f"merged before with other system names ({names})"
        raise UserError(Problem(message, hint=f"to merge it with these, remove {target}"))
    return f"already merged ({target}), skipped"


def _readable(part: Path) -> list[Record]:
    """The records of a bundle's results; unreadable ones would stop every later report."""
    try:
        return collect_own(plan_of(part), part)
    except UserError as error:
        raise BundleError(f"its results cannot be read: {error}".replace(str(part), "…")) from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BundleError(f"its plan is damaged: {type(error).__name__} {error}") from error


def _check_systems(theirs: Mapping[str, SystemFacts], folder: Path, renamed: Mapping[str, str]) -> None:
    """Refuse to mix two systems of one name."""
    here = system_facts(collect_all(folder) if holds_results(folder) else ())
    names = {old: renamed.get(old, old) for old in theirs}
    problems = [
        _two_of_one_name(old, name, reason, theirs[old], here[name])
        for old, name in names.items()
        if name in here and renamed.get(old) != old and (reason := _difference(theirs[old], here[name]))
    ]
    held = ", ".join(theirs) or "none"
    problems += [
        Problem(f"refused: --rename {old}: not a system of the bundle, which has {held}")
        for old in renamed
        if old not in theirs
    ]
    problems += [
        Problem(f"two systems of the bundle would have the name {name!r}")
        for name, count in Counter(names.values()).items()
        if count > 1
    ]
    if problems:
        raise UserError(problems)


def _difference(one: SystemFacts, other: SystemFacts) -> str:
    """Why two systems of one name may be different ones; empty where they are the same."""
    if not one.hosts or not other.hosts:
        return "one of them has no recorded host"
    if not set(one.hosts) & set(other.hosts):
        return "they have no host in common"
    pairs = (
        ("clusters", one.clusters, other.clusters),
        ("CPU models", one.cpu_models, other.cpu_models),
        ("MPI libraries", one.mpi, other.mpi),
    )
    for kind, mine, theirs in pairs:
        if mine and theirs and not set(mine) & set(theirs):
            return f"the {kind} differ"
    return ""


def _two_of_one_name(old: str, name: str, reason: str, theirs: SystemFacts, mine: SystemFacts) -> Problem:
    message = f"refused: its system {name!r} may be another than system {name!r} here: {reason}"
    hint = f"in the bundle: {theirs}\n    here: {mine}\n    give it another name: --rename {old}=NEW"
    hint += f"; if they are one system: --rename {old}={old}" if old == name else ""
    return Problem(message, hint=hint)


@contextmanager
def _unpacked(path: Path, manifest: Manifest, target: Path) -> Iterator[Path]:
    """A hidden folder with the bundle's files, beside its target; removed unless it is moved there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    for stale in target.parent.glob(".*.part"):  # of a killed merge: we hold the lock
        shutil.rmtree(stale)
    needed, free = sum(member.size for member in manifest.members), shutil.disk_usage(target.parent).free
    if needed > free:
        message = f"refused: it needs {needed / 1e6:.0f} MB, but {target.parent} has {free / 1e6:.0f} MB free"
        raise UserError(Problem(message, hint="nothing was merged"))
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    try:
        _unpack(path, manifest, part)
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _unpack(path: Path, manifest: Manifest, part: Path) -> None:
    part.mkdir()
    if unpack(path, part) != manifest:
        raise BundleError("it changed while it was read")
