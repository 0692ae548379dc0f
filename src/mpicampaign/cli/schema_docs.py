"""All keys of campaign files and maps, as a document and as schemas; setup.py writes both."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import Any

import yaml

from mpicampaign.base.shape import TYPES
from mpicampaign.campaign.file import built_in
from mpicampaign.campaign.model import campaign_schema
from mpicampaign.imports.facts import FACTS, FAMILIES
from mpicampaign.imports.map_file import map_schema
from mpicampaign.report.columns import COLUMNS, results_schema

WIDTH = 138
_OSU = "osu_"  # programs of OSU
DOCUMENT_NAME = re.compile(r"docs/([\w-]+\.md)")  # in descriptions; beside these documents

_INTRODUCTION = """\
# All keys

Those of a [campaign file](campaign.md), then those of [an import's map](#keys-of-an-imports-map) and the
[columns of results](#columns-of-results).

## Keys of the file
"""


def keys_document() -> str:
    """All keys of a campaign file and of an import's map as Markdown."""
    schema = campaign_schema()
    parts = [_INTRODUCTION, _keys(schema, schema)]
    for entry in schema["$defs"].values():
        if "properties" in entry:
            about = "\n".join(_wrapped(entry["description"]))
            parts += [f"## {entry['title']}\n", about + "\n", _keys(entry, schema)]
    return "\n".join([*parts, "## Built in\n", _builtin_text(), *_map_parts(), *_columns()])


def _map_parts() -> Iterator[str]:
    """An import's map; import.md explains rules and facts."""
    schema = map_schema()
    yield f"# Keys of an import's map\n\n{schema['description']} [import.md](import.md) explains them.\n"
    yield _keys(schema, schema)
    for name, entry in schema["$defs"].items():
        if "properties" in entry:
            yield f"## A {name.replace('_', ' ')}\n\n{_keys(entry, schema)}"
    yield "## Labels\n\n" + _keys(schema["$defs"]["rule"]["properties"]["label"], schema)
    facts = FACTS | {f"{family}.NAME": meaning for family, meaning in FAMILIES.items()}
    rows = [line for name, meaning in facts.items() for line in _wrapped(f"- `{name}`: {meaning}", "  ")]
    yield "## Facts of a file\n\n" + "\n".join(rows) + "\n"


def _columns() -> Iterator[str]:
    """The tables of results as data; data.md explains them."""
    yield "# Columns of results\n\n[data.md](data.md) explains the tables.\n"
    for table, columns in COLUMNS.items():
        rows = (f"- `{name}`" + f": {about}" * bool(about) for name, _, about in columns)
        lines = "\n".join(line for row in rows for line in _wrapped(row, "  "))
        yield f"## {table.capitalize()}\n\n{lines}\n"


def schemas() -> dict[str, str]:
    """The JSON Schemas by file name, for editors that complete and check YAML by them."""
    return {
        f"{name}.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in (
            ("campaign", campaign_schema()),
            ("import", map_schema()),
            ("results", results_schema()),
        )
    }


def _keys(entry: dict[str, Any], schema: dict[str, Any]) -> str:
    """The keys of an entry as a list; their definitions are in the schema."""
    lines = []
    for key, value in entry["properties"].items():
        resolved = _resolved(value, schema)
        required = ["required"] if key in entry.get("required", ()) else []
        facts = "; ".join(filter(None, [*required, _type(resolved), *_default(resolved)]))
        texts = [_meaning(key, resolved), "" if _plain(resolved) else _examples(resolved)]
        item = f"- `{key}`" + (f" ({facts})" if facts else "") + ": " + " ".join(filter(None, texts))
        lines += _wrapped(item, "  ")
    return "\n".join(lines) + "\n"


def _wrapped(text: str, indent: str = "") -> list[str]:
    return wrap(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _resolved(value: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in value:
        return value
    target: dict[str, Any] = schema["$defs"][value["$ref"].rsplit("/", 1)[-1]]
    texts = ("title", "description")
    return {key: entry for key, entry in target.items() if key not in texts} | value


def _meaning(key: str, value: dict[str, Any]) -> str:
    """The title, unless it only repeats the key, and the description."""
    texts = [
        "" if value["title"].lower() == key.replace("_", " ") else value["title"],
        value.get("description"),
    ]
    meaning = " ".join(f"{text.rstrip('.')}." for text in texts if text)
    return DOCUMENT_NAME.sub(r"[\1](\1)", meaning.replace("<", "&lt;"))


def _type(value: dict[str, Any]) -> str:
    if "x-type" in value:
        return str(value["x-type"])
    if "enum" in value:
        return ", ".join(f"`{choice}`" for choice in value["enum"])
    types = value["type"] if isinstance(value["type"], list) else [value["type"]]
    if "array" in types:  # a single value is a list of one
        return "list"
    if types == ["string"]:
        return ""
    text = " or ".join(TYPES[kind].removeprefix("a ") for kind in types)
    return text + (f", at least {value['minimum']}" if "minimum" in value else "")


def _default(value: dict[str, Any]) -> list[str]:
    return [f"default `{_written(value['default'])}`"] if value.get("default") else []


def _plain(value: dict[str, Any]) -> bool:
    """Whether the type shows what to write: a choice, a number or a truth value."""
    return "enum" in value or value.get("type") in ("integer", "number", "boolean")


def _examples(value: dict[str, Any]) -> str:
    examples = ", ".join(f"`{_written(example)}`" for example in value.get("examples", ()))
    return f"Example: {examples}" if examples else ""


def _written(value: Any) -> str:
    """A value as in a campaign file, in one line."""
    if isinstance(value, str):
        return value
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=1000, allow_unicode=True)
    return text.strip().removesuffix("...").strip()


def _builtin_text() -> str:
    builtin = built_in().data
    rows = [f"- `{name}`: {placement['description']}" for name, placement in builtin["placements"].items()]
    benchmarks = [name for name in builtin["benchmarks"] if not name.startswith(_OSU)]
    osu = len(builtin["benchmarks"]) - len(benchmarks)
    lists = [
        f"Benchmarks: {_names(benchmarks)}, and {osu} of OSU by their own names, such as `osu_latency`.",
        f"MPI libraries: {_names(builtin['mpis'])}.",
    ]
    wrapped = [line for names in lists for line in ("", *_wrapped(names))]
    return "\n".join([*rows, *wrapped]) + "\n"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
