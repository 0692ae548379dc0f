"""The labels of a file, from its facts by the rules of a map, or the reason why it has none. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mpicampaign.base.host_lists import short
from mpicampaign.base.keys import NAME
from mpicampaign.imports.files import name_of, original_name
from mpicampaign.imports.ledger import Entry, Label, Runs
from mpicampaign.imports.map_file import LABELS, PLACEHOLDER, ImportMap, LabelRule
from mpicampaign.suites import SUITES

REQUIRED = tuple(name for name in LABELS if name not in ("repeat", "job"))
_NAME = re.compile(NAME.schema["pattern"])
SEEN = " (its facts: "
UNUSABLE = "not usable as a name (letters, digits and . _ + -, 64 at most): "
_OTHER_RUN = "if another run made it, give its label job: in the map"
_MAIN_FACTS = ("path", "job_name", "trouble", "command", "above", "directive.m", "hosts", "header.HOSTS")


def label_of(facts: Mapping[str, str], chosen: ImportMap) -> Label | str:
    """The labels of a file, or why it is refused."""
    suite, program = SUITES.get(facts.get("suite", "")), facts.get("program", "")
    if instead := suite.silent.get(program, "") if suite else "":
        return f"{program} measures nothing; {instead}"
    values, rules, asked = _given(chosen.rules, facts)
    groups = _groups_of_hosts(facts, chosen)
    if len(groups) > 1:
        named = ", ".join(f"{', '.join(hosts)} ({group})" for group, hosts in groups.items())
        return f"its hosts belong to several host groups: {named}"
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
        requested=requested if actual and requested != actual else "",
        actual=bool(actual),
        asked=asked,
        job=values.get("job") or facts.get("job", ""),
        rules=rules,
    )


def _unusable(values: Mapping[str, str], facts: Mapping[str, str]) -> str:
    """Why the values cannot be labels; empty where they can."""
    if missing := [name for name in REQUIRED if not values.get(name)]:
        several = "placement" in missing and "lines" in facts
        hint = "; command and above tell the outputs of a file apart" if several else ""
        facts_text = "; ".join(f"{name}: {facts[name][:80]!r}" for name in _MAIN_FACTS if name in facts)
        hint += f"{SEEN}{facts_text})" if facts_text else ""  # they help to correct the map
        return f"no rule gives its {' and '.join(map(_plain, missing))}{hint}"
    names = [name for name in (*REQUIRED, "job") if values.get(name)]
    if wrong := [f"{_plain(name)} {values[name]!r}" for name in names if not _NAME.fullmatch(values[name])]:
        return f"{UNUSABLE}{', '.join(wrong)}"
    repeat = values.get("repeat", "")
    if repeat and not (repeat.isascii() and repeat.isdigit() and 0 < int(repeat[:9]) == int(repeat)):
        return f"repeat {repeat!r} is not a positive integer"
    return ""


def _given(
    rules: Sequence[LabelRule], facts: Mapping[str, str]
) -> tuple[dict[str, str], tuple[int, ...], str]:
    """Each label from the first rule that gives it and whose conditions hold; the numbers of these rules.

    The last: the part of the command that decided the placement.
    """
    given: dict[str, str] = {}
    used: dict[int, None] = {}
    asked = ""
    for number, rule in enumerate(rules, start=1):
        wanted = {name: template for name, template in rule.label.items() if name not in given}
        matches = _matches(rule, facts) if wanted else None
        if matches is None:
            continue
        captures = {name: text for match in matches.values() for name, text in match.groupdict().items()}
        values = {name: _filled(template, captures, facts) for name, template in wanted.items()}
        if new := {name: value for name, value in values.items() if value is not None}:
            given |= new
            used[number] = None
            if "placement" in new and "command" in matches:
                asked = matches["command"][0].strip()
    return given, tuple(used), asked


def _matches(rule: LabelRule, facts: Mapping[str, str]) -> dict[str, re.Match[str]] | None:
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


def unlisted_hosts(facts: Mapping[str, str], chosen: ImportMap) -> list[str]:
    """The run's hosts that no host group of the map lists."""
    return [host for host in facts.get("hosts", "").split() if short(host) not in chosen.group_of]


def _plain(name: str) -> str:
    return name.replace("_", " ")


def moment(started: str, job: str, path: str, line: int) -> tuple[str, list[int], list[str | int]]:
    """A sort key: start, the numbers of the job, such as 1234_7 or 1234[7], then those in path and line."""
    numbers = [int(number) for number in re.findall(r"\d{1,18}", job)]
    digits = re.split(r"([0-9]{1,18})", path)
    return started, numbers, [*(int(part) if k % 2 else part for k, part in enumerate(digits)), line]


def label_all(entries: Sequence[Entry], chosen: ImportMap, elsewhere: Runs | None = None) -> None:
    """Give each output its label, repeats numbered, or the reason why it is refused.

    The repeats of a case are numbered by start, then job number, then path, then line. Copies count once;
    ``elsewhere``: the runs in the campaign's other imports.
    """
    for entry in entries:
        label = label_of(entry.facts, chosen)
        entry.label, entry.reason = (None, label) if isinstance(label, str) else (label, "")
    runs = elsewhere or Runs()
    for entry in sorted(entries, key=_first_of_equal):
        if other := runs.same(entry):
            entry.label, entry.reason = None, f"same content as {other}: counted once; {_OTHER_RUN}"
        elif entry.label:
            runs.add(entry, entry.place)
    _number([entry for entry in entries if entry.label])


def _first_of_equal(entry: Entry) -> tuple[bool, bool, bool, bool, tuple[str, int]]:
    """A sort key: of equal outputs one with labels counts, no quote, of a known job, no backup."""
    is_backup = original_name(entry.path) != name_of(entry.path)
    return entry.label is None, "quoted" in entry.facts, not entry.job, is_backup, entry.order


def _number(entries: Sequence[Entry]) -> None:
    """Number the repeats: those from rules stay, the others take free numbers."""
    ordered = sorted(
        entries, key=lambda entry: moment(entry.facts.get("started", ""), entry.job, *entry.order)
    )
    taken: dict[tuple[object, ...], str] = {}
    for entry in ordered:
        if entry.label and entry.label.repeat is not None:
            place = taken.setdefault((entry.label.case, entry.label.repeat), entry.place)
            if place != entry.place:
                entry.reason = f"repeat {entry.label.repeat} of its case is already taken by {place}"
                entry.label = None
    following: Counter[tuple[str, ...]] = Counter()
    for entry in ordered:
        if entry.label and entry.label.repeat is None:
            case = entry.label.case
            following[case] += 1
            while (case, following[case]) in taken:
                following[case] += 1
            entry.label = replace(entry.label, repeat=following[case])
