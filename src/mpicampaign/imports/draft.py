"""The draft of a map, from the facts of the outputs: a person checks what belongs together.

A name in it is that of a folder, file, queue or cluster, and no placement claims anything: nothing is proved
by a draft. What may be another case has a name of its own, since repeats are averaged, and cases are not.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count
from os.path import commonpath
from pathlib import Path
from typing import NamedTuple

import yaml

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.grouping import grouped
from mpicampaign.base.yaml_lines import printable
from mpicampaign.imports.files import folder_of
from mpicampaign.imports.importing import import_folders
from mpicampaign.imports.ledger import REFUSED
from mpicampaign.imports.map_file import ImportMap, LabelRule
from mpicampaign.suites import SUITES
from mpicampaign.suites.aborts import is_aborted

Facts = Mapping[str, str]
_Rule = Mapping[str, Mapping[str, str]]

_DIGITS = re.compile(r"[0-9]+")
_ANY = "\0"  # in a path: a number that tells no case from another
_UNUSABLE = re.compile(r"[^A-Za-z0-9._+-]+")
_SAID = (  # facts that name a system or hosts, the most telling first
    ("cluster", "system"),
    ("directive.m", "host_group"),
    ("directive.constraint", "host_group"),
    ("queue", "host_group"),
)
# Facts that distinguish placements.
_TELLING = ("nodes", "transport", "gpus", "nccl", "buffers", "threads", "array")
_TELLS_NOTHING = re.compile(
    r"(?:real|user|sys)\s|.*[0-9]:[0-9]{2}:[0-9]{2}|\|\|Ax-b|# Collective test concluded"
    r"|.*\b(?i:run|iter|iteration|repeat|repetition|trial)\W{0,3}[0-9]"
)
_NOTES = """\
# A draft. Check it, then import again with --map:
# - Runs with the same names are averaged: give different names to what differs.
# - placement: from names of folders and files; host_group: from the job's request; system: its cluster.
# - job: the last number in the names of files that count from 0 or 1: equal outputs are then repeats.
# - Nothing is claimed, so all runs are unverified: claims under placements: are compared with the evidence.
"""
_REFUSED_SHOWN = 20
_MIXED = "has several outputs of a benchmark: tell them apart by command: or above:"


def draft_map(folders: Sequence[Path], name: str) -> str:
    """The text of a map for the outputs in these folders.

    Raises
    ------
    UserError
        when a folder does not exist, or the folders hold no output.
    """
    general = {"system": name, "host_group": "all", "benchmark": "{benchmark}"}
    with tempfile.TemporaryDirectory() as trial:
        rule = LabelRule(label={**general, "placement": "all"})
        any_map = ImportMap(name=name, campaign=name, rules=(rule,))
        account = import_folders(folders, any_map, Path(trial))
    if not any(entry.facts for entry in account.entries):
        refused = [Problem(entry.reason, printable(entry.place)) for entry in account.of_role(REFUSED)]
        hint = "" if refused else "give the folder with the raw outputs"
        nothing = Problem("no output of a benchmark is there; no map is written", str(folders[0]), hint=hint)
        raise UserError([nothing, *refused[:_REFUSED_SHOWN]])
    entries = account.entries
    facts = [entry.facts for entry in entries if entry.facts]
    alike = _all_alike([output for output in facts if not SUITES[output["suite"]].labels])
    rules = [*_rules_by_facts(facts), {"label": general}, *_rules_by_path(alike)]
    notes = (f"# - {group.path.replace(_ANY, '…')} {_MIXED}\n" for group in alike if group.mixed)
    data = {"import": name, "campaign": name, "rules": rules}
    text = yaml.safe_dump(data, default_flow_style=None, sort_keys=False, width=10_000, allow_unicode=True)
    return "".join((_NOTES, *notes, text))


def usable_name(text: str) -> str:
    """The text as a label."""
    return _UNUSABLE.sub("-", text).strip("._+-")[:64].rstrip("._+-") or "all"


class _Alike(NamedTuple):
    """Outputs whose paths differ in the number of a job or repeat; ``path`` has `_ANY` in its place."""

    path: str
    outputs: list[Facts]

    @property
    def folder(self) -> str:
        return folder_of(self.path)

    @property
    def stem(self) -> str:
        """The file's name without ending, nor numbers that tell nothing."""
        return Path(self.path.replace(_ANY, "")).stem

    @property
    def mixed(self) -> bool:
        """Whether a file has several outputs of a benchmark, below lines that may tell them apart."""
        cases = grouped(self.outputs, lambda facts: (facts["path"], facts.get("benchmark"))).values()
        # the words above the first are those of the job's begin, too
        words = [[*map(_words_above, outputs)] for outputs in cases]
        return any(other - first for first, *others in words for other in others)

    @property
    def kinds(self) -> list[dict[str, str]]:
        """What tells its outputs apart, most facts first; one without conditions where nothing does."""
        telling = [fact for fact in _TELLING if len({facts.get(fact) for facts in self.outputs}) > 1]
        kinds = [{fact: facts[fact] for fact in telling if fact in facts} for facts in self.outputs]
        return sorted({str(kind): kind for kind in kinds}.values(), key=len, reverse=True)

    @property
    def pattern(self) -> str:
        """Of the paths; the last number has a name."""
        *before, after = map(re.escape, self.path.split(_ANY))
        number = "(?P<number>[0-9]+)" if before else ""
        return f"^{'[0-9]+'.join(before)}{number}{after}$"

    @property
    def labels(self) -> dict[str, str]:
        """What its rules give beside the placement: the repeat's number as job, where no file says it."""
        job = _ANY in self.path and not any("job" in facts for facts in self.outputs)
        named = all("benchmark" in facts for facts in self.outputs)
        return ({"job": "{number}"} if job else {}) | ({} if named else {"benchmark": usable_name(self.stem)})


