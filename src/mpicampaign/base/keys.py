"""Keys of a YAML file as fields of dataclasses: defined once, then checked, read and documented from there.

A field made by `key` carries the kind of its value, a title, description, default and examples. `schema_of`
makes the JSON Schema, `Values.entry` the objects. `mpicampaign.base.shape` checks a file by the schema.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, NamedTuple, TypeVar

from mpicampaign.base.errors import Problem
from mpicampaign.base.units import parse_duration, parse_flop_rate, parse_size
from mpicampaign.base.yaml_lines import Document, Key, lookup, shown

T = TypeVar("T")

MAX_SECONDS = 366 * 86400
DRAFT = "https://json-schema.org/draft/2020-12/schema"
_ABOUT = "key"


@dataclass(frozen=True, eq=False)
class Kind:
    """The kind of value that a key takes.

    Parameters
    ----------
    schema : as JSON Schema; it may hold other kinds
    read : makes the value of the field from data of the right shape
    absent : the field's value where the key is missing and has no default
    instead : value of a required key that is missing, so that the rest can be checked
    name : the schema is written once under this name and referenced
    entry : the dataclass whose objects it describes
    """

    schema: Mapping[str, Any]
    read: Callable[[Values, Key], Any]
    absent: Any = ""
    instead: Any = None
    name: str = ""
    entry: type | None = None


class About(NamedTuple):
    """Schema and documentation of a key. ``default`` is as in a file; ``None``: there is none."""

    kind: Kind
    title: str
    description: str
    key: str
    default: Any
    examples: tuple[Any, ...]
    required: bool

    @property
    def schema(self) -> dict[str, Any]:
        """The schema of the key; its texts replace those of the kind."""
        kind = {"$ref": self.kind} if self.kind.name else self.kind.schema
        texts = {"title": self.title, "description": self.description}
        schema = {name: text for name, text in texts.items() if text} | dict(kind)
        schema |= {"default": self.default} if self.default is not None else {}
        return schema | ({"examples": list(self.examples)} if self.examples else {})


def key(
    kind: Kind | type,
    title: str,
    description: str = "",
    *examples: Any,
    default: Any = None,
    required: bool = False,
    name: str = "",
) -> Any:
    """A field that a key of the file sets; ``name``: of the key, if it differs from the field's."""
    kind = kind if isinstance(kind, Kind) else kind_of(kind)
    about = {_ABOUT: About(kind, title, description, name, default, examples, required)}
    if required:
        return field(metadata=about)
    value = kind.absent if default is None else kind.read(Values(Document({"": default})), ("",))
    if isinstance(value, dict):
        return field(default_factory=value.copy, metadata=about)
    return field(default=value, metadata=about)


@cache
def keys_of(entry: Any) -> dict[str, tuple[str, About]]:
    """The fields of a dataclass that keys set: each with its key, in the order of the class."""
    abouts = ((attribute.name, attribute.metadata.get(_ABOUT)) for attribute in fields(entry))
    return {name: (about.key or name, about) for name, about in abouts if about}


@cache
def _is_named(entry: Any) -> bool:
    """Whether the name of an object is its key in a table, not a key of its own."""
    return "name" not in keys_of(entry) and any(attribute.name == "name" for attribute in fields(entry))


# ---- values


