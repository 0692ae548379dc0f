"""Suites, schedulers and MPI libraries by name: those of a room here, and those of other packages.

A room is a folder of this package. Each of its modules may end in one thing (or a tuple of them) under the
room's attribute, such as ``SUITE``. Another package registers its own as entry points of a group with the
name of the room, such as ``mpicampaign.suites``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from mpicampaign.base.errors import Problem, UserError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class HasName(Protocol):
    """Anything with a name for campaign files."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=HasName)


class Registry(Generic[T]):
    """The things of one room.

    Parameters
    ----------
    room : the package whose modules hold them, and the group of entry points, such as ``mpicampaign.suites``
    attribute : their name in the modules, such as ``SUITE``
    kind : their class; anything else is refused
    """

    def __init__(self, room: str, attribute: str, kind: type[T]) -> None:
        self._room = room
        self._attribute = attribute
        self._kind = kind

    def __contains__(self, name: object) -> bool:
        return name in self._built_in or name in self._plugins

    def __getitem__(self, name: str) -> T:
        """The thing of a name. Entry points of other packages are read only if it is not built in.

        Raises
        ------
        KeyError
            when there is none.
        UserError
            when its package cannot be used.
        """
        built_in = self._built_in.get(name)
        return built_in if built_in is not None else self._plugins[name]

    def get(self, name: str) -> T | None:
        """The thing of a name; None if there is none."""
        built_in = self._built_in.get(name)
        return built_in if built_in is not None else self._plugins.get(name)

    def __iter__(self) -> Iterator[str]:
        """The names, built-in ones first."""
        return iter((*self._built_in, *self._plugins))

    def values(self) -> tuple[T, ...]:
        """The built-in things, and those of other packages."""
        return (*self._built_in.values(), *self._plugins.values())

    def built_in(self) -> tuple[T, ...]:
        """The things of this package alone."""
        return tuple(self._built_in.values())

    def first(self, fits: Callable[[T], bool]) -> T | None:
        """The first that fits; those of other packages are examined only if no built-in one does."""
        built_in = next(filter(fits, self._built_in.values()), None)
        return built_in if built_in is not None else next(filter(fits, self._plugins.values()), None)

    @cached_property
    def _built_in(self) -> dict[str, T]:
        package = importlib.import_module(self._room)
        modules = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
        declared = (
            getattr(importlib.import_module(f"{self._room}.{name}"), self._attribute, ()) for name in modules
        )
        return {thing.name: thing for things in declared for thing in _flat(things)}

    @cached_property
    def _plugins(self) -> dict[str, T]:
        plugins: dict[str, T] = {}
        for entry in _entry_points(self._room):
            for thing in self._loaded(entry):
                if thing.name in self._built_in or thing.name in plugins:
                    raise _refused(entry, f"{thing.name!r} exists already")
                plugins[thing.name] = thing
        return plugins

    def _loaded(self, entry: EntryPoint) -> tuple[T, ...]:
        try:
            things = _flat(entry.load())
        except Exception as error:  # another package's import may raise anything
            raise _refused(entry, f"it cannot be loaded: {error}") from error
        for thing in things:
            if not isinstance(thing, self._kind):
                raise _refused(entry, f"it is a {type(thing).__name__}, not a {self._kind.__name__}")
        return things


def _entry_points(group: str) -> Iterable[EntryPoint]:
    from importlib.metadata import entry_points  # takes 25 ms: few calls ask for what is not built in

    return entry_points(group=group)


def plugged_in() -> bool:
    """Whether other packages add to a room: what is read then depends on their files, too."""
    from importlib.metadata import entry_points

    return any(group.startswith("mpicampaign.") for group in entry_points().groups)


def _flat(things: T | tuple[T, ...]) -> tuple[T, ...]:
    return things if isinstance(things, tuple) else (things,)


def _refused(entry: EntryPoint, reason: str) -> UserError:
    package = entry.dist.name if entry.dist else "an unknown package"
    message = f"the entry point {entry.name} = {entry.value} of {package} cannot be used: {reason}"
    return UserError(Problem(message, hint=f"fix or remove {package}; its group is {entry.group}"))
