"""The documents of ``--json``: one format for all subcommands, described in docs/formats.md."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mpicampaign.base.errors import Problem
from mpicampaign.base.records import plain_fields

if TYPE_CHECKING:
    from mpicampaign.jobs.prepare import Prepared
    from mpicampaign.jobs.run import Run

FORMAT = "mpicampaign-command"
VERSION = 1


def document(
    command: str | None, status: int, data: Mapping[str, Any], problems: Sequence[Problem] = ()
) -> str:
    """The document of a subcommand's call.

    Parameters
    ----------
    command : None where there is no such subcommand
    status : the exit status of the call
    data : keys of the subcommand; none where the call failed
    problems : errors of the user
    """
    header = {"format": FORMAT, "version": VERSION, "command": command, "status": int(status)}
    errors = [plain_fields(problem) for problem in problems]
    return json.dumps({**header, "errors": errors, **data}, indent=1)


def campaign_data(prepared: Prepared) -> dict[str, Any]:
    """The campaign and its selection: keys that several documents have."""
    return {
        "campaign": prepared.campaign.name,
        "campaign_file": prepared.campaign.file,
        "results": str(prepared.folder),
        "systems": list(prepared.campaign.systems),
        "systems_here": list(prepared.plan.systems),
        "selection": prepared.selection.texts,
    }


def blocks_data(prepared: Prepared) -> list[dict[str, Any]]:
    """How far each block design of this machine is."""
    return [
        {
            "block": state.design.name,
            "compared": state.design.compared,
            "planned": state.planned,
            "complete": state.complete,
            "left": [block._asdict() for block in state.left],
            "runs": state.due,
        }
        for state in prepared.plan.designs
    ]


def run_data(run: Run) -> dict[str, Any]:
    """What identifies a run."""
    case = plain_fields(run.case)
    return {**case, "repeat": run.repeat, "identity": run.identity, "folder": str(run.folder)}
