"""The options of bsub that the stand-in knows, written from IBM's documentation of Spectrum LSF 10.1.

Each entry cites the page of the command reference (section "bsub") that describes it, or another page by
its title. Nothing here looks at the project's templates. What isn't listed is refused, and so is a value
that the page's synopsis does not allow: a job script that passes here is right by the documentation.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass


class RefusedError(Exception):
    """bsub does not take the job; the message is in the words of LSF where they are known."""


@dataclass(frozen=True)
class Option:
    page: str
    check: Callable[[str], None] | None = None  # none: an option without a value
    repeated: bool = False


LONGEST_PATH = 4094  # pages "-o", "-e", "-J": "up to 4094 characters for UNIX and Linux"


def _pattern(pattern: str, words: str) -> Callable[[str], None]:
    def check(value: str) -> None:
        if not re.fullmatch(pattern, value):
            raise RefusedError(words.format(value=value))

    return check


def check_path(value: str) -> None:
    if not value or len(value) > LONGEST_PATH:
        raise RefusedError("Bad file name")


def check_tasks(value: str) -> None:
    """Page "-n": min_tasks[,max_tasks]."""
    match = re.fullmatch(r"([1-9][0-9]*)(?:,([1-9][0-9]*))?", value)
    if not match or (match[2] and int(match[2]) < int(match[1])):
        raise RefusedError(f"Bad argument for option -n: {value}")


ARRAY = re.compile(r"(?P<name>[^\[\]]+)\[1-(?P<size>[1-9][0-9]{0,2}|1000)\]")  # MAX_JOB_ARRAY_SIZE: 1000


def check_job_name(value: str) -> None:
    """Page "-J": up to 4094 characters; job_name[index_list]%job_slot_limit is an array of jobs."""
    if not value or len(value) > LONGEST_PATH or re.search(r"[\s/]", value):
        raise RefusedError("Bad job name")
    if re.search(r"[\[\]]", value) and not ARRAY.fullmatch(value):
        raise RefusedError("Bad job name: of arrays this stand-in takes name[1-n]")


SECTIONS = ("select", "order", "rusage", "span", "same", "cu", "affinity")
# Page "Span string": hosts=1, hosts=-1, ptile=value ('!' for the predefined one), block=value, stripe.
SPAN = re.compile(r"hosts=(1|-1)|ptile=([1-9][0-9]*|'!')|block=[1-9][0-9]*|stripe(=[1-9][0-9]*)?")


def sections(value: str) -> dict[str, str]:
    """The sections of a requirement: pages "-R" and "Resource requirement strings".

    Each has its text in square brackets, a blank stands between two; the keyword select may be left out
    with its brackets, but then, and with them, it comes first.
    """
    found: dict[str, str] = {}
    rest = value.strip()
    first = re.match(r"(\w+)\[", rest)
    if not first or first[1] not in SECTIONS:
        bare = re.split(rf"\b(?:{'|'.join(SECTIONS)})\[", rest, maxsplit=1)[0]
        found["select"] = bare.strip()
        rest = rest[len(bare) :]
        if not found["select"] or re.search(r"[\[\]{}]", bare):
            raise RefusedError("Bad resource requirement syntax")
    while rest:
        match = re.match(r"(\w+)\[([^\[\]]+)\](\s+|$)", rest)
        if not match or match[1] not in SECTIONS or match[1] in found or (match[1] == "select" and found):
            raise RefusedError("Bad resource requirement syntax")
        found[match[1]] = match[2].strip()
        rest = rest[match.end() :]
    if not found or not SPAN.fullmatch(found.get("span", "hosts=1")):
        raise RefusedError("Bad resource requirement syntax")
    return found


def check_requirement(value: str) -> None:
    sections(value)


RUN_LIMIT = r"(?:[0-9]+:)?[0-9]+(?:/[A-Za-z0-9._-]+)?"
HOST = r"[A-Za-z0-9._-]+(?:@[A-Za-z0-9._-]+)?(?:!|\+[0-9]*)?"
NAME = r"[A-Za-z0-9._-]+"

# num=N[/task | host], then any of the others, in any order; this stand-in takes those that a script may give.
GPU = r"num=[1-9][0-9]*(?:/task|/host)?(?::(?:j_exclusive=(?:yes|no)|gmodel=[\w-]+))*"

OPTIONS = {
    "-J": Option("-J", check_job_name),
    "-n": Option("-n", check_tasks),
    "-R": Option('-R: bsub -R "res_req" [-R "res_req" ...]', check_requirement, repeated=True),
    "-W": Option(
        "-W: [hour:]minute[/host_name | /host_model]", _pattern(RUN_LIMIT, "Bad RUNLIMIT specification")
    ),
    "-x": Option("-x"),
    "-q": Option('-q "queue_name ..."', _pattern(rf"{NAME}(?: +{NAME})*", "No such queue")),
    "-m": Option(
        '-m "host_name[[!] | +[pref_level]] | host_group ..."',
        _pattern(rf"{HOST}(?: +{HOST})*", "Bad host name or host group name"),
    ),
    "-U": Option(
        "-U reservation_ID, such as user1#0",
        _pattern(r"[A-Za-z0-9._-]+(?:#[0-9]+)?", "Specified reservation does not exist"),
    ),
    "-P": Option("-P project_name", _pattern(r".{1,511}", "Bad project name")),
    "-G": Option("-G user_group", _pattern(r".+", "Bad user group name")),
    "-gpu": Option('-gpu "num=num_gpus[/task | host]:…"', _pattern(GPU, "Bad GPU requirement")),
    "-g": Option(
        "-g job_group_name: it need not exist; up to 512 characters",
        _pattern(r"(?=.{2,512}$)(?:/[^/\s]+)+/?", "Job group name is not valid"),
    ),
    "-app": Option("-app application_profile_name", _pattern(NAME, "No such application profile")),
    "-M": Option("-M mem_limit [unit]", _pattern(r"[0-9]+(?:\.[0-9]+)?\s*[KMGTPEZ]?B?", "Bad MEMLIMIT")),
    "-o": Option("-o: appends; %J and %I are replaced", check_path),
    "-oo": Option("-oo: overwrites", check_path),
    "-e": Option("-e: appends; %J and %I are replaced", check_path),
    "-eo": Option("-eo: overwrites", check_path),
    "-cwd": Option('-cwd "current_working_directory"', check_path),
    "-H": Option("-H: holds the job in the PSUSP state"),
    "-N": Option("-N"),
    "-B": Option("-B"),
    "-r": Option("-r"),
    "-rn": Option("-rn"),
}


@dataclass(frozen=True)
class Submission:
    """What was asked for: the value of each option, those of -R in a list of their own."""

    options: dict[str, str]
    requirements: list[str]
    script: str

    @property
    def tasks(self) -> int:
        return int(self.options.get("-n", "1").split(",")[0])

    @property
    def per_host(self) -> int:
        """Tasks on each host; all of them where nothing is said."""
        spans = [found["span"] for text in self.requirements if "span" in (found := sections(text))]
        if not spans:
            return self.tasks
        match = re.fullmatch(r"ptile=([0-9]+)", spans[0])
        return int(match[1]) if match else self.tasks

    @property
    def run_limit(self) -> int | None:
        """Minutes."""
        if "-W" not in self.options:
            return None
        hours, _, minutes = self.options["-W"].split("/")[0].rpartition(":")
        return 60 * int(hours or 0) + int(minutes)


def embedded_words(script: str) -> list[str]:
    """The options that a script gives in its own lines.

    Page "command": options stand in lines that begin with #BSUB. Page "job_script": the example has such a
    line after commands, so all lines of the script count, even those of a here-document.
    """
    words: list[str] = []
    for line in script.splitlines():
        match = re.match(r"#BSUB(?=\s|$)(.*)", line)
        if not match:
            if re.match(r"#\s*BSUB", line, re.IGNORECASE):
                raise RefusedError(f"not a directive, but meant as one: {line[:60]}")  # LSF passes over it
            continue
        try:
            found = shlex.split(match[1], comments=True)
        except ValueError:
            raise RefusedError(f"Unmatched quotation mark in: {line[:60]}") from None
        if not found:
            raise RefusedError("an empty #BSUB line")
        words += found
    return words


def parse(command_line: list[str], script: str) -> Submission:
    """Read the options of the command line and of the script; the former override the latter."""
    if not script.strip():
        raise RefusedError("Empty job")
    embedded, requirements = _options(embedded_words(script))
    given, more = _options(command_line)
    submission = Submission(embedded | given, more or requirements, script)
    spans = [text for text in submission.requirements if "span" in sections(text)]
    if len(spans) > 1:
        raise RefusedError("Bad resource requirement syntax: more than one span section")
    return submission


def _options(words: list[str]) -> tuple[dict[str, str], list[str]]:
    options: dict[str, str] = {}
    requirements: list[str] = []
    rest = list(words)
    while rest:
        name = rest.pop(0)
        option = OPTIONS.get(name)
        if option is None:
            raise RefusedError(f"{name}: Illegal option")
        value = ""
        if option.check:
            if not rest or rest[0] in OPTIONS:
                raise RefusedError(f"{name}: option requires an argument")
            value = rest.pop(0)
            option.check(value)
        if option.repeated:
            requirements.append(value)
        elif options.get(name, value) != value:
            raise RefusedError(f"{name}: given twice, as {options[name]} and as {value}")
        else:
            options[name] = value
    return options, requirements
