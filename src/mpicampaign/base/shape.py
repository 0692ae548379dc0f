"""The shape of a YAML file, checked by a JSON Schema; errors are in plain English.

This covers the part of JSON Schema that `mpicampaign.base.keys` makes, with the meaning of the standard.
Loading a library for all of it takes longer than the rest of a call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from mpicampaign.base.errors import Problem, did_you_mean, nearest, suggestion
from mpicampaign.base.yaml_lines import Document, Key, shown

Schema = Mapping[str, Any]

TYPES = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
}
_LIMITS = {
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "minItems": "must name at least {}",
    "minProperties": "must hold at least {}",
}
_NO_SHAPE = {"$schema", "$defs", "title", "description", "default", "examples", "then"}


def check_shape(document: Document, schema: Schema) -> tuple[list[Problem], list[Key]]:
    """What does not fit the schema of a file, and the key paths that this leaves in doubt.

    Faulty values are removed from the document, so that the rest can be checked further.
    """
    problems: list[Problem] = []
    doubts: list[Key] = []
    faulty: list[Key] = []
    for misfit in list(_Shape(schema.get("$defs", {}), schema).misfits(document.data, schema, ())):
        problems.append(document.problem(misfit.key, misfit.message, misfit.value, misfit.hint))
        faulty.append(misfit.key)
        doubts += [misfit.key, *misfit.also]
    for key in faulty:
        document.remove(key)
    return problems, doubts


def fits(value: Any, schema: Schema, definitions: Schema) -> bool:
    """Whether a value has the shape of a schema."""
    return next(_Shape(definitions, {}).misfits(value, schema, ()), None) is None


class _Misfit(NamedTuple):
    """``also``: key paths that the user may have meant."""

    key: Key
    message: str
    value: str = ""
    hint: str = ""
    also: tuple[Key, ...] = ()


class _Shape:
    """Walks through a value and a schema; each keyword has a method of its name."""

    def __init__(self, definitions: Schema, document: Schema) -> None:
        self._definitions = definitions
        self._whole = document

    def misfits(self, value: Any, schema: Schema, key: Key) -> Iterator[_Misfit]:
        """What does not fit, keyword by keyword in the order of the schema.

        Raises
        ------
        AttributeError
            where the schema has an unknown keyword.
        """
        for keyword, expected in schema.items():
            if keyword in _LIMITS:
                yield from _limit(keyword, value, expected, key)
            elif keyword not in _NO_SHAPE and not keyword.startswith("x-"):
                check = getattr(self, "_" + keyword.removeprefix("$"))
                yield from check(value, expected, schema, key)

    def _ref(self, value: Any, expected: str, schema: Schema, key: Key) -> Iterator[_Misfit]:
        yield from self.misfits(value, self._definitions[expected.rsplit("/", 1)[-1]], key)

    def _type(self, value: Any, expected: str | list[str], schema: Schema, key: Key) -> Iterator[_Misfit]:
        names = [expected] if isinstance(expected, str) else expected
        if "enum" in schema:
            return  # says what there is
        if not any(_is(value, name) for name in names):
            of_texts = schema.get("then", {}).get("x-message")  # a number, or a word in its place
            message = of_texts or f"must be {either([TYPES[name] for name in names])}"
            hint = "" if of_texts else _type_hint(value, names, schema)
            yield _Misfit(key, message, shown(value), hint)

    def _enum(self, value: Any, expected: list[str], schema: Schema, key: Key) -> Iterator[_Misfit]:
        if value not in expected:
            message = schema.get("x-message", f"must be {either(expected)}")
            hint = suggestion(str(value), expected) or _number_hint(value)
            yield _Misfit(key, message, shown(value), hint)

    def _pattern(self, value: Any, expected: str, schema: Schema, key: Key) -> Iterator[_Misfit]:
        """``$`` means the very end; in Python it also matches before a final newline."""
        if isinstance(value, str) and not re.fullmatch(expected.removesuffix("$"), value):
            yield _Misfit(key, str(schema["x-message"]), shown(value))

    def _if(self, value: Any, expected: Schema, schema: Schema, key: Key) -> Iterator[_Misfit]:
        if fits(value, expected, self._definitions):
            yield from self.misfits(value, schema["then"], key)

    def _required(self, value: Any, expected: list[str], schema: Schema, key: Key) -> Iterator[_Misfit]:
        for name in expected if isinstance(value, dict) else ():
            known = schema["properties"]
            if name not in {*value, *(nearest(given, known) for given in value if given not in known)}:
                about = known[name]
                such = f"such as {name}: {str(*about.get('examples', [''])[:1])}".replace("'", "")
                hint = f"{about['title']}. {about['description']}" if "description" in about else such
                yield _Misfit((*key, name), "this key is missing", "", hint)

    def _properties(self, value: Any, expected: Schema, schema: Schema, key: Key) -> Iterator[_Misfit]:
        for name, key_schema in expected.items() if isinstance(value, dict) else ():
            if name in value:
                yield from self.misfits(value[name], key_schema, (*key, name))

    def _additionalProperties(  # noqa: N802 - a keyword of the standard
        self, value: Any, expected: Schema | bool, schema: Schema, key: Key
    ) -> Iterator[_Misfit]:
        known = schema.get("properties", {})
        for name in value if isinstance(value, dict) else ():
            if name in known:
                continue
            if isinstance(expected, bool):
                yield self._unknown_key(name, value[name], known, key)
            elif name in self._keys(expected) and not isinstance(value[name], dict):
                message = f"{name} is a key inside of an entry here, not the name of one"
                yield _Misfit((*key, name), message, "", "indent it further, below the name of its entry")
            else:
                yield from self.misfits(value[name], expected, (*key, name))

    def _keys(self, schema: Schema) -> Schema:
        """The keys of a mapping with this schema."""
        resolved = schema
        if "$ref" in schema:
            resolved = self._definitions[schema["$ref"].rsplit("/", 1)[-1]]
        properties: Schema = resolved.get("properties", {})
        return properties

    def _unknown_key(self, name: str, value: Any, known: Schema, key: Key) -> _Misfit:
        sections = self._sections_with(name)
        meant = "" if sections else nearest(name, known)
        hint = did_you_mean(name, known)
        if sections:
            hint = f"it is a key of {either(sections)}"
        elif value is None and not meant:
            hint = "a key needs a value; inside { } a text with a comma in it needs quotes"
        also = ((*key, meant),) if meant else ()
        return _Misfit((*key, name), f"unknown key {shown(name)}", "", hint, also)

    def _sections_with(self, name: str) -> list[str]:
        """The sections of the file whose entries have a key of this name; ``the file``: at its top."""
        tops = self._whole.get("properties", {})
        entries = ((top, section.get("additionalProperties")) for top, section in tops.items())
        sections = [top for top, entry in entries if isinstance(entry, dict) and name in self._keys(entry)]
        return [*(["the file, at its top"] if name in tops else []), *sections]

    def _propertyNames(  # noqa: N802 - a keyword of the standard
        self, value: Any, expected: Schema, schema: Schema, key: Key
    ) -> Iterator[_Misfit]:
        for name in value if isinstance(value, dict) else ():
            yield from self.misfits(name, expected, (*key, name))

    def _items(self, value: Any, expected: Schema, schema: Schema, key: Key) -> Iterator[_Misfit]:
        for index, item in enumerate(value) if isinstance(value, list) else ():
            yield from self.misfits(item, expected, (*key, index))


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if isinstance(value, float):
        return name == "number" or (name == "integer" and value.is_integer())
    classes: dict[str, Any] = {"string": str, "number": int, "integer": int, "array": list, "object": dict}
    return name in classes and isinstance(value, classes[name])


def _limit(keyword: str, value: Any, expected: float, key: Key) -> Iterator[_Misfit]:
    measured: Any = None
    if keyword in ("minimum", "maximum"):
        measured = value if _is(value, "number") else None
    elif isinstance(value, list if keyword == "minItems" else dict):
        measured = len(value)
    if measured is not None and (measured > expected if keyword == "maximum" else measured < expected):
        yield _Misfit(key, _LIMITS[keyword].format(expected), shown(value))


_BOOLEANS = {
    **dict.fromkeys(("true", "yes", "on"), "write true, without quotes"),
    **dict.fromkeys(("false", "no", "off"), "write false, without quotes"),
}


def _type_hint(value: Any, names: list[str], schema: Schema) -> str:
    """What to do about a value of another type."""
    if isinstance(value, list | dict):
        return _nesting_hint(value, names)
    if "object" in names:
        required = ", ".join(f"{name}: …" for name in schema.get("required", ["KEY"]))
        return f"write {{{required}}}, or its keys below, indented further"
    if isinstance(value, str) and "boolean" in names:
        return _BOOLEANS.get(value.lower(), "")
    if isinstance(value, str):
        return _number_hint(value) if {"integer", "number"} & {*names} else ""
    if "string" not in names:
        return ""
    if value is None:
        return 'an empty text is written ""'
    return "it needs a unit" if schema.get("x-type", "").startswith("rate") else "write it in quotes"


def _nesting_hint(value: list[Any] | dict[str, Any], names: list[str]) -> str:
    if "array" in names:
        return "a list is written [a, b], or with a - in front of each item"
    if "object" in names:
        return "each name is a key: write NAME: …, without a - in front of it"
    return "one - or one pair of [ ] too many" if isinstance(value, list) else ""


def _number_hint(value: Any) -> str:
    match = isinstance(value, str) and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", value)
    return "write it without quotes" if match else ""


def either(names: list[str]) -> str:
    """``a, b or c``."""
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
