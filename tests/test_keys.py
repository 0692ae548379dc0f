"""Keys as fields of dataclasses: reading them, and shapes with the meaning of JSON Schema."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from mpicampaign.base.keys import NAME, Kind, Values, choice, count, entry, key, table
from mpicampaign.base.shape import check_shape, fits
from mpicampaign.base.yaml_lines import Document
from mpicampaign.campaign.model import campaign_schema

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Boat:
    """A toy entry."""

    name: str
    sail: str = key(choice(["lug", "gaff"]), "Sail", "", "lug", required=True)
    oars: int = key(count(0, 8), "Oars", "", 2, default=4)
    crew: int | None = key(count(1, 9), "Crew", name="hands")


@dataclass(frozen=True, slots=True)
class Harbour:
    """A toy file."""

    boats: dict[str, Boat] = key(table(entry(Boat, "boat", "Boat", ""), NAME), "Boats")


def read(data: Any) -> Harbour:
    return Values(Document(data)).entry(Harbour, ())


def test_what_stands_for_a_missing_key_lets_the_rest_be_read() -> None:
    assert read({"boats": {"swift": {"oars": 2}}}).boats["swift"] == Boat("swift", "", oars=2)


def test_entries_are_of_dataclasses() -> None:
    with pytest.raises(TypeError):
        table(Kind({}, Values.text), NAME).read(Values(Document({})), ("x",))


def _whole_match(_: Any, pattern: str, instance: Any, schema: dict[str, Any]) -> Any:
    """``$`` as the very end, not before a last newline."""
    if isinstance(instance, str) and not re.fullmatch(pattern.removesuffix("$"), instance):
        yield ValidationError("no match")


STANDARD: Any = extend(Draft202012Validator, {"pattern": _whole_match})  # type: ignore[no-untyped-call]
FILES = [ROOT / "campaign.yaml", *sorted((ROOT / "campaigns").glob("*.yaml"))]
DATA = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in FILES]
VALUES = [None, True, 0, -1, 3, 2.0, 1.5, 10**9, "", "a\n", "cores", "on", "tcp", "x y", [], ["a", 1], {}]
ODD = st.sampled_from(VALUES) | st.dictionaries(st.sampled_from(["kind", "nodes", "é"]), st.just(1))


def _places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every container of a document with each key in it."""
    for part in list(value) if isinstance(value, dict) else range(len(value)):
        found.append((value, part))
        if isinstance(value[part], dict | list):
            _places(value[part], found)
    return found


@settings(max_examples=150, deadline=None)
@given(draw=st.data())
def test_shapes_mean_what_the_standard_says(draw: st.DataObject) -> None:
    data = copy.deepcopy(draw.draw(st.sampled_from(DATA)))
    for _ in range(draw.draw(st.integers(1, 3))):
        container, part = draw.draw(st.sampled_from(_places(data, [])))
        container[part] = draw.draw(ODD)
        if isinstance(container, dict) and draw.draw(st.booleans()):
            container[draw.draw(st.sampled_from(["odd", "repeats", "a b", part]))] = container.pop(part)
    schema = campaign_schema()
    expected = {tuple(error.absolute_path) for error in STANDARD(schema).iter_errors(data)}
    problems, _ = check_shape(Document(copy.deepcopy(data)), schema)
    assert bool(problems) == bool(expected)
    assert fits(data, schema, schema["$defs"]) == (not expected)


RULE = re.compile(
    r"it takes letters, digits(?P<spaces>, spaces)? and (?P<signs>[^a-z0-9]+), "
    r"(?:begins with a letter(?: or digit|, digit or (?P<first>[^a-z0-9]+))?|"
    r"does not begin with (?P<never>[^a-z0-9]+)), and has at most (?P<most>[0-9]+) characters$"
)


def _stated_rules() -> list[tuple[str, str]]:
    """The patterns of the campaign file whose messages state which characters they take."""
    found: dict[str, str] = {}

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if isinstance(node.get("pattern"), str) and "it takes letters" in node.get("x-message", ""):
                found[node["pattern"]] = node["x-message"]
            for each in node.values():
                walk(each)
        elif isinstance(node, list):
            for each in node:
                walk(each)

    walk(campaign_schema())
    return [(pattern, text) for pattern, text in found.items() if "environment variable" not in text]


def _obeys(message: str, text: str) -> bool:
    """Whether a text obeys the rule as its message states it."""
    stated = RULE.search(message)
    assert stated, message
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    signs = set(stated["signs"].split()) | set(" " if stated["spaces"] else "")
    alphabet = {*letters, *"0123456789", *signs}
    first = alphabet - set((stated["never"] or "").split()) - set(" ")
    if not stated["never"]:
        first = {
            *letters,
            *("0123456789" if "digit" in stated[0].split("begins")[1] else ""),
            *(stated["first"] or "").split(),
        }
    return 0 < len(text) <= int(stated["most"]) and text[0] in first and set(text) <= alphabet


@pytest.mark.parametrize(("pattern", "message"), _stated_rules())
@settings(max_examples=200, deadline=None)
@given(text=st.text("aZ09_.+-/@%=:,#&|*?![]()~ \"'ü\n$", max_size=5) | st.just("a" * 64) | st.just("a" * 300))
def test_what_is_refused_breaks_the_rule_that_is_stated(pattern: str, message: str, text: str) -> None:
    assert bool(re.fullmatch(pattern.removesuffix("$"), text)) == _obeys(message, text)
