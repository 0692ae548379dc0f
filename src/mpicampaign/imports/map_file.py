"""Maps of imports: read, checked and typed. The shape is described in workflow/schemas/import.schema.json."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpicampaign.errors import Problem, UserError, did_you_mean
from mpicampaign.host_lists import expand
from mpicampaign.imports.facts import FACTS, FAMILIES
from mpicampaign.presentation import Presentation, ReferenceChoice
from mpicampaign.reference import reference_names
from mpicampaign.shape import check_shape
from mpicampaign.units import parse_size
from mpicampaign.yaml_lines import Document, lookup, printable, read_yaml, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpicampaign.yaml_lines import Key

SCHEMA = Path(__file__).resolve().parents[3] / "workflow" / "schemas" / "import.schema.json"
LABELS = ("system", "host_group", "placement", "benchmark", "repeat")
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a placement claims; ``None`` and empty: nothing."""

    nodes: int | None = None
    transport: str = ""
    binding: str = ""


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
    shape, _ = check_shape(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    builder = _Builder(document)
    made = builder.map(path.read_text(encoding="utf-8-sig"))
    problems = {*document.problems, *shape, *builder.problems}
    if problems:
        raise UserError(sorted(problems, key=lambda problem: (problem.file, problem.line or 0, problem.key)))
    return made


class _Builder:
    """Builds the typed map from data of the right shape; what is wrong beyond that goes to ``problems``."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []

    def _get(self, *key: str | int) -> Any:
        return lookup(self.document.data, key)

    def _problem(self, key: Key, message: str, value: str = "", hint: str = "") -> None:
        self.problems.append(self.document.problem(key, message, value, hint))

    def map(self, text: str) -> ImportMap:
        name = self._get("campaign") or ""
        groups = self._get("host_groups") or {}
        placements = self._get("placements") or {}
        return ImportMap(
            name=self._get("import") or "",
            campaign=name,
            presentation=self._presentation(self._get("title") or name),
            text=text,
            rules=self._rules(),
            claims={key: Claim(**claim) for key, claim in placements.items() if isinstance(claim, dict)},
            system_of={key: group.get("system", "") for key, group in groups.items() if group},
            group_of=self._group_of(groups),
            source=self._get("source") or "",
        )

    def _presentation(self, title: str) -> Presentation:
        unit = self._get("bandwidth_unit") or "MB/s"
        return Presentation(title, self._sizes(), unit=unit, reference=tuple(self._reference()))

    def _reference(self) -> Iterator[ReferenceChoice]:
        for key, name in self.document.items(("reference",)):
            if name in reference_names():
                yield ReferenceChoice(name)
            else:
                hint = did_you_mean(str(name), reference_names())
                self._problem(key, f"no reference {shown(name)} is shipped", "", hint)

    def _sizes(self) -> tuple[int, ...]:
        sizes = []
        for key, item in self.document.items(("table_sizes",)):
            try:
                sizes.append(parse_size(str(item)))
            except ValueError as error:
                self._problem(key, str(error), shown(item))
        return tuple(sizes) or Presentation().table_sizes

    def _group_of(self, groups: dict[str, Any]) -> dict[str, str]:
        found: dict[str, str] = {}
        for group in groups:
            for key, text in self.document.items(("host_groups", group, "hosts")):
                for host in self._hosts(key, text):
                    other = found.setdefault(host, group)
                    if other != group:
                        self._problem(key, f"host {host} is in host group {other}, too", shown(text))
        return found

    def _hosts(self, key: Key, text: str) -> list[str]:
        try:
            return expand(text)
        except ValueError as error:
            self._problem(key, str(error), shown(text))
            return []

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
