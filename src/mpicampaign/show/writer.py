"""The formats of tables: each is a module of `mpicampaign.show.writers`."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module

from mpicampaign.show import writers
from mpicampaign.show.document import Grid, Node


@dataclass(frozen=True, slots=True)
class TextWriter:
    """A format for readers; ``write``: makes the text of a document.

    ``ending``: of file names.
    """

    ending: str
    write: Callable[[Sequence[Node]], str]


@dataclass(frozen=True, slots=True)
class DataWriter:
    """A format for programs; ``write``: makes the file of a table's values and the campaign's name."""

    ending: str
    write: Callable[[Grid, str], bytes]


Writer = TextWriter | DataWriter


def format_names(folders: Iterable[str] = writers.__path__) -> tuple[str, ...]:
    """The names of all formats, by the modules of a package's folders; none is loaded."""
    return tuple(sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(folders)))


def writer(name: str) -> Writer:
    """The writer of a format of tables."""
    found = load(writers.__name__, name)
    if not isinstance(found, Writer):
        raise TypeError(f"{name} is not a table format")
    return found


def load(package: str, name: str) -> object:
    """What a module for a format ends in."""
    return import_module(f"{package}.{name.replace('-', '_')}").WRITER


def names_of(kind: type[Writer]) -> tuple[str, ...]:
    """The names of the formats of tables of a kind."""
    return tuple(name for name in format_names() if isinstance(writer(name), kind))
