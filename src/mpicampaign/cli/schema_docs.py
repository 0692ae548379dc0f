"""Writes docs/campaign.md and docs/import-map.md: ``python -m mpicampaign.cli.schema_docs``.

setup.py writes the schemas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from textwrap import wrap
from typing import Any

import yaml

from mpicampaign.base.places import shipped
from mpicampaign.base.shape import TYPES
from mpicampaign.campaign.file import BUILTIN, built_in
from mpicampaign.campaign.model import campaign_schema
from mpicampaign.imports.map_file import map_schema

EXAMPLE = shipped("campaigns/slurm-two-libraries.yaml")
DOCUMENT = shipped("docs/campaign.md")
MAP_DOCUMENT = DOCUMENT.with_name("import-map.md")
MAP_SECTIONS = {"host_group": "A host group", "placement": "A placement", "rule": "A rule"}
SECTIONS = (
    "system",
    "system_mpi",
    "host_group",
    "fabric",
    "placement",
    "benchmark",
    "provider",
    "matrix_entry",
    "race",
    "mpi",
    "settings",
    "reference",
    "schedule",
    "limit",
    "against",
    "alarm",
)
WIDTH = 138
_OSU = "osu_"  # programs of OSU
DOCUMENT_NAME = re.compile(r"docs/([\w-]+\.md)")  # in descriptions; beside these documents

_INTRODUCTION = """\
<!-- Made from the campaign's model by python -m mpicampaign.cli.schema_docs; do not edit. -->

# The campaign file

{description}
`campaigns/{name}`, an example (others are beside it):

```yaml
{example}```

How a file is read:

- A key takes a text unless its type is given. Texts are literal, as in YAML 1.2: `off`, `no` and `0:45` are
  texts, only `true` and `false` are truth values.
- An unknown key, a key given twice and a tag (`!name`) are errors.
- Paths are relative to the file that names them.
- Where a list is expected, a single value is a list of one.
- Tokens (arguments, options) are a list, or one text that is split as a shell does. Nothing in them is
  expanded: `$HOME` and `$(date)` reach the program as they are.
- Shared keys are written once: `first: &shared {{…}}`, then `second: {{<<: *shared, …}}`.
- Files of `include:` and built-in definitions are extended: mappings key by key; lists are replaced.
- Durations: `90 s`, `10 min`, `2 h`; `0:45` is 45 min (H:MM). Sizes: `64KiB`, `64kB`, `64` (bytes).
  Rates: `1 Gbit/s`, `100 MB/s`.

## Lists

`nodes`, `ranks_per_node`, `threads`, the variables in `environment` and the `parameters` of a benchmark take
a list; `launcher_options` takes several by name. Each combination is a placement or benchmark of its own:

```yaml
placements:
  IBV: {{nodes: [2, 4, 8], ranks_per_node: 4, threads: 2, within_node: shm,
        environment: {{UCX_TLS: [rc, ud]}}}}
  TCP: {{launcher_options: {{ob1: --mca pml ob1, ucx: --mca pml ucx}}}}
benchmarks:
  HPL: {{parameters: {{N: [20000, 40000], NB: [128, 192]}}, scaling: strong}}
```

The first values keep the name, the others are added to it: `IBV`, `IBV nodes=4`, `IBV nodes=4 UCX_TLS=ud`.
`--placement IBV` selects all of them. A list that grows, shrinks or changes its order makes no finished run
due.

In the arguments of a benchmark `{{NAME}}` stands for a parameter that its suite does not know, and
`{{nodes}}`, `{{ranks_per_node}}` and `{{ranks}}` for those of the placement. Over several numbers of ranks,
the report shows time, speed-up and efficiency of benchmarks of computing; `scaling` of a benchmark says how
to read its times. A rate is that of the work of all ranks.

`mpi` of a system takes a list, too. Each library is compared in each placement, named `milan with impi`:

```yaml
systems:
  cluster:
    scheduler: slurm
    login_hosts: login*.cluster.example # only where a campaign has several systems
    mpi:
      - openmpi5
      - {{mpi: intelmpi, name: impi, modules: impi/2021.13, launcher: srun, environment: {{I_MPI_DEBUG: 5}}}}
      - mpi: openmpi5
        name: own-build
        prefix: /opt/openmpi-5
        programs: {{IMB-MPI1: /opt/imb/IMB-MPI1}}
        launcher_options: --mca pml ob1
matrix:
  - {{host_groups: milan, placements: IBV, benchmarks: PingPong, mpis: [openmpi5, own-build]}}
```

