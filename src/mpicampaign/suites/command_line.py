"""Checks of a program's name and arguments before it starts, for the suites that know its options."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.errors import nearest, suggestion
from mpicampaign.suites.suite import Refusal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_ALIKE, _ALIKE_AS_A_WHOLE = 0.8, 0.85  # ratios of difflib


class Value(NamedTuple):
    """What the value of an option looks like, as a pattern and in English."""

    pattern: str
    meaning: str


WHOLE = Value("[0-9]{1,9}", "a whole number of at least 0")
POSITIVE = Value("[0-9]{0,8}[1-9][0-9]{0,8}", "a whole number above 0")


def one_of(*names: str) -> Value:
    """One of these names."""
    return Value("|".join(map(re.escape, names)), f"{', '.join(names[:-1])} or {names[-1]}")


def misspelt(name: str, known: Collection[str]) -> str:
    """The known name that a name is a misspelling of; empty where it resembles none.

    The part that all known names begin with does not count. A name that continues a known one after a sign or
    a digit is not a misspelling of it: ``osu_bw_ours`` and ``osu_bw2`` may be a site's own versions.
    """
    in_another_case = next((each for each in known if each.casefold() == name.casefold()), "")
    if in_another_case:
        return in_another_case
    common = os.path.commonprefix(list(known))  # noqa: RUF071 - of names, not of paths
    tails = {each.removeprefix(common): each for each in known}
    tail = name.removeprefix(common)
    anagram = next((each for each in tails if sorted(each) == sorted(tail)), "")
    meant = tails.get(anagram or nearest(tail, tails, _ALIKE)) or nearest(name, known, _ALIKE_AS_A_WHOLE)
    return "" if meant and re.match(re.escape(meant) + "[^A-Za-z]", name) else meant


def unknown_program(name: str, known: Collection[str], versions: str) -> Refusal:
    """A misspelt program is at fault; one that resembles none may be of a later or a changed version."""
    meant = misspelt(name, known)
    if meant:
        return Refusal(f"no such program in {versions}", "", name, f"did you mean {meant!r}?", program=True)
    message = f"no program {name!r} in {versions}: its arguments are not checked"
    return Refusal(message, program=True, doubtful=True)


def faulty_value(option: str, expected: Value, value: str | None) -> Iterator[Refusal]:
    """A value that is missing (None), or is not of the expected form."""
    if value is None:
        yield Refusal(f"{option} needs a value", "", option, expected.meaning)
    elif not re.fullmatch(expected.pattern, value):
        yield Refusal(f"the value of {option} must be {expected.meaning}", "", f"{option} {value}")


def unknown_option(program: str, option: str, known: Collection[str], versions: str) -> Refusal:
    """A misspelt option is at fault; one that resembles none may be of a later or a changed version."""
    name, space, value = option.partition(" ")
    if space and name in known:
        message = f"{program} reads this item as one argument"
        return Refusal(message, "", option, f"write two items: {name}, {value.strip()}")
    meant = misspelt(option, known)
    if meant:
        return Refusal(f"{program} has no such option", "", option, suggestion(option, [meant]))
    message = f"no option {option} of {program} in {versions}: this program may ignore it"
    return Refusal(message, doubtful=True)
