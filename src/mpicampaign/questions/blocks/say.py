"""Block designs: their sentences, the table of each, and the ratios in each block."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from mpicampaign.base.dimension import RATIO
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import ALL_PAIRS
from mpicampaign.base.selection import joined
from mpicampaign.base.text import counted, listed, repeats_text, visible
from mpicampaign.compare.findings import OTHER_NODES, OTHER_TIME
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.questions.answer import NOT_SHOWN as NONE_SHOWN
from mpicampaign.questions.answer import SHOWN, Answer, CandidateRow
from mpicampaign.questions.blocks.find import (
    FEW,
    NOT_SHOWN,
    CandidateVerdict,
    CountedBlock,
    InBlocks,
    LeftOut,
    is_of,
)
from mpicampaign.questions.ranking.answer import unverified
from mpicampaign.questions.ranking.say import sight_text
from mpicampaign.questions.ranking.say_pairs import contrast_of, fastest, text_of_added
from mpicampaign.show.cells import MetricCell
from mpicampaign.show.document import Caption, Fold, Grid, Heading, Items, Line, Node, Paragraph
from mpicampaign.show.runs import MARK
from mpicampaign.show.sentences import first_few, kind_name
from mpicampaign.show.view import View, probability
from mpicampaign.statistics.medians import Interval
from mpicampaign.verdicts.blocks import Ratio

HEADING = "Side by side: compared within blocks"
MEANING = (
    "A block is one repeat of all candidates on the same nodes. Ratio: within a block, the median over "
    "blocks. p: by ranks within blocks, signed of two candidates and aligned of more, corrected for all "
    "comparisons of the metric. Interval: the ratios that signed ranks of two candidates alone do not reject."
)
BUSY = f"{MARK} too few blocks were quiet: those with disturbed runs count all the same"
_NAMED = 3  # comparisons and blocks in a sentence


def shown_blocks(comparison: Comparison, view: View) -> list[InBlocks]:
    """The headline metrics, or those asked for."""
    return [compared for compared in comparison.blocks if compared.metric.headline or view.only.metrics]


# Answers


def block_answers(comparison: Comparison, view: View) -> Iterator[Answer]:
    """An answer for each metric of each design; titles name the design if there are several."""
    several = len({compared.design for compared in comparison.blocks}) > 1
    for compared in shown_blocks(comparison, view):
        rows = [_row_of(comparison, compared, place) for place in range(len(compared.cases))]
        candidates = [
            CandidateRow(
                name,
                MetricCell(
                    row, next((cell for cell in row.cells if cell.metric == compared.metric), None), view
                ),
                *compared.costs_to_reference(place),
                name in compared.leaders,
            )
            for place, (name, (_, row)) in enumerate(zip(compared.names, rows, strict=True))
        ]
        in_order = tuple(sorted(candidates, key=lambda candidate: candidate.ratio or math.inf))
        yield Answer(
            rows[0][0],
            (f"{compared.design}, " if several else "") + metric_title(compared),
            outcome(compared),
            (*block_sentences(compared), *unverified(in_order)),
            candidates=in_order,
            unit=view.unit_of(compared.metric.dimension),
            blocks=compared,
        )


def _row_of(comparison: Comparison, compared: InBlocks, place: int) -> tuple[Table, Row]:
    """A candidate's row with the series, or any where all its runs met their time limit."""
    rows = [(table, row) for table in comparison.tables for row in table.rows]
    of_place = ((table, row) for table, row in rows if compared.place_of(row) == place)
    return next(of_place, None) or next(pair for pair in rows if is_of(pair[1].case, compared.cases[place]))


# Sentences


def metric_title(compared: InBlocks) -> str:
    """``PingPong: latency at 0 B``."""
    return f"{compared.title}: {compared.metric.name}"


def outcome(compared: InBlocks) -> str:
    """Whether any difference is shown."""
    pairs = [verdict.pair for verdict in compared.verdicts]
    if any(pair.shown for pair in pairs):
        return SHOWN
    return NONE_SHOWN if any(pair.tested for pair in pairs) else FEW


