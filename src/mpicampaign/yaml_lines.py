"""YAML as campaign files use it: plain data with the file and line of each value.

It is stricter than a YAML library, so that a file means what it looks like: scalars are as in YAML 1.2
(``off``, ``no`` and ``0:45`` are texts), a key given twice is an error, there are no tags. Anchors, aliases
and ``<<`` work. Size, depth and expansion are limited.
"""

from __future__ import annotations

import math
import re
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from mpicampaign.errors import Problem, UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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


def read_yaml(path: Path, name: str = "") -> Document:
    """Read one file; ``name``: its name in messages, by default its path.

    Raises
    ------
    UserError
        when the file cannot be read at all: missing, not UTF-8, too large, not YAML. Errors that leave the
        rest readable (a key twice, a tag) are in the document's ``problems``.
    """
    name = name or printable(str(path))
    text = _text(path, name)
    tags = _check_events(text, name)
    try:
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        raise UserError(_syntax_problem(name, error)) from error
    reader = _YamlReader(name, tags)
    reader.document.data = reader.value(node, (), 1) if node is not None else None
    return reader.document


def _text(path: Path, name: str) -> str:
    raw = _content(path, name)
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise UserError(Problem("this file is UTF-16; save it as UTF-8", name))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        value = f"byte 0x{raw[error.start]:02x}"
        raise UserError(Problem("this file is not UTF-8", name, line, value=value)) from error
    found = _UNREADABLE.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        raise UserError(Problem("a character that YAML does not allow", name, line, value=ascii(found[0])))
    return text


def _content(path: Path, name: str) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise UserError(Problem("this is not a file", name))
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
    depth, tags = 0, []
    try:
        event: Any  # not all classes have a tag
        for event in yaml.parse(text, Loader=_LOADER):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > MAX_DEPTH:
                line = event.start_mark.line + 1
                raise UserError(Problem(f"nested deeper than {MAX_DEPTH} levels", name, line))
            if getattr(event, "tag", None):
                value = shortened(f"tag {event.tag!r}", 80)
                hint = "a text that begins with ! needs quotes"
                line = event.start_mark.line + 1
                tags.append(Problem("tags are not used in campaign files", name, line, "", value, hint))
    except yaml.YAMLError as error:
        raise UserError(_syntax_problem(name, error)) from error
    return tags


def _syntax_problem(name: str, error: Any) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    reason = getattr(error, "problem", None) or str(error).splitlines()[0]
    hint = ""
    if "cannot start any token" in reason:
        hint = "YAML is indented with spaces, not tabs; texts that begin with @ ` % need quotes"
    elif "mapping values are not allowed" in reason:
        hint = "a text with a colon and a space in it needs quotes; or the indentation is wrong"
    elif "undefined alias" in reason:
        hint = "a text that begins with * needs quotes; an anchor (&name) holds within its own file"
    elif "single document" in reason:
        hint = "remove the line '---' between the documents"
    elif getattr(error, "context", None) and error.context_mark:
        hint = f"{error.context} that begins in line {error.context_mark.line + 1}"
    return Problem(f"not valid YAML: {reason}", name, mark.line + 1 if mark else None, hint=hint)


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
            return _scalar(node)
        if isinstance(node, yaml.SequenceNode):
            items = enumerate(node.value)
            return [self.value(item, (*key, index), _line(item)) for index, item in items]
        return self._mapping(node, key)

    def _bound(self, node: yaml.Node, key: Key, count: int) -> None:
        self.count += count
        if self.count > MAX_VALUES or len(key) > MAX_DEPTH:
            message = f"more than {MAX_VALUES} values or {MAX_DEPTH} levels, aliases expanded"
            raise UserError(Problem(message, self.name, _line(node), dotted(key)))

    def _mapping(self, node: yaml.Node, key: Key) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, value_node, line in self._pairs(node, key, 0):
            if name not in values:
                values[name] = self.value(value_node, (*key, name), line)
        return values

    def _pairs(self, node: yaml.Node, key: Key, level: int) -> list[tuple[str, yaml.Node, int]]:
        """A mapping's own pairs, then those merged into it; the first of equal names applies."""
        own: dict[str, tuple[str, yaml.Node, int]] = {}
        merged: list[tuple[str, yaml.Node, int]] = []
        for name_node, value_node in node.value:
            name = self._name(name_node, key)
            if name == _MERGE and not name_node.style:
                merged += self._merged(value_node, key, level)
            elif name in own:
                hint = f"it is also in line {own[name][2]}"
                self._problem(name_node, (*key, name), "this key is given twice", "", hint)
            elif name is not None:
                own[name] = (name, value_node, _line(name_node))
        return [*own.values(), *merged]

    def _merged(self, node: yaml.Node, key: Key, level: int) -> list[tuple[str, yaml.Node, int]]:
        found: list[tuple[str, yaml.Node, int]] = []
        self._bound(node, (*key, *(_MERGE,) * level), len(node.value))
        for source in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            if isinstance(source, yaml.MappingNode):
                self._bound(source, key, len(source.value))
                found += self._pairs(source, key, level + 1)
            else:
                self._problem(node, (*key, _MERGE), "<< takes a mapping, or a list of mappings")
        return found

    def _name(self, node: yaml.Node, key: Key) -> str | None:
        if isinstance(node, yaml.ScalarNode):
            return str(node.value)
        self._problem(node, key, "a key must be a single text")
        return None

    def _problem(self, node: yaml.Node, key: Key, message: str, value: str = "", hint: str = "") -> None:
        problem = Problem(message, self.name, _line(node), dotted(key), value, hint)
        if problem not in self.document.problems:
            self.document.problems.append(problem)


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
