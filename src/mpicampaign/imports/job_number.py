"""The number of the job that made an output, where its text says it, or its name as schedulers form names."""

from __future__ import annotations

import re

_TASK = r"(?P<job>[0-9]{1,18})(?:[_[](?P<task>[0-9]{1,9})\b)?"
_TEXT = re.compile(
    r"(?:\b(?:SLURM_JOB_?ID|PBS_JOBID|LSB_JOBID|COBALT_JOBID|JOB_ID)\b['\"]?[ \t]*[=:][ \t]*['\"]?"
    r"|^[ \t]*Job ?I[dD][ \t]*[=:][ \t]*"  # prologues and epilogues, scontrol, seff
    r"|^srun: job |^salloc: Granted job allocation "
    r"|^slurmstepd: error: \*\*\* (?:JOB|STEP) |^TACC: +Starting up job "
    r"|^Job <(?=[0-9]+(?:\[[0-9]+\])?>(?! was submitted from)))"  # else it is the job's name
    rf"{_TASK}"
)
_TIME = re.compile(
    r"(?<![0-9])(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:[-_T]?[0-9]{4,6})?(?![0-9])"
)
_NAMES = (
    # not job02, nor job2.sh.7194646: these are names of scripts
    r"(?:.*[-_.])?(?:slurm-|job[-_.]?)(?P<job>[1-9][0-9]{0,17})(?:_(?P<task>[0-9]{1,9})(?!\w))?(?![0-9])"
    r"(?!.*\.[0-9]{5,10}$).*",
    r".*\.[oe](?P<job>[0-9]{1,10})(?:[-.](?P<task>[0-9]{1,9}))?",  # PBS, Grid Engine
    r"(?:.*[-_.])?(?P<job>[0-9]{4,10})_(?P<task>[0-9]{1,9})\.\w+",  # %A_%a
)
_PLAIN = re.compile(r"(?<![0-9A-Za-z])[0-9]{5,10}(?![0-9A-Za-z])")  # %j, or a parameter


def job_in_text(text: str) -> str:
    """The only job that a text names, such as 1234, or 1234_7 of an array; empty where it names several."""
    # to look for the words first takes a twentieth of the time
    lines = [line for line in text.split("\n") if "job" in line.lower() or "STEP" in line]
    named = dict.fromkeys(_number(match) for line in lines for match in _TEXT.finditer(line))
    return next(iter(named)) if len(named) == 1 else ""


def job_in_name(name: str, text: str) -> str:
    """The job in the name of an output; empty where it has none, or a parameter that the text has, too."""
    name = _TIME.sub("", name)
    matches = (re.fullmatch(pattern, name, re.IGNORECASE) for pattern in _NAMES)
    if match := next(filter(None, matches), None):
        return _number(match)
    plain = _PLAIN.findall(name)
    others = [number for number in plain if not re.search(rf"(?<![\w.]){number}(?![\w.])", text)]
    return others[-1] if others else ""


def _number(match: re.Match[str]) -> str:
    return "_".join(filter(None, (match["job"], match["task"])))