def block_sentences(compared: InBlocks) -> Iterator[str]:
    """Of all pairs who is the best; who is shown to be better or worse, who is not, what is left out."""
    if compared.best:
        yield f"{compared.best} is {fastest(compared.metric)}; {_lead_of_best(compared)}."
    for verdict in compared.verdicts:
        if verdict.pair.shown:
            added = verdict.pair.added
            basis = text_of_added(added, "block") if added else f"{_blocks(compared)}, ranked within blocks"
            yield f"{_contrast(compared, verdict)}: {basis}, {_p(verdict)}."
    if alike := [verdict for verdict in compared.verdicts if verdict.word == NOT_SHOWN]:
        named = first_few([_not_shown(compared, verdict) for verdict in alike], _NAMED, "")
        yield f"No difference shown in {_blocks(compared)}: {listed(named)}."
        if added := alike[0].pair.added:
            yield f"{text_of_added(added, 'block')}."
        if sight := compared.sight:
            yield f"{sight_text([sight])} here in 8 of 10 cases."
    if len(compared.blocks) < compared.enough:
        names, made = listed(compared.names), _blocks(compared)
        yield f"Too few blocks to compare {names}: {made}; {compared.enough} would do."
    yield from (f"{text}." for text in doubts(compared))


def _lead_of_best(compared: InBlocks) -> str:
    """``TCP takes 12 % longer than SHM``: the nearest candidate that one of the best leads."""
    led = []
    for verdict in (verdict for verdict in compared.verdicts if verdict.pair.shown):
        better, worse = compared.in_order(verdict.pair)
        if better in compared.leaders and worse not in compared.leaders:
            costs = compared.costs(verdict.pair.worse, verdict.pair.better).median
            text = contrast_of(compared.metric, better, worse, costs)
            led.append((costs, _contrast(compared, verdict) if math.isinf(costs) else text))
    return min(led)[1]


def _contrast(compared: InBlocks, verdict: CandidateVerdict) -> str:
    """``TCP takes 2.1 % longer than SHM [1.2, 3.0 %] on the same nodes``."""
    better, worse = compared.in_order(verdict.pair)
    costs = compared.costs(verdict.pair.worse, verdict.pair.better)
    if math.isinf(costs.median):
        late = sum(block.values[verdict.pair.worse] is None for block in compared.blocks)
        return f"{worse} met its time limit in {late} of {_blocks(compared)}: it is worse than {better}"
    nodes = "nodes" if any(len(block.hosts) > 1 for block in compared.blocks) else "node"
    text = contrast_of(compared.metric, better, worse, costs.median)
    return f"{text}{_ends(costs.interval)} on the same {nodes}"


def _ends(interval: Interval | None) -> str:
    """The ends of the interval of how much worse one is; empty if the blocks are too few for any."""
    if interval is None:
        return ""
    low, high = interval.low, interval.high
    if high < 2:
        return f" [{100 * (low - 1):.1f}, {100 * (high - 1):.1f} %]"
    return f" [{factor(low)}, {factor(high)} times]"


def factor(value: float) -> str:
    """A ratio with digits for differences of per cents: ``1.021``; of large ones as all ratios."""
    if math.isinf(value) or not value:
        return "∞" if value else "0"
    return f"{value:.3f}" if 0.5 <= value < 2 else RATIO.number(value)


def interval(ratio: Ratio) -> str:
    """``[1.012, 1.030]``; empty where so few blocks have none."""
    ends = ratio.interval
    return f"[{factor(ends.low)}, {factor(ends.high)}]" if ends else ""


def ratio_text(ratio: Ratio) -> str:
    """``1.021 [1.012, 1.030]``."""
    return f"{factor(ratio.median)} {interval(ratio)}".rstrip()


def _blocks(compared: InBlocks) -> str:
    count = len(compared.blocks)
    return f"{count} block{'' if count == 1 else 's'}{MARK if compared.disturbed else ''}"


