"""The kinds of values in a campaign file: names, directives, command-line tokens, sizes, durations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from mpicampaign.base.expectation import UNTIL_DECIDED, UNTIL_KNOWN
from mpicampaign.base.host_lists import expand, expand_patterns
from mpicampaign.base.keys import NAME, Kind, Values, count, mapping, rule, sizes, text, texts
from mpicampaign.base.units import parse_rate, parse_size, parse_time_of_day
from mpicampaign.base.yaml_lines import Key

_NO_CONTROL = r"^[^\u0000-\u0008\u000b-\u001f\u007f]*$"
_NO_CONTROL_MESSAGE = "must have no control characters other than tab and line break"
_SCALAR = ["string", "number", "boolean"]

_NO_DIRECTIVE = "not usable in a directive line"
WORD = text(*rule(_NO_DIRECTIVE, "_./@%+=:,-", "-"), name="word")
RESERVATION = text(*rule(_NO_DIRECTIVE, "_./@%+=:,#-", "#-"), name="reservation")
CONSTRAINT = text(
    *rule(
        "not usable as a constraint with Slurm's operators & | * ( ) [ ]",
        "_([./@%+=:,&|*)] -",
        "./@%+=:,&|*)] -",
    ),
    name="constraint",
)
DEVICE = text(*rule("not the name of an interface or device", "._-", "._-", 64), name="device")
MEMORY = text(
    r"^[0-9]+[KMGT]?$",
    "must be a number, optionally followed by K, M, G or T",
    type=["string", "integer"],
    minimum=0,
)
SWITCHES = text(
    r"^[0-9]+(@[0-9:-]+)?$",
    "must be a number of switches, optionally followed by @ and a time",
    type=["string", "integer"],
    minimum=1,
)
GPU_BINDING = text(
    r"^(rank|closest|none|library|(0|[1-9][0-9]?)(,(0|[1-9][0-9]?)){0,63})$",
    "must be rank, closest, none, library, or the numbers of GPUs such as 0,2",
    type=["string", "integer"],
)
PREFIX = text(
    r"^(wheel|/[^\u0000-\u001f\u007f]*)$",
    "must be wheel, or an absolute path (it begins with /, and has no control characters)",
)
PROGRAM_PATH = text(
    r"^[/~][^\u0000-\u001f\u007f]*$",
    "must be an absolute path (it begins with / or ~, and has no control characters)",
)
PROGRAM = text(
    *rule("not the file name of a program (its folder is the provider's location)", "_.+-", ".+-", 128)
)
COMMAND = text(
    r"^([^/\u0000-\u001f\u007f-][^/\u0000-\u001f\u007f]*|/[^\u0000-\u001f\u007f]*)$",
    "must be the name of a command or its absolute path in one line, not beginning with -",
)
LOCATION = text(
    r"^[^\u0000-\u001f\u007f-][^\u0000-\u001f\u007f]*$",
    "must be a path or Spack spec in one line, not beginning with -",
)
TEXTFILE = text(
    r"^[^\u0000-\u001f\u007f-][^\u0000-\u001f\u007f]*\.prom$",
    "must be the path of a file that ends in .prom, as node_exporter reads it",
)


def _host_lists(kind: Kind, reader: Callable[[str], object]) -> Kind:
    """Texts as they are written; a list of hosts that cannot be expanded is noted."""

    def read(values: Values, key: Key) -> tuple[str, ...]:
        for item, _ in values.document.items(key):
            values.parsed(item, reader)
        return values.texts(key)

    return replace(kind, read=read)


HOSTS = _host_lists(
    texts(
        *rule("not a host name, host group or host range (several are a list)", "_[.,+@]-", ".,+@]-"),
        name="hosts",
    ),
    expand,
)
HOST_PATTERNS = _host_lists(
    texts(
        *rule(
            "not a host name, host range or pattern with * ? [ ] (several are a list)", "_*?[.,!]-", ".,!]-"
        ),
        name="host_patterns",
    ),
    expand_patterns,
)
DIRECTIVES = texts(
    r"^-[^\u0000-\u001f\u007f\u0085\u2028\u2029]{1,1000}$",
    "must be one option of the scheduler in one line of at most 1000 characters, beginning with - (without "
    "#SBATCH or #BSUB)",
    name="directives",
)
MODULES = texts(
    *rule("not the name of a module (several are a list)", "._+/@:=,~-", "._+/@:=,~-"), name="modules"
)
FILES = texts(
    r"^[^\u0000-\u001f\u007f]+$", "must be a file name: not empty, without control characters", name="files"
)
TOKENS = Kind(
    {
        "type": [*_SCALAR, "array"],
        "pattern": _NO_CONTROL,
        "x-message": _NO_CONTROL_MESSAGE,
        "items": {"type": _SCALAR, "pattern": _NO_CONTROL, "x-message": _NO_CONTROL_MESSAGE},
        "x-type": "text, or list of tokens",
    },
    Values.tokens,
    absent=(),
    name="tokens",
)
_VARIABLE = Kind(
    {
        "pattern": r"^[A-Za-z_][A-Za-z0-9_]*$",
        "x-message": "not the name of an environment variable: it takes letters, digits and _, and does "
        "not begin with a digit",
    },
    Values.text,
)
ENVIRONMENT = mapping(
    _VARIABLE, text(_NO_CONTROL, _NO_CONTROL_MESSAGE, name="text", type=_SCALAR), kind_name="environment"
)
SIZES = sizes(
    "sizes",
    **{
        "x-type": "size, or list of sizes",
        "type": ["string", "integer", "array"],
        "minimum": 0,
        "items": {"type": ["string", "integer"], "minimum": 0},
    },
)
METRIC_NAME = text(
    r"^[A-Za-z][A-Za-z0-9 ._+/-]{0,63}$",
    "not the name of a metric: it takes letters, digits, spaces and . _ + / -, begins with a letter, "
    "and has at most 64 characters",
)
PATTERNS = texts(r"^[^\u0000-\u001f\u007f]+$", "must be a pattern in one line, not empty; several are a list")
SIZE = Kind(
    {"x-type": "size", "type": ["string", "integer"], "minimum": 1},
    lambda values, key: values.parsed(key, parse_size),
    absent=None,
)
_UNTIL = {"until known": UNTIL_KNOWN, "until decided": UNTIL_DECIDED}


def _count_or(words: Sequence[str], maximum: int, read: Callable[[Values, Key], Any]) -> Kind:
    """A whole number, or a keyword."""
    schema = {
        "type": ["integer", "string"],
        "minimum": 1,
        "maximum": maximum,
        "if": {"type": "string"},
        "then": {"enum": [*words], "x-message": f"must be a whole number, {_either(words)}"},
        "x-type": f"whole number, {_either([f'`{word}`' for word in words])}",
    }
    return Kind(schema, read, absent=None, instead=1)


def _either(words: Sequence[str]) -> str:
    return " or ".join(words) if len(words) > 1 else f"or {words[0]}"


def _repeats(values: Values, key: Key) -> int:
    word = str(values.get(key))
    return _UNTIL[word] if word in _UNTIL else values.whole_number(key)


RUNS = _count_or([*_UNTIL], 10_000, _repeats)
DURATION = Kind(
    {"x-type": "duration", "type": ["string", "number"]}, Values.seconds, absent=0, name="duration"
)
TIME_OF_DAY = Kind(
    {"type": ["string", "number"], "x-type": "time of day"},
    lambda values, key: values.parsed(key, parse_time_of_day),
    absent=None,
)
RATE = Kind(
    {"type": "string", "x-type": "rate"}, lambda values, key: values.parsed(key, parse_rate), absent=None
)
NUMBER = Kind({"type": "number", "minimum": 0}, Values.get, absent=None)
ON_OFF = Kind(
    {"type": "string", "enum": ["on", "off"]}, lambda values, key: values.text(key) != "off", absent=True
)
CORES = "cores"  # ranks_per_node: one rank on each physical core


def _ranks(values: Values, key: Key) -> int | str:
    number = values.get(key)
    return number if isinstance(number, str) else int(number)


# ---- lists: each value makes a variant of the placement or benchmark (mpicampaign.campaign.variants)


def or_list(kind: Kind, what: str) -> Kind:
    """A value, or several as a list, which is read as a tuple."""
    single = dict(kind.schema)
    types = single.pop("type")
    schema = {
        **single,
        "type": [*([types] if isinstance(types, str) else types), "array"],
        "minItems": 1,
        "items": kind.schema,
        "x-type": f"{what}, or a list of them",
    }

    def read(values: Values, key: Key) -> Any:
        if isinstance(values.get(key), list):
            return tuple(kind.read(values, item) for item, _ in values.document.items(key))
        return kind.read(values, key)

    return Kind(schema, read, absent=kind.absent, instead=kind.instead)


_VALUE = {
    "type": _SCALAR,
    "pattern": r"^[^\u0000-\u001f\u007f\u0085\u2028\u2029]{0,64}$",
    "x-message": "as one of several it must be a text of one line with at most 64 characters",
}
_VALUES = {
    "type": [*_SCALAR, "array"],
    "pattern": _NO_CONTROL,
    "x-message": _NO_CONTROL_MESSAGE,
    "minItems": 1,
    "items": _VALUE,
}


def _by_name(values: Values, key: Key) -> dict[str, Any]:
    """A text or a tuple of texts by name."""

    def read(name: str, value: object) -> Any:
        entry_key = (*key, name)
        return values.texts(entry_key) if isinstance(value, list) else values.text(entry_key)

    return {name: read(name, value) for name, value in (values.get(key) or {}).items()}


def _lists(names: Kind, kind_name: str) -> Kind:
    schema = {"type": "object", "propertyNames": names, "additionalProperties": _VALUES}
    return Kind(schema, _by_name, absent={}, name=kind_name)


def _alternatives(values: Values, key: Key) -> Any:
    """Tokens; several by name, those of a list of lists by their text."""
    given = values.get(key)
    if isinstance(given, dict):
        return {name: values.tokens((*key, name)) for name in given}
    if isinstance(given, list) and any(isinstance(item, list) for item in given):
        several = [values.tokens(item) for item, _ in values.document.items(key)]
        return {" ".join(tokens): tokens for tokens in several}
    return values.tokens(key)


OPTIONS = Kind(
    {
        **TOKENS.schema,
        "type": [*_SCALAR, "array", "object"],
        "items": {**TOKENS.schema["items"], "type": [*_SCALAR, "array"], "items": TOKENS.schema["items"]},
        "minProperties": 1,
        "propertyNames": NAME,
        "additionalProperties": TOKENS,
        "x-type": "text, or list of tokens; several by name, or a list of lists",
    },
    _alternatives,
    absent=(),
)
NODES = or_list(count(1, 100_000), "whole number")
THREADS = or_list(count(1, 1024), "whole number")
RANKS_PER_NODE = or_list(_count_or([CORES], 100_000, _ranks), f"whole number or `{CORES}`")
ENVIRONMENTS = _lists(_VARIABLE, "environments")
PARAMETERS = _lists(NAME, "parameters")


def registered(names: Iterable[str]) -> Kind:
    """A name in one of the rooms. The checks ask the room itself: other packages may add names."""
    known = ", ".join(f"`{name}`" for name in dict.fromkeys(names))
    return Kind({"type": "string", "x-type": known}, Values.text)
