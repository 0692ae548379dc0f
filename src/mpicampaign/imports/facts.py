"""The facts of an imported output: named texts, from which the rules of a map derive the run's labels.

A fact that a file does not give is absent. docs/import.md describes the names; after a dot (``directive.m``)
follows a name from the file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from mpicampaign.base.errors import UnreadableError
from mpicampaign.base.grouping import grouped
from mpicampaign.imports.files import name_of, stem_of
from mpicampaign.imports.job_number import job_in_name, job_in_text
from mpicampaign.imports.job_script import (
    JobScript,
    announced_launch,
    command_of,
    program_of,
    read_job_script,
)
from mpicampaign.imports.quotes import quoting_document
from mpicampaign.mpis import library_version, listed_hosts, providers_of_any, report_of_any
from mpicampaign.schedulers import batch_scheduler, batch_schedulers
from mpicampaign.schedulers.listings import JobReport
from mpicampaign.suites import SUITES, OutputError, Part, above_banner, detect_suite, suite_of
from mpicampaign.suites.aborts import is_aborted
from mpicampaign.suites.reading import printed_date

FACTS = {
    "path": "the file's path, relative to the parent of the imported folder",
    "suite": "imb, osu, hpl, hpcc, nccl_tests, stream, babelstream or reframe",
    "program": "the program, such as IMB-MPI1 or osu_latency",
    "benchmark": "what the output says it measured, such as PingPong or HPL",
    "scheduler": "the scheduler, by its name in campaign files",
    "job": "the job number; for an array task such as 1234_7",
    "job_name": "the job's name",
    "cluster": "the cluster in the scheduler's report",
    "queue": "the queue or partition of the job",
    "hosts": "the hosts on which the job ran",
    "nodes": "the number of these hosts",
    "state": "the end state in the scheduler's report, such as Done",
    "trouble": "why the job failed, if that report gives a reason",
    "modules": "the modules that the job script loads",
    "command": "the line of the job script that launches the program, with variables filled in",
    "transport": "the transport in the MPI library's report: shm, tcp, ibv, or a provider of libfabric",
    "provider": "the provider of libfabric in that report",
    "mpi": "the MPI library of that report",
    "mpi_library": "the MPI library with its version, if it prints one",
    "mpi_hosts": "the number of hosts in that report",
    "gpus": "the number of GPUs",
    "gpus_per_node": "their number on each host, if it is the same on all",
    "gpu": "their names",
    "nccl": "the version of NCCL or RCCL",
    "buffers": "where the buffers are: D H for osu_latency D H, device for IMB-MPI1-GPU",
    "threads": "the number of threads of STREAM",
    "array": "the size of its arrays",
    "started": "when the benchmark or job began, such as 2017-03-21T15:51:47",
    "system": "the system of a ReFrame test case",
    "partition": "its partition",
    "environ": "its environment",
    "test": "its test with all parameters",
    "result": "its result: pass, or fail with the reason",
    "quoted": "the document that quotes the output",
    "lines": "the lines of an output, if its file has several, such as 12-40",
    "above": "what was printed between this output and the one before (the last 1000 characters)",
    "heading": "the lines with words in it, below those that tell outputs of another benchmark apart; "
    "if there are none, those above the output before",
}
FAMILIES = {
    "directive": "an option of the scheduler's directives, without dashes, under each of its names",
    "disabled": "the same in a commented-out line, such as ##BSUB -m GROUP",
    "environment": "a variable that the job script exports",
    "header": "a line #NAME=value above the output",
}

_DATES = re.compile(r"^(?:# Date +: |HPL_pdgesv\(\) start time )(.*?)\s*$", re.MULTILINE)
_TOGETHER = re.compile(r"^# #processes = (?!1\s)", re.MULTILINE)  # IMB: no rank that started alone
_STAMP = re.compile(r"(?<!\d)(\d{4})(\d\d)(\d\d)_(\d\d)(\d\d)(\d\d)(?!\d)")
_HEADER = re.compile(r"#([A-Za-z_]\w*)=(.*?)\s*")
_SPACED_HEADER = re.compile(r"#[ \t]*([A-Za-z_]\w*)[ \t]*=(?!=)[ \t]*(.*?)\s*")
_HEADER_LINES = 20
_TELLS_NOTHING = re.compile(
    r"(?:real|user|sys)\s|(?:srun|slurmstepd): |.*[0-9]:[0-9]{2}:[0-9]{2}|\|\|Ax-b"
    r"|# Collective test concluded|.*\b(?i:run|iter|iteration|repeat|repetition|trial)\W{0,3}[0-9]"
)
_MOST_ABOVE = 1000
SCRIPT_BEGIN = "#!"


class _File(NamedTuple):
    """What all outputs in a file have in common: facts of the job and of the file's first lines."""

    path: str
    job: JobScript
    facts: dict[str, str]
    header: dict[str, str]
    began: str  # the job, by the scheduler's report


