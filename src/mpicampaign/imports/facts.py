"""The facts of an imported output: named texts, from which a map's rules find the run's labels.

A fact that a file does not tell is absent, never empty by guess. The names are documented in docs/import.md;
those with a dot (``directive.m``) hold a name of the file's own behind it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpicampaign.imports.files import stem_of
from mpicampaign.imports.job_script import LONG_NAMES, JobScript, command_of, read_job_script
from mpicampaign.imports.lsf_report import read_lsf_report
from mpicampaign.imports.mpi_over_ucx import UCX_REPORT, mpi_over_ucx
from mpicampaign.suites import SUITES, above_banner, detect_suite, suite_of
from mpicampaign.verdict.library_version import library_version
from mpicampaign.verdict.transport_reports import READERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpicampaign.imports.lsf_report import LsfReport

FACTS = {
    "path": "the file's path below the imported folder, with the folder's name and that of its parent",
    "suite": "imb, osu, hpl or hpcc",
    "program": "the program, such as IMB-MPI1 or osu_latency",
    "benchmark": "what the output says that it measured, such as PingPong or HPL; the program where too long",
    "scheduler": "lsf or slurm",
    "job": "the job's number, of a task of a Slurm array such as 1234_7",
    "job_name": "the job's name",
    "cluster": "the name of the LSF cluster",
    "queue": "the queue or partition that the job ran in",
    "hosts": "the hosts that the job was executed on",
    "nodes": "how many hosts these are",
    "state": "how LSF says that the job ended, such as Done",
    "trouble": "why it did not end well, as far as LSF says",
    "modules": "the modules that the job script loads",
    "command": "the line of the job script that launches the program, continued lines joined, variables of "
    "the script filled in; of several such lines the one that writes to the file, else the only one of its "
    "program, else none",
    "transport": "what the MPI library reports: shm, tcp, ibv",
    "mpi": "the MPI library whose report that is; of UCX's only where the output or script names it",
    "mpi_library": "the MPI library with its version, where it prints one",
    "mpi_hosts": "how many hosts that report lists",
    "started": "when the benchmark or job began, such as 2017-03-21T15:51:47",
}
FAMILIES = {
    "directive": "an option of an #SBATCH or #BSUB line, without dashes; Slurm's under its short and its "
    "long name, whichever the script has",
    "disabled": "the same of a line that is commented out, such as ##BSUB -m GROUP",
    "environment": "a variable that the job script exports",
    "header": "a line #NAME=value above the output; spaces around its parts do not matter",
}

_MONTH_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, start=1)}
_CLOCK = re.compile(r"(?:\w{3} )?(\w{3}) +(\d{1,2}) (\d\d:\d\d:\d\d) (\d{4})")
_DATES = re.compile(r"^(?:# Date +: |HPL_pdgesv\(\) start time )(.*?)\s*$", re.MULTILINE)
_STAMP = re.compile(r"(?<!\d)(\d{4})(\d\d)(\d\d)_(\d\d)(\d\d)(\d\d)(?!\d)")
_SLURM_NAME = re.compile(r"slurm-(\d+(?:_\d+(?!\w))?).*")  # of arrays %A_%a
_NUMBERS = {"%j": r"(\d+)", "%A": r"(\d+)", "%A_%a": r"(\d+_\d+)"}
_HEADER = re.compile(r"#([A-Za-z_]\w*)=(.*?)\s*")
_SPACED_HEADER = re.compile(r"#[ \t]*([A-Za-z_]\w*)[ \t]*=(?!=)[ \t]*(.*?)\s*")
_HEADER_LINES = 20
_PLATFORM_RANKS = " -- ranks"
_PLATFORM_HOST = re.compile(r"^Host \d+ -- ip \S+ -- ranks", re.MULTILINE)


def read_facts(path: str, text: str, script: str = "", stderr: str = "") -> dict[str, str]:
    """The facts of one output.

    Parameters
    ----------
    path : the file's path, as rules see it
    text : the whole output, with what a scheduler wrote around it
    script : the job script beside it; the one that LSF quotes in its report is found by itself
    stderr : what went to standard error, where some MPI libraries report their transport

    Raises
    ------
    OutputError
        when programs of different suites printed into one file.
    """
    text = text.replace("\r\n", "\n")
    report = read_lsf_report(text)
    job = read_job_script(report.script if report and report.script else script)
    facts = {
        "path": path,
        "job": _slurm_job(path, job),
        **_script_facts(job),
        **(_report_facts(report) if report else {}),
    }
    facts |= _output_facts(text, job.program)
    facts["command"] = command_of(job.commands, path, facts["program"])
    said = text + stderr if stderr else text
    facts |= _transport(said, job) | {
        "mpi_hosts": _hosts_of_library(said),
        "mpi_library": library_version(said),
    }
    facts["started"] = _started(path, text, report)
    facts |= _header(text, is_report=report is not None)
    return {name: value for name, value in facts.items() if value or name.startswith("directive.")}


def belongs(script_path: str | None, script: str, path: str, text: str) -> bool:
    """Whether a job script is an output's: it has its name, or starts a program of the suite that printed it.

    Raises
    ------
    OutputError
        as `read_facts`.
    """
    if script_path is None or stem_of(script_path) == stem_of(path):
        return True
    program = read_job_script(script).program
    return program != "" and suite_of(program) == detect_suite(text)


def _slurm_job(path: str, job: JobScript) -> str:
    """The job's number in a file's name, such as 1234_7 of an array, where Slurm or the script puts it."""
    asked = job.directives.get("output", "").rpartition("/")[2] if job.scheduler == "slurm" else ""
    parts = re.split(r"(%A_%a|%.)", asked)
    words = (_NUMBERS.get(part, ".*?" if part.startswith("%") else re.escape(part)) for part in parts)
    pattern = re.compile("".join(words)) if _NUMBERS.keys() & parts else _SLURM_NAME
    name = path.rpartition("/")[2]
    found = pattern.fullmatch(name) or _SLURM_NAME.fullmatch(name)
    return found[1] if found else ""


def _script_facts(job: JobScript) -> dict[str, str]:
    facts = {"scheduler": job.scheduler, "program": job.program}
    facts |= {f"directive.{name}": value for name, value in _both_names(job.directives).items()}
    facts |= {f"disabled.{name}": value for name, value in _both_names(job.disabled).items()}
    facts |= {f"environment.{name}": value for name, value in job.environment.items()}
    named = (job.directives.get(key, "") for key in ("J", "job-name"))
    queue = (job.directives.get(key, "") for key in ("q", "partition"))
    facts["job_name"], facts["queue"] = next(filter(None, named), ""), next(filter(None, queue), "")
    return facts | {"modules": " ".join(job.modules)}


def _both_names(options: Mapping[str, str]) -> dict[str, str]:
    """Slurm's options under their short names, too: a map may have either, however the script was written."""
    short = {name: options[long] for name, long in LONG_NAMES.items() if long in options}
    return short | dict(options)


