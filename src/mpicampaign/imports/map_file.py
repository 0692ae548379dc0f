"""Maps of imports: read, checked and typed. Each key of a map is said once, here."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from mpicampaign.errors import Problem, UserError, did_you_mean
from mpicampaign.host_lists import expand
from mpicampaign.imports.facts import FACTS, FAMILIES
from mpicampaign.keys import (
    LINE,
    NAME,
    Kind,
    Values,
    entries,
    entry,
    key,
    keys_of,
    mapping,
    schema_of,
    sizes,
    table,
)
from mpicampaign.presentation import Presentation, ReferenceChoice
from mpicampaign.reference import reference_names
from mpicampaign.shape import check_shape
from mpicampaign.yaml_lines import Document, printable, read_yaml, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from mpicampaign.yaml_lines import Key

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


_STRING = Kind({"type": "string"}, Values.text)
_TEXT = Kind({"type": ["string", "integer"]}, Values.text)
_HOSTS = {
    "type": "string",
    "pattern": r"^[A-Za-z0-9_][A-Za-z0-9._,\[\]-]{0,254}$",
    "x-message": "not a host name or range such as cn[049-080]",
}
_SIZES = sizes(type="array", items={"type": ["integer", "string"], "minimum": 0}, minItems=1)
_NAMES = Kind({"type": ["string", "array"], "items": {"type": "string"}}, Values.texts, absent=())


@dataclass(frozen=True, slots=True)
class Hosts:
    """The hosts of a group, as the map names them."""

    system: str = key(
        NAME, "System", "The cluster, cloud or machine that the hosts belong to.", required=True
    )
    hosts: tuple[str, ...] = key(
        Kind({"type": "array", "items": _HOSTS, "minItems": 1}, Values.texts, absent=()),
        "Hosts",
        "Names without domains, or ranges such as cn[049-080].",
        required=True,
    )


@dataclass(frozen=True, slots=True)
class Claim:
    """What a placement claims; ``None`` and empty: nothing."""

    nodes: int | None = key(
        Kind({"type": "integer", "minimum": 1}, Values.whole_number, absent=None),
        "Number of nodes",
        "Held against the hosts that the job was executed on.",
    )
    transport: str = key(
        Kind({"enum": ["shm", "tcp", "ibv"]}, Values.text),
        "Transport",
        "Held against what the MPI library reports.",
    )
    binding: str = key(
        LINE,
        "What the binding is said to be",
        "In words. No such output records where ranks ran: a run with a claimed binding stays unverified.",
        "both ranks on one socket",
    )


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of a rule, as the map gives them."""

    system: str = key(_STRING, "System", "That of the host group wins where the group is listed.", "scarf")
    host_group: str = key(
        _STRING, "Host group", "That of the actual hosts wins where they are listed.", "{group}"
    )
    placement: str = key(_STRING, "Placement", "Where the ranks ran and how they talked.", "TCP")
    benchmark: str = key(
        _STRING,
        "Benchmark",
        "What was measured; runs of other parameters need other names.",
        "{benchmark}",
    )
    repeat: str = key(
        _TEXT,
        "Repeat",
        "Default: the repeats of a case are numbered in the order in which they ran.",
        "{repeat}",
    )


