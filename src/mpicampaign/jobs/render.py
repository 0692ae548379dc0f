"""From a run to its job script.

`_finalize` quotes every expression of the templates for the shell, unless a filter below has made it safe
for a comment or a directive: there is no other way for a value of the campaign into a script.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpicampaign.base.errors import UserError
from mpicampaign.base.places import shipped
from mpicampaign.base.text import counted
from mpicampaign.base.this_machine import measuring_lock
from mpicampaign.campaign.model import LEVELS, SHM, Benchmark, System
from mpicampaign.jobs.inputs import Input
from mpicampaign.jobs.launchers import (
    claimed_settings,
    command_tokens,
    environment,
    named_hosts,
    rank_variables,
)
from mpicampaign.jobs.local_mpi import find_mpi, is_on_this_machine
from mpicampaign.jobs.run import Run
from mpicampaign.jobs.software import build_problem, source_build_folder, source_folder, wrappers
from mpicampaign.mpis import facts, places, steering, version_option
from mpicampaign.schedulers import SCHEDULERS, batch_scheduler
from mpicampaign.schedulers.listings import MANY
from mpicampaign.suites import SUITES

if TYPE_CHECKING:
    from jinja2 import Environment, Template

TEMPLATES = shipped("templates/job")
LIBRARY_PARTS = (
    *("end.sh", "lock.sh", "run.sh", "software.sh", "rank.sh", "gpus.sh", "node.sh", "facts.sh", "hosts.sh"),
)
LINE_LENGTH = 110  # of the script's lines of exports
# Modules and evidence take time beyond the benchmark's own limit, which must end before the scheduler's.
SECONDS_OF_SETUP = 300
SECONDS_IN_STEP, SECONDS_OF_END = 60, 60  # of a run in a step, and of the step

# Variables that the library always records (templates/job/library/node.sh).
_RECORDED = re.compile(
    r"(I_MPI_|FI_|OMPI_|PMIX_|PRTE_|UC[CX]_|HCOLL_|HYDRA_|MPIEXEC_|MPIR|MPIC|MV2_|PSM|G?OMP_|KMP_|LD_|GLIBC|MALLOC_"
    r"|CUDA_|[NR]CCL_|ROCR_|HIP_).*"
    r"|PATH"
)
_SECRET = re.compile(r"TOKEN|SECRET|PASS|PWD|KEY|CRED|AUTH|COOKIE")


class ShellText(str):
    """Text that is safe as it is at its place in the script."""

    __slots__ = ()


def quote(value: object) -> ShellText:
    """One shell argument on one line: a line break could make a directive out of a value."""
    text = str(value)
    if not re.search(r"[\x00-\x1f\x7f]", text):
        return ShellText(shlex.quote(text))
    text = text.replace("\\", "\\\\").replace("'", "\\'")
    escaped = "".join(f"\\x{ord(c):02x}" if ord(c) < 32 or c == "\x7f" else c for c in text)
    return ShellText(f"$'{escaped}'")


def _finalize(value: object) -> str:
    """Quote everything that no filter declared safe: the one place that quotes values."""
    return value if isinstance(value, ShellText) else quote(value)


def _comment(value: object) -> ShellText:
    """One line of a comment: line breaks and other control characters become spaces."""
    return ShellText(re.sub(r"[\x00-\x1f\x7f\x85\u2028\u2029]+", " ", str(value)))


def _directive(value: object) -> ShellText:
    """A value in a directive, in double quotes where needed, which schedulers understand."""
    text = str(value)
    if re.search(r'[\x00-\x1f\x7f"\\$`!]', text):
        raise UserError(f"{text!r} is not allowed in a directive of a job script: rename it")
    plain = re.fullmatch(r"[A-Za-z0-9_@%+=:,./\[\]-]+", text)
    return ShellText(text if plain else f'"{text}"')


def _verbatim(value: object) -> ShellText:
    """An extra directive as the user wrote it; the campaign's checks ensure that it is one line."""
    text = str(value)
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise UserError(f"directive {text!r} is not one line")
    return ShellText(text)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # autoescape is for HTML; `finalize` quotes for the shell
    jinja = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        finalize=_finalize,
        comment_start_string="{%#",  # bash has its own use for {#
        comment_end_string="#%}",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,  # it would look at each file for each script
    )
    jinja.globals["part"] = lambda name: ShellText(_part(name))
    filters = {"comment": _comment, "directive": _directive, "verbatim": _verbatim, "raw": ShellText}
    jinja.filters |= filters
    return jinja