def _words_above(facts: Facts) -> set[str]:
    """Lines with words above an output, but for times and the end of the one before."""
    lines = [line for line in facts.get("above", "").split("\n") if not _TELLS_NOTHING.match(line)]
    return {line for line in lines if re.search(r"[^\W\d_]", line) and not is_aborted(line)}


def _rules_by_facts(outputs: Sequence[Facts]) -> Iterator[_Rule]:
    """Names that facts give: those of a scheduler, and all of a test case."""
    for fact, label in _SAID:
        if any(fact in facts for facts in outputs):
            yield {"when": {fact: r"^(?P<name>\w[\w.+-]*)$"}, "label": {label: "{name}"}}
    for suite in SUITES.values():
        if suite.labels and any(facts["suite"] == suite.name for facts in outputs):
            yield {"when": {"suite": f"^{suite.name}$"}, "label": dict(suite.labels)}


def _rules_by_path(groups: Sequence[_Alike]) -> Iterator[_Rule]:
    """A rule for each placement: outputs that are alike in path and facts."""
    beside = Counter(alike.folder for alike in groups)
    common = commonpath(beside) if beside else ""
    taken: set[str] = set()
    for alike in groups:
        below = alike.folder.removeprefix(common).strip("/") or alike.folder.rpartition("/")[2]
        names = (below, alike.stem if beside[alike.folder] > 1 else "")
        for kind in () if alike.mixed else alike.kinds:
            name = usable_name("-".join(filter(None, (*names, *kind.values()))))
            others = (f"{name[:58]}-{number}" for number in count(2))
            placement = next(free for free in chain([name], others) if free not in taken)
            taken.add(placement)
            conditions = {fact: f"^{re.escape(value)}$" for fact, value in kind.items()}
            yield {
                "when": {"path": alike.pattern} | conditions,
                "label": {"placement": placement} | alike.labels,
            }


def _all_alike(outputs: Sequence[Facts]) -> list[_Alike]:
    """The outputs by their paths without numbers of jobs and repeats, which count from 0 or 1."""
    paths = {facts["path"]: _without_job(facts) for facts in outputs}
    numbers: dict[tuple[str, str], set[int]] = {}
    for path in paths.values():
        before, number, after = _last_number(path)
        numbers.setdefault((before, after), set()).add(int(number or 0))
    groups: dict[str, list[Facts]] = {}
    for facts in outputs:
        path = paths[facts["path"]]
        before, number, after = _last_number(path)
        seen = numbers[before, after]
        counted = number and len(seen) > 1 and min(seen) <= 1 and max(seen) - min(seen) + 1 == len(seen)
        groups.setdefault(f"{before}{_ANY}{after}" if counted else path, []).append(facts)
    return [
        _Alike(path, alike) for path, alike in sorted(groups.items()) if path.replace(_ANY, "").isprintable()
    ]


def _without_job(facts: Facts) -> str:
    """The path with `_ANY` for the number of the job, and numbers of 5 digits or more, in the file's name."""
    folder, _, name = facts["path"].rpartition("/")
    job = facts.get("job", "").partition("_")[0]
    return f"{folder}/" + _DIGITS.sub(lambda m: _ANY if len(m[0]) > 4 or m[0] == job else m[0], name)


def _last_number(path: str) -> tuple[str, str, str]:
    """The last number in a file's name, with what is before and after it; empty where it has none."""
    match = re.fullmatch(r"(.*/(?:[^/]*[^0-9/])?)([0-9]+)([^0-9/]*)", path, re.S)
    return (match[1], match[2], match[3]) if match else (path, "", "")
