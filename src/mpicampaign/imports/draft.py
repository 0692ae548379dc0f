"""The draft of a map, from the facts of the outputs: a person checks what belongs together.

A name in it is that of a folder, file, queue or cluster, and no placement claims anything: nothing is proved
by a draft. What may be another case has a name of its own, since repeats are averaged, and cases are not.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import Path

import yaml

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.grouping import grouped
from mpicampaign.base.yaml_lines import printable
from mpicampaign.imports.files import name_of
from mpicampaign.imports.importing import import_folders
from mpicampaign.imports.labels import label_of
from mpicampaign.imports.layouts import BENCHMARK, MARKERS, Case, Facts, cases_of, columns, common_folder
from mpicampaign.imports.ledger import REFUSED
from mpicampaign.imports.map_file import ImportMap, LabelRule
from mpicampaign.suites import SUITES

_Rule = Mapping[str, Mapping[str, str]]

_UNUSABLE = re.compile(r"[^A-Za-z0-9._+-]+")
_SAID = (  # facts that name a system or hosts, the most telling first
    ("cluster", "system"),
    ("directive.m", "host_group"),
    ("directive.constraint", "host_group"),
    ("queue", "host_group"),
)
_NOTES = """\
# A draft. Check it, then import again with --map:
# - Runs with the same names are averaged: give different names to what differs.
# - placement: from names of folders and files; host_group: from the job's request; system: its cluster.
# - Repeats: what differs in the number of a job, a time, or a number that counts from 0 or 1.
# - Nothing is claimed, so all runs are unverified: claims under placements: are compared with the evidence.
"""
_REFUSED_SHOWN = 20
_LONGEST_NAME = 64
_MIXED = (
    "has several outputs of a benchmark: by their lines, until you name what differs (command:, heading:)"
)


def draft_map(folders: Sequence[Path], name: str, quoted: bool = False) -> str:
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
        account = import_folders(folders, any_map, Path(trial), quoted)
    if not any(entry.facts for entry in account.entries):
        refused = [Problem(entry.reason, printable(entry.place)) for entry in account.of_role(REFUSED)]
        hint = "" if refused else "give the folder with the raw outputs"
        nothing = Problem("no output of a benchmark is there; no map is written", str(folders[0]), hint=hint)
        first = [] if refused and folders[0].is_file() else [nothing]
        raise UserError([*first, *refused[:_REFUSED_SHOWN]])
    entries = account.entries
    facts = [entry.facts for entry in entries if entry.facts]
    cases = cases_of(
        [output for output in facts if not SUITES[output["suite"]].labels and output["path"].isprintable()]
    )
    rules = [*_rules_by_facts(facts), {"label": general}, *_rules_by_path(cases, general)]
    mixed = sorted({case.facts["path"] for case in cases if "lines" in case.telling})
    notes = (f"# - {path} {_MIXED}\n" for path in mixed)
    data = {"import": name, "campaign": name, "rules": rules}
    text = yaml.safe_dump(data, default_flow_style=None, sort_keys=False, width=10_000, allow_unicode=True)
    return "".join((_NOTES, *notes, text))


def usable_name(text: str) -> str:
    """The text as a label."""
    return _UNUSABLE.sub("-", text).strip("._+-")[:_LONGEST_NAME].rstrip("._+-") or "all"


def _rules_by_facts(outputs: Sequence[Facts]) -> Iterator[_Rule]:
    """Names that facts give: those of a scheduler, and all of a test case."""
    for fact, label in _SAID:
        if any(fact in facts for facts in outputs):
            yield {"when": {fact: r"^(?P<name>\w[\w.+-]*)$"}, "label": {label: "{name}"}}
    for suite in SUITES.values():
        if suite.labels and any(facts["suite"] == suite.name for facts in outputs):
            yield {"when": {"suite": f"^{suite.name}$"}, "label": dict(suite.labels)}


def _rules_by_path(cases: Sequence[Case], general: Mapping[str, str]) -> list[_Rule]:
    """A rule for each layout, below those for outputs whose names it can't give: not usable, or taken."""
    common = common_folder([case.facts for case in cases])
    layouts = [*grouped(cases, lambda case: case.layout).values()]
    layouts.sort(key=_most_exact_first)
    constants = [{names[0] for names in columns(alike) if len({*names}) == 1} for alike in layouts]
    shared = set.intersection(*constants) if constants else set()
    alone = (usable_name(name_of(common.rstrip("/")) or general["system"]),)
    rules: list[_Rule] = []
    wanted: list[tuple[Case, str]] = []
    taken: set[tuple[str, str]] = set()
    for alike in layouts:
        pattern, shown, of_file = _pattern(alike, common, shared)
        shown = shown or [(alone[0], alone * len(alike))]
        names = ["-".join(values) for values in zip(*(values for _, values in shown), strict=True)]
        placements, ending = _placements(alike, names, taken)
        wanted += zip(alike, placements, strict=True)
        label = {"placement": "-".join(template for template, _ in shown) + ending}
        label |= {} if alike[0].benchmark else {"benchmark": of_file or alone[0]}
        heading = {"heading": alike[0].heading} if alike[0].heading else {}
        rules.append({"when": {"path": pattern, **heading}, "label": label})
    compiled = [_compiled(rule) for rule in ({"when": {}, "label": general}, *rules)]
    used = ImportMap(name="draft", campaign="draft", rules=tuple(compiled))
    special = [
        _rule_of_one(case, placement)
        for case, placement in wanted
        if getattr(label_of(case.facts, used), "placement", "") != placement
    ]
    return [*{str(rule): rule for rule in special}.values(), *rules]


