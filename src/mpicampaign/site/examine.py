"""mpicampaign doctor: examines a site, reports what it found, and writes a campaign file for it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mpicampaign.base.commands import call
from mpicampaign.base.errors import Problem, UnreadableError, UserError
from mpicampaign.base.extras import how_to_install
from mpicampaign.base.files import naming, write_whole
from mpicampaign.jobs.plan import Plan
from mpicampaign.jobs.plan_text import not_available_text
from mpicampaign.jobs.prepare import host_names, prepare
from mpicampaign.run.scheduler_calls import caller, ignored_lines
from mpicampaign.schedulers import SCHEDULERS, BatchScheduler, Scheduler, batch_schedulers
from mpicampaign.schedulers.listings import Node, NodeClass, Queue
from mpicampaign.site.campaign_file import WHEEL, campaign_text, named, refusal
from mpicampaign.site.facts import NodeGroup, Site, SiteLibrary
from mpicampaign.site.names import (
    AVAILABLE,
    NO_COMPILER,
    NO_MODULES,
    compiler_after,
    module_names,
    mpi_modules,
    program_library,
)
from mpicampaign.site.node_types import joined, node_classes, parts
from mpicampaign.site.probe import ENVIRONMENT
from mpicampaign.site.probe_jobs import probe_groups, probe_here
from mpicampaign.site.text import site_lines

MAX_GROUPS = 20  # and as many probe jobs
MAX_PARTS = 4  # probe jobs for nodes that the scheduler reports alike


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    """What the doctor is asked for; ``seconds``: how long to wait for probe jobs."""

    output: Path
    overwrite: bool = False
    queues: tuple[str, ...] = ()
    scheduler: str = ""
    probe: bool = True
    seconds: float = 180.0


def examine(options: DoctorOptions, say: Callable[[str], None]) -> Site:
    """Examine the site, report it line by line, and write the campaign file; what was found.

    Raises
    ------
    UserError
        when the file exists, or the scheduler does not answer as documented.
    """
    _check_output(options)
    site = _site(options, say)
    for line in site_lines(site):
        say(line)
    _check_output(options)  # probes take minutes: the file may exist by now
    for line in _write(options.output, site):
        say(line)
    say(f"campaign file: {options.output}; it has been checked. Next:")
    say(f"    mpicampaign plan {options.output}")
    return site


def examine_here() -> Site:
    """What there is for jobs on this machine itself, whatever schedulers it has."""
    return _site(DoctorOptions(Path(), scheduler="none"), say=lambda line: None)


def _check_output(options: DoctorOptions) -> None:
    if options.output.exists() and not options.overwrite:
        hint = "choose another file with --output, or give --overwrite"
        raise UserError(
            Problem("this file exists already; nothing was written", str(options.output), hint=hint)
        )
    if not os.access(options.output.resolve().parent, os.W_OK | os.X_OK):
        raise UserError(Problem("its folder does not exist or is not writable", str(options.output)))


def _write(path: Path, site: Site) -> list[str]:
    """Write the campaign file after a trial of planning it: a faulty one would be our error.

    Where this machine has no IMB of the library, the bundled kernels are proposed. Returns what is still n/a.
    """
    trial = path.with_name(f".{path.stem}.{os.getpid()}.yaml")
    try:
        plan = _planned(trial, path, site)
        if any(planned.absent for planned in plan.cases):
            plan = _planned(trial, path, replace(site, imb=False))
        trial.replace(path)
        return not_available_text(plan)
    except UserError as error:
        message = "the doctor made a campaign file with errors: please report this"
        raise UserError([Problem(message), *error.problems]) from error
    finally:
        trial.unlink(missing_ok=True)


def _planned(trial: Path, path: Path, site: Site) -> Plan:
    with naming(path, trial):
        write_whole(trial, campaign_text(site))
    return prepare(trial).plan


def _site(options: DoctorOptions, say: Callable[[str], None]) -> Site:
    site = _asked(_schedulers(options.scheduler), options.queues)
    for line in ignored_lines(site.scheduler):
        say(line)
    groups = _probed(options, site, say)
    summary, modules = _modules()
    libraries = _libraries(modules, groups)
    notes = (*site.notes, *_notes(site.scheduler, groups), *_lacking(libraries[0]))
    return Site(
        site.scheduler,
        tuple(groups),
        site.queues,
        libraries,
        summary,
        notes,
        host_names()[0],
        as_root=site.scheduler.local and os.geteuid() == 0,
    )


def _schedulers(wanted: str) -> list[Scheduler]:
    """The wanted one, or those whose commands this machine has in the registry's order, or the local one."""
    if wanted:
        return [SCHEDULERS[wanted]]
    here = [scheduler for scheduler in batch_schedulers() if shutil.which(scheduler.site_questions[0][0])]
    return [*here] or [scheduler for scheduler in SCHEDULERS.values() if scheduler.local]


