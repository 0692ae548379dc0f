"""The shape of a YAML file, held against a JSON Schema; mistakes are told in words of people."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from mpicampaign.errors import did_you_mean
from mpicampaign.yaml_lines import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mpicampaign.errors import Problem
    from mpicampaign.yaml_lines import Document, Key

_Fault = Any  # a ValidationError of jsonschema, whose attributes its stubs type as possibly unset

_TYPES = {
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


def check_shape(document: Document, schema: Path) -> tuple[list[Problem], list[Key]]:
    """What does not fit the schema of a file, and the key paths that this leaves in doubt.

    Faulty values are taken out of the document, so that the rest can be checked further.
    """
    problems: list[Problem] = []
    doubts: list[Key] = []
    faulty: list[Key] = []
    for error in list(_validator(schema).iter_errors(document.data)):
        for mistake in _mistakes(error):
            problems.append(document.problem(mistake.key, mistake.message, mistake.value, mistake.hint))
            faulty.append(mistake.key)
            doubts += [mistake.key, *mistake.also]
    for key in faulty:
        document.remove(key)
    return problems, doubts


@dataclass(frozen=True, slots=True)
class _Mistake:
    """``also``: key paths that were perhaps meant."""

    key: Key
    message: str
    value: str = ""
    hint: str = ""
    also: tuple[Key, ...] = ()


def _whole_match(
    _validator: Any, pattern: str, instance: Any, _schema: dict[str, Any]
) -> Iterator[ValidationError]:
    """The keyword ``pattern``, but ``$`` is the very end: in Python it also matches before a last newline."""
    if isinstance(instance, str) and not re.fullmatch(pattern.removesuffix("$"), instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


@cache
def _validator(schema: Path) -> Draft202012Validator:
    extended: Any = extend(Draft202012Validator, {"pattern": _whole_match})  # type: ignore[no-untyped-call]
    validator: Draft202012Validator = extended(json.loads(schema.read_text(encoding="utf-8")))
    return validator


def _mistakes(error: _Fault) -> Iterator[_Mistake]:
    key: Key = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        yield from _unknown_keys(key, error)
    elif error.validator == "required":
        yield from _missing_key(key, error)
    elif "propertyNames" in error.absolute_schema_path:
        yield _Mistake((*key, error.instance), _pattern_message(error), shown(error.instance))
    else:
        yield _wrong_value(key, error)


def _unknown_keys(key: Key, error: _Fault) -> Iterator[_Mistake]:
    known = error.schema["properties"]
    for name in error.instance:
        if name not in known:
            hint = did_you_mean(name, known)
            if error.instance[name] is None and "did you" not in hint:
                hint = "a key needs a value; inside { } a text with a comma in it needs quotes"
            meant = [(*key, each) for each in known if repr(each) in hint]
            yield _Mistake((*key, name), f"unknown key {shown(name)}", "", hint, tuple(meant))


def _missing_key(key: Key, error: _Fault) -> Iterator[_Mistake]:
    """jsonschema reports each missing key by itself, but names it in its message alone."""
    for name in error.validator_value:
        if name not in error.instance and error.message.startswith(repr(name)):
            entry = error.schema["properties"][name]
            words = f"{entry['title']}. {entry.get('description', '')}".strip()
            yield _Mistake((*key, name), "this key is missing", "", words)


def _wrong_value(key: Key, error: _Fault) -> _Mistake:
    value, expected = shown(error.instance), error.validator_value
    if error.validator == "type":
        return _Mistake(key, f"must be {_type_words(expected)}", value, _type_hint(error))
    if error.validator == "enum":
        hint = did_you_mean(str(error.instance), expected)
        return _Mistake(key, f"must be {either(expected)}", value, hint if "did you" in hint else "")
    if error.validator == "pattern":
        return _Mistake(key, _pattern_message(error), value)
    if error.validator in _LIMITS:
        return _Mistake(key, _LIMITS[error.validator].format(expected), value)
    return _Mistake(key, error.message, value)


def _pattern_message(error: _Fault) -> str:
    return str(error.schema["x-message"])


def _type_words(expected: str | list[str]) -> str:
    names = [expected] if isinstance(expected, str) else expected
    return either([_TYPES[name] for name in names])


def _type_hint(error: _Fault) -> str:
    """What to do about a number or true/false where a text is expected."""
    takes_text = "string" in error.validator_value
    if takes_text and isinstance(error.instance, bool | int | float):
        return "write it in quotes"
    if takes_text and error.instance is None:
        return 'an empty text is written ""'
    return ""


def either(words: list[str]) -> str:
    """``a, b or c``."""
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
