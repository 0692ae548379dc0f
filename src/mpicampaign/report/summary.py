"""What a reader must know first: the answers, whether the machine was quiet, and what is missing.

The page's first screen and the terminal's last one are made of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from mpicampaign.base.records import CONTRADICTED, FAILED, OK, UNVERIFIED
from mpicampaign.base.text import clip, listed, visible
from mpicampaign.compare.findings import STOPPED
from mpicampaign.compare.tables import Comparison
from mpicampaign.questions.answer import SHOWN, Answer, CandidateRow
from mpicampaign.questions.configurations.say import configuration_lines, configuration_nodes
from mpicampaign.questions.machine.say import machine_leads, machine_lines
from mpicampaign.questions.machine.say_tables import machine_sentences
from mpicampaign.questions.over_groups.say import lead_of_few, legend_of_few, lines_of_few
from mpicampaign.questions.own.say import own_page_nodes
from mpicampaign.questions.ranking.answer import behind
from mpicampaign.questions.ranking.say import IN_ROWS, OF_OWN_REPEATS
from mpicampaign.report.questions import answers, lead
from mpicampaign.show import runs
from mpicampaign.show.charts.scales import Scale
from mpicampaign.show.document import Box, Fold, Grid, Heading, Items, PageNode, Paragraph, Section, Span
from mpicampaign.show.runs import explained
from mpicampaign.show.strip import MOST_TICKS, Strip, StripDot
from mpicampaign.show.view import DEFAULT, View
from mpicampaign.show.writers.terminal import WIDTH, terminal_text, wrap
from mpicampaign.verdicts.compare import APART_IN_TIME, FEW_REPEATS

if TYPE_CHECKING:
    from mpicampaign.show.source import ReportSource


LINES = 22  # of a terminal with 24, where the paths of the files follow
NOTICES = 7  # lines
_METRICS = 3  # columns of its table
_CANDIDATES = 6  # lines of its table
_TABLE = 4  # lines at least: header, a candidate, how many more, and an empty one


@dataclass(frozen=True, slots=True)
class KeyResults:
    """``lead``: all answers in a sentence. ``of_few``: of few repeats. ``notices``: on the runs.

    ``machines``: what is said of host groups whose members are compared one by one.
    """

    lead: str
    answers: tuple[Answer, ...]
    of_few: tuple[str, ...]
    notices: tuple[str, ...]
    machines: tuple[str, ...] = ()


def summary(comparison: Comparison, view: View = DEFAULT) -> KeyResults:
    """The answers in the order of their importance, and what is said of the runs."""
    found, machines = answers(comparison, view), comparison.machines
    leads = machine_leads(machines)
    if comparison.tables or not machines:
        leads += _lead_of_rows(comparison, found)
    of_few, said = lines_of_few(comparison), machine_lines(machines)
    return KeyResults(". ".join(leads), tuple(found), tuple(of_few), tuple(notices(comparison)), tuple(said))


def _lead_of_rows(comparison: Comparison, found: Sequence[Answer]) -> list[str]:
    if not found:
        return [lead_of_few(comparison) if comparison.of_few else "No run gave a value that counts"]
    return [lead(comparison, found), *_untested(comparison)]


def _untested(comparison: Comparison) -> Iterator[str]:
    """How many pairs are not tested since they were measured one after the other, where others are."""
    pairs = [pair for _, ranking in comparison.rankings for pair in ranking.pairs]
    enough = [pair.verdict for pair in pairs if pair.verdict.reason != FEW_REPEATS]
    untested = sum(verdict.reason == APART_IN_TIME for verdict in enough)
    if 0 < untested < len(enough) and any(verdict.tested for verdict in enough):
        yield f"{untested} of {len(enough)} pairs were {APART_IN_TIME}: not tested"


def notices(comparison: Comparison) -> Iterable[str]:
    """Whether the machine was quiet, which runs count nowhere, what is not proved or not available."""
    records = comparison.records
    yield from filter(None, [runs.quiet_text(records), runs.help_text(records), runs.beside_text(records)])
    yield from runs.state_texts(comparison)
    yield from configuration_lines(comparison.configurations)
    yield from runs.cliffs(comparison)
    counts = runs.run_counts(records)
    if lost := [f"{counts[kind]} {kind}" for kind in (FAILED, CONTRADICTED) if counts.get(kind)]:
        yield f"Runs left out: {listed(lost)}."
    if stopped := counts.get(STOPPED):
        yield f"{runs.were(stopped)} stopped by the time limit while others used the CPUs."
    yield from runs.not_read(records)
    yield from runs.not_made(records)
    if unproved := counts.get(UNVERIFIED):
        of = sum(run.status == OK for run in records)
        yield f"{unproved} of {of} runs are unverified: no evidence proves their placement."
    absent = runs.not_available(comparison)
    yield from (f"{placement}." for placement in absent[: runs.NAMED])
    if len(absent) > runs.NAMED:
        yield f"{len(absent) - runs.NAMED} more placements are not available: see Left out and in doubt."


# As text


def summary_text(comparison: Comparison, view: View = DEFAULT, title: str = "", width: int = WIDTH) -> str:
    """The summary in at most `LINES` lines of ``width`` columns."""
    found = summary(comparison, view)
    head = [*([clip(visible(title), width)] if title else []), *wrap(f"{found.lead}.", width)]
    said = [wrap(text, width, "  ") for text in _sentences(found)]
    room = LINES - len(head) - 3  # empty lines between
    least = len(said[0]) + 1 if said else 0
    notices = [wrap(notice, width) for notice in found.notices]
    below = _fitting(notices, max(1, min(NOTICES, room - least)), "more in report.html")
    room -= len(below)
    table = _table(found.answers, width, room - least) if room - least >= _TABLE else []
    room -= len(table)
    blocks = (head, _fitting(said, room, "all answers in report.html"), table, below)
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _sentences(found: KeyResults) -> Iterable[str]:
    """On machines; placements, what the lead says alone left out; host groups; those of few repeats."""
    yield from found.machines
    new = [answer for answer in found.answers if answer.said and " ".join(answer.said) != f"{found.lead}."]
    yield from (" ".join([f"{answer.title}:", *answer.said]) for answer in new)
    for answer in found.answers:
        yield from (f"{answer.title}, {line}." for line in answer.host_groups)
    yield from found.of_few


def _fitting(texts: Sequence[list[str]], most: int, more: str) -> list[str]:
    """The lines of the first texts that fit whole, and where the others are."""
    lines: list[str] = []
    for number, text in enumerate(texts, 1):
        if len(lines) + len(text) + (number < len(texts)) > most:
            return [*lines, f"  … {more}"]
        lines += text
    return lines


def _table(found: Sequence[Answer], width: int, room: int) -> list[str]:
    """The candidates of the first answers, best first, with medians and intervals, in ``room`` lines."""
    first = next((answer for answer in found if answer.candidates), None)
    if first is None:
        return []
    names = [one.name for one in first.candidates]
    values = [
        (f"{answer.title.rpartition(': ')[2]} ({answer.unit})", texts)
        for answer in found
        if answer.table is first.table
        and answer.design == first.design
        and set(texts := {one.name: _value(one) for one in answer.candidates}) == set(names)
    ][:_METRICS]
    lines = [
        (name, *(texts[name] for _, texts in values)) for name in names[: min(_CANDIDATES, max(room - 2, 1))]
    ]
    header = (first.table.title, *(metric for metric, _ in values))
    more = len(names) - len(lines)
    text = terminal_text([Grid("", 1, header, tuple(lines))], width).splitlines()
    return [*text, *([f"  … {more} more in tables/comparison.txt"] if more else [])]


def _value(one: CandidateRow) -> str:
    return f"{one.value}{runs.mark_of(one.row)} {one.shown.interval}".rstrip()


# As the first screen of the page: beside each answer a picture of its candidates


_SHOWN = 6  # answers that are not folded
_PICTURED = 8  # candidates of a picture that are not folded
LEGEND = (
    "Beside each answer its candidates, best first, those not tested last: the median and its interval as a "
    "ratio to the first median, on a logarithmic scale; further right is worse. Filled: may be "
    "the best; hollow: is not, or was not tested."
)
BLOCKS = "Of candidates compared in blocks: the ratio to the reference in the same block, and its interval."
TESTED = (
    "Out is whom any judged candidate leads, significantly over all pairs and by at least 1 %. The others "
    "may be the best; they tie if they are within 1 %."
)


def first_screen(source: ReportSource) -> Section:
    """What is fastest, by how much, whether it is real, and whether the machine was quiet."""
    found = summary(source.comparison, source.view)
    every = [_answer(source, answer, f"answer-{number}") for number, answer in enumerate(found.answers, 1)]
    shown = every if len(every) <= _SHOWN + 1 else every[:_SHOWN]
    folded = (
        [Fold(f"{len(every) - _SHOWN} more metrics", tuple(every[_SHOWN:]))] if every[len(shown) :] else []
    )
    nodes: list[PageNode] = [Heading(found.lead), *machine_sentences(source.comparison.machines)]
    nodes += [*_list(found.notices, "notices"), *_list(found.of_few)]
    nodes += [Paragraph(legend_of_few(source.comparison), "legend")] if found.of_few else []
    nodes += [*shown, *folded]
    nodes += _explained(source, found.answers) if found.answers else []
    doubts = Span("Left out and in doubt", link="#doubts")
    if not (found.answers or found.of_few or source.comparison.machines):
        nodes.append(Paragraph(("The reasons are in ", doubts, ".")))
    nodes += configuration_nodes(source.comparison.configurations, 3)
    nodes += own_page_nodes(source.comparison, source.view)
    return Section(tuple(nodes), "answers", "", "Answers")


def _explained(source: ReportSource, found: Sequence[Answer]) -> list[PageNode]:
    """What the picture shows, and what the answers rest on."""
    nodes: list[PageNode] = []
    for answer in found:
        lines = tuple(behind(answer, source.view))
        nodes += [Heading(answer.title, 3), Items(lines)] if lines else []
    fold = [Fold("What these answers rest on: each pair, and the runs behind it", tuple(nodes))]
    rows = (one.row for answer in found for one in answer.candidates)
    marks = [Paragraph(f"{mark} {meaning}.", "legend") for mark, meaning in explained(rows)]
    comparison = source.comparison
    legend = [
        *([LEGEND] if any(len(answer.candidates) > 1 for answer in found) else []),
        *([BLOCKS] if any(answer.blocks for answer in found) else []),
        *([TESTED] if any(answer.rankings for answer in found) and comparison.tested else []),
    ]
    legend += [IN_ROWS] if any(ranking.pairs for answer in found for ranking in answer.rankings) else []
    legend += [OF_OWN_REPEATS] if comparison.apart_in_time else []
    return [Paragraph(" ".join(legend), "legend"), *marks, *(fold if nodes else [])]


def _list(lines: Sequence[str], role: str = "") -> list[PageNode]:
    return [Items(tuple(lines), role)] if lines else []


def _answer(source: ReportSource, answer: Answer, anchor: str) -> Section:
    """The sentences at the left, the picture at the right."""
    real = Span(answer.real, "real shown" if answer.real == SHOWN else "real")
    text = [
        Heading((f"{answer.title} ", real), 3),
        Paragraph(" ".join(answer.said)),
        *_list(answer.host_groups),
    ]
    return Section((Section(tuple(text), role="said"), *_picture(source, answer)), anchor, "answer")


# The picture


def _picture(source: ReportSource, answer: Answer) -> list[PageNode]:
    """A line for each candidate; those behind the first few folded."""
    ratios = [ratio for one in answer.candidates for ratio in (one.ratio, one.low, one.high) if ratio]
    if len(answer.candidates) < 2 or not ratios:
        return []
    strip = Strip(Scale(min(ratios), max(*ratios, 1.1 * min(ratios))))
    every = answer.candidates
    first = every if len(every) <= _PICTURED + 2 else every[:_PICTURED]
    nodes: list[PageNode] = [_ratios(source, answer, first, strip, answer.title)]
    if rest := every[len(first) :]:
        folded = _ratios(source, answer, rest, strip, f"{answer.title}: further candidates")
        nodes.append(Fold(f"{len(rest)} more candidates", (folded,)))
    return [Section(tuple(nodes), role="picture")]


def _ratios(
    source: ReportSource, answer: Answer, chosen: Sequence[CandidateRow], strip: Strip, label: str
) -> Grid:
    """A line for each candidate: its name, its place on the scale, its value."""
    other = answer.blocks.names[0] if answer.blocks else "best"
    best = "1×" if answer.blocks else "best"
    ticks = (best if tick == 1 else f"{tick:g}×" for tick in strip.scale.ticks(MOST_TICKS))
    axis = strip.axis(ticks, f"times {other}" if answer.blocks else "times the best median")
    lines = tuple(
        (
            Box(Span(one.name, "strong" if one.leads else "")),
            Box(_mark(one, strip, other), role="scale"),
            one.shown.box("median")._replace(
                text=Span(one.value, link=source.runs_of(one.row)),
                value=one.ratio,
                ends=None,
                role="value",
                below=(Span(one.shown.interval, "small"),),
            ),
        )
        for one in chosen
    )
    return Grid(label, 3, ("candidate", axis, f"median [interval], {answer.unit}"), lines, role="ratios")


def _mark(one: CandidateRow, strip: Strip, other: str) -> Markup:
    """The median as a dot with its interval."""
    if one.ratio is None:
        return Markup("")
    ends = (one.low, one.high) if one.low and one.high else None
    label = f"{one.ratio:.4g} times {other}" if other != "best" else f"{one.ratio:.3g} times the best"
    return strip.drawn([StripDot(one.ratio, ends, "leads" if one.leads else "", label)], label)
