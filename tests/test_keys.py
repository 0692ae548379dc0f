"""YAML with lines, its values as keys of dataclasses, and documents in each plain-text format."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import golden_messages
import pytest
import yaml
from build_campaigns import with_pattern
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.shape import check_shape, fits
from mpicampaign.base.yaml_lines import MAX_BYTES, Document, read_yaml
from mpicampaign.campaign.model import campaign_schema
from mpicampaign.show.document import (
    Box,
    Caption,
    Fold,
    Grid,
    Heading,
    Items,
    Node,
    Paragraph,
    Span,
    Statement,
    Verbatim,
)
from mpicampaign.show.writers.html import WRITER as HTML
from mpicampaign.show.writers.html import html
from mpicampaign.show.writers.markdown import markdown


def read(folder: Path, text: str | bytes) -> Document:
    path = folder / "file.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_yaml(path)


def failure(folder: Path, text: str | bytes) -> Problem:
    with pytest.raises(UserError) as caught:
        read(folder, text)
    return caught.value.problems[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("off", "off"),
        ("no", "no"),
        ("yes", "yes"),
        ("y", "y"),
        ("0:45", "0:45"),
        ("1_000", "1_000"),
        ("2018-10-01", "2018-10-01"),
        ("true", True),
        ("false", False),
        ("'true'", "true"),
        ("12", 12),
        ("-12", -12),
        ("010", 10),
        ("0o10", 8),
        ("0x1F", 31),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("1e999", "1e999"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("9" * 5000, "9" * 5000),
        ('"12"', "12"),
        ("~", None),
        ("null", None),
        ("", None),
        ("''", ""),
        ("=", "="),
        ("grün $(x) 'q'", "grün $(x) 'q'"),
        ('"\\0"', "\0"),
    ],
)
def test_scalars_mean_what_they_say(tmp_path: Path, text: str, value: Any) -> None:
    found = read(tmp_path, f"key: {text}\n").data["key"]
    assert found == value
    assert type(found) is type(value)


def test_quoted_merge_sign_is_a_plain_key(tmp_path: Path) -> None:
    assert read(tmp_path, '"<<": 1\n').data == {"<<": 1}


def test_what_yaml_or_a_campaign_does_not_allow(tmp_path: Path) -> None:
    """With its line and the likely cause; each character given is a byte."""

    def said(text: str) -> object:
        try:
            problems = read(tmp_path, text.encode("latin-1")).problems
        except UserError as error:
            problems = error.problems
        return [str(problem).removeprefix(f"{tmp_path}/") for problem in problems]

    golden_messages.check("mistakes/yaml", said)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"a: " + b"[" * 100_000, "nested deeper"), (b"#" * (MAX_BYTES + 1), "larger than")],
)
def test_a_file_that_is_too_deep_or_too_large(tmp_path: Path, content: bytes, message: str) -> None:
    assert message in failure(tmp_path, content).message


def test_a_folder_is_named_as_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="this is a folder"):
        read_yaml(tmp_path)


@pytest.mark.parametrize("form", ["[{}]", "{{<<: [{}], k{}: 1}}"])
def test_alias_bombs_are_stopped(tmp_path: Path, form: str) -> None:
    lines = ["a0: &a0 {x: 1, y: 2}"]
    for level in range(1, 15):
        aliases = ", ".join([f"*a{level - 1}"] * 10)
        lines.append(f"a{level}: &a{level} " + form.format(aliases, level))
    problem = failure(tmp_path, "\n".join(lines))
    assert "the file holds more than 20000 values" in problem.message
    assert "each alias (*name) counts" in problem.hint


ROOT = Path(__file__).parents[1]


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
    found = {part["pattern"]: part.get("x-message", "") for part in with_pattern(campaign_schema())}
    stated = {pattern: text for pattern, text in found.items() if "it takes letters" in text}
    return [(pattern, text) for pattern, text in stated.items() if "environment variable" not in text]


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
@settings(max_examples=60, deadline=None)
@given(text=st.text("aZ09_.+-/@%=:,#&|*?![]()~ \"'ü\n$", max_size=5) | st.just("a" * 64) | st.just("a" * 300))
def test_what_is_refused_breaks_the_rule_that_is_stated(pattern: str, message: str, text: str) -> None:
    assert bool(re.fullmatch(pattern.removesuffix("$"), text)) == _obeys(message, text)


DOCUMENT: tuple[Node, ...] = (
    Heading("PingPong *"),
    Items(("one", "two")),
    Caption("latency"),
    Grid(
        "",
        1,
        ("row", "", "median", "of"),
        (("g", "", "1.5", "4 B"), ("group", "", "12", ""), ("h", "none")),
        remarks=1,
    ),
    Statement("g is best", ("2 < 3", "3 < 4")),
    Paragraph("median: of the repeats"),
)

MARKDOWN = r"""## PingPong \*

- one
- two

latency

| row |  | median | of |
|---|---:|---:|---|
| g |  | 1.5 | 4 B |
| group |  | 12 |  |
| h | none |  |  |

- g is best
  - 2 &lt; 3
  - 3 &lt; 4

median: of the repeats
"""


def test_markdown_has_marks_and_escapes() -> None:
    assert markdown(DOCUMENT) == MARKDOWN


def test_html_has_every_part() -> None:
    assert html(DOCUMENT).splitlines()[:4] == ["<h2>PingPong *</h2>", "<ul><li>one", "<li>two</ul>", CAPTION]
    text = html(DOCUMENT[4:])
    assert text == "<p>g is best</p>\n<ul><li>2 &lt; 3\n<li>3 &lt; 4</ul>\n<p>median: of the repeats</p>"


CAPTION = '<p class="legend">latency</p>'


def test_hostile_text_is_escaped_wherever_it_stands_in_html() -> None:
    evil = '</td><script>"\x1b'
    grid = Grid(evil, 1, (evil,), ((Box(evil, (evil,), role=evil, below=(evil,)),),), ((evil, evil),))
    nodes = (grid, Fold(Span(evil, evil, evil, evil), (Verbatim(evil, evil), Items((evil,), evil, evil))))
    for text in (html(nodes), HTML.write([grid])):
        assert "<script" not in text and "\x1b" not in text and "&#34;\\x1b" in text


def test_a_page_of_tables_runs_no_script_and_shows_titles_and_footnotes() -> None:
    grid = Grid(
        "PingPong: median", 1, ("group", "SHM"), ((Box("g"), Box("1.5", ("a",))),), (("a", "one run"),)
    )
    page = HTML.write([grid])
    assert "script-src 'none'" in page.replace("&#39;", "'") and "<script" not in page
    assert "<title>PingPong: median</title>" in page and "<caption>PingPong: median</caption>" in page
    assert "1.5<sup>a</sup></tbody>" in page and '<p class="legend"><sup>a</sup> one run</p>' in page