def _not_shown(compared: InBlocks, verdict: CandidateVerdict) -> str:
    names = f"{compared.names[verdict.candidate]} / {compared.names[verdict.other]}"
    return f"{names} {ratio_text(verdict.ratio)} ({_p(verdict)})"


def _p(verdict: CandidateVerdict) -> str:
    return "" if verdict.pair.p is None else probability(verdict.pair.p)


def doubts(compared: InBlocks) -> Iterator[str]:
    """Time limits that were met, blocks left out, candidates without values."""
    for place, name in enumerate(compared.names):
        if late := [block.repeat for block in compared.blocks if block.values[place] is None]:
            numbers = repeats_text(late).replace("repeat", "block")
            yield f"{name} met its time limit in {numbers}: the worst rank"
    if compared.disturbed:
        yield BUSY
    if compared.left_out:
        named = first_few([*map(_left_out, compared.left_out)], _NAMED, "blocks")
        yield f"Left out: {'; '.join(named)}"
    yield from _what_would_decide(compared)
    if compared.absent:
        yield f"Without any value: {listed(compared.absent)}"


def _what_would_decide(compared: InBlocks) -> Iterator[str]:
    """New blocks, where too many were left out as their runs are of several times."""
    placements = dict.fromkeys(case.placement for case in compared.cases)
    other_time = any(kind == OTHER_TIME for block in compared.left_out for _, kind in block.reasons)
    if other_time and len(compared.blocks) < compared.enough and len(placements) > 1:
        yield visible(f"New blocks of all of them would decide: run --again {joined(placements)}")


def _left_out(block: LeftOut) -> str:
    """``block 3 (TCP failed)``."""
    for kind, why in ((OTHER_NODES, "not all on the same nodes"), (OTHER_TIME, "not all at the same time")):
        if all(reason == kind for _, reason in block.reasons):
            return f"block {block.repeat} ({why})"
    return f"block {block.repeat} ({', '.join(f'{name} {kind_name(kind)}' for name, kind in block.reasons)})"


def lead(comparison: Comparison, view: View) -> str:
    """``Within blocks: X is better than Y in 2 of 3 comparisons``; empty without block designs.

    Of all pairs: ``X is the best in 2 of 3 comparisons``.
    """
    designs = shown_blocks(comparison, view)
    if not designs:
        return ""
    best = Counter(compared.best for compared in designs if compared.best)
    if best and all(compared.compared == ALL_PAIRS for compared in designs):
        counts = [f"{names} is the best in {count}" for names, count in best.most_common(_NAMED)]
        comparisons = f"{len(designs)} comparison{'s' * (len(designs) > 1)}"
        return f"Within blocks: {listed(counts)} of {comparisons}"
    pairs = [
        (compared.in_order(verdict.pair), verdict.pair.shown)
        for compared in designs
        for verdict in compared.verdicts
    ]
    asked = Counter(frozenset(pair) for pair, _ in pairs)
    shown = Counter(pair for pair, is_shown in pairs if is_shown)
    if not shown:
        few = all(outcome(compared) == FEW for compared in designs)
        return f"Within blocks: {FEW if few else 'no difference shown'}"
    (better, worse), count = shown.most_common(1)[0]
    of = asked[frozenset((better, worse))]
    more = f"; {counted(len(shown) - 1, 'more pair')}" if len(shown) > 1 else ""
    return f"Within blocks: {better} is better than {worse} in {count} of {counted(of, 'comparison')}{more}"


# Tables


def block_nodes(comparison: Comparison, view: View, level: int = 2, each_block: bool = False) -> list[Node]:
    """A table for each design, and those of each block; nothing where there are none."""
    shown = shown_blocks(comparison, view)
    if not shown:
        return []
    nodes: list[Node] = [Heading(HEADING, level), Paragraph(MEANING)]
    for alike in _by_design(shown):
        grid = _grid(alike)
        nodes += [Caption(f"{grid.label}:"), replace(grid, title="")]
        sentences = tuple(_doubts_of(alike))
        nodes += [Items(sentences)] if sentences else []
        nodes += [node for compared in alike for node in _ratio_nodes(compared)] if each_block else []
    return nodes


