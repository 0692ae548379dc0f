"""Reading a campaign file, with what it includes and what is built in: checked as a whole, typed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from mpicampaign.base.errors import Problem, UserError, nearest
from mpicampaign.base.expectation import UNTIL_DECIDED
from mpicampaign.base.grouping import grouped
from mpicampaign.base.keys import Values
from mpicampaign.base.places import wheel_folder
from mpicampaign.base.records import BLOCKS, TO_REFERENCE, WITH, defined_name
from mpicampaign.base.shape import check_shape
from mpicampaign.base.yaml_lines import Document, Key, Mark, document_of, lookup, printable, read_yaml, shown
from mpicampaign.campaign.checks import Notes, check_definitions
from mpicampaign.campaign.combinations import check_matrix
from mpicampaign.campaign.each import SCREEN, hosts_of
from mpicampaign.campaign.model import (
    Benchmark,
    Campaign,
    HostGroup,
    MatrixEntry,
    Mpi,
    Schedule,
    System,
    SystemMpi,
    campaign_schema,
)
from mpicampaign.campaign.variants import by_name, filled, groups_of, library_of, named
from mpicampaign.mpis import MPIS, definitions, wheel_library
from mpicampaign.schedulers import is_local
from mpicampaign.suites import benchmarks

BUILTIN = Path(__file__).with_name("builtin.yaml")
INCLUDE = "include"
MAX_FILES = 50
_ALIKE = 0.8  # ratio of difflib between a built-in name and a misspelling of it


def load_campaign(path: Path) -> Campaign:
    """The campaign of a file.

    Raises
    ------
    UserError
        with every error in the file and in those that it includes.
    """
    campaign, problems = read_campaign(path)
    if problems:
        raise UserError(problems)
    return campaign


def read_campaign(path: Path) -> tuple[Campaign, list[Problem]]:
    """The campaign of a file, as complete as its data, and every error in it by file and line.

    Raises
    ------
    UserError
        for a file that is not there, empty, or no campaign file.
    """
    _check_is_there(path)
    written = read_with_includes(path)
    if not written.data and not written.problems:
        hint = "mpicampaign init writes a campaign file to start from"
        raise UserError(Problem("this file is empty", printable(str(path)), hint=hint))
    libraries, described = _names(written, "systems", "mpi", "mpis")
    named_benchmarks, defined = _names(written, "matrix", "benchmarks", "benchmarks")
    document = built_in(libraries - {WHEEL} | described, named_benchmarks - defined)
    if {"import", "rules"} <= written.data.keys() and "matrix" not in written.data:
        message = "this is an import map, not a campaign file"
        hint = "report takes it as --map FILE; tables and bundle take --results results/CAMPAIGN"
        raise UserError(Problem(message, printable(str(path)), hint=hint))
    misspelt = _misspelt(written, document)
    # a placement of the user's file has `within_node` only from there: older files keep their runs
    for key in [key for key in document.marks if key[2:] == ("within_node",) and key[:2] in written.marks]:
        document.remove(key)
    document.merge(written)
    shape, doubts = check_shape(document, campaign_schema())
    values = Values(document)
    campaign = build_campaign(values, str(path))
    notes = Notes(document, [*misspelt, *doubts, *values.faulty])
    check_definitions(campaign, campaign.mpis, notes)
    check_matrix(campaign, notes)
    if document.items(("reference",)):  # few campaigns choose any, and the module takes 3 ms
        from mpicampaign.campaign.references import check_reference_choices

        check_reference_choices(notes)
    problems = dict.fromkeys([*document.problems, *shape, *values.problems, *notes.problems])
    in_order = sorted(problems, key=lambda problem: (problem.file, problem.line or 0))
    return replace(campaign, warnings=notes.warnings), in_order


def _check_is_there(path: Path) -> None:
    try:
        path.stat()
    except FileNotFoundError as error:
        message = f"this file cannot be read: {error.strerror}"
        hint = "mpicampaign init writes campaign.yaml; on a cluster, mpicampaign doctor writes site.yaml"
        raise UserError(Problem(message, printable(str(path)), hint=hint)) from None
    except (OSError, ValueError):
        pass  # reading it reports the reason


def built_in(libraries: Iterable[str] = (), chosen: Iterable[str] = ()) -> Document:
    """What a campaign that names these MPI libraries and benchmarks may use, override or add to."""
    document = read_yaml(BUILTIN)
    document.foundation = printable(str(BUILTIN))
    of_rooms = {"mpis": definitions(libraries), "benchmarks": benchmarks(chosen)}
    document.merge(document_of(of_rooms, document.foundation))
    return document


def _names(written: Document, section: str, key: str, of: str) -> tuple[set[str], set[str]]:
    """The names that entries of a section have under a key, and those that a section defines."""
    marks = written.marks.items()
    used = {mark.text for path, mark in marks if (path[:1], path[2:3]) == ((section,), (key,)) and mark.text}
    return used, {str(path[1]) for path in written.marks if path[:1] == (of,) and len(path) > 1}


def _misspelt(written: Document, built_in: Document) -> list[Key]:
    """Notes and removes what seems to change a built-in definition, under a name that is not built in.

    That is an entry without any of the keys that a new one needs, with a name like that of a built-in one.
    """
    unused: list[Key] = []
    for section, kind in (("placements", "placement"), ("mpis", "mpi"), ("benchmarks", "benchmark")):
        needed = campaign_schema()["$defs"][kind]["required"]
        entries = lookup(written.data, (section,))
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            meant = "" if name in built_in.data[section] else nearest(name, built_in.data[section], _ALIKE)
            if meant and isinstance(entry, dict) and not entry.keys() & set(needed):
                hint = f"did you mean {meant!r}? A new one needs {', '.join(needed)}"
                message = f"no {kind} {shown(name)} is built in"
                written.problems.append(written.problem((section, name), message, "", hint))
                unused.append((section, name))
    for key in unused:
        written.remove(key)
    return unused


def read_with_includes(path: Path) -> Document:
    """A file laid over those that it includes, first included first.

    Raises
    ------
    UserError
        when one of them cannot be read, or they include each other.
    """
    return _Includes().read(path, ())


class _Includes:
    def __init__(self) -> None:
        self.files = 0

    def read(self, path: Path, above: tuple[Path, ...]) -> Document:
        """A file over what it includes; ``above`` are the files that led here."""
        self.files += 1
        including = _mapping(path)
        merged = Document({}, {(): including.marks[()]})
        for key, name in _included_names(including):
            try:
                merged.merge(self._included(path.parent / _expanded(name), (*above, path.resolve())))
            except UserError as error:
                where = including.mark(key)
                including.problems += [_with_place(problem, where) for problem in error.problems]
        including.remove((INCLUDE,))
        merged.merge(including)
        return merged

    def _included(self, path: Path, above: tuple[Path, ...]) -> Document:
        if path.resolve() in above:
            raise UserError(Problem("files include each other in a circle", printable(str(path))))
        if self.files >= MAX_FILES:
            raise UserError(Problem(f"more than {MAX_FILES} files are included", printable(str(path))))
        return self.read(path, above)


def _mapping(path: Path) -> Document:
    document = read_yaml(path)
    if document.data is None:
        document = Document({}, {(): Mark(printable(str(path)), 1)}, document.problems)
    if not isinstance(document.data, dict):
        message = "a campaign file is a mapping of keys such as campaign:, systems: and matrix:"
        raise UserError(Problem(message, printable(str(path)), 1, value=shown(document.data)))
    return document


def _included_names(including: Document) -> list[tuple[Key, str]]:
    """The key paths and names of the included files; anything else is noted as a problem."""
    names: list[tuple[Key, str]] = []
    for key, item in including.items((INCLUDE,)):
        if isinstance(item, str) and item and "\0" not in item:
            names.append((key, item))
        else:
            including.problems.append(including.problem(key, "include takes file names", shown(item)))
    return names


def _with_place(problem: Problem, where: Mark) -> Problem:
    """An error about a whole included file, with the place of its include."""
    if problem.line is not None or problem.hint:
        return problem
    return replace(problem, hint=f"it is included in {where.file}:{where.line}")


# ---- from plain data to the typed campaign: what follows from several keys

_WITH_PATHS = ("path", "source", "conda")  # providers whose location is a path
WHEEL = "wheel"  # as MPI library: that of the Python environment; as prefix: the wheel of the MPI library


def build_campaign(values: Values, file: str) -> Campaign:
    """The campaign, as complete as its data."""
    mpis = {name: _mpi(values, name) for name in values.get(("mpis",)) or {}}
    listed = [system for name in values.get(("systems",)) or {} for system in _systems(values, name, mpis)]
    systems = {system.name: system for system, _ in listed}
    made = values.entry(Campaign, (), mpis=mpis, systems=systems, file=file, document=values.document)
    schedule = made.schedule and _schedule(values, made.schedule)
    with_paths = [_with_paths(values, benchmark) for benchmark in made.benchmarks.values()]
    complete = replace(
        made,
        title=made.title or made.name,
        schedule=schedule,
        host_groups=_with_libraries(made.host_groups.values(), listed),
        placements=by_name(made.placements.values()),
        benchmarks={name: filled(benchmark) for name, benchmark in by_name(with_paths).items()},
    )
    return replace(complete, matrix=tuple(_completed(entry, complete) for entry in made.matrix))


# ---- paths are relative to the file that names them


def _beside(values: Values, key: Key, name: str) -> Path:
    return Path(values.document.mark(key).file).parent / _expanded(name)


def _expanded(name: str) -> Path:
    return Path(os.path.expanduser(name))  # noqa: PTH111 - Path.expanduser raises where there is no such user


def _absolute(values: Values, key: Key, name: str) -> str:
    """The absolute path; ~ stays as it is written."""
    return name if _expanded(name).is_absolute() else str(_beside(values, key, name).absolute())


def _with_paths(values: Values, benchmark: Benchmark) -> Benchmark:
    """The benchmark with paths relative to the campaign file made absolute."""
    key: Key = ("benchmarks", benchmark.name)
    named = zip(values.document.items((*key, "inputs")), benchmark.inputs, strict=False)
    inputs = tuple(str(_beside(values, item, name)) for (item, _), name in named)
    provider = benchmark.provider
    if provider.kind in _WITH_PATHS and provider.location:
        path = _absolute(values, (*key, "provider", "location"), provider.location)
        provider = replace(provider, location=path, location_name=provider.location)
    return replace(benchmark, inputs=inputs, provider=provider)


def _schedule(values: Values, schedule: Schedule) -> Schedule:
    """The schedule with paths relative to the campaign file made absolute."""

    def path(key: str, name: str) -> str:
        return str(_beside(values, ("schedule", key), name).absolute())

    textfile = path("textfile", schedule.textfile) if schedule.textfile else ""
    notify = schedule.notify
    if notify and "/" in notify[0]:  # its program is a path
        notify = (path("notify", notify[0]), *notify[1:])
    return replace(schedule, notify=notify, textfile=textfile)


def _mpi(values: Values, name: str) -> Mpi:
    key: Key = ("mpis", name)
    marks = values.document.marks.items()
    is_own = any(mark.file != values.document.foundation for path, mark in marks if path[:2] == key)
    return values.entry(Mpi, key, own=is_own)


def _systems(values: Values, name: str, mpis: dict[str, Mpi]) -> list[tuple[System, SystemMpi]]:
    """A system with each of its MPI libraries."""
    key: Key = ("systems", name)
    if not isinstance(values.get((*key, "mpi")), list):
        named = values.text((*key, "mpi"))
        return [(_system(values, key, named, mpis), SystemMpi(named))]
    items = values.entries(SystemMpi, (*key, "mpi"))
    return [(_with_library(_system(values, key, item.mpi, mpis, item), item), item) for item in items]


def _with_library(system: System, item: SystemMpi) -> System:
    """The system under its name with the library, and what the library adds to it."""
    return replace(
        system,
        name=f"{system.name}{WITH}{item.name or system.mpi.name}",
        kept_as=item.system or system.name,
        programs=system.programs | item.programs,
        environment=system.environment | item.environment,
        modules=(*system.modules, *item.modules),
        launcher_options=(*system.launcher_options, *item.launcher_options),
    )


def _with_libraries(
    groups: Iterable[HostGroup], systems: Iterable[tuple[System, SystemMpi]]
) -> dict[str, HostGroup]:
    """The host groups, with each MPI library of their systems."""
    of_system = grouped(systems, lambda listed: defined_name(listed[0].name))
    with_libraries: dict[str, HostGroup] = {}
    for group in groups:
        for system, item in of_system.get(group.system, ()):
            if system.hosts_from == "list":
                group = _with_names(group)
            if WITH in system.name:
                name = group.name + system.name[len(group.system) :]
                kept_as = item.host_groups.get(group.name, group.name)
                with_libraries[name] = replace(group, name=name, system=system.name, kept_as=kept_as)
            else:
                with_libraries[group.name] = group
        if group.system not in of_system:
            with_libraries[group.name] = group
    return with_libraries


def _with_names(group: HostGroup) -> HostGroup:
    """The host group with ranges of hosts expanded, as launchers know no ranges."""
    with suppress(ValueError):  # noted
        return replace(group, hosts=tuple(hosts_of(group)))
    return group


def _system(
    values: Values, key: Key, named: str, mpis: dict[str, Mpi], item: SystemMpi | None = None
) -> System:
    """A system with the MPI library of a name; ``item``: what this one has in place of the system's."""
    mpi_name = wheel_library(os.uname().machine) if named == WHEEL else named
    mpi = mpis.get(mpi_name) or Mpi(mpi_name, "", {})
    made = values.entry(System, key, mpi=mpi)
    if item:
        made = replace(made, launcher=item.launcher or made.launcher, prefix=item.prefix or made.prefix)
    named_files = zip(values.document.items((*key, "source")), made.source, strict=False)
    default = not values.get((*key, "hosts_from"))
    prefix_name = made.prefix or (WHEEL if named == WHEEL else "")
    return replace(
        made,
        launcher=made.launcher or mpi.launcher,
        prefix=_wheel_prefix(mpi_name) if prefix_name == WHEEL else prefix_name,
        prefix_name=prefix_name,
        source=tuple(_absolute(values, item, name) for (item, _), name in named_files),
        source_names=made.source,
        hosts_from="list" if default and is_local(made.scheduler) else made.hosts_from,
    )