def read_facts(path: str, text: str, script: str = "", stderr: str = "") -> dict[str, str]:
    """The facts of one output.

    Parameters
    ----------
    path : the file's path, as rules see it
    text : the whole output, with the scheduler's report around it
    script : the job script beside it; a script quoted in the scheduler's report wins over it
    stderr : standard error, where some MPI libraries report their transport

    Raises
    ------
    OutputError
        when the file holds output of different suites.
    """
    text = text.replace("\r\n", "\n")
    file = _file(path, text, script)
    return _facts(file, text, text + stderr, file.job.program)


def facts_of_outputs(
    path: str, text: str, cut: Sequence[Part], script: str = "", stderr: str = ""
) -> list[dict[str, str]]:
    """The facts of each output in a file, which may have been cut into several; see `read_facts`.

    A job and the lines at the top of its output belong to all of them; what an MPI library reports, to the
    output below it. Standard error of several is not looked at, since its lines may be those of any of them.

    Raises
    ------
    OutputError
        as `read_facts`; and when programs of one suite began in the same second.
    """
    if len(cut) == 1:
        return [read_facts(path, text, script, stderr)]
    file = _file(path, text.replace("\r\n", "\n"), script)
    _check_one_after_another(cut)
    facts = [_facts_of_part(file, part) for part in cut]
    for of_output, heading in zip(facts, [*_headings(cut, facts)], strict=True):
        of_output |= {"heading": heading} if heading else {}
    return facts


