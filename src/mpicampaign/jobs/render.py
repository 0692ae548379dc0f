"""From a run to the text of its job script.

Values of the campaign reach the script in one way only: `_finalize` quotes every expression of the
templates for the shell, unless a filter below has made it fit for a comment or a directive line.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from mpicampaign.errors import UserError
from mpicampaign.jobs.launchers import LAUNCHERS, command_tokens, environment, named_hosts, transport_settings
from mpicampaign.jobs.schedulers import SCHEDULERS, hours_minutes
from mpicampaign.osu_sizes import largest_size

if TYPE_CHECKING:
    from mpicampaign.campaign.model import System
    from mpicampaign.jobs.launchers import Job
    from mpicampaign.jobs.plan import Run

TEMPLATES = Path(__file__).resolve().parents[3] / "templates" / "job"
HASH_MARK = "@script-hash@"
HASH_LENGTH = 12

# Lines of the output without which a benchmark did not end properly, whatever its exit status.
COMPLETE = {
    "imb": ("^ +[0-9]+ ", "^# All processes entering MPI_Finalize|, MT part"),  # IMB-MT has no such line
    "osu": ("^ *[0-9]+[0-9.]*( |$)|^nprocs:|^This is a test with", "^# *OSU"),
    "kernel": ("^#@end .*status=ok",),
}

# Lines by which a benchmark says, with exit status 0, that it did something else than it was asked for.
REFUSED = {"imb": ("^Invalid benchmark name",), "osu": (), "kernel": ()}


class ShellText(str):
    """Text that is already fit for its place in the script."""

    __slots__ = ()


def _finalize(value: object) -> str:
    """Quote everything that no filter declared fit: the one place where values become shell words."""
    return value if isinstance(value, ShellText) else ShellText(shlex.quote(str(value)))


def _comment(value: object) -> ShellText:
    """One line of a comment: control characters, line breaks above all, become spaces."""
    return ShellText(re.sub(r"[\x00-\x1f\x7f\x85\u2028\u2029]+", " ", str(value)))


def _directive(value: object) -> ShellText:
    """A value of a directive line, in double quotes where needed; both schedulers read those."""
    text = str(value)
    if re.search(r'[\x00-\x1f\x7f"\\$`!]', text):
        raise UserError(f"{text!r} can't stand in a directive line of a job script: rename it")
    plain = re.fullmatch(r"[A-Za-z0-9_@%+=:,./\[\]-]+", text)
    return ShellText(text if plain else f'"{text}"')


def _verbatim(value: object) -> ShellText:
    """An extra directive, as the user wrote it; the campaign's check made sure that it is one line."""
    text = str(value)
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise UserError(f"directive {text!r} is not one line")
    return ShellText(text)


@cache
def _environment() -> Environment:
    # autoescape is HTML's; here `finalize` does the escaping that a shell needs
    jinja = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        finalize=_finalize,
        comment_start_string="{%#",  # bash has its own use for {#
        comment_end_string="#%}",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    jinja.filters |= {
        "comment": _comment,
        "heredoc": _comment,
        "directive": _directive,
        "verbatim": _verbatim,
        "raw": ShellText,
    }
    return jinja


def script_text(run: Run, campaign_folder: Path) -> tuple[str, str]:
    """The job script of a run and its hash.

    The hash is that of the text with `HASH_MARK` in the hash's own places, so it can stand in the
    text itself and in the path of the results, and be checked again by anyone.
    """
    if HASH_MARK in repr(run):
        raise UserError(f"{HASH_MARK} stands for the script's own hash and can't be part of a value")
    marked = _render(run, campaign_folder)
    digest = hashlib.sha256(marked.encode()).hexdigest()[:HASH_LENGTH]
    return marked.replace(HASH_MARK, digest), digest


def run_folder(run: Run, campaign_folder: Path, script_hash: str) -> Path:
    """Where everything that a run leaves is kept."""
    case = run.case
    name = f"r{run.repeat:02d}-{script_hash}"
    return campaign_folder / "runs" / case.host_group / case.placement / case.benchmark / name


def job_name(benchmark: str, script_hash: str) -> str:
    """The name of a run's job: unique, so that a job can be found again in the queue."""
    return f"{benchmark}-{script_hash}"


def measuring_lock(campaign_folder: Path) -> Path:
    """The lock that every job script of a machine without a scheduler holds while it measures."""
    return campaign_folder.parent / "measuring.lock"


def _render(run: Run, campaign_folder: Path) -> str:
    scheduler = SCHEDULERS[run.job.system.scheduler]
    template = _environment().get_template(scheduler.template)
    folder = str(run_folder(run, campaign_folder, HASH_MARK))
    return template.render(_context(run, campaign_folder, folder))


