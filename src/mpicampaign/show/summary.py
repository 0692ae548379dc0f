"""What a reader must know first: the answers, whether the machine was quiet, and what is missing.

The page's first screen and the terminal's last one are made of it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpicampaign.compare.findings import STOPPED
from mpicampaign.grouping import grouped
from mpicampaign.records import (
    CONTRADICTED,
    DISTURBED,
    FAILED,
    MISSING,
    NOT_JUDGED,
    OK,
    QUIET,
    RANKED,
    UNVERIFIED,
)
from mpicampaign.show.answers import answers, lead
from mpicampaign.show.document import Grid
from mpicampaign.show.pairs import PAIRED, paired_lines
from mpicampaign.show.runs import MARK, mark_of, not_available, run_counts
from mpicampaign.show.view import DEFAULT
from mpicampaign.show.writers.terminal import WIDTH, terminal_text, wrap
from mpicampaign.text import clip, listed, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.compare.tables import Comparison
    from mpicampaign.records import Record
    from mpicampaign.show.answers import Answer, Candidate
    from mpicampaign.show.view import View

LINES = 22  # of a terminal with 24, where the paths of the files follow
_METRICS = 3  # columns of its table
_CANDIDATES = 6  # lines of its table
_ABSENT = 3  # placements that are named
_REASONS = 2  # that are named
_PROCESS = re.compile(r"(?P<process>[^; ][^;]* \(pid [0-9]+[^)]*\)) used [0-9.]+ CPUs?")


@dataclass(frozen=True, slots=True)
class KeyResults:
    """``lead``: all answers in a sentence. ``paired``: of few repeats. ``notices``: on the runs."""

    lead: str
    answers: tuple[Answer, ...]
    paired: tuple[str, ...]
    notices: tuple[str, ...]


def summary(comparison: Comparison, view: View = DEFAULT) -> KeyResults:
    """The answers in the order of their importance, and what is said of the runs."""
    found = tuple(answers(comparison, view))
    paired = tuple(paired_lines(comparison))
    return KeyResults(_lead(comparison, found, paired), found, paired, tuple(_notices(comparison)))


def _lead(comparison: Comparison, found: Sequence[Answer], paired: Sequence[str]) -> str:
    if found:
        return lead(comparison, found)
    return PAIRED if paired else "No run gave a value that counts"


def _notices(comparison: Comparison) -> Iterable[str]:
    """Whether the machine was quiet, which runs count nowhere, what is not proved or not available."""
    runs = comparison.records
    yield from filter(None, [quiet_text(runs), help_text(runs)])
    counts = run_counts(runs)
    lost = [f"{counts[kind]} {kind}" for kind in (FAILED, CONTRADICTED) if counts.get(kind)]
    if lost:
        yield f"Runs left out: {listed(lost)}."
    if counts.get(STOPPED):
        yield f"Stopped by the time limit while others used the CPUs: {counts[STOPPED]}."
    yield from _not_made(runs)
    if counts.get(UNVERIFIED):
        of = sum(run.status == OK for run in runs)
        yield f"{counts[UNVERIFIED]} of {of} runs are unverified: no evidence proves their placement."
    absent = not_available(comparison)
    yield from (f"{one}." for one in absent[:_ABSENT])
    if len(absent) > _ABSENT:
        yield f"{len(absent) - _ABSENT} more placements are not available: see Left out and in doubt."


def quiet_text(records: Iterable[Record]) -> str:
    """``The machine was quiet in 80 of 81 runs; 1 run was disturbed and left out.``; empty without runs."""
    runs = [run for run in records if run.status == OK]
    if not runs:
        return ""
    counted = Counter(run.condition for run in runs)
    several = len({host for run in runs for host in run.hosts}) > 1
    machine = "hosts were" if several else "machine was"
    text = (
        f"The {machine} busy" if counted[DISTURBED] else f"Nothing recorded shows whether the {machine} quiet"
    )
    if counted[QUIET]:
        quiet = f"{counted[QUIET]} of {len(runs)}" if counted[QUIET] < len(runs) else f"all {len(runs)}"
        text = f"The {machine} quiet in {quiet} runs"
    if counted[DISTURBED]:
        ranked = any(run.ranks_busy for run in runs)
        fate = f" and counted all the same (busy_machine: {RANKED})" if ranked else _fate(runs)
        text += f"; {_were(counted[DISTURBED])} disturbed{fate}"
    if counted[NOT_JUDGED]:
        text += f"; {_were(counted[NOT_JUDGED])} not judged ({_why_not_judged(runs)})"
    return f"{text}."


def _fate(runs: Sequence[Record]) -> str:
    """What becomes of disturbed runs: shown where a case has no others."""
    shown = len(_shown(runs))
    out = sum(run.sound and run.disturbed for run in runs) - shown
    if not shown:
        return " and left out"
    marked = f"shown with {MARK} and not tested"
    return f" ({shown} {marked}, {out} left out)" if out else f", {marked}"


def _shown(runs: Iterable[Record]) -> list[Record]:
    """The disturbed runs of cases that have no others."""
    sound = grouped((run for run in runs if run.sound), lambda run: run.case)
    return [run for of_case in sound.values() if not any(one.counts for one in of_case) for run in of_case]


def help_text(records: Iterable[Record]) -> str:
    """What would give values that count; empty where no case has disturbed runs alone."""
    shown = _shown(records)
    if not shown:
        return ""
    found = [match for run in shown if (match := _PROCESS.search(run.condition_reason))]
    used = {match["process"]: match[0] for match in found}
    most = Counter(match["process"] for match in found).most_common(1)
    taker = "".join(f", end what takes the CPU ({visible(used[process])})" for process, _ in most)
    rank = f"set busy_machine: {RANKED}, which ranks disturbed runs, too"
    return f"For values that count, use an exclusive node{taker}, or {rank}."


def _not_made(runs: Sequence[Record]) -> Iterable[str]:
    """How many planned runs were not made, and why, so far as it is known."""
    if missing := [run for run in runs if run.status == MISSING]:
        reasons = _commonest(run.reason for run in missing)
        later = "; the same command makes them, best on a quieter machine" if _shown(runs) else ""
        yield f"Not made: {len(missing)} of {len(runs)} planned runs ({reasons}){later}."


def _were(count: int) -> str:
    return "1 run was" if count == 1 else f"{count} runs were"


def _why_not_judged(runs: Iterable[Record]) -> str:
    unjudged = (run for run in runs if run.condition == NOT_JUDGED)
    return _commonest(run.condition_reason or "no waiting time was recorded" for run in unjudged)


def _commonest(reasons: Iterable[str]) -> str:
    counted = Counter(reasons)
    named = [visible(reason) for reason, _ in counted.most_common(_REASONS)]
    more = len(counted) - len(named)
    return "; ".join([*named, *([f"{more} more reasons"] if more else [])])


# As text


def summary_text(comparison: Comparison, view: View = DEFAULT, title: str = "", width: int = WIDTH) -> str:
    """The summary in at most `LINES` lines of ``width`` columns."""
    found = summary(comparison, view)
    head = [*([clip(visible(title), width)] if title else []), *wrap(f"{found.lead}.", width)]
    below = [line for notice in found.notices for line in wrap(notice, width)[:2]]
    below = _cut(below, 6, "more in report.html")
    table = _table(found.answers, width)
    room = LINES - len(head) - len(below) - len(table) - 3  # empty lines between
    said = [line for text in _sentences(found) for line in wrap(text, width, "  ")]
    blocks = (head, _cut(said, room, "all answers in report.html"), table, below)
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _sentences(found: KeyResults) -> Iterable[str]:
    """All answers about placements, then those about host groups; those of few repeats."""
    yield from (" ".join([f"{answer.title}:", *answer.said]) for answer in found.answers if answer.said)
    for answer in found.answers:
        yield from (f"{answer.title}, {line}." for line in answer.host_groups)
    yield from found.paired


def _cut(lines: list[str], most: int, more: str) -> list[str]:
    return lines if len(lines) <= most else [*lines[: most - 1], f"  … {more}"]


def _table(found: Sequence[Answer], width: int) -> list[str]:
    """The candidates of the first answers, best first, with medians and intervals."""
    first = next((answer for answer in found if answer.candidates), None)
    if first is None:
        return []
    names = [one.name for one in first.candidates]
    values = [
        (f"{answer.title.rpartition(': ')[2]} ({answer.unit})", texts)
        for answer in found
        if answer.table is first.table
        and set(texts := {one.name: _value(one) for one in answer.candidates}) == set(names)
    ][:_METRICS]
    lines = [(name, *(texts[name] for _, texts in values)) for name in names[:_CANDIDATES]]
    header = (first.table.title, *(metric for metric, _ in values))
    more = len(names) - len(lines)
    text = terminal_text([Grid("", 1, header, tuple(lines))], width).splitlines()
    return [*text, *([f"  … {more} more in tables/comparison.txt"] if more else [])]


def _value(one: Candidate) -> str:
    return f"{one.value}{mark_of(one.row)} {one.shown.interval}".rstrip()
