"""The options of the OSU Micro-Benchmarks 5 to 7, checked before a program starts.

An option is right if one of these versions takes it for programs of that kind. Source: ``process_options`` of
versions 5.3, 5.6, 7.0 and 7.4; a build that is not of devices silently ignores what follows the options.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.errors import did_you_mean
from mpicampaign.suites.command_line import (
    POSITIVE,
    WHOLE,
    Value,
    faulty_value,
    misspelt,
    unknown_option,
    unknown_program,
)
from mpicampaign.suites.osu.programs import DEVICES, KINDS, SILENT, name_of
from mpicampaign.suites.suite import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpicampaign.suites.suite import Request

_PAIR_TO_PAIR = "hvm:x:i:b:c::u:G:D:P:T:Iz::d:"
_COLLECTIVE = "hvfm:i:x:M:t:s:a:c::u:G:D:P:T:Ilz::k:d:r:"
_TAKES = {  # as in getopt: ":" a value, "::" a value that may be missing
    "latency": _PAIR_TO_PAIR,
    "threads": _PAIR_TO_PAIR + "t:",
    "bandwidth": _PAIR_TO_PAIR + "t:W:",
    "fan": _PAIR_TO_PAIR + "W:p:R:V",
    "pairs": _PAIR_TO_PAIR + "W:p:R:Vw:r:",
    "collective": _COLLECTIVE,
    "neighbourhood": _COLLECTIVE + "N:",
    "one-sided": "hvm:x:i:w:s:W:d:c::T:G:P:Iz::",
    "start": "hvI",
}
_ANY = "hvfm:W:t:i:x:a:s:w:M:d:r:R:p:Vc::b:u:G:P:D:N:T:Ilz::k:"
_LONG = {
    **{"help": "h", "version": "v", "full": "f", "message-size": "m", "window-size": "W", "warmup": "x"},
    **{"num-test-calls": "t", "iterations": "i", "array-size": "a", "sync-option": "s", "win-options": "w"},
    **{"mem-limit": "M", "accelerator": "d", "cuda-target": "r", "print-rate": "R", "num-pairs": "p"},
    **{"vary-window": "V", "validation": "c", "buffer-num": "b", "validation-warmup": "u", "graph": "G"},
    **{"papi": "P", "ddt": "D", "nhbr": "N", "type": "T", "session": "I", "in-place": "l", "tail-lat": "z"},
    "root-rank": "k",
}
VERSIONS = "OSU 5 to 7"
_OPTIONS = [f"--{name}" for name in _LONG]
_BUFFERS = ("H", "D", "M", "MH", "MD")
_THREADS = r"(?:[1-9][0-9]?|1[01][0-9]|12[0-7])"
_SIZES = Value(r"[0-9]{1,15}|[0-9]{1,15}:[0-9]{0,15}|:[0-9]{1,15}", "[MIN:]MAX in bytes, such as 1:1024")
_VALUES = {
    "m": _SIZES,
    "i": POSITIVE,
    "x": WHOLE,
    "W": POSITIVE,
    "a": POSITIVE,
    "p": POSITIVE,
    "t": WHOLE,
    "M": Value("[0-9]{1,18}", "a number of bytes"),
    "b": Value("(?i:single|multiple)", "single or multiple"),
    "u": Value("[0-9]|10", "a whole number from 0 to 10"),
    "R": Value("[01]", "0 or 1"),
    "d": Value("(?i:cuda|managed|openacc|rocm)", "cuda, managed, openacc or rocm"),
    "r": Value("(?i:cpu|gpu|both)", "cpu, gpu or both"),
    "G": Value("(?i:(tty|png|pdf)(,(tty|png|pdf)){0,9})", "tty, png or pdf"),
    "T": Value("(?i:all|mpi_char|mpi_int|mpi_float)", "all, mpi_char, mpi_int or mpi_float"),
    "D": Value("(?i:cont|vect:[0-9]{1,9}:[0-9]{1,9}|indx:.+)", "cont, vect:STRIDE:BLOCK or indx:FILE"),
    "N": Value("(?i:cart:[0-9]{1,6}:[0-9]{1,6}|graph:.+)", "cart:DIMENSIONS:RADIUS or graph:FILE"),
    "k": Value("(?i:rotate|fixed:[0-9]{1,9})", "rotate or fixed:RANK"),
    "z": Value("([0-9]{1,2}|100)(,([0-9]{1,2}|100)){0,20}", "percentiles, such as 50,99"),
}
_OF_KIND = {
    ("threads", "t"): Value(f"{_THREADS}(:{_THREADS})?", "[SENDERS:]RECEIVERS, each from 1 to 127"),
    ("bandwidth", "t"): Value(".*", "any"),  # taken, and never read
    ("one-sided", "s"): Value(
        "(?i:pscw|fence|lock|flush|flush_local|lock_all)", "pscw, fence, lock, flush, flush_local or lock_all"
    ),
    ("one-sided", "w"): Value("(?i:create|allocate|dynamic)", "create, allocate or dynamic"),
    ("collective", "s"): POSITIVE,  # the array size in series 5
    ("neighbourhood", "s"): POSITIVE,
    ("pairs", "w"): POSITIVE,  # window size and printed rate in series 5
    ("pairs", "r"): Value("[01]", "0 or 1"),
}


class Option(NamedTuple):
    """An option as given; ``letter`` is empty if no version knows it, ``value`` None if none follows."""

    given: str
    letter: str
    value: str | None


class Arguments(NamedTuple):
    """The options, in their order, and what follows them."""

    options: tuple[Option, ...]
    rest: tuple[str, ...]

    def last(self, letter: str) -> str:
        """The value of the option that counts; empty where it is not given."""
        return next((each.value or "" for each in reversed(self.options) if each.letter == letter), "")

    @property
    def devices(self) -> bool:
        """Whether messages lie in the memory of a device."""
        return bool(self.last("d")) or any(buffer != "H" for buffer in self.rest)


def read_arguments(program: str, arguments: Sequence[str]) -> Arguments:
    """Options and what follows them, as getopt_long reads them."""
    takes = _TAKES.get(KINDS.get(name_of(program), ""), _ANY)
    options: list[Option] = []
    waiting = list(arguments)
    while waiting and waiting[0].startswith("-") and waiting[0] != "-":
        argument = waiting.pop(0)
        if argument == "--":
            break
        if argument.startswith("--"):
            options.append(_long(argument, waiting))
        else:
            options += _short(argument, waiting, takes)
    return Arguments(tuple(options), tuple(waiting))


def _short(argument: str, waiting: list[str], takes: str) -> Iterator[Option]:
    """The options of one argument, such as ``-f``, ``-fm`` with a value behind it, or ``-m1024``."""
    for place, letter in enumerate(argument[1:], 2):
        needs = _needs(letter, takes)
        known = letter if needs is not None else ""
        if not needs:
            yield Option(f"-{letter}", known, None)
            continue
        attached = argument[place:]
        if needs == ":" and not attached:
            yield Option(f"-{letter}", known, waiting.pop(0) if waiting else None)
        else:
            yield Option(f"-{letter}", known, attached or None)
        return


def _long(argument: str, waiting: list[str]) -> Option:
    name, equals, value = argument[2:].partition("=")
    options = [known for known in _LONG if known.startswith(name)]
    letter = _LONG[name] if name in _LONG else _LONG[options[0]] if len(options) == 1 else ""
    if equals or (_needs(letter, _ANY) != ":" and letter != "V"):  # as a long option, V needs a value
        return Option(f"--{name}", letter, value if equals else None)
    return Option(f"--{name}", letter, waiting.pop(0) if waiting else None)


def _needs(letter: str, takes: str) -> str | None:
    """``:``, ``::`` or nothing, as a kind of programs takes it, else as others do; None where none does."""
    for options in (takes, _ANY):
        if letter.isalpha() and (found := re.search(f"{letter}(:*)", options)):
            return found[1]
    return None


def faults(program: str, arguments: Sequence[str]) -> Iterator[Refusal]:
    """Why the program would not start, or not measure what was asked for, in any placement."""
    name = name_of(program)
    if name not in (*KINDS, *SILENT) and not DEVICES.fullmatch(name):
        yield unknown_program(name, KINDS, VERSIONS)
    found = read_arguments(program, arguments)
    for option in found.options:
        yield from _faults(name, option)
    if found.last("D") and any(option.letter == "c" for option in found.options):
        yield Refusal("OSU does not validate derived datatypes", "", "-c -D", "leave out -c or -D")
    rest = found.rest if all(option.letter for option in found.options) else ()  # not the value of another
    if rest and not (len(rest) == 2 and all(buffer in _BUFFERS for buffer in rest)):
        hint = "only two buffers may follow the options, such as H H; give all options before them"
        yield Refusal("OSU does not read these arguments", "", " ".join(rest), hint)


def refuses(request: Request) -> Iterator[Refusal]:
    """A root that is not among the ranks."""
    given = read_arguments(request.program, request.arguments).last("k")
    root = re.fullmatch("(?i:fixed):([0-9]{1,9})", given)
    if root and int(root[1]) >= request.ranks:
        yield Refusal(f"the root must be a rank from 0 to {request.ranks - 1}", "", f"-k {given}")


def _faults(name: str, option: Option) -> Iterator[Refusal]:
    kind = KINDS.get(name, "")
    if not option.letter and not kind and not misspelt(option.given, _OPTIONS):
        yield unknown_option(name, option.given, (), VERSIONS)
    elif not option.letter:
        hint = did_you_mean(option.given, _OPTIONS)
        yield Refusal(f"{VERSIONS} has no such option", "", option.given, hint)
    elif kind and option.letter not in _TAKES[kind]:
        hint = f"{name} takes {_listed(_TAKES[kind])}"
        yield Refusal(f"{name} has no such option", "", option.given, hint)
    elif option.letter == "h" or (option.letter == "v" and kind != "pairs"):
        yield Refusal(f"with this option {name} prints no table", "", option.given)
    else:
        yield from _faulty_value(kind, option)


def _listed(takes: str) -> str:
    return ", ".join(f"-{letter}" for letter in takes.replace(":", ""))


def _faulty_value(kind: str, option: Option) -> Iterator[Refusal]:
    letter, value = option.letter, option.value
    expected = _OF_KIND.get((kind, letter)) or _VALUES.get(letter)
    if value is None and _needs(letter, _TAKES.get(kind, _ANY)) != ":":
        return
    if expected and (kind or letter not in "swrt" or value is None):
        wrong = list(faulty_value(option.given, expected, value))
        yield from wrong
        if letter == "m" and value and not wrong:
            yield from _reversed_sizes(value, f"{option.given} {value}")


def _reversed_sizes(value: str, given: str) -> Iterator[Refusal]:
    low, _, high = value.partition(":")
    if low and high and int(low) > int(high):
        yield Refusal("the smallest size is above the largest", "", given, f"give -m {high}:{low}")
