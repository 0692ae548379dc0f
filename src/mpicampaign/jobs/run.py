"""A run: what is measured and how, the files of its folder, and the name of its job."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpicampaign.base import plan_file
from mpicampaign.base.identity import run_path
from mpicampaign.base.records import Case
from mpicampaign.base.run_files import RESULT, result_in
from mpicampaign.campaign.model import Benchmark, Each
from mpicampaign.jobs.drafts import Draft
from mpicampaign.jobs.launchers import Job

WAITS = "a job waits until all its nodes are free"
SCRIPT, CLAIM = "job.sh", "claim"  # in a run's folder


@dataclass(slots=True, kw_only=True)
class Run(plan_file.RunEntry):
    """One repeat of a case: one job script, one job, one raw output. ``order`` counts the runs of the plan.

    ``draft``: all that it shares with the other repeats of its case. ``place``: runs are made in this order.
    ``row``: the number of the row that it is made in. ``stands_in``: for a run of this row that does not
    count. Of a run in a block: ``block``: the name of the design; ``part``: the folders of the candidates
    with its repeat; ``closed``: it is not made (again), though it has no result.
    """

    draft: Draft
    order: int = 0
    place: tuple[int, ...] = ()
    row: int = 0
    stands_in: bool = False
    block: str = ""
    part: tuple[str, ...] = ()
    closed: bool = False

    @property
    def case(self) -> Case:
        return self.draft.case

    @property
    def kept(self) -> Case:
        """The names in its folder and its claim."""
        return self.draft.kept

    @property
    def each(self) -> Each | None:
        return self.draft.entry.each

    @property
    def job(self) -> Job:
        return self.draft.job

    @property
    def benchmark(self) -> Benchmark:
        return self.draft.benchmark

    @property
    def time_limit(self) -> int:
        return self.draft.entry.time_limit

    @property
    def campaign_folder(self) -> Path:
        """Below it are the files of all runs."""
        return self.draft.campaign_folder

    @property
    def declared(self) -> dict[str, Any]:
        """What its identity is made from."""
        return {**self.draft.identities.declared, "repeat": self.repeat}

    @property
    def waits_for_all(self) -> bool:
        """Whether its job waits for nodes that others use, beside whose it is measured."""
        return self.each is not None and self.each.takes_all and not self.job.system.local

    @property
    def node_seconds(self) -> float:
        """The upper bound of its time on all its nodes; 0 where its block was left."""
        return 0 if self.left else self.limit_seconds

    @property
    def limit_seconds(self) -> float:
        """The upper bound of its time on all its nodes, if it is made."""
        draft = self.draft  # of many thousand runs: each property takes its time
        return draft.job.placement.nodes * draft.entry.time_limit

    @property
    def label(self) -> str:
        """Its name in messages."""
        case = self.case
        return f"{case.host_group} {case.placement} {case.benchmark} r{self.repeat:02d}"

    @property
    def job_name(self) -> str:
        """The unique name of its job in the queue."""
        return job_name(self.kept.benchmark, self.identity, self.draft.token)

    @property
    def folder(self) -> Path:
        return self.campaign_folder / run_path(self.kept, self.repeat, self.identity)

    @property
    def path(self) -> Path:
        """The job script."""
        return self.folder / SCRIPT

    @property
    def claim(self) -> Path:
        """The claim against which the evidence is checked."""
        return self.folder / CLAIM

    @property
    def result(self) -> Path:
        """The file of its result, if it succeeded."""
        return Path(result_in(self.folder) or self.folder / RESULT)

    @property
    def has_result(self) -> bool:
        """Whether it succeeded."""
        draft = self.draft
        return bool(result_in(f"{draft.campaign_folder}/{run_path(draft.kept, self.repeat, self.identity)}"))

    @property
    def log(self) -> Path:
        """The script's own messages, where no scheduler keeps them."""
        return self.campaign_folder / "logs" / f"{self.job_name}.log"

    @property
    def submitting_lock(self) -> Path:
        """The file that is locked while a job of the campaign is being submitted."""
        return self.campaign_folder / "submitting.lock"


def job_name(benchmark: str, identity: str, token: str) -> str:
    """The name of a run's job: unique, so that the job can be found in the queue."""
    return f"{benchmark}-{identity}-{token}"


def job_name_of(folder: Path, token: str) -> str:
    """The name of the job of the run in a folder."""
    return job_name(folder.parent.name, folder.name.partition("-")[2], token)