def _context(run: Run, campaign_folder: Path, folder: str) -> dict[str, Any]:
    job, system, group = run.job, run.job.system, run.job.group
    scheduler = SCHEDULERS[system.scheduler]
    launch = " ".join(shlex.quote(token) for token in command_tokens(job))
    return {
        "title": f"mpicampaign job script of campaign {run.campaign}",
        "run": run,
        "group": group,
        "how_to_run": scheduler.how_to_run,
        "run_folder": folder,
        "lock_file": str(measuring_lock(campaign_folder)),
        "script_hash": ShellText(HASH_MARK),
        "hash_length": ShellText(str(HASH_LENGTH)),
        "script_path": ShellText(scheduler.script),
        "job_id": ShellText(scheduler.job_id),
        "job_name": job_name(run.case.benchmark, HASH_MARK),
        "nodes": job.placement.nodes,
        "hosts": named_hosts(job),
        "ranks": job.ranks,
        "minutes": ShellText(str(-(-run.time_limit // 60))),
        "hours_minutes": hours_minutes(run.time_limit),
        "group_options": scheduler.group_options(group),
        "directives": [*system.directives, *group.directives],
        "claim": claim_lines(run),
        "settings": list(claimed_settings(job)),
        "source": system.source,
        "modules": [*system.modules, *run.benchmark.provider.modules],
        "environment": prefix_environment(system) | environment(job),
        "spack": [run.benchmark.provider.location] if run.benchmark.provider.kind == "spack" else [],
        "program": run.program,
        "arguments": run.benchmark.arguments,
        "launch": ShellText(launch),
        "time_limit": run.time_limit,
        "complete": COMPLETE[run.benchmark.suite],
        "refused": REFUSED[run.benchmark.suite],
        **wrapper_values(run),
    }


def prefix_environment(system: System) -> dict[str, Any]:
    """What makes an MPI that lies under a prefix of its own usable; empty where modules do that."""
    if not system.prefix:
        return {}
    word = shlex.quote(system.prefix)
    found: dict[str, Any] = {
        "PATH": ShellText(f'{word}/bin:"$PATH"'),
        "LD_LIBRARY_PATH": ShellText(f'{word}/lib"${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"'),
    }
    if system.mpi.name == "intelmpi":
        found["I_MPI_ROOT"] = system.prefix
    return found


def _members(job: Job) -> tuple[str, ...]:
    """Patterns of the group's host names.

    ``hosts`` are none with a scheduler, which may have names of its own for them, nor are addresses.
    """
    named = job.group.hosts if job.system.scheduler == "none" else ()
    return job.group.members or tuple(host for host in named if not re.fullmatch(r"[0-9.]+|.*:.*", host))


def claim_lines(run: Run) -> list[str]:
    """What the run's label claims; the evidence is judged against these lines and nothing else."""
    job, placement, case = run.job, run.job.placement, run.case
    claims = {
        "campaign": run.campaign,
        "system": case.system,
        "host_group": case.host_group,
        "placement": case.placement,
        "benchmark": case.benchmark,
        "suite": run.benchmark.suite,
        "repeat": run.repeat,
        "script_hash": HASH_MARK,
        "nodes": placement.nodes,
        "ranks": job.ranks,
        "ranks_per_node": job.ranks_per_node,
        "sockets": placement.sockets or "",
        "binding": placement.binding,
        "transport": placement.transport,
        "loopback": "yes" if placement.loopback else "no",
        "interface": job.interface,
        "device": job.device,
        "mpi": job.system.mpi.name,
        "members": " ".join(_members(job)),
        "program_sha256": run.program_sha256,
        "time_limit": run.time_limit,
        "recipe": run.recipe,
        "largest_size": _largest_size(run) or "",
    }
    settings = {f"setting.{key}": value for key, value in claimed_settings(job).items()}
    claims |= {"settings": len(settings), **settings}
    return [f"claim {key}={value}" for key, value in claims.items()]


def _largest_size(run: Run) -> int | None:
    if run.benchmark.suite != "osu":
        return None
    return largest_size(run.benchmark.program, run.benchmark.arguments, run.job.ranks)


def claimed_settings(job: Job) -> dict[str, str]:
    """The variables that steer the MPI library, with the values that the script exports in the end."""
    exported = environment(job)
    return {name: exported[name] for name in transport_settings(job)}


def build_script_text(system: System, folder: Path, mark: Path, kernels: Path, targets: list[str]) -> str:
    """The script that builds the bundled kernels with the system's own compiler wrapper.

    Where that is not the one of the build in ``folder`` any more, the kernels go into a folder beside it,
    and ``mark`` tells later plans of it.
    """
    template = _environment().get_template("build.sh.j2")
    return template.render(
        system=system.name,
        source=system.source,
        modules=system.modules,
        environment=prefix_environment(system) | system.environment,
        folder=str(folder),
        mark=str(mark),
        kernels=str(kernels),
        names=targets,
        targets=ShellText(" ".join(f'"$part"/{shlex.quote(name)}' for name in targets)),
    )


def wrapper_text(values: dict[str, Any]) -> str:
    """The per-rank wrapper alone, as the job scripts contain it; ``values`` as of `wrapper_values`."""
    return _environment().get_template("rank.sh.j2").render(values)


def wrapper_values(run: Run) -> dict[str, Any]:
    """What the per-rank wrapper of a run has to know."""
    job = run.job
    launcher = LAUNCHERS[job.system.launcher]
    return {
        "ranks_per_node": job.ranks_per_node,
        "sockets_wanted": job.placement.sockets or 0,
        "binding": job.placement.binding,
        "device": job.device,
        "interface": job.interface,
        "rank_variable": launcher.rank_variable,
        "local_rank_variable": launcher.local_rank_variable,
        "evidence_library": run.evidence_library,
    }
