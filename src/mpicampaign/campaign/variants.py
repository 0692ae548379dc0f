"""Variants: what a list in a definition makes of it, one for each of its values.

A placement with ``nodes: [2, 4]`` is two: the first value keeps the name, the others state theirs (``IBV``
and ``IBV nodes=4``); of variables each value is stated. Declarations and folders have the name alone beside
the value itself, so that no run depends on what else the list has, or on its order. A system with several MPI
libraries is one for each of them (``cluster with openmpi5``), and so are its host groups.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mpicampaign.base.records import WITH, defined_name
from mpicampaign.campaign.model import Benchmark, Campaign, Placement
from mpicampaign.suites import SUITES

if TYPE_CHECKING:
    Item = TypeVar("Item", Benchmark, Placement)

# Keys that take a list: of numbers, and mappings of texts.
NUMBERS = ("nodes", "ranks_per_node", "threads")
ENVIRONMENT = "environment"
MAPPINGS = (ENVIRONMENT, "parameters")
OPTIONS = "launcher_options"  # by name
MAX_VARIANTS = 1000


class ValueList(NamedTuple):
    """A key with a list: its values, with the texts that name them. ``inner``: the key of a mapping."""

    field: str
    inner: str
    values: tuple[tuple[str, Any], ...]

    def changed(self, item: Any, value: Any) -> Any:
        """The item with one value in place of the list."""
        if self.inner:
            value = getattr(item, self.field) | {self.inner: value}
        return replace(item, **{self.field: value})


def named(known: Iterable[str], name: str) -> list[str]:
    """The variants of a name, or the name itself."""
    return [variant for variant in known if defined_name(variant) == name]


def variants(item: Item) -> list[Item]:
    """The variants of a placement or benchmark; itself, where it has no list.

    Of more than `MAX_VARIANTS`, which the checks refuse, the first.
    """
    lists = axes(item)
    places = product(*(range(len(axis.values)) for axis in lists))
    most = 1 if count(lists) > MAX_VARIANTS else None
    return [_variant(item, lists, values) for values in islice(places, most)]


def count(lists: Iterable[ValueList]) -> int:
    """How many variants the lists make."""
    return prod(len(axis.values) for axis in lists)


def axes(item: Any) -> list[ValueList]:
    """The lists of a placement or benchmark, in the order of its keys."""
    lists = []
    for name in item.__dataclass_fields__:
        value = getattr(item, name)
        if name in NUMBERS and isinstance(value, tuple):
            lists.append(ValueList(name, "", tuple((f"{name}={choice}", choice) for choice in value)))
        elif name in MAPPINGS:
            lists += _inner(name, value)
        elif name == OPTIONS and isinstance(value, dict):
            lists.append(ValueList(name, "", tuple(value.items())))
    return lists


def _inner(field: str, mapping: Mapping[str, Any]) -> list[ValueList]:
    lists = ((key, value) for key, value in mapping.items() if isinstance(value, tuple))
    return [
        ValueList(field, key, tuple((f"{key}={choice}", choice) for choice in value)) for key, value in lists
    ]


def _variant(item: Item, lists: list[ValueList], places: tuple[int, ...]) -> Item:
    variant, texts = item, [item.name]
    for axis, place in zip(lists, places, strict=True):
        text, value = axis.values[place]
        variant = axis.changed(variant, value)
        texts += [text] if place or axis.field == ENVIRONMENT else []  # plain, a variable would read as unset
    name = " ".join(texts)
    return replace(variant, name=name, kept_as=item.name if name != item.name else "")


def by_name(items: Iterable[Item]) -> dict[str, Item]:
    """All variants of placements or benchmarks by their names."""
    return {variant.name: variant for item in items for variant in variants(item)}


def groups_of(campaign: Campaign, name: str, libraries: Iterable[str] = ()) -> list[str]:
    """The variants of a host group with some MPI libraries; with all, where none are named."""
    groups = named(campaign.host_groups, name)
    wanted = set(libraries)
    return [group for group in groups if not wanted or library_of(campaign, group) in wanted]


def library_of(campaign: Campaign, group: str) -> str:
    """The name of a host group's MPI library in the campaign file."""
    system = campaign.systems.get(campaign.host_groups[group].system)
    return group.partition(WITH)[2] or (system.mpi.name if system else "")


def filled(benchmark: Benchmark) -> Benchmark:
    """The benchmark with parameters in its arguments, but those that its suite writes into an input file."""
    suite = SUITES.get(benchmark.suite)
    own_parameters = {
        name: value for name, value in benchmark.parameters.items() if suite and name not in suite.parameters
    }
    used = {
        name for name in own_parameters if any(f"{{{name}}}" in argument for argument in benchmark.arguments)
    }
    if not used:
        return benchmark
    rest = {name: value for name, value in benchmark.parameters.items() if name not in used}
    arguments = tuple(_filled(argument, own_parameters) for argument in benchmark.arguments)
    return replace(benchmark, arguments=arguments, parameters=rest)


def _filled(text: str, values: Mapping[str, str]) -> str:
    """The text with {NAME} replaced, each once: what is put in is not read again."""
    return re.sub(r"\{([^{}]*)\}", lambda mark: values.get(mark[1], mark[0]), text)


def for_ranks(benchmark: Benchmark, placement: Placement, ranks_per_node: int) -> Benchmark:
    """The benchmark with the placement's numbers of nodes and ranks in its arguments."""
    numbers = {"nodes": placement.nodes, "ranks_per_node": ranks_per_node}
    numbers |= {"ranks": placement.nodes * ranks_per_node}
    texts = {name: str(number) for name, number in numbers.items()}
    arguments = tuple(_filled(argument, texts) for argument in benchmark.arguments)
    return benchmark if arguments == benchmark.arguments else replace(benchmark, arguments=arguments)