def _most_exact_first(alike: Sequence[Case]) -> tuple[bool, int, int, int, int]:
    """A sort key: the pattern of one layout may fit the paths of another."""
    case, differing = alike[0], sum(len({*names}) > 1 for names in columns(alike))
    around = sum(
        len(piece[0] + piece[2]) for part in case.parts for piece in part if isinstance(piece, tuple)
    )
    return not case.heading, -len(case.telling), -sum(map(len, case.parts)), -around, differing


def _pattern(
    alike: Sequence[Case], common: str, shared: Collection[str]
) -> tuple[str, list[tuple[str, Sequence[str]]], str]:
    """A pattern for a layout's paths, and names in rules.

    These are the parts of its placements, as in a rule and for each output, and the file's name.
    """
    names, spelt = iter(columns(alike)), zip(*(case.spelt for case in alike), strict=True)
    groups: dict[Sequence[str], str] = {}
    shown: list[tuple[str, Sequence[str]]] = []
    parts = []
    for part in alike[0].parts:
        pattern, of_part = "", []
        for piece in part:
            if isinstance(piece, str):
                pattern += _any_of(next(spelt)) if piece == BENCHMARK else MARKERS[piece]
                continue
            texts = next(names)
            name, template = re.escape(texts[0]), texts[0] and usable_name(texts[0])  # it may have braces
            if texts in groups:
                name, template = f"(?P={groups[texts]})", f"{{{groups[texts]}}}"
            elif len({*texts}) > 1:
                groups[texts] = f"name{len(groups) + 1}"
                name, template = f"(?P<{groups[texts]}>[^/]+?)", f"{{{groups[texts]}}}"
                shown.append((template, texts))
            elif template and texts[0] not in shared:
                shown.append((template, texts))
            of_part.append(template)
            pattern += f"{re.escape(piece[0])}{name}{re.escape(piece[2])}"
        parts.append(pattern)
    shown += [(f"{{{fact}}}", [case.facts[fact] for case in alike]) for fact in alike[0].telling]
    words = re.findall(r"\?P<(word[0-9]+)>", alike[0].heading)
    shown += [(f"{{{word}}}", [case.words[place] for case in alike]) for place, word in enumerate(words)]
    if len("-".join(max(texts, key=len) for _, texts in shown)) > _LONGEST_NAME:
        shown = [(template, texts) for template, texts in shown if template.startswith("{")] or shown
    return (
        f"^{re.escape(common)}{'/'.join(parts)}$".replace(r"\-", "-"),
        shown,
        "-".join(filter(None, of_part)),
    )


def _any_of(texts: Sequence[str]) -> str:
    """A pattern for one of the texts."""
    patterns = sorted({*map(re.escape, texts)}, key=lambda text: (-len(text), text))
    return patterns[0] if len(patterns) == 1 else f"(?:{'|'.join(patterns)})"


def _placements(
    alike: Sequence[Case], names: Sequence[str], taken: set[tuple[str, str]]
) -> tuple[list[str], str]:
    """The placements of a layout's outputs, which no other layout has; and what was added to its names."""

    def with_ending(ending: str) -> list[str]:
        return [f"{usable_name(name)[: _LONGEST_NAME - len(ending)]}{ending}" for name in names]

    benchmarks = [case.benchmark for case in alike]
    endings = chain([""], map("-{}".format, count(2)))
    ending = next(end for end in endings if taken.isdisjoint(zip(with_ending(end), benchmarks, strict=True)))
    given: dict[str, str] = {}
    for name, placement in zip(names, with_ending(ending), strict=True):
        others = chain([placement], map(f"{placement[:58]}-{{}}".format, count(2)))
        given[name] = given.get(name) or next(other for other in others if other not in given.values())
    taken |= {(given[name], benchmark) for name, benchmark in zip(names, benchmarks, strict=True)}
    return [given[name] for name in names], ending


def _rule_of_one(case: Case, placement: str) -> _Rule:
    facts = ["path", *case.telling, *(["heading"] if case.heading else [])]
    when = {fact: rf"^{re.escape(case.facts[fact])}\Z" for fact in facts}
    named = {} if case.benchmark else {"benchmark": usable_name("-".join(case.names[-1:]))}
    return {"when": when, "label": {"placement": placement, **named}}


def _compiled(rule: _Rule) -> LabelRule:
    when = {fact: re.compile(pattern) for fact, pattern in rule["when"].items()}
    return LabelRule(when=when, label=dict(rule["label"]))
