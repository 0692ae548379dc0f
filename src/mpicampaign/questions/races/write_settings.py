"""The settings that won a race, as files that a job script or a module loads, each line with its proof.

Environment lines hold for all message sizes, so a setting is written there only if it won all cells. Where it
is a collective's algorithm, Open MPI's file of rules and Intel MPI's I_MPI_ADJUST hold one for each range of
sizes. Open MPI 4 and 5 read the same file (``coll_tuned_dynamic_rules_filename``): collectives, for each the
numbers of ranks, for each the sizes in bytes with algorithm, fan-out and segment size. A line holds from its
number on, so lines with algorithm 0, the library's own choice, end each range that was measured.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mpicampaign.base.files import write_whole
from mpicampaign.base.grouping import grouped
from mpicampaign.base.plan_file import CaseEntry, PlanFile
from mpicampaign.base.records import MPI_LIBRARY, Case, Record
from mpicampaign.base.text import in_ranks, listed, visible
from mpicampaign.questions.blocks.say import factor, interval
from mpicampaign.questions.races.find import InRace, RaceCell
from mpicampaign.questions.races.say import cell_name, left_lines, outcome_text, race_sentence
from mpicampaign.show.view import probability

FOLDER = "settings"
SHELL, MODULE, RULES = "environment.sh", "modulefile", "openmpi-rules.conf"
# Open MPI's numbers of collectives, and whether its sizes are those of all ranks (ompi/mca/coll/base).
_OPENMPI = {
    "allgather": (0, True),
    "allreduce": (2, False),
    "alltoall": (3, True),
    "bcast": (7, False),
    "gather": (9, True),
    "reduce": (11, False),
    "scatter": (15, True),
}
_ALGORITHM = re.compile(r"OMPI_MCA_coll_tuned_([a-z_]+)_algorithm|I_MPI_ADJUST_([A-Z_]+)")
_DYNAMIC = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}
_RULES_FILE = "OMPI_MCA_coll_tuned_dynamic_rules_filename"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAMES = ("system", "host_group", "placement", "benchmark")

Variables = dict[str, str | None]  # None: the variable is unset


class _Setting(NamedTuple):
    """What won cells of a race: its variables that differ from the default's.

    ``beside``: what else differs, which no variable can hold. ``collective`` and ``algorithm``: where it is
    that alone, and its cells have sizes.
    """

    race: InRace
    name: str
    cells: Sequence[RaceCell]
    variables: Variables
    beside: Sequence[str]
    collective: str
    algorithm: int

    @property
    def is_of_intel(self) -> bool:
        return any(name.startswith("I_MPI_ADJUST_") for name in self.variables)


def write_settings(folder: Path, plan: PlanFile, races: Sequence[InRace]) -> None:
    """Write the settings of all races into a campaign's folder, in place of earlier ones.

    Races with the same MPI libraries and ranks on one host group share the files. Jobs may read them
    meanwhile, so that none is away until all new ones are there.
    """
    target = folder / FOLDER
    entries = {entry.case: entry for entry in plan.cases}
    groups = grouped(races, _used_together).values()
    files: dict[Path, str] = {}
    for number, together in enumerate(groups, 1):
        group_folder = target / str(number) if len(groups) > 1 else target
        known = [race for race in together if race.won and race.every_case <= entries.keys()]
        files |= _settings(group_folder, plan.campaign, known, entries) if known else {}
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, text)
    for path in sorted([target, *target.rglob("*")], reverse=True):  # a folder behind what is in it
        if path.is_file() and path not in files:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def _used_together(race: InRace) -> tuple[object, ...]:
    cases = race.every_case
    libraries = frozenset((case.machine, case.library) for case in cases)
    return libraries, frozenset(cell.ranks for cell in race.cells)


def _settings(
    folder: Path, campaign: str, races: Sequence[InRace], entries: Mapping[Case, CaseEntry]
) -> dict[Path, str]:
    """The files of races that were won, and their texts; the rules come before what refers to them."""
    head = [f"campaign {campaign}", *(line for race in races for line in _head(race, entries))]
    # a backslash at the end of a line would join the next one to it
    head = [
        f"# {visible(line)}".rstrip("\\")
        for line in (*head, "Measured there alone: elsewhere others may be best.")
    ]
    winners = (
        _setting(race, leader, cells, entries)
        for race in races
        for leader, cells in grouped(race.won, lambda cell: cell.leader).items()
    )
    lines, rules = _lines(winners)
    files: dict[Path, str] = {}
    if rules:
        files[folder / RULES] = "\n".join([*head, *_rules(rules)]) + "\n"
        lines.append("# algorithms by size: the rules are in the file, each with its proof")
        lines += [*_DYNAMIC.items(), (_RULES_FILE, str((folder / RULES).resolve()))]
    for name, line_of, first in ((SHELL, _shell, []), (MODULE, _tcl, ["#%Module1.0"])):
        text = [line if isinstance(line, str) else line_of(*line) for line in lines]
        files[folder / name] = "\n".join([*first, *head, *text]) + "\n"
    return files


def _lines(
    winners: Iterable[_Setting],
) -> tuple[list[str | tuple[str, str | None]], dict[str, list[_Setting]]]:
    """Comments and variables with values; the settings that are rules of Open MPI, by collective."""
    lines: list[str | tuple[str, str | None]] = []
    rules: dict[str, list[_Setting]] = {}
    adjusted: dict[str, list[str]] = {}  # Intel MPI's ranges of sizes, by variable
    set_by: dict[str, InRace] = {}
    for setting in winners:
        race, collective = setting.race, setting.collective
        lines += [
            f"# {setting.name}, {cell_name(race, cell)}: {proof_text(race, cell)}" for cell in setting.cells
        ]
        if why := _why_not(setting, set_by):
            lines.append(visible(f"# {setting.name} is not written: {why}"))
            continue
        set_by |= dict.fromkeys(setting.variables.keys() - _DYNAMIC, race)
        if not collective:
            lines += setting.variables.items()
        elif setting.is_of_intel:
            adjusted.setdefault(f"I_MPI_ADJUST_{collective.upper()}", []).extend(_ranges(setting))
        else:
            rules.setdefault(collective, []).append(setting)
    return [*lines, *((name, ";".join(ranges)) for name, ranges in adjusted.items())], rules


def _head(race: InRace, entries: Mapping[Case, CaseEntry]) -> Iterator[str]:
    """Where the settings of a race are from."""
    libraries = dict.fromkeys(_library(run, entries[run.case]) for run in race.runs)
    hosts = sorted({host for run in race.runs for host in run.hosts})
    ranks = dict.fromkeys(cell.ranks for cell in race.cells)
    yield f"{race.design}; last run {max(run.ended for run in race.runs)}"
    yield f"{listed([*libraries])}; {listed([*map(in_ranks, ranks)])}; hosts: {', '.join(hosts)}"
    yield f"{race_sentence(race)}; {'; '.join(left_lines(race))}"


def _library(run: Record, entry: CaseEntry) -> str:
    """The MPI library as it prints itself, else as the campaign names it, with the checksum of its file."""
    checksum = f", checksum {run.metadata[MPI_LIBRARY]}" if MPI_LIBRARY in run.metadata else ""
    return run.metadata.get("mpi_library", str(entry.declared.get("mpi", "unknown MPI library"))) + checksum


def _setting(
    race: InRace, leader: int, cells: Sequence[RaceCell], entries: Mapping[Case, CaseEntry]
) -> _Setting:
    """By what the campaign declares of the candidates of any benchmark: the setting is the same for all."""
    cases = next(iter(race.cases.values()))
    default, winner = (dict(entries[cases[place]].declared) for place in (0, leader))
    before, after = _environment(default), _environment(winner)
    differing = {name: after.get(name) for name in [*after, *before] if after.get(name) != before.get(name)}
    keys = {*default, *winner} - {*_NAMES}
    beside = sorted(key for key in keys if default.get(key) != winner.get(key))
    name = visible(race.names[leader])
    return _Setting(race, name, cells, differing, beside, *_algorithm(cells, differing))


def _environment(declared: dict[str, object]) -> dict[str, str]:
    """The variables of a declaration, which are taken out of it."""
    of_placement = declared.pop("placement.environment", {})
    names = [key for key in declared if key.startswith("environment.")]
    variables = {key.removeprefix("environment."): str(declared.pop(key)) for key in names}
    return variables | (dict(of_placement) if isinstance(of_placement, dict) else {})


def _algorithm(cells: Sequence[RaceCell], variables: Variables) -> tuple[str, int]:
    """The collective and its algorithm; none where the setting is more, or where a cell is of another one."""
    chosen = {name: match for name in variables if (match := _ALGORITHM.fullmatch(name))}
    rest = {name: value for name, value in variables.items() if name not in chosen}
    if len(chosen) != 1 or rest not in ({}, _DYNAMIC):
        return "", 0
    [(name, match)] = chosen.items()
    algorithm, collective = variables[name] or "", str(match[match.lastindex or 0]).lower()
    of_sizes = all(_collective(cell.label) == collective and cell.metric.size for cell in cells)
    return (collective, int(algorithm)) if of_sizes and algorithm.isdecimal() else ("", 0)


def _why_not(setting: _Setting, set_by: Mapping[str, InRace]) -> str:
    """Why a setting cannot be written; empty where it can."""
    race, variables = setting.race, setting.variables
    if setting.beside:
        return f"it differs in {', '.join(setting.beside)}"
    if not variables or not all(map(_NAME.fullmatch, variables)):
        return "it sets no variable"
    if taken := [name for name in variables if set_by.get(name, race) is not race]:
        return f"another race has set {listed(taken)}"
    if setting.collective:
        known = setting.collective in _OPENMPI or setting.is_of_intel
        return "" if known else f"this program knows no rules for {setting.collective}"
    if len(setting.cells) < len(race.cells):
        return f"it won {len(setting.cells)} of {len(race.cells)} cells, and a variable holds for all of them"
    return ""


def proof_text(race: InRace, cell: RaceCell) -> str:
    """``0.950 times default [0.948, 0.952], p = 0.012, 8 blocks``."""
    ratio, p = cell.ratio, cell.p
    if ratio is None or p is None:
        return outcome_text(race, cell)
    text = f"{factor(ratio.median)} times {race.names[0]} {interval(ratio)}"
    return visible(f"{text}, {probability(p)}, {cell.blocks} blocks")


def _collective(label: str) -> str:
    """``allreduce`` of ``Allreduce``, ``osu_allreduce``, ``MPI_Allreduce``."""
    return re.sub(r"^(osu|mpi)_", "", label.partition(" ")[0].lower())


def _sizes(race: InRace, cell: RaceCell) -> list[int]:
    """All sizes that were measured like a cell, ascending."""
    alike = (same for same in race.cells if (same.label, same.ranks) == (cell.label, cell.ranks))
    return sorted(same.metric.size for same in alike if same.metric.size)


def _ranges(setting: _Setting) -> Iterator[str]:
    """The sizes of a setting as I_MPI_ADJUST takes them: ``3:64-511``."""
    for cell in setting.cells:
        sizes, size = _sizes(setting.race, cell), cell.metric.size or 0
        end = next((larger - 1 for larger in sizes if larger > size), size)
        yield f"{setting.algorithm}:{size}-{end}"


def _rules(rules: Mapping[str, Sequence[_Setting]]) -> Iterator[str]:
    """Open MPI's file; it takes what follows a # as a comment."""
    yield f"{len(rules)} # collectives"
    for collective, settings in rules.items():
        number, of_all = _OPENMPI[collective]
        cells = [(setting, cell) for setting in settings for cell in setting.cells]
        of_ranks = grouped(cells, lambda operation_cell: operation_cell[1].ranks or 0)
        # A rule holds from its number of ranks on, and the first one for fewer, too: the library's own choice
        # for what was not measured.
        counts = sorted({1, *of_ranks, *(ranks + 1 for ranks in of_ranks)})
        yield f"{number} # {collective}"
        yield f"{len(counts)} # numbers of ranks"
        for ranks in counts:
            yield f"{ranks} # ranks"
            lines = _of_ranks(of_ranks.get(ranks, []), ranks if of_all else 1)
            yield f"{len(lines)} # sizes"
            yield from lines