LABELS = tuple(keys_of(Labels))
_LABELS = entry(Labels, "", "", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleKeys:
    """The keys of a rule; `Rule` is what is made of them."""

    when: dict[str, str] = key(
        mapping(None, _TEXT, minProperties=1),
        "Conditions",
        "A regular expression for each named fact, found anywhere in it (^ and $ are its ends); all must be "
        "found. A file without the fact does not meet the condition.",
    )
    label: Labels = key(
        Kind({**_LABELS.schema, "minProperties": 1}, _LABELS.read, instead=Labels(), entry=Labels),
        "Labels",
        "Texts in which {name} stands for a named group (?P<name>…) of the conditions, or for a fact.",
        required=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MapKeys:
    """The keys of a map; `ImportMap` is what is made of them."""

    name: str = key(
        NAME,
        "Name of the import",
        "Its raw files are kept in results/CAMPAIGN/imports/NAME.",
        "published",
        required=True,
        name="import",
    )
    campaign: str = key(
        NAME,
        "Name of the campaign that the runs belong to",
        "Results are kept in results/CAMPAIGN; a campaign file of that name and this map share them.",
        "stfc-2017",
        required=True,
    )
    title: str = key(LINE, "Title of tables and report", "Default: the campaign's name.")
    source: str = key(LINE, "Where the files come from", "Shown in the report.")
    table_sizes: tuple[int, ...] = key(
        _SIZES,
        "Message sizes at which tables show bandwidth",
        "With a unit, or in bytes.",
        default=["1KiB", "8KiB", "32KiB"],
    )
    reference: tuple[str, ...] = key(
        _NAMES,
        "Published figures to show beside the imported ones",
        "Names of what is in reference/. Only figures of equal meaning are shown, marked as published.",
        ["stfc-2017"],
    )
    bandwidth_unit: str = key(
        Kind({"enum": ["MB/s", "MiB/s"]}, Values.text),
        "Unit of bandwidths in tables and report",
        "MB/s is 10^6 B/s. Programs that print MiB/s under another name are read as what they mean.",
        default="MB/s",
    )
    host_groups: dict[str, Hosts] = key(
        table(entry(Hosts, "host_group", "", ""), NAME),
        "Host groups whose hosts are known",
        "The group that a run's hosts belong to wins over the one that rules found.",
        {"blue": {"system": "cluster", "hosts": ["cn[001-032]"]}},
    )
    placements: dict[str, Claim] = key(
        table(entry(Claim, "placement", "", ""), NAME),
        "What placements claim",
        "Evidence in the files is compared with it; a placement that is not named here stays unverified.",
        {"TCP": {"nodes": 2, "transport": "tcp"}},
    )
    rules: tuple[RuleKeys, ...] = key(
        entries(entry(RuleKeys, "rule", "", ""), type="array", minItems=1),
        "Rules",
        "Looked at from first to last; each label is taken from the first rule that gives it and whose "
        "conditions hold.",
        required=True,
    )


MAP = entry(
    MapKeys,
    "",
    "Map of an import",
    "How runs that this program did not make are labelled: by rules over the facts of each file.",
)


@cache
def map_schema() -> dict[str, Any]:
    """The JSON Schema of maps."""
    return schema_of(MAP)


@dataclass(frozen=True, slots=True)
class Rule:
    """If every fact matches, the labels hold; a value's ``{name}`` stands for a group or a fact."""

    when: dict[str, re.Pattern[str]]
    label: dict[str, str]


@dataclass(frozen=True, slots=True)
class ImportMap:
    """A checked map. ``group_of`` has the host group of each known host, by its name without domain."""

    name: str
    campaign: str
    presentation: Presentation
    text: str
    rules: tuple[Rule, ...]
    claims: dict[str, Claim] = field(default_factory=dict)
    system_of: dict[str, str] = field(default_factory=dict)
    group_of: dict[str, str] = field(default_factory=dict)
    source: str = ""


def load_map(path: Path) -> ImportMap:
    """The map of a file.

    Raises
    ------
    UserError
        with every mistake in it.
    """
    document = read_yaml(path)
    if not isinstance(document.data, dict):
        message = "a map is a mapping of keys such as import:, campaign: and rules:"
        raise UserError(Problem(message, printable(str(path)), 1, value=shown(document.data)))
    if "matrix" in document.data and "rules" not in document.data:
        message = "this is a campaign file, not the map of an import"
        raise UserError(Problem(message, printable(str(path)), hint="maps are described in docs/import.md"))
    shape, _ = check_shape(document, map_schema())
    builder = _Builder(document)
    made = builder.map(path.read_text(encoding="utf-8-sig"))
    problems = {*document.problems, *shape, *builder.values.problems, *builder.problems}
    if problems:
        raise UserError(sorted(problems, key=lambda problem: (problem.file, problem.line or 0, problem.key)))
    return made


class _Builder:
    """Builds the typed map from data of the right shape; what is wrong beyond that goes to ``problems``."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.values = Values(document)
        self.problems: list[Problem] = []

    def _problem(self, key: Key, message: str, value: str = "", hint: str = "") -> None:
        self.problems.append(self.document.problem(key, message, value, hint))

    def map(self, text: str) -> ImportMap:
        keys = self.values.entry(MapKeys, ())
        title, references = keys.title or keys.campaign, tuple(self._reference())
        shown = Presentation(title, keys.table_sizes, unit=keys.bandwidth_unit, reference=references)
        return ImportMap(
            name=keys.name,
            campaign=keys.campaign,
            presentation=shown,
            text=text,
            rules=self._rules(),
            claims=keys.placements,
            system_of={name: group.system for name, group in keys.host_groups.items()},
            group_of=self._group_of(keys.host_groups),
            source=keys.source,
        )

    def _reference(self) -> Iterator[ReferenceChoice]:
        for item, name in self.document.items(("reference",)):
            if name in reference_names():
                yield ReferenceChoice(name)
            else:
                hint = did_you_mean(str(name), reference_names())
                self._problem(item, f"no reference {shown(name)} is shipped", "", hint)

    def _group_of(self, groups: Iterable[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for group in groups:
            for item, text in self.document.items(("host_groups", group, "hosts")):
                for host in self.values.parsed(item, expand) or ():
                    other = found.setdefault(host, group)
                    if other != group:
                        self._problem(item, f"host {host} is in host group {other}, too", shown(text))
        return found

    def _rules(self) -> tuple[Rule, ...]:
        return tuple(self._rule(key, rule) for key, rule in self.document.items(("rules",)) if rule)

    def _rule(self, key: Key, rule: dict[str, Any]) -> Rule:
        when = {
            fact: found
            for fact, pattern in (rule.get("when") or {}).items()
            if (found := self._condition((*key, "when", fact), fact, pattern)) is not None
        }
        label = {name: str(text) for name, text in (rule.get("label") or {}).items()}
        known = {group for pattern in when.values() for group in pattern.groupindex}
        whole = len(when) == len(rule.get("when") or {})
        for name, text in label.items():
            for used in PLACEHOLDER.findall(text):
                if used not in known and not is_fact(used) and whole:
                    message = f"{{{used}}} is no group of the conditions and no fact"
                    hint = did_you_mean(used, [*known, *FACTS])
                    self._problem((*key, "label", name), message, shown(text), hint)
        return Rule(when, label)

    def _condition(self, key: Key, fact: str, pattern: str | int) -> re.Pattern[str] | None:
        if not is_fact(fact):
            families = [f"{family}.NAME" for family in FAMILIES]
            self._problem(key, f"unknown fact {shown(fact)}", "", did_you_mean(fact, [*FACTS, *families]))
            return None
        try:
            return re.compile(self.document.mark(key).text or str(pattern))
        except (re.error, OverflowError, RecursionError) as error:
            self._problem(key, f"not a regular expression: {error}", shown(pattern))
            return None


def is_fact(name: str) -> bool:
    """Whether a file may have a fact of this name."""
    family, dot, own = name.partition(".")
    return name in FACTS or bool(dot and own and family in FAMILIES)
