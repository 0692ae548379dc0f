"""The labels of a file, from its facts by the rules of a map, or the reason why it has none. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from mpicampaign.grouping import grouped
from mpicampaign.host_lists import fold, short
from mpicampaign.imports.files import place_of
from mpicampaign.imports.ledger import Runs
from mpicampaign.imports.map_file import LABELS, PLACEHOLDER
from mpicampaign.imports.run_order import moment
from mpicampaign.keys import NAME
from mpicampaign.suites import SUITES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from mpicampaign.imports.map_file import ImportMap, Rule

REQUIRED = tuple(name for name in LABELS if name not in ("repeat", "job"))
_NAME = re.compile(NAME.schema["pattern"])
SEEN = " (its facts: "
UNUSABLE = "not usable as a name (letters, digits and . _ + -, 64 at most): "
_MAIN_FACTS = ("path", "job_name", "trouble", "command", "above", "directive.m", "hosts", "header.HOSTS")


@dataclass(frozen=True, slots=True)
class Label:
    """The labels of a run.

    ``requested``: the host group by the rules, where the hosts belong to another group.
    ``actual``: whether the host group comes from the map's host lists.
    ``asked``: the part of the command line that decided the placement.
    """

    system: str
    host_group: str
    placement: str
    benchmark: str
    repeat: int | None = None
    requested: str = ""
    actual: bool = False
    asked: str = ""
    job: str = ""

    @property
    def case(self) -> tuple[str, str, str, str]:
        """The names of the case."""
        return (self.system, self.host_group, self.placement, self.benchmark)


@dataclass(slots=True)
class _Given:
    values: dict[str, str] = field(default_factory=dict)
    asked: str = ""


def label_of(facts: Mapping[str, str], chosen: ImportMap) -> Label | str:
    """The labels of a file, or why it is refused."""
    if reason := _measures_nothing(facts):
        return reason
    given = _apply(chosen.rules, facts)
    values, groups = given.values, _groups_of_hosts(facts, chosen)
    if len(groups) > 1:
        return f"its hosts belong to several host groups: {_listed(groups)}"
    requested, actual = values.get("host_group", ""), next(iter(groups), "")
    if actual:
        values["host_group"] = actual
    if values.get("host_group") in chosen.system_of:
        # rules give the system of hosts that no group lists
        values["system"] = chosen.system_of[values["host_group"]]
    if problem := _unusable(values, facts):
        return problem
    return Label(
        values["system"],
        values["host_group"],
        values["placement"],
        values["benchmark"],
        repeat=int(values["repeat"]) if values.get("repeat") else None,
        requested=requested if actual and requested and requested != actual else "",
        actual=bool(actual),
        asked=given.asked,
        job=values.get("job") or facts.get("job", ""),
    )


def _measures_nothing(facts: Mapping[str, str]) -> str:
    suite, program = SUITES.get(facts.get("suite", "")), facts.get("program", "")
    instead = suite.silent.get(program, "") if suite else ""
    return f"{program} measures nothing; {instead}" if instead else ""


def _unusable(values: Mapping[str, str], facts: Mapping[str, str]) -> str:
    """Why the values cannot be labels; empty where they can."""
    if missing := [name for name in REQUIRED if not values.get(name)]:
        several = "placement" in missing and "lines" in facts
        hint = "; command and above tell the outputs of a file apart" if several else ""
        return f"no rule gives its {' and '.join(map(_plain, missing))}{hint}{_seen(facts)}"
    names = [name for name in (*REQUIRED, "job") if values.get(name)]
    if wrong := [f"{_plain(name)} {values[name]!r}" for name in names if not _NAME.fullmatch(values[name])]:
        return f"{UNUSABLE}{', '.join(wrong)}"
    repeat = values.get("repeat", "")
    if repeat and not (repeat.isascii() and repeat.isdigit() and 0 < int(repeat[:9]) == int(repeat)):
        return f"repeat {repeat!r} is not a positive integer"
    return ""


def _apply(rules: tuple[Rule, ...], facts: Mapping[str, str]) -> _Given:
    """Each label from the first rule that gives it and whose conditions hold."""
    given = _Given()
    for rule in rules:
        if all(name in given.values for name in rule.label):
            continue
        matches = _matches(rule, facts)
        if matches is None:
            continue
        captures = {name: text for match in matches.values() for name, text in match.groupdict().items()}
        for name, template in rule.label.items():
            value = _filled(template, captures, facts)
            if name not in given.values and value is not None:
                given.values[name] = value
                if name == "placement" and "command" in matches:
                    given.asked = matches["command"][0].strip()
    return given


def _matches(rule: Rule, facts: Mapping[str, str]) -> dict[str, re.Match[str]] | None:
    matches = {}
    for fact, pattern in rule.when.items():
        match = pattern.search(facts[fact]) if fact in facts else None
        if match is None:
            return None
        matches[fact] = match
    return matches


def _filled(template: str, captures: Mapping[str, str | None], facts: Mapping[str, str]) -> str | None:
    """The template with its names filled in; None where one of them has no value."""
    if "{" not in template:
        return template
    values = {name: captures.get(name, facts.get(name)) for name in PLACEHOLDER.findall(template)}
    if any(value is None for value in values.values()):
        return None
    return PLACEHOLDER.sub(lambda match: str(values[match[1]]), template)


def _groups_of_hosts(facts: Mapping[str, str], chosen: ImportMap) -> dict[str, list[str]]:
    """The host groups of the run's hosts, with the hosts of each; unknown hosts belong to none."""
    groups: dict[str, list[str]] = {}
    for host in facts.get("hosts", "").split():
        group = chosen.group_of.get(short(host))
        if group:
            groups.setdefault(group, []).append(short(host))
    return groups


