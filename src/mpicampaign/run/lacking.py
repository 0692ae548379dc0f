"""What this machine lacks for planned runs: cores, sockets, devices, modules; asked before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.base.commands import SECONDS
from mpicampaign.base.yaml_lines import printable
from mpicampaign.jobs.render import lacks_script_text
from mpicampaign.run.execute import printed_by_script

if TYPE_CHECKING:
    from mpicampaign.jobs.prepare import Prepared
    from mpicampaign.jobs.run import Run


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


def lacks_of(prepared: Prepared, ask: Callable[[Run], str] | None = None) -> list[Lack]:
    """What this machine lacks for the runs that are due on it, by the functions of their own job scripts.

    Runs of a scheduler's nodes are not asked for: their nodes may have what this host lacks.
    """
    ask = ask or _asked
    reasons: dict[tuple[object, ...], str] = {}
    lacking: dict[tuple[str, str], list[Run]] = {}
    for run in prepared.pending:
        if not run.job.system.local:
            continue
        shape = (
            run.case.placement,
            run.case.host_group,
            run.job.ranks_per_node,
            run.benchmark.provider.modules,
        )
        if shape not in reasons:
            reasons[shape] = ask(run)
        if why := reasons[shape]:
            lacking.setdefault((run.case.placement, why), []).append(run)
    return [Lack(placement, tuple(runs), why) for (placement, why), runs in lacking.items()]


def _asked(run: Run) -> str:
    """Why a run cannot be made here; empty where nothing is lacking, or no answer comes."""
    line = next(iter(printed_by_script(lacks_script_text(run), SECONDS).splitlines()), "")
    return printable(line.partition(": ")[2])