@dataclass(frozen=True, slots=True)
class _Reported:
    """What a scheduler reports: queues, like nodes that a campaign can use, and notes on others."""

    scheduler: Scheduler
    queues: tuple[Queue, ...]
    classes: tuple[NodeClass, ...]
    notes: tuple[str, ...] = ()


def _asked(schedulers: Sequence[Scheduler], wanted: Sequence[str]) -> _Reported:
    """What the first scheduler reports that answers: commands may be installed without their service."""
    failures: dict[str, str] = {}
    for number, scheduler in enumerate(schedulers):
        try:
            site = _reported(scheduler, wanted)
        except UnreadableError as error:
            failures[scheduler.title] = str(error)
            continue
        notes = [f"{title} is installed here, but not used: {why}" for title, why in failures.items()]
        others = schedulers[number + 1 :]
        notes += [f"{other.title} is here, too: --scheduler {other.name} examines it" for other in others]
        return replace(site, notes=(*site.notes, *notes))
    hint = "ask your administrators, or give --scheduler none to measure on this machine alone"
    raise UserError(Problem(f"this site cannot be examined: {'; '.join(failures.values())}", hint=hint))


def _reported(scheduler: Scheduler, wanted: Sequence[str]) -> _Reported:
    if not isinstance(scheduler, BatchScheduler):
        if wanted:
            raise UserError("no scheduler was found, so there are no partitions or queues to choose from")
        return _Reported(scheduler, (), (NodeClass("local", (Node(host_names()[0]),)),))
    answers = {}
    for command in scheduler.site_questions:
        answer = caller(scheduler)(command)
        if answer.failure and command[0] not in scheduler.site_helps:
            raise UnreadableError(answer.failure)
        answers[command[0]] = answer.out
    queues = scheduler.queues(answers)
    names = [queue.name for queue in queues]
    if unknown := next((name for name in wanted if name not in names), ""):
        raise UserError(f"there is no partition or queue {unknown!r}; there are: {', '.join(names)}")
    # A queue that is asked for is examined whole, whatever other queues its nodes have.
    classes, notes = _usable(node_classes(scheduler.nodes(answers, wanted), once=not wanted), scheduler)
    return _Reported(scheduler, tuple(queues), tuple(classes), tuple(notes))


def _usable(classes: list[NodeClass], scheduler: BatchScheduler) -> tuple[list[NodeClass], list[str]]:
    """The classes that a campaign file can name, and notes on the others."""
    reasons = [refusal(nodes, scheduler) for nodes in classes]
    fitting = [nodes for nodes, reason in zip(classes, reasons, strict=True) if not reason]
    notes = [f"left out {len(n.names)} nodes: {r}" for n, r in zip(classes, reasons, strict=True) if r]
    if len(fitting) > MAX_GROUPS:
        notes.append(f"left out {len(fitting) - MAX_GROUPS} more kinds of nodes: choose with --partition")
        fitting = sorted(fitting, key=lambda nodes: -nodes.usable)[:MAX_GROUPS]
    if not any(nodes.usable for nodes in fitting):
        raise UnreadableError("; ".join(["found no node that a campaign can use now", *notes]))
    return fitting, notes


