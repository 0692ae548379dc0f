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
from mpicampaign.jobs.declaration import reading_of
from mpicampaign.jobs.inputs import Input
from mpicampaign.jobs.launchers import Job

SCRIPT, CLAIM = "job.sh", "claim"  # in a run's folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(plan_file.RunEntry):
    """One repeat of a case: one job script, one job, one raw output. ``order`` counts the runs of the plan.

    ``place``: runs are made in this order. ``row``: the number of the row that it is made in.
    ``stands_in``: for a run of this row that does not count.
    ``kept``: the names in its folder and its claim. ``identity`` is made from ``declared``.
    ``program_sha256`` and ``libraries`` (build-ids) are those that this machine sees now, or empty.
    ``campaign_folder``: below it are the files of all runs. ``token``: of that folder, in the name of the
    job. Of a run in a block: ``block``: the name of the design; ``part``: the folders of the candidates with
    its repeat; ``closed``: it is not made (again), though it has no result. Of a member of a host group with
    ``each``: ``whole``: the case of the group.
    """

    order: int = 0
    place: tuple[int, ...] = ()
    row: int = 0
    stands_in: bool = False
    campaign: str
    case: Case
    kept: Case
    job: Job
    benchmark: Benchmark
    time_limit: int
    program: str
    program_sha256: str
    evidence_library: str
    libraries: str
    declared: dict[str, Any]
    inputs: tuple[Input, ...] = ()
    campaign_folder: Path = Path()
    token: str = ""
    block: str = ""
    part: tuple[str, ...] = ()
    closed: bool = False
    each: Each | None = None
    whole: Case | None = None

    @property
    def waits_for_all(self) -> bool:
        """Whether its job waits for nodes that others use, beside whose it is measured."""
        return self.each is not None and self.each.takes_all and not self.job.system.local

    @property
    def reading(self) -> dict[str, Any]:
        """How its output is read; empty where the suite knows."""
        return reading_of(self.benchmark)

    @property
    def node_seconds(self) -> float:
        """The upper bound of its time on all its nodes; 0 where its block was left."""
        return 0 if self.left else self.limit_seconds

    @property
    def limit_seconds(self) -> float:
        """The upper bound of its time on all its nodes, if it is made."""
        return self.job.placement.nodes * self.time_limit

    @property
    def label(self) -> str:
        """Its name in messages."""
        case = self.case
        return f"{case.host_group} {case.placement} {case.benchmark} r{self.repeat:02d}"

    @property
    def job_name(self) -> str:
        """The unique name of its job in the queue."""
        return job_name(self.kept.benchmark, self.identity, self.token)

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
        return bool(result_in(f"{self.campaign_folder}/{run_path(self.kept, self.repeat, self.identity)}"))

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
