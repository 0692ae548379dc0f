"""The benchmark of any suite that a person names, as a campaign file defines it."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.suites.room import SUITES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mpicampaign.suites.suite import Suite

_MOST = 5  # names in a hint


class Named(NamedTuple):
    """A benchmark: its name, its suite, and its keys in a campaign file."""

    name: str
    suite: Suite
    entry: Mapping[str, Any]

    @property
    def is_built_in(self) -> bool:
        """Whether a campaign file may name it without defining it."""
        return self.name in self.suite.benchmarks

    @property
    def program(self) -> str:
        return str(self.entry["program"])


def benchmark_named(name: str) -> Named:
    """The benchmark of a name in any letter case; a built-in one comes before others of its name.

    Raises
    ------
    UserError
        for an unknown name, with near ones, and for one of several programs, with their calls.
    """
    every = list(_every())
    alike = [each for each in every if each.name.casefold() == name.casefold()]
    if not alike:
        raise UserError(Problem(f"no benchmark {name!r}", hint=_near(name, {each.name for each in every})))
    if len(alike) > 1 and not alike[0].is_built_in:
        programs = [each.program for each in alike]
        calls = " or ".join(f"mpicampaign bench {program} -- {alike[0].name}" for program in programs)
        raise UserError(Problem(f"{alike[0].name} is a benchmark of {' and '.join(programs)}", hint=calls))
    return alike[0]


def names() -> list[str]:
    """The names of all benchmarks, and of programs that hold several."""
    return list(dict.fromkeys(each.name for each in _every()))


def _every() -> Iterator[Named]:
    for suite in SUITES.values():
        for name, entry in suite.offers():
            yield Named(name, suite, entry)


def _near(name: str, known: set[str]) -> str:
    """Names that hold this one, or are like it; how to run a program of one's own."""
    plain = {each.casefold(): each for each in sorted(known)}
    alike = [plain[each] for each in get_close_matches(name.casefold(), plain, _MOST)]
    near = list(dict.fromkeys([*alike, *(plain[each] for each in plain if name.casefold() in each)]))
    meant = f"near names: {', '.join(near[:_MOST])}. " if near else ""
    return f"{meant}A program of your own: mpicampaign bench -- {name}"
