"""YAML as campaign files use it: plain data with the file and line of each value.

It is stricter than a YAML library, so that a file means what it looks like: scalars are as in YAML 1.2
(``off``, ``no`` and ``0:45`` are texts), a key given twice is an error, there are no tags. Anchors, aliases
and ``<<`` work. Size, depth and expansion are limited.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from mpicampaign.base.errors import Problem, UserError

MAX_BYTES = 1_000_000
MAX_DEPTH = 20
MAX_VALUES = 20_000

Key = tuple[str | int, ...]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_OTHER_BASE = re.compile(r"0(?:o[0-7]{1,18}|x[0-9a-fA-F]{1,15})")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_UNREADABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_MERGE = "<<"
_TYPOGRAPHIC = tuple("\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u201b\xab\xbb")  # quotes


class Mark(NamedTuple):
    """Where a value is written; ``text`` is a scalar as written, so that 010 in a command stays 010."""

    file: str
    line: int
    text: str | None = None


@dataclass(slots=True)
class Document:
    """Plain data, a mark for each key path in it, and the errors that did not stop the reading.

    ``foundation``: a file that users have not written; no error is reported there.
    """

    data: Any = None
    marks: dict[Key, Mark] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    foundation: str = ""

    def mark(self, key: Key) -> Mark:
        """The mark of a value, or of the nearest value around it if it is absent or in the foundation."""
        while key and not self.is_own(key):
            key = key[:-1]
        return self.marks.get(key, Mark("", 1))

    def is_own(self, key: Key) -> bool:
        """Whether a file of the user has this key path, not only the foundation."""
        return key in self.marks and self.marks[key].file != self.foundation

    def items(self, key: Key) -> list[tuple[Key, Any]]:
        """The items of a list with their key paths; a single value is a list of one."""
        value = lookup(self.data, key)
        if isinstance(value, list):
            return [((*key, index), item) for index, item in enumerate(value) if item is not None]
        return [] if value is None else [(key, value)]

    def problem(self, key: Key, message: str, value: str = "", hint: str = "") -> Problem:
        """An error at a key path, with its file and line."""
        mark = self.mark(key)
        return Problem(message, mark.file, mark.line, dotted(key), value, hint)

    def merge(self, other: Document) -> None:
        """Lay another document over this one: mappings key by key, everything else is replaced."""
        self.problems += other.problems
        self._merge(other, ())

    def _merge(self, other: Document, key: Key) -> None:
        mine, theirs = lookup(self.data, key), lookup(other.data, key)
        if not (isinstance(mine, dict) and isinstance(theirs, dict)):
            self._replace(other, key, theirs)
            return
        self.marks[key] = other.marks[key]
        for name, value in theirs.items():
            if name in mine:
                self._merge(other, (*key, name))
            else:
                self._replace(other, (*key, name), value)

    def _replace(self, other: Document, key: Key, value: Any) -> None:
        self.remove(key)
        if key:
            lookup(self.data, key[:-1])[key[-1]] = value
        else:
            self.data = value
        self.marks |= {path: other.marks[path] for path in key_paths(value, key)}

    def remove(self, key: Key) -> None:
        """Remove a value and its marks; an item of a list becomes ``None``."""
        for path in list(key_paths(lookup(self.data, key), key)):
            self.marks.pop(path, None)
        parent = lookup(self.data, key[:-1]) if key else None
        if isinstance(parent, dict):
            parent.pop(key[-1], None)
        elif isinstance(parent, list):
            parent[int(key[-1])] = None


def key_paths(value: Any, key: Key = ()) -> Iterator[Key]:
    """The key path of a value and of all values inside it."""
    yield key
    pairs: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for part, inner in pairs:
        yield from key_paths(inner, (*key, part))


def lookup(data: Any, key: Key) -> Any:
    """The value at a key path, ``None`` where there is none."""
    for part in key:
        if isinstance(data, dict):
            data = data.get(part)
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            return None
    return data


def dotted(key: Key) -> str:
    """A key path as text: ``matrix[0].placements[2]``."""
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else f".{printable(part)}"
    return shortened(text.removeprefix("."), 120)


def shown(value: Any) -> str:
    """A value for an error message: one line, quoted, control characters escaped, not too long."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    return shortened(repr(value), 80)


def printable(text: str) -> str:
    """The text, escaped if it holds characters that a terminal would act on."""
    return text if text.isprintable() else repr(text)