def _wheel_prefix(mpi: str) -> str:
    """The environment with a library's wheel: this program's own, or one beside it."""
    library = MPIS.get(mpi)
    if library is None or not library.wheel or mpi == wheel_library(os.uname().machine):
        return sys.prefix
    return str(wheel_folder(library.wheel))


def _completed(entry: MatrixEntry, campaign: Campaign) -> MatrixEntry:
    """The matrix entry with all variants, and the campaign's repeats and time limit as defaults."""
    entry = replace(entry, blocks=TO_REFERENCE) if entry.race else entry
    until_decided = campaign.repeats == UNTIL_DECIDED and not entry.race
    default = BLOCKS if entry.blocks and not until_decided else campaign.repeats
    repeats = entry.repeats if entry.repeats is not None else SCREEN if entry.each else default

    def in_order(group: str) -> int:
        """In blocks the first one named is the reference."""
        return entry.mpis.index(library_of(campaign, group)) if entry.blocks and entry.mpis else 0

    groups = (
        group
        for name in entry.host_groups
        for group in sorted(groups_of(campaign, name, entry.mpis), key=in_order)
    )
    return replace(
        entry,
        host_groups=tuple(groups),
        placements=tuple(
            placement for name in entry.placements for placement in named(campaign.placements, name)
        ),
        benchmarks=tuple(
            benchmark for name in entry.benchmarks for benchmark in named(campaign.benchmarks, name)
        ),
        repeats=repeats,
        time_limit=entry.time_limit or campaign.time_limit,
    )