def _report_facts(report: LsfReport) -> dict[str, str]:
    hosts = list(dict.fromkeys(name for name, _ in report.hosts))
    facts = {
        "scheduler": "lsf",
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
    """Suite, program and benchmark: by what was printed, else by the program that was to run."""
    suite = detect_suite(text) or suite_of(program)
    benchmark, program = SUITES[suite].names(text, program) if suite else (program, program)
    return {"suite": suite, "benchmark": benchmark, "program": program}


def _transport(text: str, job: JobScript) -> dict[str, str]:
    for mpi, reader in READERS.items():
        if found := reader(text):
            mpi = mpi_over_ucx(text, job) if mpi == UCX_REPORT else mpi
            return {"transport": " ".join(sorted(found)), "mpi": mpi}
    return {}


def _hosts_of_library(text: str) -> str:
    """How many hosts Platform MPI lists above its table."""
    return str(len(_PLATFORM_HOST.findall(text)) or "") if _PLATFORM_RANKS in text else ""


def _started(path: str, text: str, report: LsfReport | None) -> str:
    """By the benchmark itself, else by the job's report, else by a time in the file's name."""
    printed = _DATES.search(text)
    for words in (printed[1] if printed else "", report.started if report else ""):
        if found := _iso(words):
            return found
    stamp = _STAMP.search(path.rpartition("/")[2])
    return "{}-{}-{}T{}:{}:{}".format(*stamp.groups()) if stamp else ""


def _iso(words: str) -> str:
    """``Tue Mar 21 15:51:47 2017`` as 2017-03-21T15:51:47, whatever the machine's language."""
    found = _CLOCK.fullmatch(words.strip())
    if found is None or found[1] not in _MONTHS:
        return ""
    return f"{found[4]}-{_MONTHS[found[1]]:02d}-{int(found[2]):02d}T{found[3]}"


def _header(text: str, *, is_report: bool) -> dict[str, str]:
    """What a script of the user's wrote above the output.

    With spaces only above the line that announces the benchmark, whose own comments begin with ``# ``,
    too, and not in LSF's report, where such a line is a comment of the script that is quoted.
    """
    start = text[:4000]
    facts = {}
    above = 0 if is_report else len(above_banner(start).splitlines())
    for number, line in enumerate(start.splitlines()[:_HEADER_LINES]):
        form = _SPACED_HEADER if number < above else _HEADER
        if found := form.fullmatch(line):
            facts[f"header.{found[1]}"] = found[2]
    return facts
