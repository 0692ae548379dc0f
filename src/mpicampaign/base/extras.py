"""Packages that only some commands need: the extras of pyproject.toml."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mpicampaign.base.errors import Problem, UserError


def how_to_install(extra: str) -> str:
    """The command that adds an extra to this installation."""
    return f"pip install 'mpicampaign[{extra}]'"


@contextmanager
def imports_of(extra: str, what: str) -> Iterator[None]:
    """Around the imports of an extra; ``what`` needs them.

    Raises
    ------
    UserError
        with the command that installs the extra, where an import fails.
    """
    try:
        yield
    except ImportError as error:
        hint = f"install the extra {extra}: {how_to_install(extra)}"
        raise UserError(Problem(f"{what}: {error}", hint=hint)) from error