def misnamed_facts(rules: Iterable[Rule], there: Collection[str]) -> list[str]:
    """Conditions on a directive, variable or header that no file has, where a similar name exists.

    It is not an error in the map, which may serve other files, too.
    """
    conditions = ((number, fact) for number, rule in enumerate(rules, start=1) for fact in rule.when)
    near = ((number, fact, _like(fact, there)) for number, fact in conditions if fact not in there)
    return [f"rule {number}: no file has the fact {fact}; {like}" for number, fact, like in near if like]


def _like(fact: str, there: Collection[str]) -> str:
    """A question with the most similar name of the same family; empty where there is none."""
    family, dot, own = fact.partition(".")
    names = (name.removeprefix(f"{family}.") for name in there if dot and name.startswith(f"{family}."))
    as_written = {name.casefold(): name for name in sorted(names)}  # names may differ in case alone
    near = get_close_matches(own.casefold(), as_written, n=1)
    return f"did you mean '{family}.{as_written[near[0]]}'?" if near else ""


def unlisted_hosts(facts: Mapping[str, str], chosen: ImportMap) -> list[str]:
    """The run's hosts that no host group of the map lists."""
    return [host for host in facts.get("hosts", "").split() if short(host) not in chosen.group_of]


def groups_without_runs(seen: Iterable[str], chosen: ImportMap) -> list[str]:
    """Host groups that list only hosts of no run, where runs are on hosts that no group lists."""
    there = set(map(short, seen))
    strangers = there - chosen.group_of.keys()
    listed = grouped(chosen.group_of, lambda host: chosen.group_of[host]) if strangers else {}
    return [
        f"host group {name}: no run is on its hosts {fold(hosts)}; hosts in no group: {fold(strangers)}"
        for name, hosts in listed.items()
        if there.isdisjoint(hosts)
    ]


def _listed(groups: Mapping[str, list[str]]) -> str:
    return ", ".join(f"{', '.join(hosts)} ({group})" for group, hosts in groups.items())


def _seen(facts: Mapping[str, str]) -> str:
    """The file's main facts, which help to correct the map."""
    seen = [f"{name}: {facts[name][:80]!r}" for name in _MAIN_FACTS if name in facts]
    return f"{SEEN}{'; '.join(seen)})" if seen else ""


def _plain(name: str) -> str:
    return name.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Output:
    """A raw output as rules see it; ``content`` is the same for copies of one output."""

    path: str
    content: str
    facts: Mapping[str, str]

    @property
    def lines(self) -> str:
        """Its lines, where it is a part of the file, such as 12-40."""
        return self.facts.get("lines", "")

    @property
    def place(self) -> tuple[str, int]:
        """Its file and its first line there, 0 where it is the whole file: sorts as outputs do."""
        lines = self.lines
        first = re.match(r"[0-9]{1,9}(?=-)", lines) if lines else None
        return self.path, int(first[0]) if first else 0


def label_all(
    outputs: Sequence[Output], chosen: ImportMap, elsewhere: Runs | None = None
) -> list[Label | str]:
    """The label of each output, repeats numbered; or the reason why it is refused.

    The repeats of a case are numbered by start, then job number, then path, then line. The same content twice
    is one run, unless two jobs made it; ``elsewhere``: the runs in the campaign's other imports.
    """
    runs = elsewhere or Runs()
    labels = {output.place: label_of(output.facts, chosen) for output in outputs}
    for output in sorted(outputs, key=lambda each: _first_counted(labels, each)):
        job = _job(labels, output)
        if other := runs.same(output.content, job):
            labels[output.place] = f"same content as {other}: counted once"
        elif isinstance(labels[output.place], Label):
            runs.add(output.content, job, place_of(output.path, output.lines))
    ordered = sorted(
        outputs, key=lambda each: moment(each.facts.get("started", ""), _job(labels, each), *each.place)
    )
    numbered = _numbered(labels, ordered)
    return [numbered[output.place] for output in outputs]


def _first_counted(labels: Mapping[tuple[str, int], Label | str], output: Output) -> tuple[object, ...]:
    """A sort key: of equal outputs, one that has labels counts, and one whose job is known."""
    return isinstance(labels[output.place], str), not _job(labels, output), output.place


def _job(labels: Mapping[tuple[str, int], Label | str], output: Output) -> str:
    """The number of its job by the map, else by its files; empty where it is unknown."""
    label = labels[output.place]
    return label.job if isinstance(label, Label) else output.facts.get("job", "")


def _numbered(
    labels: dict[tuple[str, int], Label | str], ordered: Sequence[Output]
) -> dict[tuple[str, int], Label | str]:
    """Number the repeats: those from rules stay, the others take free numbers."""
    taken: dict[tuple[object, ...], Output] = {}
    for output in ordered:
        label = labels[output.place]
        if isinstance(label, Label) and label.repeat is not None:
            other = taken.setdefault((label.case, label.repeat), output)
            if other is not output:
                where = place_of(other.path, other.lines)
                labels[output.place] = f"repeat {label.repeat} of its case is already taken by {where}"
    following: dict[tuple[object, ...], int] = {}
    for output in ordered:
        label = labels[output.place]
        if isinstance(label, Label) and label.repeat is None:
            number = following.get(label.case, 0) + 1
            while (label.case, number) in taken:
                number += 1
            following[label.case] = number
            labels[output.place] = replace(label, repeat=number)
    return labels
