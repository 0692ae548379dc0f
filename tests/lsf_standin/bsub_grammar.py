"""The options of bsub that the stand-in knows, written from IBM's documentation of Spectrum LSF 10.1.

Each entry follows the page of the command reference (section "bsub") of its name; other pages are cited by
their titles. Nothing here looks at the project's templates. What isn't listed is refused, and so is a value
that the page's synopsis does not allow: a job script that passes here is right by the documentation.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass


class RefusedError(Exception):
    """bsub does not take the job; the message is in the words of LSF where they are known."""


# Page "-J": job_name[index_list]%job_slot_limit is an array of jobs; MAX_JOB_ARRAY_SIZE: 1000.
ARRAY = re.compile(r"(?P<name>[^\[\]]+)\[1-(?P<size>[1-9][0-9]{0,2}|1000)\]")
SECTIONS = ("select", "order", "rusage", "span", "same", "cu", "affinity")
# Page "Span string": hosts=1, hosts=-1, ptile=value ('!' for the predefined one), block=value, stripe.
SPAN = re.compile(r"hosts=(1|-1)|ptile=([1-9][0-9]*|'!')|block=[1-9][0-9]*|stripe(=[1-9][0-9]*)?")
NAME, HOST = r"[A-Za-z0-9._-]+", r"[A-Za-z0-9._-]+(?:@[A-Za-z0-9._-]+)?(?:!|\+[0-9]*)?"
PATH = (r"(?s).{1,4094}", "Bad file name")  # pages "-o", "-e", "-J": "up to 4094 characters"
OPTIONS = {  # the pattern of its value and the words that refuse another one; none: an option without a value
    "-J": (r"(?=.{1,4094}$)[^\s/\[\]]+(?:\[1-(?:[1-9][0-9]{0,2}|1000)\])?", "Bad job name"),
    "-n": (r"[1-9][0-9]*(?:,[1-9][0-9]*)?", "Bad argument for option -n: {}"),
    "-R": (r"(?s).*", ""),  # see `sections`
    "-W": (rf"(?:[0-9]+:)?[0-9]+(?:/{NAME})?", "Bad RUNLIMIT specification"),
    "-q": (rf"{NAME}(?: +{NAME})*", "No such queue"),
    "-m": (rf"{HOST}(?: +{HOST})*", "Bad host name or host group name"),
    "-U": (rf"{NAME}(?:#[0-9]+)?", "Specified reservation does not exist"),
    "-P": (r".{1,511}", "Bad project name"),
    "-G": (r".+", "Bad user group name"),
    # num=N[/task | host], then any of the others, in any order; here those that a script may give
    "-gpu": (
        r"num=[1-9][0-9]*(?:/task|/host)?(?::(?:j_exclusive=(?:yes|no)|gmodel=[\w-]+))*",
        "Bad GPU requirement",
    ),
    "-g": (r"(?=.{2,512}$)(?:/[^/\s]+)+/?", "Job group name is not valid"),  # it need not exist
    "-app": (NAME, "No such application profile"),
    "-M": (r"[0-9]+(?:\.[0-9]+)?\s*[KMGTPEZ]?B?", "Bad MEMLIMIT"),
    **dict.fromkeys(("-o", "-oo", "-e", "-eo", "-cwd"), PATH),
    **dict.fromkeys(("-x", "-H", "-N", "-B", "-r", "-rn")),
}


def sections(value: str) -> dict[str, str]:
    """The sections of a requirement: pages "-R" and "Resource requirement strings".

    Each has its text in square brackets, a blank stands between two; the keyword select may be left out
    with its brackets, but then, and with them, it comes first.
    """
    text, bad = value.strip(), RefusedError("Bad resource requirement syntax")
    if not re.match(rf"(?:{'|'.join(SECTIONS)})\[", text):
        text = re.sub(r"^[^\[\]{}]+?(?=\s+\w+\[|$)", r"select[\g<0>]", text)
    found = re.findall(r"(\w+)\[([^\[\]]+)\]", text)
    names = [name for name, _ in found]
    if not re.fullmatch(r"\w+\[[^\[\]]+\](?:\s+\w+\[[^\[\]]+\])*", text) or {*names} - {*SECTIONS}:
        raise bad
    if len({*names}) < len(names) or "select" in names[1:]:
        raise bad
    if not SPAN.fullmatch(dict(found).get("span", "hosts=1")):
        raise bad
    return dict(found)


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
    least, _, most = submission.options.get("-n", "1").partition(",")
    if int(most or least) < int(least):
        raise RefusedError(f"Bad argument for option -n: {least},{most}")
    if len(spans) > 1:
        raise RefusedError("Bad resource requirement syntax: more than one span section")
    return submission


def _options(words: list[str]) -> tuple[dict[str, str], list[str]]:
    options: dict[str, str] = {}
    requirements: list[str] = []
    rest = list(words)
    while rest:
        name = rest.pop(0)
        if name not in OPTIONS:
            raise RefusedError(f"{name}: Illegal option")
        value = ""
        if form := OPTIONS[name]:
            if not rest or rest[0] in OPTIONS:
                raise RefusedError(f"{name}: option requires an argument")
            value = rest.pop(0)
            if not re.fullmatch(form[0], value):
                raise RefusedError(form[1].format(value))
        if name == "-R":
            sections(value)
            requirements.append(value)
        elif options.setdefault(name, value) != value:
            raise RefusedError(f"{name}: given twice, as {options[name]} and as {value}")
    return options, requirements