def _probed(options: DoctorOptions, site: _Reported, say: Callable[[str], None]) -> list[NodeGroup]:
    """Host groups of like nodes, with what probes found there."""
    scheduler = site.scheduler
    if not options.probe:
        unknown = "not asked to (--no-probe)"
        return named([NodeGroup("", nodes, unknown=unknown) for nodes in site.classes], scheduler)
    if not isinstance(scheduler, BatchScheduler):
        return named([probe_here(NodeGroup("", nodes)) for nodes in site.classes], scheduler)
    most = max(1, min(MAX_PARTS, MAX_GROUPS // len(site.classes)))
    kinds = [parts(nodes, most) for nodes in site.classes]
    asked = named([NodeGroup("", part) for of_kind in kinds for part in of_kind], scheduler)
    say(f"asking {len(asked)} nodes, for up to {options.seconds:g} s")
    answers = iter(probe_groups(asked, scheduler, options.output.parent, options.seconds))
    return named(joined([[next(answers) for _ in of_kind] for of_kind in kinds]), scheduler)


def _modules() -> tuple[str, list[SiteLibrary]]:
    answer = call(AVAILABLE)
    if answer.status == NO_MODULES:
        return "not found: a login shell knows no module command", []
    if answer.failure:
        return f"not examined: {answer.failure}", []
    names = module_names(answer.out)
    libraries = mpi_modules(names)
    return f"{len(names)} found, {len(libraries)} of them MPI libraries", libraries


def _libraries(modules: list[SiteLibrary], groups: Sequence[NodeGroup]) -> tuple[SiteLibrary, ...]:
    """The one of the Python environment first, which needs no administrator; then those of a known kind."""
    libraries = list(modules)
    for probe in (group.probe for group in groups if group.probe):
        path = probe.programs.get("mpirun", "")
        library = program_library(path, probe.versions.get("mpirun", ""))
        if library and library not in libraries and not path.startswith(f"{sys.prefix}/"):
            libraries.append(library)
    libraries.sort(key=lambda library: not library.mpi)
    wheels = [SiteLibrary(WHEEL, about="that of the Python environment")] if _has_wheel() else []
    with_mpi = wheels or any(library.mpi for library in libraries)
    known = [] if with_mpi else [SiteLibrary(WHEEL, about=f"none: {how_to_install('mpi')}")]
    return (*wheels, *known, *libraries)


def _lacking(proposed: SiteLibrary) -> list[str]:
    """What this machine lacks to build the kernels with the proposed library."""
    host, answer = host_names()[0], call(compiler_after(proposed.module))
    if answer.status == NO_COMPILER and shutil.which(os.environ.get("CC", "cc")):
        return []  # on the PATH of this call, which a login shell does not have
    if answer.status == NO_COMPILER:
        how = "load the module that has one, or list it under modules: of the system"
        return [f"no C compiler is on {host}, so kernels cannot be built: {how}"]
    if answer.failure:
        how = "choose another library in the campaign file"
        return [f"module load {proposed.module} failed on {host}: {answer.last_line}; {how}"]
    return []


def _has_wheel() -> bool:
    return (Path(sys.prefix) / "bin" / "mpirun").is_file()


def _notes(scheduler: Scheduler, groups: Sequence[NodeGroup]) -> list[str]:
    notes = []
    blind = [g.name for g in groups if g.probe and _has_wheel() and ENVIRONMENT not in g.probe.programs]
    if blind:
        notes.append(f"no Python environment on nodes of  {', '.join(blind)}: clone into a shared folder")
    if os.environ.get("MPICAMPAIGN_SYSFS"):
        notes.append("hardware read from MPICAMPAIGN_SYSFS, not from the nodes")
    if not scheduler.local:
        notes.append("The scheduler does not report whether jobs need an account, QOS or reservation:")
        notes.append("if they do, give account:, qos: or reservation: to each host group")
    return notes