def _headings(cut: Sequence[Part], facts: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Of each output: its lines, below those in force that differ between outputs of another benchmark."""
    benchmarks = [of_output.get("benchmark") for of_output in facts]
    lines = [*zip(benchmarks, map(_heading, cut), strict=True)]
    alike = grouped((line for line in lines if line[1]), lambda line: line[0]).items()
    telling = {benchmark for benchmark, of in alike if differ([heading for _, heading in of])}
    section = heading = ""
    for benchmark, own in lines:
        section = own if own and benchmark in telling else section
        heading = "\n".join(dict.fromkeys(filter(None, (section, own)))) if own else heading
        yield heading


def differ(headings: Sequence[str]) -> bool:
    """Whether the lines above outputs tell them apart; those above the first may be of the file."""
    first, *others = headings
    return len({*others}) > 1 or (len(others) == 1 and first != others[0])


def _heading(part: Part) -> str:
    """Lines with words above an output, but for times, numbers of repeats and the end of the one before."""
    lines = [line.strip() for line in part.above.splitlines() if not _TELLS_NOTHING.match(line)]
    telling = (line for line in lines if re.search(r"[^\W\d_]", line) and not is_aborted(line))
    return "\n".join(telling)[-_MOST_ABOVE:]


def _facts_of_part(file: _File, part: Part) -> dict[str, str]:
    above, output = part.above.replace("\r\n", "\n"), part.output.replace("\r\n", "\n")
    facts = _facts(file, output, above + output, _only_program(file.job, part.suite))
    announced = announced_launch(above, facts.get("program", ""))
    facts |= {"command": announced} if announced else {}
    facts |= {"above": above.strip()[-_MOST_ABOVE:]} if above.strip() else {}
    return facts | {"lines": part.lines}


def _check_one_after_another(parts: Sequence[Part]) -> None:
    """Refuse outputs of programs that ran at the same time, as where each rank started alone."""
    first: dict[tuple[str, str], Part] = {}
    for part in parts:
        if not (date := _DATES.search(part.output)) or _TOGETHER.search(part.output):
            continue
        before = first.setdefault((part.suite, date[1]), part)
        if before is not part:
            lines, second = f"lines {before.lines} and {part.lines}", "began in the same second"
            cause = f"({date[1]}): several ran at once, as when a program is started without MPI"
            raise OutputError(f"the outputs of {part.suite} at {lines} {second} {cause}")


def _only_program(job: JobScript, suite: str) -> str:
    """The one program of a suite that a script starts; empty where it may start several."""
    programs = {program_of(command) for command in job.commands}
    of_suite = [program for program in programs if suite_of(program) == suite]
    return of_suite[0] if len(of_suite) == 1 and "" not in programs else ""


def _file(path: str, text: str, script: str) -> _File:
    reporter, report = _report(text)
    job = read_job_script(report.script if report and report.script else script)
    facts = {
        "path": path,
        "quoted": quoting_document(path),
        **_script_facts(job),
        **(_report_facts(reporter, report) if report else {"job": _job_of_file(path, job, text)}),
    }
    header = _header(text, is_report=report is not None)
    return _File(path, job, facts, header, report.started if report else "")


def _facts(file: _File, output: str, printed: str, program: str) -> dict[str, str]:
    """The facts of one output; ``printed``: also the text around it, where MPI libraries report."""
    facts = file.facts | _output_facts(output, program)
    facts["command"] = command_of(file.job.commands, file.path, facts["program"])
    facts |= _transport(printed, file.job) | {
        "mpi_hosts": str(listed_hosts(printed) or ""),
        "mpi_library": library_version(printed),
    }
    facts["started"] = _started(file.path, output, file.began)
    facts |= file.header
    if suite := facts["suite"]:
        facts |= SUITES[suite].facts(output)
    return {name: value for name, value in facts.items() if value or name.startswith("directive.")}


def belongs(script_path: str | None, script: str, path: str, suites: Collection[str]) -> bool:
    """Whether a job script made a file: it has the same name, or starts a program of a suite in the file."""
    if script_path is None or stem_of(script_path) == stem_of(path):
        return True
    program = read_job_script(script).program
    return program != "" and suite_of(program) in suites


def why_no_output(text: str, stderr: str) -> str:
    """Why a text is not an output of a known suite, and what to do about it."""
    if text.startswith(SCRIPT_BEGIN):
        return "a script, not an output"
    reasons = (suite.no_output(f"{text}\n{stderr}") for suite in SUITES.values())
    known = ", ".join(suite.called for suite in SUITES.values())
    unknown = f"no output of a known suite ({known}), and no job report that names one of their programs"
    return next(filter(None, reasons), unknown)


def _job_of_file(path: str, job: JobScript, text: str) -> str:
    """The job number in a file's name, where the scheduler or the script puts it, or in its text."""
    numbers = (
        scheduler.job_of_file(name_of(path), job.directives if job.scheduler == scheduler.name else {})
        for scheduler in batch_schedulers()
    )
    return next(filter(None, numbers), "") or job_in_text(text) or job_in_name(name_of(path), text)


def _report(text: str) -> tuple[str, JobReport | None]:
    """The scheduler whose report surrounds an output, and the report."""
    for scheduler in batch_schedulers():
        try:
            if report := scheduler.read_report(text):
                return scheduler.name, report
        except UnreadableError as error:
            raise OutputError(str(error)) from error
    return "", None


def _script_facts(job: JobScript) -> dict[str, str]:
    facts = {"scheduler": job.scheduler, "program": job.program}
    facts |= {f"directive.{name}": value for name, value in _both_names(job.directives).items()}
    facts |= {f"disabled.{name}": value for name, value in _both_names(job.disabled).items()}
    facts |= {f"environment.{name}": value for name, value in job.environment.items()}
    if scheduler := batch_scheduler(job.scheduler):
        facts["job_name"] = job.directives.get(scheduler.name_option, "")
        facts["queue"] = job.directives.get(scheduler.queue_option, "")
    return facts | {"modules": " ".join(job.modules)}


def _both_names(options: Mapping[str, str]) -> dict[str, str]:
    """Options under their short names, too: a map may use either name."""
    names = [pair for scheduler in batch_schedulers() for pair in scheduler.long_names.items()]
    return {short: options[long] for short, long in names if long in options} | dict(options)


def _report_facts(scheduler: str, report: JobReport) -> dict[str, str]:
    hosts = list(dict.fromkeys(name for name, _ in report.hosts))
    facts = {
        "scheduler": scheduler,
        "job": report.job_id,
        "job_name": report.name,
        "cluster": report.cluster,
        "queue": report.queue,
        "state": report.state,
        "trouble": report.trouble,
        "hosts": " ".join(hosts),
        "nodes": str(len(hosts)) if hosts else "",
    }
    return {name: value for name, value in facts.items() if value}


def _output_facts(text: str, program: str) -> dict[str, str]:
    """Suite, program and benchmark: by the output, else by the program that the script starts."""
    suite = detect_suite(text) or suite_of(program)
    benchmark, program = SUITES[suite].names(text, program) if suite else (program, program)
    return {"suite": suite, "benchmark": benchmark, "program": program}


def _transport(text: str, job: JobScript) -> dict[str, str]:
    """The transport that the MPI library reports; the script may name the library."""
    report = report_of_any(text, (*job.commands, *job.environment, *job.modules))
    facts = {"transport": " ".join(sorted(report[1])), "mpi": report[0]} if report else {}
    return facts | {"provider": " ".join(sorted(providers_of_any(text)))}


def _started(path: str, text: str, began: str) -> str:
    """By the benchmark itself, else by the scheduler's report, else by a time in the file's name."""
    printed = _DATES.search(text)
    for time in (printed[1] if printed else "", began):
        if moment := printed_date(time):
            return moment.isoformat()
    return time_in_name(path)


def time_in_name(path: str) -> str:
    """A time such as 20170321_155147 in a file's name, as 2017-03-21T15:51:47."""
    stamp = _STAMP.search(name_of(path))
    return "{}-{}-{}T{}:{}:{}".format(*stamp.groups()) if stamp else ""


def _header(text: str, *, is_report: bool) -> dict[str, str]:
    """What a user's script wrote above the output.

    Spaces are allowed only above the banner of the benchmark, whose own comments begin with ``# ``, and not
    in a scheduler's report, where such a line is a comment in the quoted script.
    """
    start = text[:4000]
    facts = {}
    above = 0 if is_report else len(above_banner(start).splitlines())
    for number, line in enumerate(start.splitlines()[:_HEADER_LINES]):
        form = _SPACED_HEADER if number < above else _HEADER
        if line.startswith("#") and (match := form.fullmatch(line)):
            facts[f"header.{match[1]}"] = match[2]
    return facts
