"""Maps of imports: their keys, read, checked and typed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from mpicampaign.base.errors import Problem, UserError, did_you_mean
from mpicampaign.base.host_lists import expand, short
from mpicampaign.base.keys import (
    ATTRIBUTES,
    ATTRIBUTES_TEXT,
    LINE,
    NAME,
    Kind,
    Values,
    choice,
    entries,
    entry,
    key,
    keys_of,
    kind_of,
    mapping,
    schema_of,
    sizes,
    table,
)
from mpicampaign.base.places import shipped
from mpicampaign.base.presentation import Presentation, ReferenceChoice
from mpicampaign.base.reference import reference_names
from mpicampaign.base.shape import check_shape
from mpicampaign.base.yaml_lines import Document, Key, printable, read_yaml, shown
from mpicampaign.imports.facts import FACTS, FAMILIES
from mpicampaign.mpis.libfabric import PROVIDERS

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


@entry("host_group")
@dataclass(frozen=True, slots=True)
class Hosts:
    """The hosts of a group."""

    system: str = key(NAME, "System", "The cluster, cloud or machine of the hosts.", required=True)
    hosts: tuple[str, ...] = key(
        Kind({"type": "array", "items": _HOSTS, "minItems": 1}, Values.texts, absent=()),
        "Hosts",
        "Names without domains, or ranges such as cn[049-080]. Default: the rules assign runs to the group.",
        default=[],
    )
    attributes: dict[str, str] = key(ATTRIBUTES, *ATTRIBUTES_TEXT, default={})


@entry("placement")
@dataclass(frozen=True, slots=True)
class Claim:
    """What a placement claims; ``None`` or empty where it claims nothing."""

    nodes: int | None = key(
        Kind({"type": "integer", "minimum": 1}, Values.whole_number, absent=None),
        "Number of nodes",
        "Compared with the hosts on which the job ran.",
    )
    transport: str = key(
        Kind({"enum": ["shm", "tcp", "ibv", "ofi"]}, Values.text),
        "Transport",
        "Compared with the report of the MPI library.",
    )
    provider: str = key(choice(PROVIDERS), "Provider of libfabric", "With ofi. Default: any.", "efa")
    fabric: str = key(
        NAME,
        "Fabric between the nodes",
        "As named in reference/public-systems.csv. Default: by the attributes of the host group.",
        "infiniband-hdr",
    )
    binding: str = key(
        LINE,
        "Binding",
        "Free text. A run with a claimed binding stays unverified.",
        "both ranks on one socket",
    )


@entry()
@dataclass(frozen=True, slots=True)
class Labels:
    """The labels that a rule may give."""

    system: str = key(
        _STRING, "System", "For a run on hosts listed in the map, the system of their group wins.", "scarf"
    )
    host_group: str = key(_STRING, "Host group", "For hosts listed in the map, their group wins.", "{group}")
    placement: str = key(_STRING, "Placement", "Where the ranks ran and how they communicated.", "TCP")
    benchmark: str = key(_STRING, "Benchmark", "Runs with other parameters need other names.", "{benchmark}")
    repeat: str = key(
        _TEXT, "Repeat", "Default: the repeats of a case are numbered in the order of their runs.", "{repeat}"
    )
    job: str = key(
        _TEXT,
        "Job",
        "Its number, if no file has it: equal outputs of different jobs are different runs.",
        "{job}",
    )


LABELS = tuple(keys_of(Labels))


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"not a regular expression: {error}") from error


def _patterns(values: Values, key: Key) -> dict[str, re.Pattern[str]]:
    patterns = {fact: values.parsed((*key, fact), _pattern) for fact in values.get(key)}
    return {fact: pattern for fact, pattern in patterns.items() if pattern}


@entry("rule")
@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRule:
    """The labels apply where every fact matches; ``{name}`` in a label is replaced by a group or a fact."""

    when: dict[str, re.Pattern[str]] = key(
        Kind(mapping(None, _TEXT, minProperties=1).schema, _patterns, absent={}),
        "Conditions",
        "A regular expression for each named fact, searched anywhere in it (^ and $ are its ends). All must "
        "match. A file without the fact does not meet the condition.",
    )
    label: dict[str, str] = key(
        Kind({**kind_of(Labels).schema, "minProperties": 1}, Values.mapping, instead={}),
        "Labels",
        "Texts in which {name} is replaced by a named group (?P<name>…) of the conditions, or by a fact.",
        required=True,
    )


@entry(title="Map of an import", description="Rules that label imported runs by the facts of their files.")
@dataclass(frozen=True, slots=True, kw_only=True)
class ImportMap:
    """A checked map. ``group_of``: the host group of each listed host, by its name without domain."""

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
        "Name of the campaign of the runs",
        "Results are kept in results/CAMPAIGN; a campaign file of that name and this map share them.",
        "stfc-2017",
        required=True,
    )
    title: str = key(LINE, "Title of tables and report", "Default: the campaign's name.")
    source: str = key(LINE, "Origin of the files", "Shown in the report.")
    table_sizes: tuple[int, ...] = key(
        _SIZES,
        "Message sizes for which tables show bandwidth",
        "With a unit, or in bytes.",
        default=["1KiB", "8KiB", "32KiB"],
    )
    reference: tuple[str, ...] = key(
        _NAMES,
        "Published values to show beside the imported ones",
        "Names of publications in reference/.",
        ["stfc-2017"],
    )
    bandwidth_unit: str = key(
        Kind({"enum": ["MB/s", "MiB/s"]}, Values.text),
        "Unit of bandwidths in tables and report",
        "MB/s is 10^6 B/s.",
        default="MB/s",
    )
    host_groups: dict[str, Hosts] = key(
        table(Hosts, NAME),
        "Host groups whose hosts are known",
        "The group of a run's hosts wins over the group that the rules give.",
        {"blue": {"system": "cluster", "hosts": ["cn[001-032]"]}},
    )
    placements: dict[str, Claim] = key(
        table(Claim, NAME),
        "What placements claim",
        "Evidence in the files is compared with it. Runs in other placements stay unverified.",
        {"TCP": {"nodes": 2, "transport": "tcp"}},
    )
    rules: tuple[LabelRule, ...] = key(
        entries(LabelRule, type="array", minItems=1),
        "Rules",
        "Applied from first to last: each label comes from the first rule that gives it and whose conditions "
        "hold.",
        required=True,
    )
    text: str = ""
    group_of: dict[str, str] = field(default_factory=dict)

    @property
    def presentation(self) -> Presentation:
        """What tables and report show."""
        references = tuple(map(ReferenceChoice, self.reference))
        title = self.title or self.campaign
        return Presentation(title, self.table_sizes, self.bandwidth_unit, references)

    @property
    def system_of(self) -> dict[str, str]:
        """The system of each host group."""
        return {name: group.system for name, group in self.host_groups.items()}


@cache
def map_schema() -> dict[str, Any]:
    """The JSON Schema of maps."""
    return schema_of(ImportMap)


def load_map(path: Path) -> ImportMap:
    """The map of a file.

    Raises
    ------
    UserError
        with every error in it.
    """
    document = read_yaml(path)
    if not isinstance(document.data, dict):
        message = "a map is a mapping of keys such as import:, campaign: and rules:"
        raise UserError(Problem(message, printable(str(path)), 1, value=shown(document.data)))
    if "matrix" in document.data and "rules" not in document.data:
        message = "this is a campaign file, not the map of an import"
        hint = f"maps are described in {shipped('docs/import.md')}"
        raise UserError(Problem(message, printable(str(path)), hint=hint))
    shape, _ = check_shape(document, map_schema())
    values = Values(document)
    made = values.entry(
        ImportMap, (), text=path.read_text(encoding="utf-8-sig"), group_of=_groups_of_hosts(values)
    )
    checks = (*_reference_problems(document), *_rule_problems(document, made.rules))
    problems = {*document.problems, *shape, *values.problems, *checks}
    if problems:
        raise UserError(sorted(problems, key=lambda problem: (problem.file, problem.line or 0, problem.key)))
    return made


def _groups_of_hosts(values: Values) -> dict[str, str]:
    group_of: dict[str, str] = {}
    for group in values.get(("host_groups",)) or ():
        for item, text in values.document.items(("host_groups", group, "hosts")):
            for host in map(short, values.parsed(item, expand) or ()):
                other = group_of.setdefault(host, group)
                if other != group:
                    message = f"host {host} is already in host group {other}"
                    values.problems.append(values.document.problem(item, message, shown(text)))
    return group_of


def _reference_problems(document: Document) -> Iterator[Problem]:
    for item, name in document.items(("reference",)):
        if name not in reference_names():
            hint = did_you_mean(str(name), reference_names())
            yield document.problem(item, f"unknown reference {shown(name)}", "", hint)


def _rule_problems(document: Document, rules: Iterable[LabelRule]) -> Iterator[Problem]:
    for (path, data), rule in zip(document.items(("rules",)), rules, strict=True):
        conditions = data.get("when") or {}
        for fact in conditions:
            if not is_fact(fact):
                hint = did_you_mean(fact, [*FACTS, *(f"{family}.NAME" for family in FAMILIES)])
                yield document.problem((*path, "when", fact), f"unknown fact {shown(fact)}", "", hint)
        if len(rule.when) == len(conditions) and all(map(is_fact, conditions)):
            yield from _placeholder_problems(document, (*path, "label"), rule)


def _placeholder_problems(document: Document, path: Key, rule: LabelRule) -> Iterator[Problem]:
    known = {group for pattern in rule.when.values() for group in pattern.groupindex}
    for name, text in rule.label.items():
        for used in PLACEHOLDER.findall(text):
            if used not in known and not is_fact(used):
                message = f"{{{used}}} is neither a group of the conditions nor a fact"
                hint = did_you_mean(used, [*known, *FACTS])
                yield document.problem((*path, name), message, shown(text), hint)


def is_fact(name: str) -> bool:
    """Whether a file may have a fact of this name."""
    family, dot, rest = name.partition(".")
    return name in FACTS or bool(dot and rest and family in FAMILIES)
