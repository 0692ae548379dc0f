"""Snakemake without what it always loads (9.27), for which it has no option, and never uses here.

The libraries of its other persistence backend, its own report and downloads take longer than all others.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from importlib.metadata import version
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

KNOWN = ("9.27.1",)  # versions of Snakemake that these stand-ins were tested with


def load_less() -> None:
    """Before Snakemake is imported. Its records are then plain objects; they are kept in the same files."""
    if version("snakemake") not in KNOWN or "sqlmodel" in sys.modules:
        return
    _stand_in("sqlalchemy", Column=_nothing, JSON=None)
    _stand_in("sqlmodel", SQLModel=_Record, Field=_default)
    _stand_in("snakemake.persistence.db", DbPersistence=None)
    sys.modules["snakemake.report"] = None  # type: ignore[assignment]  # as if it were not installed
    _load_without("smart_open", "requests")  # parses where a Snakefile is; ours is a file
    _look_for_plugins_once()


def _look_for_plugins_once() -> None:
    """For all five kinds: to look is to list all that is installed."""
    from snakemake_interface_common import plugin_registry

    installed = list(pkgutil.iter_modules())
    plugin_registry.pkgutil = SimpleNamespace(iter_modules=lambda: installed)  # type: ignore[assignment, attr-defined]


def _load_without(name: str, library: str) -> None:
    """Load a module as if a library were not installed; others, such as plugins of the user, may load it."""
    if library not in sys.modules:
        sys.modules[library] = None  # type: ignore[assignment]
        importlib.import_module(name)
        del sys.modules[library]


def _stand_in(name: str, **items: object) -> None:
    sys.modules[name] = module = ModuleType(name)
    vars(module).update(items)


def _nothing(*_: object) -> None:
    pass


def _default(
    *, default: object = None, default_factory: Callable[[], object] | None = None, **_: object
) -> object:
    return default_factory() if default_factory else default


class _Record:
    """A record whose fields are the annotated names of its class, with their defaults."""

    def __init__(self, **values: object) -> None:
        self.__dict__.update(values)

    @classmethod
    def model_validate(cls, values: dict[str, Any]) -> _Record:
        return cls(**values)

    def model_dump(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__annotations__}