def _rendered(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(values)


@cache
def _header(path: Path) -> Template:
    """A scheduler's directives: the template beside its class, here or in another package."""
    return _environment().from_string(path.read_text(encoding="utf-8"))


@cache
def library_text() -> str:
    """The library of all job scripts, as one file; its first line names variables that steer MPI."""
    first = f"steering=({_tokens(steering())}) places=({_tokens(places())})\n"
    return "".join([first, *map(_part, LIBRARY_PARTS)])


def _part(name: str) -> str:
    return (TEMPLATES / "library" / name).read_text(encoding="utf-8")


@cache
def library_name() -> str:
    """The file of the library, named by its text: queued jobs still need earlier ones."""
    return f"run-{_sha256(library_text())[:16]}.sh"


@cache
def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def script_text(run: Run, inline: bool = False) -> str:
    """The job script of a run; ``inline``: the library is in it, not a file of its own."""
    return _rendered("job.sh.j2", **_context(run, inline))


def batch_text(tasks: Sequence[Sequence[Run]], runs: Path, longest: int = MANY) -> str:
    """The script of several runs, a job array if they are more than one task.

    Tasks ask for the same: the runs of a block for the most ranks on a node that any of them has, with the
    threads for the CPUs that any of them needs.

    Parameters
    ----------
    runs : the file with the runs' folders, a line for each task; its name is the job's
    longest : how many minutes a job may have; runs that it would cut are for the next one
    """
    run, count, packed = tasks[0][0], len(tasks), max(map(len, tasks))
    scheduler = batch_scheduler(run.job.system.scheduler)
    assert scheduler is not None  # there are no batches without one
    limit = minutes(run.time_limit)
    total = limit * packed if run.block else min(limit * packed, max(limit, longest))
    shape = f"A job array of {count} {'blocks' if run.block else 'tasks'}" if count > 1 else "A job"
    return _rendered(
        "batch.sh.j2",
        **_request(run, runs.stem, total, count if count > 1 else 0, widest(tasks[0])),
        shape=f"{shape} with at most {counted(packed, 'run')} each, of campaign {run.draft.campaign}",
        how_to_run=scheduler.how_to_run.replace("job.sh", f"{runs.stem}.sh"),
        campaign_folder=run.campaign_folder,
        runs=runs,
        task=ShellText(scheduler.task or "1"),
        seconds=60 * limit if packed > 1 else 0,
        last_start=60 * (total - limit) if total < limit * packed else None,
        hosts=ShellText(f"${{{scheduler.granted_hosts}-}}") if run.block and scheduler.granted_hosts else "",
    )


def rounds_text(steps: Sequence[Sequence[Run]], rounds: Path, states: Path, longest: int = MANY) -> str:
    """The script of a job that measures the members of a host group side by side.

    Parameters
    ----------
    steps : the runs that are started at once
    rounds : the file with the part of each node in each step (see `rounds_lines`); its name is the job's
    states : the file with the scheduler's states of the nodes
    longest : how many minutes a job may have; what it does not reach is for the next one
    """
    runs = [run for step in steps for run in step]
    run = runs[0]
    scheduler = SCHEDULERS[run.job.system.scheduler]
    assert scheduler.rounds is not None  # there are no such batches without
    names = {host for run in runs for host in run.job.hosts}
    hosts = sorted(names, key=lambda host: (len(host), host))
    seconds = SECONDS_OF_SETUP + sum(step_seconds(step[0]) + SECONDS_OF_END for step in steps)
    limit = -(-seconds // 60)
    # a lost node costs its own runs alone; a job that waited for it to come back would cost all
    group, placement = replace(run.job.group, requeue=False), replace(run.job.placement, nodes=len(hosts))
    job = replace(run.job, group=group, placement=placement, hosts=tuple(hosts))
    whole = replace(run, draft=run.draft._replace(job=job))
    request = _request(whole, rounds.stem, min(limit, longest), most=widest(runs))
    request["directives"] = [*request["directives"], *scheduler.rounds_directives]
    return _rendered(
        "rounds.sh.j2",
        **request,
        shape=f"{counted(len(runs), 'run')}, {counted(len(steps), 'step')}, of campaign {run.draft.campaign}",
        how_to_run=scheduler.how_to_run.replace("job.sh", f"{rounds.stem}.sh"),
        campaign_folder=run.campaign_folder,
        rounds=rounds,
        states=states,
        launcher=_header(scheduler.rounds),
    )


def rounds_lines(steps: Sequence[Sequence[Run]]) -> list[str]:
    """The part of each node in each step: step, node, run or serve, seconds, folder of the run, its nodes."""
    return [
        "\t".join((str(number), host, role, str(step_seconds(run)), run_folder(run), " ".join(run.job.hosts)))
        for number, step in enumerate(steps, start=1)
        for run in step
        for host, role in zip(run.job.hosts, ("run", "serve"), strict=False)
    ]


def step_seconds(run: Run) -> int:
    """How long a run of a step may take with its software and evidence."""
    return run.time_limit + SECONDS_IN_STEP


def run_folder(run: Run) -> str:
    """The folder of a run, as seen from that of its campaign."""
    return str(run.folder.relative_to(run.campaign_folder))


def widest(runs: Sequence[Run]) -> tuple[int, int, int]:
    """The most ranks per node, threads of each for as many CPUs as any run needs, and the most GPUs."""
    ranks = max(run.job.ranks_per_node for run in runs)
    cpus = max(run.job.ranks_per_node * (run.job.placement.threads or 1) for run in runs)
    return ranks, -(-cpus // ranks), max(run.job.placement.gpus_per_node or 0 for run in runs)


def _request(
    run: Run, job_name: str, limit: int, array: int = 0, most: tuple[int, int, int] | None = None
) -> dict[str, Any]:
    """What directives need; ``limit`` in minutes, ``array``: the number of tasks, 0 for a single job.

    ``most``: what the job of several runs asks for on each node, see `widest`.
    """
    job, system, group = run.job, run.job.system, run.job.group
    ranks, threads, gpus = most or widest([run])
    scheduler = SCHEDULERS[system.scheduler]
    return {
        "header": _header(scheduler.header) if scheduler.header else None,
        "job_name": job_name,
        "array": array,
        "logs": run.campaign_folder / "logs",
        "nodes": job.placement.nodes,
        "ranks": job.placement.nodes * ranks,
        "ranks_per_node": ranks,
        "threads": threads,
        "time": ShellText(scheduler.time(limit)),
        "options": scheduler.options(group.keys | {"hosts": job.hosts, "gpus_per_node": gpus or None}),
        "directives": [*system.directives, *group.directives],
    }


def _context(run: Run, inline: bool) -> dict[str, Any]:
    job, system = run.job, run.job.system
    scheduler = SCHEDULERS[system.scheduler]
    suite = SUITES[run.benchmark.suite]
    spack = run.benchmark.provider.location if run.benchmark.provider.kind == "spack" else ""
    return {
        **_request(run, run.job_name, minutes(run.time_limit)),
        "run": run,
        "how_to_run": scheduler.how_to_run,
        "run_folder": run.folder,
        "lock": measuring_lock() if scheduler.local else "",
        # works in its folder: other nodes write there, too, or a user's program may measure its file system
        "shared": "yes" if job.placement.nodes > 1 or named_hosts(job) or suite.private_folder else "",
        "inline": inline,
        "library": ShellText(library_text()) if inline else run.campaign_folder / "lib" / library_name(),
        "library_sha256": _sha256(library_text()),
        "script_path": ShellText(scheduler.script),
        "job_id": ShellText(scheduler.job_id),
        "shape": f"{counted(job.ranks, 'rank')} on {counted(job.placement.nodes, 'node')}",
        "source": system.source,
        "modules": [*system.modules, *run.benchmark.provider.modules],
        "exports": _exports(dict(scheduler.environment) | prefix_environment(system) | environment(job)),
        # the claimed variables that the library does not record anyway
        "further_settings": " ".join(
            name
            for name in claimed_settings(job)
            if not _RECORDED.fullmatch(name) or _SECRET.search(name.upper())
        ),
        "spack": spack,
        "program": run.draft.program.command,
        "launch": _tokens(
            [*command_tokens(job), ShellText('"$rank"'), ShellText('"$program"'), *run.benchmark.arguments]
        ),
        "inputs": [_input(file, run.campaign_folder, inline) for file in run.draft.inputs],
        "result_file": suite.result_file,
        "time_limit": run.time_limit,
        "private_folder": suite.private_folder and not run.draft.inputs,
        "whole": _tokens([*suite.whole, *run.benchmark.whole]),
        "refused": suite.refused or run.benchmark.refused,
        "hosts": _tokens(named_hosts(job)),
        "exported": _tokens(prefix_environment(system) | environment(job)),
        **_placement(run),
    }


def _input(file: Input, campaign_folder: Path, inline: bool) -> dict[str, Any]:
    content = base64.encodebytes(file.content).decode() if inline else ""
    kept_path = file.kept(campaign_folder)
    return {"name": file.name, "file": kept_path, "sha256": file.sha256, "content": ShellText(content)}


def minutes(time_limit: int) -> int:
    """The time to request of the scheduler, in minutes; ``time_limit`` of the benchmark is in seconds."""
    return -(-(time_limit + SECONDS_OF_SETUP) // 60)


def _placement(run: Run) -> dict[str, Any]:
    """The placement, for the ranks and the evidence of their node."""
    job, placement, mpi = run.job, run.job.placement, run.job.system.mpi
    evidence = job.system.evidence
    cores = f"{placement.threads} cores" if (placement.threads or 1) > 1 else "one core"
    within = "shm within a node, " if placement.within_node == SHM else ""
    transport = within + " ".join(filter(None, (placement.transport, job.provider)))
    rank_variable, local_rank_variable = rank_variables(job.system)
    bound = {
        "core": f"each rank bound to {cores} by the node's own topology",
        "none": "the ranks are not bound",
    }
    network = f" over {job.interface or job.device}" if job.interface or job.device else ""
    binding = bound.get(placement.binding, "the launcher binds the ranks")
    gpus = f"; {counted(placement.gpus_per_node, 'GPU')} of each node" if placement.gpus_per_node else ""
    return {
        "placement_comment": f"{binding}; {transport}{network}{gpus}",
        "sockets": placement.sockets or 0,
        "places": [(level, count) for level in LEVELS[1:] if (count := getattr(placement, level))],
        "binding": placement.binding,
        "device": job.device,
        "interface": job.interface,
        "rank_variable": rank_variable,
        "local_rank_variable": local_rank_variable,
        "evidence_library": run.draft.evidence_library,
        "gpus_per_node": placement.gpus_per_node,
        "gpu_binding": placement.gpu_binding,
        "version_option": version_option(mpi.name, job.system.launcher, mpi.command) if evidence else "",
    }


def _tokens(values: Iterable[object]) -> ShellText:
    return ShellText(" ".join(map(_finalize, values)))


def _exports(variables: Mapping[str, object]) -> list[ShellText]:
    """The variables as arguments of export, several on a line where they fit."""
    lines: list[str] = []
    for name, value in variables.items():
        token = f"{name}={_finalize(value)}"
        if lines and len(lines[-1]) + len(token) < LINE_LENGTH and not isinstance(value, ShellText):
            lines[-1] += f" {token}"
        else:
            lines.append(token)
    return [ShellText(line) for line in lines]


def prefix_environment(system: System) -> dict[str, Any]:
    """The variables for an MPI library under a prefix; empty where modules set them."""
    if not system.prefix:
        return {}
    prefix, variable = quote(system.prefix), facts(system.mpi.name).prefix_variable
    return {
        "PATH": ShellText(f'{prefix}/bin:"$PATH"'),
        "LD_LIBRARY_PATH": ShellText(f'{prefix}/lib"${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"'),
        **({variable: system.prefix} if variable else {}),  # by which the library finds itself
    }


def build_script_text(
    system: System,
    compiler: str,
    folder: Path,
    mark: Path,
    kernels: Path,
    names: list[str],
    *,
    verbose: bool = False,
) -> str:
    """The script that builds the bundled kernels with the system's own compiler wrapper.

    ``compiler``: its path; empty where a module brings it.

    If the compiler differs from that of the build in ``folder``, the kernels go to a folder beside it, which
    ``mark`` names for later plans. ``verbose``: the compiler's output is shown even if all goes well.
    """
    wrapper = {"MPICC": compiler} if compiler else {}
    return _rendered(
        "build.sh.j2",
        system=system.name,
        source=system.source,
        modules=system.modules,
        environment=prefix_environment(system) | wrapper | system.environment,
        folder=str(folder),
        problem=str(build_problem(folder)),
        software=ShellText(_part("software.sh")),
        mark=str(mark),
        kernels=str(kernels),
        names=names,
        verbose=verbose,
    )


def lacks_script_text(run: Run) -> str:
    """The script that prints what this machine lacks for a run, a line ``KIND: why``; it starts nothing."""
    return _rendered("lacks.sh.j2", **_context(run, inline=False))


def source_script_text(system: System, benchmark: Benchmark, *, verbose: bool = False) -> str:
    """The script that builds a program from source with the system's MPI library.

    ``verbose``: the output of the build is shown even if all goes well.
    """
    provider = benchmark.provider
    compiler = find_mpi(system).compiler if is_on_this_machine(system) else ""
    folder = source_build_folder(system, benchmark)
    return _rendered(
        "build_source.sh.j2",
        system=system.name,
        source=system.source,
        modules=[*system.modules, *provider.modules],
        environment=prefix_environment(system) | system.environment,
        wrappers=wrappers(compiler),
        folder=str(folder),
        problem=str(build_problem(folder)),
        software=ShellText(_part("software.sh")),
        program=benchmark.program,
        location=source_folder(benchmark),
        command=provider.build,
        verbose=verbose,
    )
