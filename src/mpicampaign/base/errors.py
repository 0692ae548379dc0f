"""Errors of users, reported so that they can be fixed: where, what, why, what to do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One error. ``key`` is the path inside the file, such as ``host_groups.scarf10.select``."""

    message: str
    file: str = ""
    line: int | None = None
    key: str = ""
    value: str = ""
    hint: str = ""

    def __str__(self) -> str:
        place = self.file + (f":{self.line}" if self.line is not None else "")
        parts = [part for part in (place, self.key) if part]
        text = ": ".join([*parts, self.message])
        if self.value and self.value not in self.message:
            text += f" (found {self.value})"
        if self.hint:
            text += f"\n    {self.hint}"
        return text


class UserError(Exception):
    """One or several errors of a user, reported together and never with a traceback."""

    def __init__(self, problems: Problem | str | Sequence[Problem]) -> None:
        if isinstance(problems, str):
            problems = Problem(problems)
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class BusyError(UserError):
    """Another call holds the lock: nothing is wrong, it is to be tried later."""


_NAMED = 40  # known names in an error


def nearest(name: str, known: Collection[str], alike: float = 0.6) -> str:
    """The known name that is closest to a misspelt one; empty if none is close: ``alike``, from 0 to 1."""
    from difflib import get_close_matches  # only errors need it

    in_another_case = (candidate for candidate in known if candidate.casefold() == name.casefold())
    close = get_close_matches(name, sorted(known), n=1, cutoff=alike)
    return next(in_another_case, next(iter(close), ""))


def suggestion(name: str, known: Collection[str]) -> str:
    """A suggestion for a misspelt name; empty if no known name is close."""
    close_name = nearest(name, known)
    return f"did you mean {close_name!r}?" if close_name else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A suggestion for a misspelt name, or the list of known names if none is close."""
    choices = sorted(known)
    more = [f"{len(choices) - _NAMED} more"] if len(choices) > _NAMED else []
    return suggestion(name, choices) or ("known: " + ", ".join([*choices[:_NAMED], *more]) if choices else "")


class UnreadableError(Exception):
    """The output of a command differs from its documentation; the message says how."""
