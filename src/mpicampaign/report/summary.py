"""What a reader must know first: the answers, whether the machine was quiet, and what is missing.

The page's first screen and the terminal's last lines are made of it. Each answer is a sentence; what it rests
on and what is against it are marks, with their texts behind a click.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import CONTRADICTED, FAILED, OK, UNVERIFIED, Record, defined_name
from mpicampaign.base.text import clip, counted, listed, visible
from mpicampaign.compare.findings import STOPPED
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.questions.answer import ALONE, KEY, SHOWN, Answer
from mpicampaign.questions.configurations.say import configuration_lines, configuration_nodes
from mpicampaign.questions.machine.say import machine_leads, machine_lines
from mpicampaign.questions.machine.say_tables import machine_sentences
from mpicampaign.questions.over_groups.draw import few_strips
from mpicampaign.questions.over_groups.say import (
    findings_of_few,
    lead_of_few,
    legend_of_few,
    lines_of_few,
    untested_of_few,
)
from mpicampaign.questions.own.say import own_nodes
from mpicampaign.questions.ranking.answer import behind
from mpicampaign.questions.ranking.say import IN_ROWS, OF_OWN_REPEATS
from mpicampaign.report.pictures import pictures
from mpicampaign.report.questions import answers, lead
from mpicampaign.show import runs
from mpicampaign.show.cells import TERMS, explained_terms
from mpicampaign.show.document import Fold, Heading, Items, PageNode, Paragraph, Section, Span, Text
from mpicampaign.show.runs import explained
from mpicampaign.show.sentences import first_few
from mpicampaign.show.source import ReportSource
from mpicampaign.show.view import DEFAULT, View
from mpicampaign.show.writers.terminal import WIDTH, wrap
from mpicampaign.verdicts.compare import APART_IN_TIME, FEW_REPEATS

LINES = 12  # of a campaign in a terminal


class Notice(NamedTuple):
    """What is said of the runs: in short, and in sentences."""

    mark: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeyResults:
    """``lead``: the answers in one line. ``of_few``: of few repeats. ``marks``: on the runs.

    ``machines``: what is said of host groups whose members are compared one by one.
    """

    lead: str
    answers: tuple[Answer, ...]
    of_few: tuple[str, ...]
    marks: tuple[Notice, ...]
    machines: tuple[str, ...] = ()

    @property
    def notices(self) -> tuple[str, ...]:
        """What the marks stand for."""
        return tuple(text for mark in self.marks for text in mark.texts)

    @property
    def line(self) -> str:
        """The marks."""
        return " · ".join(one.mark for one in self.marks)


def summary(comparison: Comparison, view: View = DEFAULT) -> KeyResults:
    """The answers in the order of their importance, and what is said of the runs."""
    found, machines = answers(comparison, view), comparison.machines
    leads = machine_leads(machines)
    if comparison.tables or not machines:
        leads.append(_lead_of_rows(comparison, found))
    of_few, said = lines_of_few(comparison), machine_lines(machines)
    return KeyResults(". ".join(leads), tuple(found), tuple(of_few), tuple(_notices(comparison)), tuple(said))


def _lead_of_rows(comparison: Comparison, found: Sequence[Answer]) -> str:
    if found:
        return lead(comparison, found)
    return lead_of_few(comparison) if comparison.of_few else "No run gave a value that counts"


def _notices(comparison: Comparison) -> Iterator[Notice]:
    """Whether the machine was quiet, which runs count nowhere, what is not proved or not available."""
    records, states = comparison.records, comparison.states
    counts = runs.run_counts(records)
    for mark, texts in (
        (runs.quiet_mark(records), [runs.quiet_text(records), runs.help_text(records)]),
        ("perhaps beside others", [runs.beside_text(records)]),
        (f"CPUs {states.headline}" if states.names else "CPUs move", runs.state_texts(comparison)),
        ("unlike nodes", configuration_lines(comparison.configurations)),
        ("tuning cliffs", runs.cliffs(comparison)),
        (f"{counts.get(STOPPED)} stopped", _stopped(records)),
        ("not read", runs.not_read(records)),
        ("not made", runs.not_made(records)),
        ("not tested", _untested(comparison)),
    ):
        if said := tuple(filter(None, texts)):
            yield Notice(mark, said)
    if unasked := runs.unread_settings(records):
        text = f"No rank asked for {listed(unasked)}, which names of rows hold: misspelt, or not of this MPI"
        names = listed(first_few(unasked, runs.NAMED, "variables"))
        yield Notice(f"{names} not read", (f"{text} library or its transport.",))
    if lost := [f"{counts[kind]} {kind}" for kind in (FAILED, CONTRADICTED) if counts.get(kind)]:
        yield Notice(listed(lost), (f"Runs left out: {listed(lost)}.",))
    if unproved := counts.get(UNVERIFIED):
        of = sum(run.status == OK for run in records)
        text = f"{unproved} of {of} runs are unverified: no evidence proves their placement."
        yield Notice(f"{unproved} of {of} unverified", (text,))
    if absent := runs.not_available(comparison):
        mark = f"{absent[0].placement if len(absent) == 1 else counted(len(absent), 'placement')} n/a"
        more = f"{len(absent) - runs.NAMED} more placements are not available: see Left out and in doubt."
        few = [f"{one}." for one in absent[: runs.NAMED]]
        yield Notice(mark, (*few, *([more] if len(absent) > runs.NAMED else [])))


def _stopped(records: Sequence[Record]) -> Iterator[str]:
    if count := sum(run.stopped for run in records):
        yield f"{runs.were(count)} stopped by the time limit while others used the CPUs."
    made = grouped((run for run in records if run.status in (OK, FAILED)), lambda run: run.case)
    if always := [case for case, of_case in made.items() if all(run.stopped for run in of_case)]:
        more = f" and of {counted(len(always) - 1, 'more case')}" if always[1:] else ""
        yield f"Every run of {always[0]}{more} was: if a quiet machine does not help, raise time_limit."


def _untested(comparison: Comparison) -> Iterator[str]:
    """How many pairs are not tested since they were measured one after the other; few repeats over sizes."""
    pairs = [pair for _, ranking in comparison.rankings for pair in ranking.pairs]
    enough = [pair.verdict for pair in pairs if pair.verdict.reason != FEW_REPEATS]
    untested = sum(verdict.reason == APART_IN_TIME for verdict in enough)
    if untested and any(verdict.tested for verdict in enough):
        yield f"{untested} of {len(enough)} pairs were {APART_IN_TIME}: not tested."
    if comparison.of_few:
        yield untested_of_few(comparison)


# As text


def summary_text(comparison: Comparison, view: View = DEFAULT, title: str = "", width: int = WIDTH) -> str:
    """The summary in at most `LINES` lines of ``width`` columns: findings, marks, then texts of the marks."""
    found = summary(comparison, view)
    head = [*([clip(visible(title), width)] if title else []), *wrap(f"{found.lead}.", width)]
    marks = wrap(found.line, width)
    said = [wrap(text, width, "  ") for text in _sentences(comparison, found)]
    room = LINES - len(head) - len(marks)
    answers = _fitting(said, max(room, len(said[0]) + 1 if said else 0), "all answers in report.html")
    texts = [wrap(text, width, "  ") for text in found.notices]
    below = _fitting(texts, room - len(answers), "more in report.html") if room - len(answers) > 1 else []
    return "\n".join([*head, *answers, *marks, *below]) + "\n"


def _sentences(comparison: Comparison, found: KeyResults) -> Iterator[str]:
    """On machines; a finding for each answer; those of few repeats."""
    yield from found.machines
    answered, of_lists = _without_lists(found.answers)
    said = [(answer.finding, f"{answer.title}: {answer.finding}") for answer in answered]
    yield from (text for finding, text in said if f"{found.lead}." not in (finding, text))
    yield from of_lists
    yield from findings_of_few(comparison)


def _without_lists(found: Sequence[Answer]) -> tuple[list[Answer], dict[str, list[Answer]]]:
    """The answers; those with nothing to compare of several values of lists have a line together."""
    alone = [answer for answer in found if answer.real == ALONE]
    alone = [answer for answer in alone if not any(one.row.imported for one in answer.candidates)]
    alike = grouped(alone, lambda answer: defined_name(answer.table.benchmark)).values()
    of_lists = [same for same in alike if len({answer.table.benchmark for answer in same}) > 1]
    together = {id(answer) for same in of_lists for answer in same}
    answered = [answer for answer in found if id(answer) not in together]
    return answered, {_not_compared(same): same for same in of_lists}


def _not_compared(same: Sequence[Answer]) -> str:
    """How many variants of a benchmark there are, and what would compare them."""
    count, name = len({answer.table.benchmark for answer in same}), defined_name(same[0].table.benchmark)
    return f"{visible(name)}: {count} values of lists; 'blocks' in the matrix entry would compare them."


def _fitting(texts: Sequence[list[str]], most: int, more: str) -> list[str]:
    """The lines of the first texts that fit whole, and where the others are."""
    lines: list[str] = []
    for number, text in enumerate(texts, 1):
        if len(lines) + len(text) + (number < len(texts)) > most:
            return [*lines, f"  … {more}"]
        lines += text
    return lines


# As the first screen of the page: beside each answer a picture of its candidates


_SHOWN, _WORDS = 6, 98  # answers that are not folded, and words of theirs: a first screen has at most 120
LEGEND = "Filled, bold: may be best. Right, shaded: worse."
SCALE = (
    "Candidates are best first, those not tested last: the median and its interval as a ratio to the first "
    "median, on a logarithmic scale; hollow: is not the best, or was not tested. In a table of host groups "
    "the shade is the ratio to the best of its column, and bold may be the best of its line. By size: the "
    "colour of who has the best median, hollow where not all its repeats are shown to be better than those "
    "of all others, by exchanges of whole runs at 5 % over all candidates."
)
MARKS = {
    "p": "p: the chance of such a difference if all were alike.",
    "finds": "Finds: the smallest difference that these repeats find in 8 of 10 cases.",
}
_OSU_COLLECTIVE = re.compile("All|Barrier|Broadcast|Gather|Reduce|Scatter")  # in its titles
OVER_RANKS = "IMB's time of a collective (t_avg), which OSU calls its latency, is the mean over ranks."
BLOCKS = "Of candidates compared in blocks: the ratio to the reference in the same block, and its interval."
TESTED = (
    "Out is whom any judged candidate leads, significantly over all pairs and by at least 1 %. The others "
    "may be the best; they tie if they are within 1 %."
)


def first_screen(source: ReportSource) -> Section:
    """What is fastest, by how much, whether it is real, and whether the machine was quiet."""
    comparison, view = source.comparison, source.view
    found = summary(comparison, view)
    answered, of_lists = _without_lists(found.answers)
    sections = [_answer(source, answered, number) for number in range(len(answered))]
    words = list(accumulate(len(answer.finding.split()) for answer in answered))
    fitting = max(1, sum(count <= _WORDS for count in words)) if words else 0
    shown = sections[: fitting if len(sections) <= _SHOWN + 1 else min(fitting, _SHOWN)]
    rest = sections[len(shown) :]
    nodes: list[PageNode] = [Heading(found.lead)]
    nodes += _fold(found.line, found.notices)
    sure = tuple(machine_sentences(comparison.machines))
    nodes += [Fold("how sure this is", sure, "marks")] if sure else []
    nodes += few_strips(comparison)
    nodes += _fold("exceptions", (*found.of_few, legend_of_few(comparison)) if found.of_few else ())
    nodes += [*shown, *([Fold(counted(len(rest), "more metric"), tuple(rest))] if rest else [])]
    for line, same in of_lists.items():
        nodes += _fold(line, (f"{answer.title}: {answer.finding}" for answer in same))
    nodes += _explained(source, found.answers) if found.answers else []
    doubts = Span("Left out and in doubt", link="#doubts")
    if not (found.answers or found.of_few or comparison.machines):
        nodes.append(Paragraph(("The reasons are in ", doubts, ".")))
    nodes += configuration_nodes(comparison.configurations, 3)
    nodes += own_nodes(comparison, view, 3, "legend")
    return Section(tuple(nodes), "answers", "", "Answers")


def _fold(marks: Text, texts: Iterable[str]) -> list[PageNode]:
    """A line of marks; a click shows their texts."""
    return [Fold(marks, (Items(said),), "marks")] if (said := tuple(texts)) else []


def _explained(source: ReportSource, found: Sequence[Answer]) -> list[PageNode]:
    """The key of pictures and marks; what the answers rest on behind a click."""
    comparison = source.comparison
    used = {mark.sign for answer in found for mark in answer.marks}
    tables = [answer.table for answer in found if answer.table.useful]
    terms = {word for table in tables for metric in table.metrics for word in metric.name.split()}
    key = [f"{sign}: {meaning}" for sign, meaning in KEY.items() if sign in used]
    shown = [LEGEND] if any(len(answer.candidates) > 1 for answer in found) else []
    line = " ".join([*shown, *([f"{'; '.join(key)}."] if key else [])])
    nodes: list[PageNode] = [Paragraph(line, "legend")] if line else []
    rows = (one.row for answer in found for one in answer.candidates)
    nodes += [Paragraph(f"{mark} {meaning}.", "legend") for mark, meaning in explained(rows)]
    legend = [
        *([SCALE] if shown else []),
        *(meaning for sign, meaning in MARKS.items() if sign in used),
        *(f"{term}: {meaning}." for term, meaning in TERMS.items() if term in terms),
        *([OVER_RANKS] if any(_is_over_ranks(answer.table) for answer in found) else []),
        *([BLOCKS] if any(answer.blocks for answer in found) else []),
        *([TESTED] if any(answer.rankings for answer in found) and comparison.tested else []),
    ]
    legend += [IN_ROWS] if any(ranking.pairs for answer in found for ranking in answer.rankings) else []
    legend += [OF_OWN_REPEATS] if comparison.apart_in_time else []
    folded: list[PageNode] = [Paragraph(" ".join(legend), "legend")] if legend else []
    for answer in found:
        lines = tuple(behind(answer, source.view))
        folded += [Heading(answer.title, 3), Items(lines)] if lines else []
    return [*nodes, *([Fold("How to read this", tuple(folded))] if folded else [])]


def _is_over_ranks(table: Table) -> bool:
    """Whether its times are those of a collective of IMB or OSU."""
    if table.suite == "osu":
        return _OSU_COLLECTIVE.search(table.label) is not None
    of_imb = (series.columns for row in table.rows for _, series in row.curves[:1] if table.suite == "imb")
    return any("time_min" in columns and "bandwidth" not in columns for columns in of_imb)


def _answer(source: ReportSource, found: Sequence[Answer], number: int) -> Section:
    """The sentence and its marks at the left, the pictures at the right."""
    answer = found[number]
    is_first = all(other.table is not answer.table for other in found[:number])
    marks: tuple[str | Span, ...] = ()
    for mark in answer.marks:
        marks += (*([" · "] if marks else []), Span(f"{mark.sign} {mark.value}", "mark", hint=KEY[mark.sign]))
    text = [Heading(_title(answer), 3), Paragraph(answer.finding), *_fold(marks or "more", answer.details)]
    drawn = pictures(source, answer, shows_sizes=is_first)
    picture = [Section(tuple(drawn), role="picture")] if drawn else []
    return Section((Section(tuple(text), role="said"), *picture), f"answer-{number + 1}", "answer")


def _title(answer: Answer) -> Text:
    """With what its metric is; with what was not shown, unless the finding says so."""
    title = explained_terms(answer.title)
    return title if answer.real in (SHOWN, FEW_REPEATS) else (*title, " ", Span(answer.real, "real"))