def _of_ranks(cells: Sequence[tuple[_Setting, RaceCell]], times: int) -> list[str]:
    """A line for each size from which on another algorithm holds."""
    if not cells:
        return ["0 0 0 0 # not measured: the library's own choice"]
    lines = ["0 0 0 0 # below: the library's own choice"]
    sizes = _sizes(cells[0][0].race, cells[0][1])
    of_size = {cell.metric.size: (setting, cell) for setting, cell in cells}
    for size in sizes:
        algorithm, why = 0, "the default stays"
        if size in of_size:
            setting, cell = of_size[size]
            algorithm, why = setting.algorithm, proof_text(setting.race, cell)
        lines.append(f"{size * times} {algorithm} 0 0 # {size} B: {why}")
    return [*lines, f"{sizes[-1] * times + 1} 0 0 0 # above: the library's own choice"]


def _shell(name: str, value: str | None) -> str:
    return f"unset {name}" if value is None else f"export {name}={shlex.quote(value)}"


def _tcl(name: str, value: str | None) -> str:
    """A value between quotation marks, in which Tcl would replace some signs."""
    if value is None:
        return f"unsetenv {name}"
    quoted = re.sub(r'([\\"$\[\]{}])', r"\\\1", value)
    return f'setenv {name} "{quoted}"'
