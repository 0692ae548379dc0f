"""What this machine lacks for planned runs: cores, sockets, devices, modules; asked before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.base.commands import SECONDS
from mpicampaign.base.grouping import grouped
from mpicampaign.base.yaml_lines import printable
from mpicampaign.jobs.render import lacks_script_text
from mpicampaign.run.execute import printed_by_script

if TYPE_CHECKING:
    from mpicampaign.jobs.prepare import Prepared
    from mpicampaign.jobs.run import Run

_END = "end-of-answer"


class Lack(NamedTuple):
    """Runs of a placement without a result that cannot be made here, and why, in one line."""

    placement: str
    runs: tuple[Run, ...]
    why: str


def lacks_text(lacks: Sequence[Lack], planned: int) -> list[str]:
    """How many of the planned runs cannot be made here, a line for each placement and reason."""
    return [
        f"{lack.placement}: {len(lack.runs)} of {planned} runs cannot be made here: {lack.why}"
        for lack in lacks
    ]


def lacks_of(prepared: Prepared) -> list[Lack]:
    """What this machine lacks for the runs that are due on it, by the functions of their own job scripts.

    Runs of a scheduler's nodes are not asked for: their nodes may have what this host lacks.
    """
    here = prepared.pending if prepared.runs_here else ()
    of_shapes = grouped((run for run in here if run.job.system.local), _shape)
    lacking: dict[tuple[str, str], list[Run]] = {}
    for runs, why in zip(of_shapes.values(), _reasons(runs[0] for runs in of_shapes.values()), strict=True):
        if why:
            lacking.setdefault((runs[0].case.placement, why), []).extend(runs)
    return [Lack(placement, tuple(runs), why) for (placement, why), runs in lacking.items()]


def _shape(run: Run) -> tuple[object, ...]:
    """What alone decides whether a machine can make a run."""
    case = run.case
    return case.placement, case.host_group, run.job.ranks_per_node, run.benchmark.provider.modules


def _reasons(runs: Iterable[Run]) -> list[str]:
    """Why each cannot be made here; empty where nothing is lacking, or no answer comes. One shell for all."""
    scripts = [f"(\n{lacks_script_text(run)}\n)\necho {_END}\n" for run in runs]
    answers = printed_by_script("".join(scripts), SECONDS).split(f"{_END}\n")[:-1] if scripts else []
    lines = (answer.partition("\n")[0] for answer in answers)
    reasons = [printable(line.partition(": ")[2]) for line in lines]
    return reasons if len(reasons) == len(scripts) else [""] * len(scripts)