def _doubts_of(alike_designs: Sequence[InBlocks]) -> Iterator[str]:
    """Each once, with the metrics that it concerns where these are not all of the benchmark."""
    texts = [
        (compared.title, text, compared.metric.name)
        for compared in alike_designs
        for text in doubts(compared)
    ]
    for (title, text), alike in grouped(texts, lambda text_of: text_of[:2]).items():
        few = len(alike) < sum(compared.title == title for compared in alike_designs)
        yield f"{title}{', ' + listed([name for *_, name in alike]) if few else ''}: {text}"


def block_grids(comparison: Comparison, view: View) -> list[Grid]:
    """The tables alone."""
    return [*map(_grid, _by_design(shown_blocks(comparison, view)))]


def _by_design(shown: Sequence[InBlocks]) -> Iterable[list[InBlocks]]:
    return grouped(shown, lambda compared: (compared.cases[0].machine, compared.design)).values()


def _of_pairs(alike: Sequence[InBlocks]) -> bool:
    return any(
        compared.compared == ALL_PAIRS or compared.reference != alike[0].reference for compared in alike
    )


def _grid(alike: Sequence[InBlocks]) -> Grid:
    """Each candidate against the reference, or all pairs, of which each line names both."""
    title = f"{alike[0].design}: ratio " + (
        "of all pairs" if _of_pairs(alike) else f"to {alike[0].reference}"
    )
    header = ("", "candidate", "blocks", "ratio", "interval", "p", "verdict")
    lines = tuple(
        _line(compared, verdict, _of_pairs(alike)) for compared in alike for verdict in compared.verdicts
    )
    return Grid(title, 2, header, lines, remarks=1, role="sortable", label=title)


def _line(compared: InBlocks, verdict: CandidateVerdict, of_pairs: bool) -> Line:
    name, other = compared.names[verdict.candidate], compared.names[verdict.other]
    return (
        metric_title(compared),
        f"{name} / {other}" if of_pairs else name,
        f"{len(compared.blocks)}{MARK if compared.disturbed else ''}",
        factor(verdict.ratio.median),
        interval(verdict.ratio),
        _p(verdict).removeprefix("p = "),
        f"{FEW}; {compared.enough} would do" if verdict.word == FEW else verdict.word,
    )


def block_ratios(comparison: Comparison, view: View) -> list[Fold]:
    """The tables of each block, folded."""
    nodes = tuple(node for compared in shown_blocks(comparison, view) for node in _ratio_nodes(compared))
    return [Fold("The ratios in each block, with its nodes", nodes)] if nodes else []


def _ratio_nodes(compared: InBlocks) -> tuple[Caption, Grid]:
    """A line for each block with its nodes: the ratios to the reference."""
    header = ("block", "nodes", *compared.names[1:])
    lines = tuple(
        (
            str(block.repeat),
            nodes_text(block),
            *("time limit" if value is None else factor(value) for value in within(block)[1:]),
        )
        for block in compared.blocks
    )
    title = f"{metric_title(compared)}, ratio to {compared.reference} in each block"
    return Caption(f"{title}:"), Grid("", 2, header, lines, role="sortable", label=title)


def within(block: CountedBlock) -> list[float | None]:
    """Each candidate's value by that of the reference; ``None`` where either met its time limit."""
    first = block.values[0]
    return [None if first is None or value is None else value / first for value in block.values]


def nodes_text(block: CountedBlock) -> str:
    """The nodes of a block, the first few by name."""
    hosts = [visible(host) for host in sorted(block.hosts)]
    more = f" and {len(hosts) - _NAMED} more" if len(hosts) > _NAMED else ""
    return ", ".join(hosts[:_NAMED]) + more