def shortened(text: str, limit: int) -> str:
    """The text; if longer than ``limit`` characters, without its middle."""
    if len(text) <= limit:
        return text
    half = (limit - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def document_of(data: Any, name: str) -> Document:
    """Data of the program itself, as if from a file of this name."""
    marks = {key: Mark(name, 1, _as_written(lookup(data, key))) for key in key_paths(data)}
    return Document(deepcopy(data), marks)


def _as_written(value: Any) -> str | None:
    """A scalar as in a file; None for other values."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else None


def read_yaml(path: Path) -> Document:
    """Read one file.

    Raises
    ------
    UserError
        when the file cannot be read at all: missing, not UTF-8, too large, not YAML. Errors that leave the
        rest readable (a key twice, a tag) are in the document's ``problems``.
    """
    name = printable(str(path))
    text = _file_text(path, name)
    tags = _check_events(text, name)
    try:
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        raise UserError(_syntax_problem(name, text, error)) from error
    reader = _YamlReader(name, tags)
    reader.document.data = reader.value(node, (), 1) if node is not None else None
    return reader.document


def _file_text(path: Path, name: str) -> str:
    raw = _content(path, name)
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise UserError(Problem("this file is UTF-16; save it as UTF-8", name))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        value = f"byte 0x{raw[error.start]:02x}"
        raise UserError(Problem("this file is not UTF-8", name, line, value=value)) from error
    match = _UNREADABLE.search(text)
    if match:
        line = text.count("\n", 0, match.start()) + 1
        raise UserError(Problem("a character that YAML does not allow", name, line, value=ascii(match[0])))
    return text


def _content(path: Path, name: str) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise UserError(Problem(f"this is {'a folder' if path.is_dir() else 'not a file'}", name))
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UserError(Problem(f"this file cannot be read: {reason}", name)) from error
    if len(raw) > MAX_BYTES:
        raise UserError(Problem(f"this file is larger than {MAX_BYTES // 1000} kB", name))
    return raw


def _check_events(text: str, name: str) -> list[Problem]:
    """Limit the depth before composing, which recurses in C; find the tags, which composing hides."""
    tags, depth = [], 0
    try:
        event: Any  # not all classes have a tag
        for event in yaml.parse(text, Loader=_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                line = event.start_mark.line + 1
                raise UserError(Problem(f"nested deeper than {MAX_DEPTH} levels", name, line))
            if getattr(event, "tag", None):
                value = shortened(f"tag {event.tag!r}", 80)
                hint = "a text that begins with ! needs quotes"
                line = event.start_mark.line + 1
                tags.append(Problem("tags are not used in campaign files", name, line, "", value, hint))
    except yaml.YAMLError as error:
        raise UserError(_syntax_problem(name, text, error)) from error
    return tags


_BACKSLASH = "within double quotes a backslash begins an escape; within single quotes it is a character"
# Of the parser's context and reason, and what they mean; {} is the line where the context begins.
_SYNTAX = (
    ("undefined alias", "no anchor of this name is above it; a text that begins with * needs quotes"),
    ("duplicate anchor", "line {} has an anchor of this name already; give one of them another"),
    ("mapping values are not allowed", "a text with a colon in it needs quotes; or the indentation is wrong"),
    ("block sequence entries are not allowed", "a list begins in a line of its own, or is written [a, b]"),
    ("single document", "remove the line '---' between the documents"),
    ("escape ", _BACKSLASH),
    ("hexdecimal", _BACKSLASH),  # as libyaml writes it
    ("quoted scalar", "the quote that begins here is not closed"),
    ("flow sequence", "the [ in line {} is not closed, or a comma is missing"),
    ("flow mapping", "the {{ in line {} is not closed, a comma is missing, or a text with [ ] needs quotes"),
    ("block mapping", "indentation: neither a key of the mapping that begins in line {}, nor part of one"),
    ("block collection", "indentation: neither an item of the list that begins in line {}, nor part of one"),
    ("simple key", "this line is not KEY: VALUE, with a space after the colon"),
    ("<document start>", "indentation: this line begins further left than the first one"),
)


def _syntax_problem(name: str, text: str, error: Any) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    reason = getattr(error, "problem", None) or str(error).splitlines()[0]
    context, start = getattr(error, "context", None) or "", getattr(error, "context_mark", None)
    line = text.split("\n")[mark.line] if mark else ""
    place = start if context.endswith(("quoted scalar", "simple key")) else mark
    hint = next((hint for part, hint in _SYNTAX if part in f"{reason} {context}"), "")
    if "\t" in line[: len(line) - len(line.lstrip())]:
        hint = "this line is indented with a tab; YAML takes spaces only"
    elif "cannot start any token" in reason:
        hint = "a text that begins with @ ` or % needs quotes"
    return Problem(
        f"not valid YAML: {reason}",
        name,
        place.line + 1 if place else None,
        hint=hint.format(start.line + 1 if start else 1),
    )


class _YamlReader:
    """Turns composed nodes into plain data."""

    def __init__(self, name: str, problems: list[Problem]) -> None:
        self.name = name
        self.document = Document(problems=problems)
        self.count = 0

    def value(self, node: yaml.Node, key: Key, line: int) -> Any:
        self._bound(node, key, 1)
        text = node.value if isinstance(node, yaml.ScalarNode) else None
        self.document.marks[key] = Mark(self.name, line, text)
        if isinstance(node, yaml.ScalarNode):
            self._check_quotes(node, key)
            return _scalar(node)
        if isinstance(node, yaml.SequenceNode):
            items = enumerate(node.value)
            return [self.value(item, (*key, index), _line(item)) for index, item in items]
        return self._mapping(node, key)

    def _bound(self, node: yaml.Node, key: Key, count: int) -> None:
        self.count += count
        if self.count > MAX_VALUES or len(key) > MAX_DEPTH:
            limit = f"{MAX_VALUES} values" if self.count > MAX_VALUES else f"{MAX_DEPTH} levels"
            hint = "each alias (*name) counts with all that it repeats; none may repeat itself"
            raise UserError(
                Problem(f"the file holds more than {limit}", self.name, _line(node), dotted(key), "", hint)
            )

    def _mapping(self, node: yaml.Node, key: Key) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, value_node, line in self._pairs(node, key, 0):
            if name not in values:
                values[name] = self.value(value_node, (*key, name), line)
        return values

    def _pairs(self, node: yaml.Node, key: Key, level: int) -> list[tuple[str, yaml.Node, int]]:
        """A mapping's own pairs, then those merged into it; the first of equal names applies."""
        own_pairs: dict[str, tuple[str, yaml.Node, int]] = {}
        merged: list[tuple[str, yaml.Node, int]] = []
        for name_node, value_node in node.value:
            name = self._name(name_node, key)
            if name == _MERGE and not name_node.style:
                merged += self._merged(name_node, value_node, key, level)
            elif name in own_pairs:
                hint = f"it is also in line {own_pairs[name][2]}"
                self._problem(name_node, (*key, name), "this key is given twice", "", hint)
            elif name is not None:
                own_pairs[name] = (name, value_node, _line(name_node))
        return [*own_pairs.values(), *merged]

    def _merged(
        self, sign: yaml.Node, node: yaml.Node, key: Key, level: int
    ) -> list[tuple[str, yaml.Node, int]]:
        pairs: list[tuple[str, yaml.Node, int]] = []
        self._bound(node, (*key, *(_MERGE,) * level), len(node.value))
        for source in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            if isinstance(source, yaml.MappingNode):
                self._bound(source, key, len(source.value))
                pairs += self._pairs(source, key, level + 1)
            else:
                message = "<< takes a mapping, or a list of mappings"
                self._problem(sign, (*key, _MERGE), message, _shown(source))
        return pairs

    def _name(self, node: yaml.Node, key: Key) -> str | None:
        if isinstance(node, yaml.ScalarNode):
            self._check_quotes(node, key)
            return str(node.value)
        self._problem(node, key, "a key must be a single text")
        return None

    def _check_quotes(self, node: yaml.ScalarNode, key: Key) -> None:
        if not node.style and str(node.value).startswith(_TYPOGRAPHIC):
            message = "typographic quotes are part of the text, not quotes"
            self._problem(node, key, message, shown(node.value), """write "…"; or '“…”' if they are meant""")

    def _problem(self, node: yaml.Node, key: Key, message: str, value: str = "", hint: str = "") -> None:
        problem = Problem(message, self.name, _line(node), dotted(key), value, hint)
        if problem not in self.document.problems:
            self.document.problems.append(problem)


def _shown(node: yaml.Node) -> str:
    return shown(node.value) if isinstance(node, yaml.ScalarNode) else "a list"


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _scalar(node: yaml.ScalarNode) -> str | int | float | bool | None:
    text = str(node.value)
    if node.style:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _OTHER_BASE.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text