class Values:
    """Typed values of a document; those that cannot be read are noted in ``problems``.

    Works on what is left of a faulty file: the errors found so far are noted and their values removed. The
    result then only serves to find further errors.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []
        self.faulty: list[Key] = []  # key paths of the values with these problems

    def entry(self, made: Callable[..., T], key: Key, **given: Any) -> T:
        """An object of a dataclass; ``given`` fields are not read. A text alone gives its first key."""
        if isinstance(self.get(key), str):
            return made(self.text(key))
        if _is_named(made):
            given = {"name": key[-1], **given}
        for name, (part, about) in keys_of(made).items():
            if name in given:
                continue
            if self.get((*key, part)) is not None:
                given[name] = about.kind.read(self, (*key, part))
            elif about.required:
                given[name] = self._placeholder(about.kind, (*key, part))
        return made(**given)

    def _placeholder(self, kind: Kind, key: Key) -> Any:
        """What stands for a required value that is missing, so that the rest can be checked."""
        if kind.entry:
            return self.entry(kind.entry, key)
        return copy(kind.absent if kind.instead is None else kind.instead)

    def table(self, made: Callable[..., T], key: Key) -> dict[str, T]:
        """Objects by name."""
        return {name: self.entry(made, (*key, name)) for name in self.get(key) or {}}

    def entries(self, made: Callable[..., T], key: Key) -> tuple[T, ...]:
        """The objects of a list."""
        return tuple(self.entry(made, item) for item, _ in self.document.items(key))

    def get(self, key: Key) -> Any:
        """The plain value; ``None`` where it is absent."""
        return lookup(self.document.data, key)

    def text(self, key: Key) -> str:
        """A scalar as written in the file; empty where it is absent."""
        value = self.get(key)
        if isinstance(value, str):
            return value
        mark = self.document.marks.get(key)
        return mark.text if value is not None and mark and mark.text is not None else ""

    def texts(self, key: Key) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(self.text(item) for item, _ in self.document.items(key))

    def tokens(self, key: Key) -> tuple[str, ...]:
        """A list as it is; a single text split into tokens as a shell does, nothing expanded."""
        if isinstance(self.get(key), list):
            return self.texts(key)
        return tuple(self.parsed(key, _split) or ())

    def mapping(self, key: Key) -> dict[str, str]:
        """Texts by name."""
        return {name: self.text((*key, name)) for name in self.get(key) or {}}

    def whole_number(self, key: Key) -> int:
        """A whole number; a file may also write it as 1.0."""
        return int(self.get(key))

    def sizes(self, key: Key) -> tuple[int, ...]:
        """Sizes in bytes."""
        sizes = [self.parsed(item, parse_size) for item, _ in self.document.items(key)]
        return tuple(size for size in sizes if size is not None)

    def seconds(self, key: Key) -> int:
        """A duration in whole seconds; 0 where it cannot be read."""
        return self.parsed(key, _whole_seconds) or 0

    def parsed(self, key: Key, parse: Callable[[str], T]) -> T | None:
        """A text read by a function that raises ValueError; ``None`` where it is absent or faulty."""
        if self.get(key) is None or key in self.faulty:
            return None
        try:
            return parse(self.text(key))
        except ValueError as error:
            self.faulty.append(key)
            hint = "several are a list: [a, b]" if "," in self.text(key) and isinstance(key[-1], str) else ""
            self.problems.append(self.document.problem(key, str(error), shown(self.text(key)), hint))
            return None


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        reason = str(error).lower()
        raise ValueError(f"cannot be split into tokens: {reason}; a list needs no quotes") from error


def _whole_seconds(text: str) -> int:
    seconds = parse_duration(text)
    if not 1 <= seconds <= MAX_SECONDS:
        raise ValueError("must be between 1 s and a year")
    return math.ceil(seconds)


# ---- kinds


def text(pattern: str, message: str, name: str = "", **more: Any) -> Kind:
    """A text that must match a pattern as a whole; ``message`` is the error."""
    return Kind({"type": "string", "pattern": pattern, "x-message": message, **more}, Values.text, name=name)


def texts(pattern: str, message: str, name: str = "", **more: Any) -> Kind:
    """A list of such texts; a single one is a list of one."""
    rules = {"pattern": pattern, "x-message": message}
    items = {"items": {"type": "string", **rules}}
    schema = {"type": ["string", "array"], **rules, **items, **more}
    return Kind(schema, Values.texts, absent=(), name=name)


def rule(what: str, signs: str, not_first: str, most: int = 255) -> tuple[str, str]:
    """Pattern and message of a text of letters, digits and some signs: the message states all of the pattern.

    ``not_first``: those signs with which it does not begin. ``most``: how many characters it has at most.
    """
    first = "".join(sign for sign in signs if sign not in not_first)
    pattern = f"^[A-Za-z0-9{_in_class(first)}][A-Za-z0-9{_in_class(signs)}]{{0,{most - 1}}}$"
    begins = f"does not begin with {_listed(not_first)}"
    if len(first) < len(not_first):
        begins = "begins with a letter" + (f", digit or {_listed(first)}" if first else " or digit")
    spaces = ", spaces" if " " in signs else ""
    takes = f"letters, digits{spaces} and {_listed(signs)}"
    return pattern, f"{what}: it takes {takes}, {begins}, and has at most {most} characters"


def _in_class(signs: str) -> str:
    """Signs inside the brackets of a pattern; a minus comes last."""
    plain = "".join(f"\\{sign}" if sign in "[]\\^" else sign for sign in signs if sign != "-")
    return plain + "-" * ("-" in signs)


def _listed(signs: str) -> str:
    return " ".join(sign for sign in signs if sign != " ")


def count(minimum: int, maximum: int) -> Kind:
    """A whole number within limits."""
    limits = {"type": "integer", "minimum": minimum, "maximum": maximum}
    return Kind(limits, Values.whole_number, absent=None, instead=minimum)


def choice(names: Iterable[str]) -> Kind:
    """One of several names."""
    return Kind({"type": "string", "enum": list(names)}, Values.text)


def flag() -> Kind:
    """True or false."""
    return Kind({"type": "boolean"}, Values.get, absent=None)


def sizes(name: str = "", **schema: Any) -> Kind:
    """Sizes, read as numbers of bytes."""
    return Kind(schema, Values.sizes, absent=(), name=name)


def mapping(names: Kind | None, value: Kind | Mapping[str, Any], kind_name: str = "", **more: Any) -> Kind:
    """Texts by name; ``names``: kind of the names."""
    rule = {} if names is None else {"propertyNames": names}
    schema = {"type": "object", **rule, "additionalProperties": value, **more}
    return Kind(schema, Values.mapping, absent={}, name=kind_name)


def entry(
    name: str = "", title: str = "", description: str = "", text: Mapping[str, Any] | None = None
) -> Callable[[type[T]], type[T]]:
    """Make a dataclass the description of a mapping: its keys are those of its fields; see `kind_of`.

    ``name``: as `Kind`. ``description``: by default the first line of the class's docstring. ``text``: schema
    of a text in place of the mapping, for its first key.
    """

    def describe(made: type[T]) -> type[T]:
        _KINDS[made] = _kind_of_entry(made, name, title, description, text)
        return made

    return describe


def _kind_of_entry(
    made: Any, name: str, title: str, description: str, text: Mapping[str, Any] | None
) -> Kind:
    first_line = (made.__doc__ or "").partition("\n")[0]
    keys = keys_of(made).values()
    required = [key for key, about in keys if about.required]
    schema = {
        **({"title": title, "description": description or first_line} if title else {}),
        **({"type": ["string", "object"], **text} if text else {"type": "object"}),
        **({"required": required} if required else {}),
        "properties": {key: about.schema for key, about in keys},
        "additionalProperties": False,
    }

    def read(values: Values, key: Key) -> Any:
        return values.entry(made, key) if values.get(key) is not None else None

    return Kind(schema, read, absent=None, name=name, entry=made)


_KINDS: dict[type, Kind] = {}


def kind_of(made: type) -> Kind:
    """The kind of value that an `entry` describes."""
    return _KINDS[made]


def table(made: type[T], names: Kind, **more: Any) -> Kind:
    """Entries by name."""
    schema = {"type": "object", "propertyNames": names, "additionalProperties": kind_of(made), **more}
    return Kind(schema, lambda values, key: values.table(made, key), absent={})


def chosen(made: type[T], names: Iterable[str]) -> Kind:
    """Entries with one of the given names."""
    properties = dict.fromkeys(names, kind_of(made))
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return Kind(schema, lambda values, key: values.table(made, key), absent={})


def entries(made: type[T], **schema: Any) -> Kind:
    """A list of entries."""
    return Kind({**schema, "items": kind_of(made)}, lambda values, key: values.entries(made, key), absent=())


NAME = text(*rule("not usable as a name", "._+-", "._+-", 64), name="name")
NAME_RULE = {keyword: NAME.schema[keyword] for keyword in ("pattern", "x-message")}
NAMES = texts(*rule("not a name (several are a list: [a, b])", "._+-", "._+-", 64), name="names", minItems=1)
LINE = text(
    r"^[^\u0000-\u001f\u007f\u0085\u2028\u2029]*$",
    "must be a text of one line without control characters",
    name="line",
)

FLOP_RATE = Kind(
    {"type": "string", "x-type": "rate of operations"},
    lambda values, key: values.parsed(key, parse_flop_rate),
    absent=None,
)
ATTRIBUTES = mapping(
    text(*rule("not usable as the name of an attribute", "._- ", "._- ", 32)),
    text(
        r"^[^\u0000-\u001f\u007f\u0085\u2028\u2029]{1,64}$",
        "must be a text of one line with 1 to 64 characters, or a number",
        type=["string", "number"],
    ),
    kind_name="attributes",
)
ATTRIBUTES_TEXT = (
    "What the hosts are",
    "Names and values of your choice, by which host groups are compared. They are not part of a run.",
    {"cpu": "Broadwell", "year": 2016, "infiniband": "FDR", "ethernet": "10 GbE", "adapters": 1},
)


# ---- schema


def schema_of(file: type) -> dict[str, Any]:
    """The JSON Schema of a file; named kinds are in its ``$defs``."""
    defs: dict[str, Any] = {}
    schema = _plain(kind_of(file).schema, defs)
    return {"$schema": DRAFT, **schema, "$defs": defs}


def _plain(value: Any, defs: dict[str, Any]) -> Any:
    """A schema as plain data; the definitions that it references are added to ``defs``."""
    if isinstance(value, Kind):
        return {"$ref": _reference(value, defs)} if value.name else _plain(value.schema, defs)
    if isinstance(value, dict):
        return {
            name: _reference(item, defs) if name == "$ref" else _plain(item, defs)
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_plain(item, defs) for item in value]
    return value


def _reference(kind: Kind, defs: dict[str, Any]) -> str:
    if kind.name not in defs:
        defs[kind.name] = {}  # keeps its place before those that it references
        defs[kind.name] = _plain(kind.schema, defs)
    return f"#/$defs/{kind.name}"
