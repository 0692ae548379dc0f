"""Writes docs/campaign.md, docs/import-map.md and the schemas: ``python -m mpicampaign.schema_docs``."""

from __future__ import annotations

import json
from typing import Any

import yaml

from mpicampaign.campaign.file import BUILTIN, built_in
from mpicampaign.campaign.model import campaign_schema
from mpicampaign.imports.map_file import map_schema
from mpicampaign.places import shipped
from mpicampaign.shape import TYPES

SCHEMA = shipped("workflow/schemas/campaign.schema.json")
MAP_SCHEMA = SCHEMA.with_name("import.schema.json")
DOCUMENT = shipped("docs/campaign.md")  # of a clone; a wheel has no docs
MAP_DOCUMENT = DOCUMENT.with_name("import-map.md")
MAP_SECTIONS = {
    "host_group": "A host group",
    "placement": "A placement",
    "rule": "A rule",
}
SECTIONS = (
    "system",
    "host_group",
    "fabric",
    "placement",
    "benchmark",
    "provider",
    "matrix_entry",
    "mpi",
    "settings",
    "reference",
)

_INTRODUCTION = """\
<!-- Made from the campaign's model by python -m mpicampaign.schema_docs; do not edit. -->

# The campaign file

{description}
It is YAML; `mpicampaign check FILE` finds every error in it before anything is run.
Worked examples are in `campaigns/`.

How a file is read:

- Texts are literal: `off`, `no` and `0:45` are texts as in YAML 1.2; only `true` and `false` are truth
  values.
- An unknown key is an error, and so is a key given twice. Tags (`!name`) are not used.
- Where a list is expected, a single value is a list of one.
- Command-line tokens (arguments, launcher options) are a list, or one text that is split into tokens as a
  shell does. Nothing in them is expanded: `$HOME` and `$(date)` reach the program as they are.
- Shared keys are written once: `first: &shared {{…}}`, then `second: {{<<: *shared, …}}`.
- With `include:` the file extends other campaign files, and every file extends the built-in definitions:
  mappings are merged key by key, lists and single values are replaced.
- Durations: `90 s`, `10 min`, `2 h`; `0:45` is 45 min (H:MM). Sizes: `64KiB`, `64kB`, `64` (bytes).
  Rates: `1 Gbit/s`, `100 MB/s`.
"""

_WHERE = f"""\
Placements are in `src/mpicampaign/campaign/{BUILTIN.name}`, in the same format. Benchmarks, in a form like
it, are in the file of their suite in `src/mpicampaign/suites`, MPI libraries in `src/mpicampaign/mpis`."""

_MAP_INTRODUCTION = """\
<!-- Made from the keys of a map by python -m mpicampaign.schema_docs; do not edit. -->

# Keys of an import's map

{description}
It is YAML; texts, keys and anchors are read as in a [campaign file](campaign.md), but there is no `include`.
What rules and facts are: [import.md](import.md).
"""


def document_text() -> str:
    """The documentation of the campaign file as Markdown."""
    schema = campaign_schema()
    parts = [
        _INTRODUCTION.format(description=schema["description"]),
        "## Keys of the file\n",
        _keys(schema, schema),
    ]
    for name in SECTIONS:
        entry = schema["$defs"][name]
        parts += [f"## {entry['title']}\n", entry["description"] + "\n", _keys(entry, schema)]
    return "\n".join([*parts, "## Built in\n", _builtin_text()])


def map_document_text() -> str:
    """The documentation of an import's map as Markdown."""
    schema = map_schema()
    parts = [_MAP_INTRODUCTION.format(description=schema["description"]), _keys(schema, schema)]
    for name, title in MAP_SECTIONS.items():
        parts += [f"## {title}\n", _keys(schema["$defs"][name], schema)]
    labels = schema["$defs"]["rule"]["properties"]["label"]
    return "\n".join([*parts, "## Labels\n", _keys(labels, schema)])


def schema_text(schema: dict[str, Any]) -> str:
    """A JSON Schema, for editors that complete and check YAML by it."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the documents and the schemas."""
    SCHEMA.write_text(schema_text(campaign_schema()), encoding="utf-8")
    MAP_SCHEMA.write_text(schema_text(map_schema()), encoding="utf-8")
    DOCUMENT.write_text(document_text(), encoding="utf-8")
    MAP_DOCUMENT.write_text(map_document_text(), encoding="utf-8")


def _keys(entry: dict[str, Any], schema: dict[str, Any]) -> str:
    """The keys of an entry as a list; their definitions are in the schema."""
    lines = []
    for key, value in entry["properties"].items():
        resolved = _resolved(value, schema)
        required = ["required"] if key in entry.get("required", ()) else []
        facts = "; ".join([*required, _type(resolved), *_default(resolved)])
        lines.append(f"- `{key}` ({facts}): {_meaning(resolved)}.{_examples(resolved)}")
    return "\n".join(lines) + "\n"


def _resolved(value: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in value:
        return value
    target: dict[str, Any] = schema["$defs"][value["$ref"].rsplit("/", 1)[-1]]
    texts = ("title", "description")
    return {key: each for key, each in target.items() if key not in texts} | value


def _meaning(value: dict[str, Any]) -> str:
    meaning = ". ".join(each.rstrip(".") for each in (value["title"], value.get("description")) if each)
    return meaning.replace("<", "&lt;")


def _type(value: dict[str, Any]) -> str:
    if "x-type" in value:
        return str(value["x-type"])
    if "enum" in value:
        return ", ".join(f"`{choice}`" for choice in value["enum"])
    types = value["type"] if isinstance(value["type"], list) else [value["type"]]
    text = " or ".join(TYPES[each].removeprefix("a ") for each in types)
    return text + (f", at least {value['minimum']}" if "minimum" in value else "")


def _default(value: dict[str, Any]) -> list[str]:
    return [f"default `{_written(value['default'])}`"] if value.get("default") else []


def _examples(value: dict[str, Any]) -> str:
    examples = ", ".join(f"`{_written(example)}`" for example in value.get("examples", ()))
    return f" Example: {examples}" if examples else ""


def _written(value: Any) -> str:
    """A value as in a campaign file, in one line."""
    if isinstance(value, str):
        return value
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=1000, allow_unicode=True)
    return text.strip().removesuffix("...").strip()


def _builtin_text() -> str:
    builtin = built_in().data
    rows = ["| placement | meaning |", "|---|---|"]
    rows += [f"| `{name}` | {each['description']} |" for name, each in builtin["placements"].items()]
    lists = [
        f"{title}: " + ", ".join(f"`{name}`" for name in builtin[section]) + "."
        for section, title in (("benchmarks", "Benchmarks"), ("mpis", "MPI libraries"))
    ]
    return "\n".join([*rows, "", *lists, _WHERE]) + "\n"


if __name__ == "__main__":
    main()
