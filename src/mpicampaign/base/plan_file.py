"""plan.json: the planned runs. The execution half writes it, the analysis half reads it.

The format and its version are defined only here; docs/formats.md describes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.identity import identity
from mpicampaign.base.records import UNRANKED, Case, plain_fields
from mpicampaign.base.yaml_lines import printable

FILE = "plan.json"
FORMAT = "mpicampaign-plan"
VERSION = 2
# keys of a case, where they are empty
_OMITTED = ("attributes", "reading", "block", "compared", "each", "tolerance", "scaling", "decided_with")


@dataclass(slots=True)
class RunEntry:
    """One repeat of a case. ``order``: its place among the runs of the machine that wrote the plan.

    ``further``: beyond the planned repeats, since a run was disturbed. ``left``: it was not made, and is not
    any more: its block was left. ``round``: of `each`, in which it is measured; 0 for other runs.
    """

    repeat: int
    identity: str
    order: int | None = None
    further: bool = False
    left: bool = False
    round: int = 0


@dataclass(slots=True)  # frozen ones are made slowly, and there may be a hundred thousand
class CaseEntry:
    """A case with its repeats; ``declared``: its declaration by the campaign, without the repeat.

    ``not_available``: why it cannot be run; ``line_rate``: the bound of its network (B/s, one direction);
    ``core_peak``: of a core (flop/s); ``attributes``: of the host group.
    ``oversubscribed``: how many ranks share how many cores of a node, by the campaign file.
    ``reading``: how outputs are read; empty where the suite knows. ``kept_as``: the names in its declaration
    and its folder, where they differ: without the values of lists, or of the file from which it was folded.
    ``block``: the name of its block design, if it is in one; ``compared``: what is compared there.
    ``scaling``: strong or weak; empty where the campaign file does not say.
    ``decided_with``: a name that it shares with the cases among which the best is looked for.
    ``each``: the unit, of a member of a host group with `each`; ``tolerance``: a fraction, of its search.
    """

    case: Case
    suite: str
    not_available: str
    line_rate: int | float | None
    core_peak: int | float | None
    declared: Mapping[str, Any]
    runs: tuple[RunEntry, ...]
    oversubscribed: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    kept_as: Case | None = None
    block: str = ""
    compared: str = ""
    each: str = ""
    tolerance: float = 0.0
    scaling: str = ""
    decided_with: str = ""

    @property
    def kept(self) -> Case:
        """The names under which its runs are kept."""
        return self.kept_as or self.case

    def identity(self, repeat: int) -> str:
        """The identity of a repeat."""
        return identity({**self.declared, "repeat": repeat})

    @property
    def repeats(self) -> int:
        """How many repeats the campaign asks for, without further ones."""
        return sum(not run.further for run in self.runs)


@dataclass(frozen=True, slots=True)
class PlanFile:
    """What a plan.json holds; ``campaign_file`` is as seen from its folder.

    ``seed``: of the order of runs; ``None`` where nothing was planned. ``busy_machine``: what becomes of
    disturbed runs.
    """

    campaign: str
    systems: tuple[str, ...] = ()
    campaign_file: str = ""
    seed: int | None = None
    cases: tuple[CaseEntry, ...] = ()
    busy_machine: str = UNRANKED


def plan_json(plan: PlanFile) -> str:
    """The text of the file. What the execution half adds to plans, cases and runs is left out."""
    import msgspec  # commands without a plan start without it

    header = {"format": FORMAT, "version": VERSION, "campaign": plan.campaign, "systems": list(plan.systems)}
    header |= {name: getattr(plan, name) for name in ("campaign_file", "seed", "busy_machine")}
    data = {**header, "cases": [_case_data(entry) for entry in plan.cases]}
    return msgspec.json.format(msgspec.json.encode(data), indent=1).decode() + "\n"


def _case_data(entry: CaseEntry) -> dict[str, Any]:
    facts = _fields(entry, CaseEntry)
    case, runs = plain_fields(facts.pop("case")), [_run_data(run) for run in facts.pop("runs")]
    if kept_case := facts.pop("kept_as"):
        facts["kept_as"] = plain_fields(kept_case)
    facts = {key: value for key, value in facts.items() if value or key not in _OMITTED}
    return {**case, **facts, "runs": runs}


def _run_data(run: RunEntry) -> dict[str, Any]:
    facts = _fields(run, RunEntry)
    return {key: value for key, value in facts.items() if value or key not in ("left", "round")}


def _fields(item: object, kind: type[CaseEntry | RunEntry]) -> dict[str, Any]:
    """The fields that the file has of an item."""
    return {name: getattr(item, name) for name in kind.__dataclass_fields__}


def read_plan(path: Path) -> PlanFile:
    """The plan of a file.

    Raises
    ------
    UserError
        when it is missing, damaged, or of another format.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise no_results(path.parent) from error
    except ValueError as error:
        raise UserError(f"{path} is damaged: {error}") from error
    if not isinstance(data, dict) or (data.get("format"), data.get("version")) != (FORMAT, VERSION):
        raise UserError(f"{path} is not a plan of version {VERSION} of this program")
    try:
        return plan_from(data)
    except ValueError as error:
        raise UserError(f"{path} is damaged: {error}") from error


def no_results(folder: Path) -> UserError:
    """Says that nothing was planned, imported or merged into a campaign's folder yet, and what does so."""
    hint = "'mpicampaign run FILE' makes them, 'mpicampaign import' reads outputs made elsewhere"
    if campaigns := sorted(
        path.parent.name for name in (FILE, "imports") for path in folder.glob(f"*/{name}")
    ):
        shown = printable(", ".join(campaigns[:3])) + (" …" if len(campaigns) > 3 else "")
        hint = f"give the folder of one campaign, results/CAMPAIGN; there: {shown}"
    return UserError(Problem("no results yet", str(folder), hint=hint))


def plan_from(data: Any) -> PlanFile:
    """The plan from the data of a file.

    Raises
    ------
    ValueError
        naming what is missing or of a wrong type.
    """
    import msgspec

    early: dict[str, Any] = {"line_rate": None, "core_peak": None}  # early plans have neither
    try:
        cases = [{**early, **entry, "case": entry} for entry in data["cases"]]
        return msgspec.convert({**data, "cases": cases}, PlanFile)
    except KeyError as error:
        raise ValueError(f"{error} is missing") from error
    except (TypeError, msgspec.ValidationError) as error:
        raise ValueError(str(error)) from error


def case_of(data: Mapping[str, Any]) -> Case:
    """The case that an entry of the plan, or a declaration, names."""
    return Case(data["system"], data["host_group"], data["placement"], data["benchmark"])


def campaign_file_in(path: Path) -> str | None:
    """The campaign file that a plan of any version names; ``None`` where it names none."""
    import msgspec

    with suppress(OSError, ValueError, KeyError, msgspec.MsgspecError):
        parts = msgspec.json.decode(path.read_bytes(), type=dict[str, msgspec.Raw])
        return msgspec.json.decode(parts["campaign_file"], type=str)
    return None
