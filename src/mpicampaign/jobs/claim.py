"""What the label of a run claims: the evidence is checked against these lines and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mpicampaign.base.identity import canonical
from mpicampaign.campaign.model import LEVELS, SHM, Placement
from mpicampaign.jobs.launchers import Job, claimed_settings, command_tokens
from mpicampaign.jobs.software import library_sums
from mpicampaign.schedulers import batch_scheduler
from mpicampaign.suites import SUITES

if TYPE_CHECKING:
    from mpicampaign.jobs.run import Run


def placement_claim(placement: Placement) -> dict[str, str]:
    """What a placement claims of any ranks, whoever started them."""
    gpus = placement.gpus_per_node
    claims = {
        "nodes": placement.nodes,
        "ranks_per_node": placement.ranks_per_node,
        "sockets": placement.sockets or "",
        "binding": placement.binding,
        "transport": placement.transport,
        "interface": "lo" if placement.loopback else "",
        **({"within_node": placement.within_node} if placement.within_node == SHM else {}),
        **{key: value for key in ("threads", *LEVELS[1:]) if (value := getattr(placement, key))},
        **({"gpus_per_node": gpus, "gpu_binding": placement.gpu_binding} if gpus else {}),
    }
    return {key: str(value) for key, value in claims.items()}


def claim_text(run: Run, scripts: Iterable[str]) -> str:
    """The lines of a run.

    ``scripts``: the checksums of all scripts rendered for it so far; jobs in the queue may have an earlier.
    """
    job, placement, case = run.job, run.job.placement, run.kept
    suite = SUITES[run.benchmark.suite]
    claims = {
        "campaign": run.draft.campaign,
        "system": case.system,
        "host_group": case.host_group,
        "placement": case.placement,
        "benchmark": case.benchmark,
        "suite": run.benchmark.suite,
        "repeat": run.repeat,
        "identity": run.identity,
        "declared": canonical(run.declared),
        "scripts": " ".join(scripts),
        **placement_claim(placement),
        "ranks": job.ranks,
        "ranks_per_node": job.ranks_per_node,
        "loopback": "yes" if placement.loopback else "no",
        "interface": job.interface,
        "device": job.device,
        **({"provider": job.provider} if job.provider else {}),
        **({"link": job.fabric.link} if job.fabric and job.fabric.link else {}),
        "mpi": job.system.mpi.name,
        "members": " ".join(_members(job)),
        "evidence": "on" if job.system.evidence else "off",
        "program_sha256": run.draft.program.sha256,
        "libraries": run.draft.libraries,
        **({"library_sums": library_sums(job.system.prefix)} if run.draft.libraries else {}),
        "time_limit": run.time_limit,
        "largest_size": suite.largest_size(run.benchmark.program, run.benchmark.arguments, job.ranks) or "",
        **_requested(job),
        "launch": " ".join(command_tokens(job)),
        "arguments": " ".join(run.benchmark.arguments),
    }
    settings = {f"setting.{key}": value for key, value in claimed_settings(job).items()}
    # files of the site that steer the library are part of it, those of a user are not
    claims |= {"settings": len(settings), **settings, "settings_files": "site"}
    # a value as one line, in the way of the library's `record`
    lines = [re.sub(r"[\x00-\x1f\x7f]", " ", f"claim {key}={value}") for key, value in claims.items()]
    return "".join(f"{line}\n" for line in ["#mpicampaign-claim 1", *lines])


def _members(job: Job) -> tuple[str, ...]:
    """Patterns of the group's host names.

    Listed hosts are left out if they are addresses, or with a scheduler, which may use other names.
    """
    named = job.hosts if job.system.local else ()
    return job.group.members or tuple(host for host in named if not re.fullmatch(r"[0-9.]+|.*:.*", host))


def _requested(job: Job) -> dict[str, str]:
    """What the job asks of its scheduler, as far as a job is told what it got."""
    scheduler = batch_scheduler(job.system.scheduler)
    if scheduler is None:
        return {}
    values = job.group.keys | {"hosts": " ".join(scheduler.read_hosts(",".join(job.hosts)))}
    asked = {f"request.{key}": values[key] for key in scheduler.granted if values[key]}
    return {"scheduler": scheduler.name} | asked
