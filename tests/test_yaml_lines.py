"""Reading YAML with lines: meanings and positions of values, and deceptive files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.yaml_lines import MAX_BYTES, Document, read_yaml

if TYPE_CHECKING:
    from pathlib import Path


def read(folder: Path, text: str | bytes) -> Document:
    path = folder / "file.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_yaml(path, "file.yaml")


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


@pytest.mark.parametrize(
    ("text", "line", "value"),
    [
        (
            "a: 1\nb: !!python/object/apply:os.system [x]\n",
            2,
            "tag 'tag:yaml.org,2002:python/object/apply:os.system'",
        ),
        ("a: 1\nb: !!str [x]\n", 2, "tag 'tag:yaml.org,2002:str'"),
        ("a: 1\nb: !own [x]\n", 2, "tag '!own'"),
        ("a: 1\nb: ! [x]\n", 2, "tag '!'"),
        ("a: 1\n? [x, y]\n: 2\n", 2, "a key must be a single text"),
        ("a: &l [5]\nb:\n  <<: *l\n", 3, "b.<<: '5'"),
    ],
)
def test_what_yaml_allows_and_a_campaign_does_not(tmp_path: Path, text: str, line: int, value: str) -> None:
    (problem,) = read(tmp_path, text).problems
    assert problem.line == line
    assert value in (problem.value, problem.message, f"{problem.key}: {problem.value}")


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"a: 1\nb: caf\xe9\n", 2, "not UTF-8"),
        ("a: 1".encode("utf-16"), None, "UTF-16"),
        (b"a: 1\nb: \x00\n", 2, "a character that YAML does not allow"),
        (b"a: 1\nb: \x1b[31m\n", 2, "a character that YAML does not allow"),
        (b"a:\n\tb: 1\n", 2, "not valid YAML"),
        (b"a: [1,\nb: 2\n", 3, "not valid YAML"),
        (b"a: 1\nb: c: d\n", 2, "not valid YAML"),
        (b"a: 1\nb: *nowhere\n", 2, "no anchor nowhere is defined above"),
        (b"a: *later\nb: &later 1\n", 1, "no anchor later is defined above"),
        (b"a: &x 1\nb: &x 2\n", 2, "anchor x is defined twice"),
        (b"a: 1\n---\nb: 2\n", 2, "not valid YAML"),
        (b'a: 1\nb: "\\ud800"\n', 2, "not valid YAML"),
        (b"a: " + b"[" * 100_000, 1, "nested deeper"),
        (b"a: 1\nb: &x [*x]\n", 2, "anchor x refers to itself"),
        (b"a: &x\n  <<: *x\n", 2, "anchor x refers to itself"),
        (b"a: &x\n  b: &y [1, 2]\n  c:\n    - d: [*y, *x]\n", 4, "anchor x refers to itself"),
        (b"#" * (MAX_BYTES + 1), None, "larger than"),
    ],
)
def test_unreadable_files_are_reported_with_their_line(
    tmp_path: Path, content: bytes, line: int | None, message: str
) -> None:
    problem = failure(tmp_path, content)
    assert problem.file == "file.yaml"
    assert problem.line == line
    assert message in problem.message


@pytest.mark.parametrize(
    ("text", "hint"),
    [("a: [1,\nb: 2\n", "line 1"), ("a:\n\tb: 1\n", "with a tab"), ("a: @x\n", "@ ` or %")],
)
def test_the_hint_names_the_likely_cause(tmp_path: Path, text: str, hint: str) -> None:
    assert hint in failure(tmp_path, text).hint


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


def test_documents_are_merged_mapping_by_mapping(tmp_path: Path) -> None:
    below = read(tmp_path, "a: {x: 1, y: {p: 1, q: [1, 2, 3]}}\nb: 1\n")
    above = read(tmp_path, "\n\n\na:\n  y:\n    q: [9]\n  z: new\nb: {c: 1}\n")
    below.merge(above)
    assert below.data == {"a": {"x": 1, "y": {"p": 1, "q": [9]}, "z": "new"}, "b": {"c": 1}}
    assert below.mark(("a", "x")).line == 1
    assert below.mark(("a", "y", "q", 0)).line == 6
    assert ("a", "y", "q", 1) not in below.marks
    assert below.mark(("b", "c")).line == 8
