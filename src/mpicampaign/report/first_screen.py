"""The page's first screen: the answers in sentences, and beside each a picture of its candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from mpicampaign.questions.answer import SHOWN
from mpicampaign.questions.configurations.say import configuration_nodes
from mpicampaign.questions.machine.say_tables import machine_sentences
from mpicampaign.questions.over_groups.say import legend_of_few
from mpicampaign.questions.own.say import own_page_nodes
from mpicampaign.questions.ranking.answer import behind
from mpicampaign.questions.ranking.say import IN_ROWS, OF_OWN_REPEATS
from mpicampaign.report.summary import summary
from mpicampaign.show.charts.scales import Scale
from mpicampaign.show.document import (
    Box,
    Fold,
    Grid,
    Heading,
    Items,
    Paragraph,
    Section,
    Span,
)
from mpicampaign.show.runs import explained
from mpicampaign.show.strip import MOST_TICKS, Dot, Strip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpicampaign.questions.answer import Answer, Candidate
    from mpicampaign.show.document import PageNode
    from mpicampaign.show.source import Source

_SHOWN = 6  # answers that are not folded
_CANDIDATES = 8  # of a picture that are not folded
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


def first_screen(source: Source) -> Section:
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


def _explained(source: Source, found: Sequence[Answer]) -> list[PageNode]:
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


def _answer(source: Source, answer: Answer, anchor: str) -> Section:
    """The sentences at the left, the picture at the right."""
    real = Span(answer.real, "real shown" if answer.real == SHOWN else "real")
    text = [
        Heading((f"{answer.title} ", real), 3),
        Paragraph(" ".join(answer.said)),
        *_list(answer.host_groups),
    ]
    return Section((Section(tuple(text), role="said"), *_picture(source, answer)), anchor, "answer")


# The picture


def _picture(source: Source, answer: Answer) -> list[PageNode]:
    """A line for each candidate; those behind the first few folded."""
    ratios = [ratio for one in answer.candidates for ratio in (one.ratio, one.low, one.high) if ratio]
    if len(answer.candidates) < 2 or not ratios:
        return []
    strip = Strip(Scale(min(ratios), max(*ratios, 1.1 * min(ratios))))
    every = answer.candidates
    first = every if len(every) <= _CANDIDATES + 2 else every[:_CANDIDATES]
    nodes: list[PageNode] = [_ratios(source, answer, first, strip, answer.title)]
    if rest := every[len(first) :]:
        folded = _ratios(source, answer, rest, strip, f"{answer.title}: further candidates")
        nodes.append(Fold(f"{len(rest)} more candidates", (folded,)))
    return [Section(tuple(nodes), role="picture")]


def _ratios(source: Source, answer: Answer, chosen: Sequence[Candidate], strip: Strip, label: str) -> Grid:
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


def _mark(one: Candidate, strip: Strip, other: str) -> Markup:
    """The median as a dot with its interval."""
    if one.ratio is None:
        return Markup("")
    ends = (one.low, one.high) if one.low and one.high else None
    label = f"{one.ratio:.4g} times {other}" if other != "best" else f"{one.ratio:.3g} times the best"
    return strip.drawn([Dot(one.ratio, ends, "leads" if one.leads else "", label)], label)