An item with `system` and `host_groups` stands for those of an earlier file (`campaigns/three-mpis.yaml`).

Below, a key has an example if the file above does not have it, the first time.
"""

_WHERE = f"""\
Their definitions are in `src/mpicampaign`: placements in `campaign/{BUILTIN.name}`, benchmarks in `suites`,
MPI libraries in `mpis`."""

_MAP_INTRODUCTION = """\
<!-- Made from the keys of a map by python -m mpicampaign.cli.schema_docs; do not edit. -->

# Keys of an import's map

{description}
It is read as a [campaign file](campaign.md), without `include`; [import.md](import.md) explains rules and
facts.
"""


def document_text() -> str:
    """The documentation of the campaign file as Markdown."""
    schema = campaign_schema()
    example = EXAMPLE.read_text(encoding="utf-8")
    shown = set(re.findall(r"\w+(?=:)", example))
    parts = [
        _INTRODUCTION.format(description=schema["description"], name=EXAMPLE.name, example=example),
        "## Keys of the file\n",
        _keys(schema, schema, yaml.safe_load(example)),
    ]
    for name in SECTIONS:
        entry = schema["$defs"][name]
        about = "\n".join(_wrapped(entry["description"]))
        parts += [f"## {entry['title']}\n", about + "\n", _keys(entry, schema, shown)]
        shown |= {key for key, value in entry["properties"].items() if not _plain(_resolved(value, schema))}
    return "\n".join([*parts, "## Built in\n", _builtin_text()])


def map_document_text() -> str:
    """The documentation of an import's map as Markdown."""
    schema = map_schema()
    parts = [_MAP_INTRODUCTION.format(description=schema["description"]), _keys(schema, schema)]
    for name, title in MAP_SECTIONS.items():
        parts += [f"## {title}\n", _keys(schema["$defs"][name], schema)]
    labels = schema["$defs"]["rule"]["properties"]["label"]
    return "\n".join([*parts, "## Labels\n", _keys(labels, schema)])


def schemas() -> dict[str, str]:
    """The JSON Schemas by file name, for editors that complete and check YAML by them."""
    return {
        f"{name}.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in (("campaign", campaign_schema()), ("import", map_schema()))
    }


def main() -> None:
    """Write the documents."""
    DOCUMENT.write_text(document_text(), encoding="utf-8")
    MAP_DOCUMENT.write_text(map_document_text(), encoding="utf-8")


def _keys(entry: dict[str, Any], schema: dict[str, Any], shown: Collection[str] = ()) -> str:
    """The keys of an entry as a list; their definitions are in the schema. ``shown``: need no example."""
    lines = []
    for key, value in entry["properties"].items():
        resolved = _resolved(value, schema)
        required = ["required"] if key in entry.get("required", ()) else []
        facts = "; ".join(filter(None, [*required, _type(resolved), *_default(resolved)]))
        texts = [_meaning(key, resolved), "" if key in shown or _plain(resolved) else _examples(resolved)]
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
    return {key: each for key, each in target.items() if key not in texts} | value


def _meaning(key: str, value: dict[str, Any]) -> str:
    """The title, unless it only repeats the key, and the description."""
    texts = [
        "" if value["title"].lower() == key.replace("_", " ") else value["title"],
        value.get("description"),
    ]
    meaning = " ".join(f"{each.rstrip('.')}." for each in texts if each)
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
    text = " or ".join(TYPES[each].removeprefix("a ") for each in types)
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
    rows = [f"- `{name}`: {each['description']}" for name, each in builtin["placements"].items()]
    benchmarks = [name for name in builtin["benchmarks"] if not name.startswith(_OSU)]
    osu = len(builtin["benchmarks"]) - len(benchmarks)
    lists = [
        f"Benchmarks: {_names(benchmarks)}, and {osu} of OSU by their own names, such as `osu_latency`.",
        f"MPI libraries: {_names(builtin['mpis'])}.",
        _WHERE,
    ]
    wrapped = [line for each in lists for line in ("", *_wrapped(each))]
    return "\n".join([*rows, *wrapped]) + "\n"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    main()
