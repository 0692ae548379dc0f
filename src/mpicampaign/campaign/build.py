"""From the plain data of a campaign file to the typed campaign.

Works on whatever is left of a faulty file: the mistake was noted when its value was taken out, and
what is built then only serves to find further mistakes.
"""

from __future__ import annotations

import math
import platform
import shlex
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from mpicampaign.campaign.model import (
    Benchmark,
    Campaign,
    Fabric,
    HostGroup,
    MatrixEntry,
    Mpi,
    Placement,
    Provider,
    System,
    TransportSettings,
)
from mpicampaign.mpis import wheel_library
from mpicampaign.presentation import ReferenceChoice
from mpicampaign.schedulers import is_local
from mpicampaign.units import parse_duration, parse_rate, parse_size
from mpicampaign.yaml_lines import lookup, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mpicampaign.errors import Problem
    from mpicampaign.yaml_lines import Document, Key, Mark

T = TypeVar("T")

WHEEL = "wheel"  # as prefix or MPI: that of the Python environment which this program runs in
MAX_SECONDS = 366 * 86400


class Builder:
    """Builds the campaign of a document; values that cannot be read are noted in ``problems``."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []
        self.faulty: list[Key] = []  # key paths of the values that these problems are about
        self.mpis: dict[str, Mpi] = {}

    def campaign(self, file: str) -> Campaign:
        """The campaign, as complete as its data."""
        name = self._text(("campaign",))
        self.mpis = dict(self._named("mpis", self._mpi))
        return Campaign(
            name=name,
            title=self._text(("title",)) or name,
            seed=self._count(("seed",), 0),
            systems=dict(self._named("systems", self._system)),
            host_groups=dict(self._named("host_groups", self._host_group)),
            placements=dict(self._named("placements", self._placement)),
            benchmarks=dict(self._named("benchmarks", self._benchmark)),
            matrix=tuple(self._matrix()),
            node_hours_cap=self._get(("node_hours_cap",)),
            table_sizes=self._sizes(("table_sizes",)),
            reference=tuple(self._reference()),
            file=file,
        )

    # ---- entities

    def _named(self, section: str, build: Callable[[str, Key], Any]) -> Iterator[tuple[str, Any]]:
        for name in self._get((section,)) or {}:
            yield name, build(name, (section, name))

    def _mpi(self, name: str, key: Key) -> Mpi:
        transports = self._get((*key, "transports")) or {}
        return Mpi(
            name=name,
            launcher=self._text((*key, "launcher")),
            transports={each: self._settings((*key, "transports", each)) for each in transports},
            command=self._text((*key, "command")) or "mpirun",
            environment=self._environment((*key, "environment")),
            options=self._tokens((*key, "options")),
            unbound=self._settings((*key, "unbound")) if self._get((*key, "unbound")) else None,
            pmi=self._text((*key, "pmi")),
            own=any(mark.file != self.document.foundation for mark in self._marks_below(key)),
        )

    def _settings(self, key: Key) -> TransportSettings:
        return TransportSettings(self._tokens((*key, "options")), self._environment((*key, "environment")))

    def _system(self, name: str, key: Key) -> System:
        mpi_name = self._text((*key, "mpi"))
        prefix_name = self._text((*key, "prefix")) or (WHEEL if mpi_name == WHEEL else "")
        mpi_name = wheel_library(platform.machine()) if mpi_name == WHEEL else mpi_name
        mpi = self.mpis.get(mpi_name) or Mpi(mpi_name, "", {})
        scheduler = self._text((*key, "scheduler"))
        return System(
            name=name,
            scheduler=scheduler,
            mpi=mpi,
            launcher=self._text((*key, "launcher")) or mpi.launcher,
            prefix=sys.prefix if prefix_name == WHEEL else prefix_name,
            prefix_name=prefix_name,
            login_hosts=self._texts((*key, "login_hosts")),
            modules=self._texts((*key, "modules")),
            source=self._texts((*key, "source")),
            programs=self._environment((*key, "programs")),
            environment=self._environment((*key, "environment")),
            directives=self._texts((*key, "directives")),
            launcher_options=self._tokens((*key, "launcher_options")),
            hosts_from=self._text((*key, "hosts_from")) or ("list" if is_local(scheduler) else "scheduler"),
            evidence=self._text((*key, "evidence")) != "off",
        )

    def _host_group(self, name: str, key: Key) -> HostGroup:
        fabrics = self._get((*key, "fabrics")) or {}
        selectors = (
            *("partition", "constraint", "queue", "reservation", "account", "qos", "licenses"),
            *("hint", "memory", "gres", "switches"),
        )
        return HostGroup(
            name=name,
            system=self._text((*key, "system")),
            hosts=self._texts((*key, "hosts")),
            members=self._texts((*key, "members")),
            exclusive=bool(self._get((*key, "exclusive"))),
            threads_per_core=self._optional_count((*key, "threads_per_core")),
            requeue=self._get((*key, "requeue")),
            cores=self._optional_count((*key, "cores")),
            directives=self._texts((*key, "directives")),
            fabrics={each: self._fabric(each, (*key, "fabrics", each)) for each in fabrics},
            **{each: self._text((*key, each)) for each in selectors},
        )

    def _fabric(self, name: str, key: Key) -> Fabric:
        return Fabric(
            name=name,
            transport=self._text((*key, "transport")),
            interface=self._text((*key, "interface")),
            device=self._text((*key, "device")),
            bytes_per_second=self._parsed((*key, "rate"), parse_rate),
        )

    def _placement(self, name: str, key: Key) -> Placement:
        per_node = self._get((*key, "ranks_per_node"))
        return Placement(
            name=name,
            nodes=self._count((*key, "nodes"), 1),
            ranks_per_node=per_node if isinstance(per_node, str) else int(per_node or 1),
            transport=self._text((*key, "transport")),
            sockets=self._optional_count((*key, "sockets")),
            binding=self._text((*key, "binding")) or "core",
            loopback=bool(self._get((*key, "loopback"))),
            fabric=self._text((*key, "fabric")),
            launcher_options=self._tokens((*key, "launcher_options")),
            program_prefix=self._tokens((*key, "program_prefix")),
            description=self._text((*key, "description")),
        )

    def _benchmark(self, name: str, key: Key) -> Benchmark:
        return Benchmark(
            name=name,
            suite=self._text((*key, "suite")),
            program=self._text((*key, "program")),
            arguments=self._tokens((*key, "arguments")),
            provider=self._provider((*key, "provider")),
            ranks_minimum=self._count((*key, "ranks_minimum"), 1),
            figure_sizes=self._sizes((*key, "figure_sizes")),
        )

    def _provider(self, key: Key) -> Provider:
        if not isinstance(self._get(key), dict):
            return Provider(self._text(key))
        location = self._text((*key, "location"))
        return Provider(self._text((*key, "kind")), location, self._texts((*key, "modules")))

    def _matrix(self) -> Iterator[MatrixEntry]:
        for index, entry in enumerate(self._get(("matrix",)) or []):
            key: Key = ("matrix", index)
            if entry is not None:
                yield MatrixEntry(
                    host_groups=self._texts((*key, "host_groups")),
                    placements=self._texts((*key, "placements")),
                    benchmarks=self._texts((*key, "benchmarks")),
                    repeats=self._count((*key, "repeats"), self._count(("repeats",), 1)),
                    time_limit=self._seconds((*key, "time_limit")) or self._seconds(("time_limit",)),
                )

    def _reference(self) -> Iterator[ReferenceChoice]:
        for key, entry in self.document.items(("reference",)):
            if isinstance(entry, str):
                yield ReferenceChoice(entry)
            else:
                names = (self._texts((*key, each)) for each in ("host_groups", "placements"))
                yield ReferenceChoice(self._text((*key, "name")), *names)

    # ---- values

    def _marks_below(self, key: Key) -> Iterator[Mark]:
        return (mark for path, mark in self.document.marks.items() if path[: len(key)] == key)

    def _get(self, key: Key) -> Any:
        return lookup(self.document.data, key)

    def _text(self, key: Key) -> str:
        """A scalar as written in the file; empty where it is absent."""
        value = self._get(key)
        if isinstance(value, str):
            return value
        mark = self.document.marks.get(key)
        return mark.text if value is not None and mark and mark.text is not None else ""

    def _texts(self, key: Key) -> tuple[str, ...]:
        return tuple(self._text(item) for item, _ in self.document.items(key))

    def _tokens(self, key: Key) -> tuple[str, ...]:
        """A list as it is; a single text split into words as a shell does, nothing expanded."""
        if isinstance(self._get(key), list):
            return self._texts(key)
        return tuple(self._parsed(key, _words) or ())

    def _environment(self, key: Key) -> dict[str, str]:
        return {name: self._text((*key, name)) for name in self._get(key) or {}}

    def _count(self, key: Key, default: int) -> int:
        value = self._get(key)
        return default if value is None else int(value)

    def _optional_count(self, key: Key) -> int | None:
        value = self._get(key)
        return None if value is None else int(value)

    def _sizes(self, key: Key) -> tuple[int, ...]:
        sizes = [self._parsed(item, parse_size) for item, _ in self.document.items(key)]
        return tuple(size for size in sizes if size is not None)

    def _seconds(self, key: Key) -> int:
        return self._parsed(key, _whole_seconds) or 0

    def _parsed(self, key: Key, parse: Callable[[str], T]) -> T | None:
        """A text read by a function that raises ValueError; ``None`` where it is absent or faulty."""
        if self._get(key) is None or key in self.faulty:
            return None
        try:
            return parse(self._text(key))
        except ValueError as error:
            self.faulty.append(key)
            self.problems.append(self.document.problem(key, str(error), shown(self._text(key))))
            return None


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        reason = str(error).lower()
        raise ValueError(f"cannot be split into words: {reason}; a list of words needs no quotes") from error


def _whole_seconds(text: str) -> int:
    seconds = math.ceil(parse_duration(text))
    if not 1 <= seconds <= MAX_SECONDS:
        raise ValueError("a time limit lies between 1 s and a year")
    return seconds
