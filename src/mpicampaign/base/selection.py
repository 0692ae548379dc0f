"""Which runs of a campaign a call is about: by placement, benchmark, host group and repeat."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from mpicampaign.base.errors import Problem, UserError, did_you_mean
from mpicampaign.base.records import Case, defined_name

_SPAN = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class RunSelection:
    """Names of runs; where a field is empty, all are selected.

    A host group is named alone or as SYSTEM/HOST_GROUP, with or without one of several MPI libraries; a
    placement or benchmark with a list as a whole or with a value. ``repeats``: spans, both ends included.
    """

    placements: tuple[str, ...] = ()
    benchmarks: tuple[str, ...] = ()
    host_groups: tuple[str, ...] = ()
    repeats: tuple[tuple[int, int], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.placements or self.benchmarks or self.host_groups or self.repeats)

    def __str__(self) -> str:
        parts = [f"{key} {', '.join(names)}" for key, names in self.texts.items()]
        return _printable("; ".join(parts))

    @property
    def texts(self) -> dict[str, list[str]]:
        """What is selected, by the key of Snakemake's configuration; see `selection_of`."""
        repeats = [str(first) if first == last else f"{first}-{last}" for first, last in self.repeats]
        names = (*map(list, (self.placements, self.benchmarks, self.host_groups)), repeats)
        return {key: of_key for key, of_key in zip(KEYS, names, strict=True) if of_key}

    @property
    def options(self) -> list[str]:
        """The options of the command line that select the same, for the workflow; see `split_names`."""
        return [f"--{key.replace('_', '-')}={joined(names)}" for key, names in self.texts.items()]

    def takes(self, case: Case, repeat: int) -> bool:
        """Whether a run is selected."""
        within = any(first <= repeat <= last for first, last in self.repeats)
        return self.takes_case(case) and (within or not self.repeats)

    def takes_case(self, case: Case) -> bool:
        """Whether the runs of a case are selected, apart from their repeats."""
        return all(not wanted or not {*wanted}.isdisjoint(names(case)) for wanted, names in self._names())

    def check(self, runs: Iterable[tuple[Case, int]], file: str = "") -> None:
        """Refuse names and repeats that no run has, and a selection of no run.

        Parameters
        ----------
        runs : all runs of the campaign, as case and repeat
        file : of the campaign, for the message

        Raises
        ------
        UserError
            with every unknown name, and the nearest known one.
        """
        if not self:
            return
        all_runs = list(runs)
        cases = dict.fromkeys(case for case, _ in all_runs)
        problems = [
            problem
            for (option, _), (wanted, names) in zip(_OPTIONS.items(), self._names(), strict=True)
            for problem in _unknown(option, wanted, [name for case in cases for name in names(case)])
        ]
        highest = max((repeat for _, repeat in all_runs), default=0)
        for first, last in self.repeats:
            if not 1 <= first <= last <= highest:
                value = str(first) if first == last else f"{first}-{last}"
                hint = f"repeats: 1-{highest}"
                problems.append(
                    Problem("the campaign has no such repeat", file, None, "--repeat", value, hint)
                )
        if not problems and not any(self.takes(case, repeat) for case, repeat in all_runs):
            hint = "mpicampaign plan shows all of them"
            problems = [Problem(f"no run of the campaign has all of these: {self}", file, hint=hint)]
        if problems:
            raise UserError(problems)

    def _names(self) -> list[tuple[tuple[str, ...], Callable[[Case], tuple[str, ...]]]]:
        """For each option, the names it gives and the name of the case."""
        return [(getattr(self, field), names) for field, names in _OPTIONS.values()]


ALL_RUNS = RunSelection()
_OPTIONS: Mapping[str, tuple[str, Callable[[Case], tuple[str, ...]]]] = {
    "--placement": ("placements", lambda case: variant_names(case.placement)),
    "--benchmark": ("benchmarks", lambda case: variant_names(case.benchmark)),
    "--host-group": ("host_groups", lambda case: _host_groups(case)),
}


def variant_names(name: str) -> tuple[str, ...]:
    """The names that select a variant: ``IBV nodes=4 (60 ns apart)`` is also ``IBV nodes=4`` and ``IBV``."""
    return name, name.partition(" (")[0], defined_name(name)


def _host_groups(case: Case) -> tuple[str, ...]:
    """The names that select a host group, with its MPI library or without, also as SYSTEM/HOST_GROUP."""
    machine, group = case.machine
    names = dict.fromkeys((case.host_group, group, defined_name(group)))
    return *names, *(f"{machine}/{name}" for name in names)


# Keys of Snakemake's configuration.
KEYS = ("placement", "benchmark", "host_group", "repeat")


def selection_of(config: Mapping[str, object]) -> RunSelection:
    """The selection that Snakemake's configuration names: ``placement=TCP,SHM repeat=1-3,5``.

    A value is a list of names, or names separated by commas.

    Raises
    ------
    UserError
        where a repeat is not a number or a span of numbers.
    """
    placements, benchmarks, host_groups, repeats = (_listed(config.get(key)) for key in KEYS)
    return RunSelection(placements, benchmarks, host_groups, spans(repeats))


def joined(names: Iterable[str]) -> str:
    """Names as options take them; see `split_names`."""
    return ",".join(f'"{name}"' if "," in name else name for name in names)


def split_names(text: str) -> list[str]:
    """``PingPong,Gather`` as names; a name with a comma is in double quotes."""
    if "," not in text:
        return [text]
    from csv import reader

    return [name.strip() for name in next(reader([text], skipinitialspace=True)) if name.strip()]


def spans(texts: Iterable[str]) -> tuple[tuple[int, int], ...]:
    """``["1-3", "5"]`` as ``((1, 3), (5, 5))``.

    Raises
    ------
    UserError
        where a text is not a number or a span of numbers.
    """
    found, problems = [], []
    for text in texts:
        if span := _SPAN.fullmatch(text):
            found.append((int(span[1]), int(span[2] or span[1])))
        else:
            hint = "repeats are numbers and spans, such as 1-3,5"
            problems.append(Problem("not a repeat", key="--repeat", value=_printable(text), hint=hint))
    if problems:
        raise UserError(problems)
    return tuple(found)


def _listed(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [] if value is None else split_names(str(value))
    return tuple(map(str, values))


def _unknown(option: str, wanted: Iterable[str], known: Iterable[str]) -> list[Problem]:
    names = dict.fromkeys(known)
    short = [name for name in names if "/" not in name] or list(names)
    return [
        Problem("unknown name", key=option, value=_printable(name), hint=did_you_mean(name, short))
        for name in wanted
        if name not in names
    ]


def _printable(text: str) -> str:
    from mpicampaign.base.yaml_lines import (
        printable,  # loads PyYAML, which the command line's help does not need
    )

    return printable(text)
