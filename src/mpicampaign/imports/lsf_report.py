"""The report that LSF writes around a job's output: who ran where, how it ended, the job script inside.

LSF puts it above the output and a short part (``PS:``) below. Every part may be missing: reports are mailed,
cut and edited. Dates may be empty (``Started at Results reported on``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mpicampaign.suites.reading import OutputError

_START = re.compile(r"^Sender: LSF|^Subject: Job \d+", re.MULTILINE)
_SUBJECT = re.compile(
    r"^Subject: Job (?P<id>\d+(?:\[\d+\])?): <(?P<name>.*?)>(?: in cluster <(?P<cluster>[^>\n]*)>)? "
    r"(?P<state>\w+)\s*$",
    re.MULTILINE | re.DOTALL,
)
_REPORT = re.compile(r"^(?:Sender: LSF.*\n)?Subject: Job (\d+)", re.MULTILINE)
_ABOVE = "The output (if any) is above this job summary"
_EXECUTED = re.compile(r"^Job was executed on host\(s\) (.*?)^(?:<|Started at)", re.MULTILINE | re.DOTALL)
_HOST = re.compile(r"<(?:(\d+)\*)?([^<>\s]+)>")
_QUEUE = re.compile(r"in queue <([^<>\n]*)>")
_STARTED = re.compile(r"^Started at (\S.*?)\s*$", re.MULTILINE)
_SCRIPT = re.compile(r"^# LSBATCH: User input\n(.*?)\n-{20,}$", re.MULTILINE | re.DOTALL)
_OUTPUT = re.compile(r"^The output \(if any\) (?:follows|is above this job summary)[:.]\s*$", re.MULTILINE)
_EXITED = re.compile(r"^Exited with exit code (\d+)", re.MULTILINE)
_TERMINATED = re.compile(r"^(TERM_\w+)(?:: *(.*?))?\s*$", re.MULTILINE)
DONE = "Done"


@dataclass(frozen=True, slots=True)
class LsfReport:
    """What the report says; what it does not say is empty. ``hosts`` are names with slots, in order."""

    job_id: str
    name: str
    cluster: str
    state: str
    queue: str
    hosts: tuple[tuple[str, int | None], ...]
    started: str
    script: str
    trouble: str


def read_lsf_report(text: str) -> LsfReport | None:
    """The report in an output, None where there is none.

    Raises
    ------
    OutputError
        when there are those of several jobs: whose hosts and state are the output's cannot be told.
    """
    start = _START.search(text)
    if start is None:
        return None
    _check_no_second(text)
    head = text[start.start() : _end_of_head(text, start.start())]
    subject = _SUBJECT.search(head)
    executed = _EXECUTED.search(head)
    where = executed[1] if executed else ""
    script = _SCRIPT.search(head)
    started = _STARTED.search(head)
    return LsfReport(
        job_id=subject["id"] if subject else "",
        name=subject["name"] if subject else "",
        cluster=(subject["cluster"] or "") if subject else "",
        state=subject["state"] if subject else "",
        queue=found[1] if (found := _QUEUE.search(where)) else "",
        hosts=_hosts(where),
        started="" if started is None or started[1].startswith("Results reported") else started[1],
        script=script[1] if script else "",
        trouble=_trouble(head, subject["state"] if subject else ""),
    )


def _check_no_second(text: str) -> None:
    """Refuse the reports of several jobs, with where the first one ends: above an output or below it."""
    reports = list(_REPORT.finditer(text))
    if len(reports) < 2:
        return
    first, second = reports[:2]
    above = text.find(_ABOVE, 0, second.start())
    where = "there" if above < 0 else f"behind line {_line(text, above)}"
    raise OutputError(
        f"line {_line(text, second.start())}: a second LSF job report, of job {second[1]} after {first[1]}: "
        f"bsub -o appends unless the file's name has %J; split the file {where} and import the parts"
    )


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _end_of_head(text: str, start: int) -> int:
    """Where the benchmark's own output begins: nothing behind it is taken for a line of LSF."""
    found = _OUTPUT.search(text, start)
    return found.end() if found else len(text)


def _hosts(where: str) -> tuple[tuple[str, int | None], ...]:
    """The hosts of all lines before and after the queue; queue, user and cluster stand in brackets, too."""
    named = re.sub(r"(?:in queue|as user|in cluster) <[^<>]*>", "", where)
    return tuple((name, int(slots) if slots else None) for slots, name in _HOST.findall(named))


def _trouble(head: str, state: str) -> str:
    """Why the job did not end well, as far as the report says; empty where it says nothing of the kind."""
    parts = [": ".join(filter(None, found)).rstrip(".") for found in _TERMINATED.findall(head)]
    if exited := _EXITED.search(head):
        parts.append(f"exit code {exited[1]}")
    if state not in ("", DONE):
        parts.insert(0, state)
    return ", ".join(parts)
