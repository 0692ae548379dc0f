"""Block designs: their sentences, the table of each, and the ratios in each block."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from mpicampaign.compare.blocks import BETTER, FEW, NOT_SHOWN, WORSE
from mpicampaign.compare.findings import OTHER_NODES
from mpicampaign.dimension import RATIO
from mpicampaign.grouping import grouped
from mpicampaign.records import ALL_PAIRS
from mpicampaign.show.document import Caption, Grid, Heading, Items, Paragraph
from mpicampaign.show.pairs import is_time
from mpicampaign.show.runs import MARK
from mpicampaign.show.sentences import kind_name
from mpicampaign.show.view import probability
from mpicampaign.text import in_ranks, listed, repeats_text, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpicampaign.compare.blocks import Block, InBlocks, LeftOut, Verdict
    from mpicampaign.compare.tables import Comparison
    from mpicampaign.show.document import Line, Node
    from mpicampaign.show.view import View
    from mpicampaign.statistics.blocks import Ratio

HEADING = "Side by side: compared within blocks"
MEANING = (
    "A block is one repeat of all candidates on the same nodes. Ratio: within a block, the median over "
    "blocks. p: exact test that exchanges the candidates' values within blocks, corrected for all "
    "comparisons of the metric. Interval: the ratios that this test of two candidates alone does not reject."
)
BUSY = f"{MARK} every block holds a disturbed run: they count all the same"
_NAMED = 3  # comparisons and blocks in a sentence


def shown_blocks(comparison: Comparison, view: View) -> list[InBlocks]:
    """The headline metrics, or those asked for."""
    return [one for one in comparison.blocks if one.metric.headline or view.only.metrics]


# Sentences


def metric_title(compared: InBlocks) -> str:
    """``PingPong: latency at 0 B``, with the ranks' cores where they share them."""
    shared = " (oversubscribed)" if compared.shared else ""
    ranks = f", {in_ranks(compared.ranks)}" if compared.several_ranks else ""
    return f"{compared.title}{ranks}{shared}: {compared.metric.name}"


def outcome(compared: InBlocks) -> str:
    """The verdict that says most."""
    own = {verdict.verdict for verdict in compared.verdicts}
    return next((one for one in (BETTER, WORSE, NOT_SHOWN) if one in own), FEW)


def block_sentences(compared: InBlocks) -> Iterator[str]:
    """Who is shown to be better or worse, who is not, what is left out."""
    for verdict in compared.verdicts:
        if verdict.verdict in (BETTER, WORSE):
            tested = f"{_blocks(compared)}, exchanged within blocks, {_p(verdict)}"
            yield f"{contrast(compared, verdict)}{_on(compared)}: {tested}."
    if alike := [one for one in compared.verdicts if one.verdict == NOT_SHOWN]:
        named = [_not_shown(compared, one) for one in alike[:_NAMED]]
        more = [f"{len(alike) - _NAMED} more"] if len(alike) > _NAMED else []
        yield f"No difference shown in {_blocks(compared)}: {listed([*named, *more])}."
    if len(compared.blocks) < compared.enough:
        names, made = listed(compared.names), _blocks(compared)
        yield f"Too few blocks to compare {names}: {made}; {compared.enough} would do."
    yield from (f"{text}." for text in doubts(compared))


def contrast(compared: InBlocks, verdict: Verdict) -> str:
    """``TCP takes 1.021 times as long as SHM [1.012, 1.030]``."""
    metric, names = compared.metric, compared.names
    does = "reaches" if not metric.lower_is_better else "takes" if is_time(metric) else "has"
    much = "long" if is_time(metric) else "much"
    name, other = names[verdict.candidate], names[verdict.other]
    if math.isinf(verdict.ratio.median) or not verdict.ratio.median:
        late = name if verdict.verdict == WORSE else other
        return f"{late} met its time limit in most blocks: it is worse than {other if late == name else name}"
    text = f"{name} {does} {factor(verdict.ratio.median)} times as {much} as {other}"
    return f"{text} {interval(verdict.ratio)}".rstrip()


def factor(value: float) -> str:
    """A ratio with digits for differences of per cents: ``1.021``; of large ones as all ratios."""
    if math.isinf(value) or not value:
        return "∞" if value else "0"
    return f"{value:.3f}" if 0.5 <= value < 2 else RATIO.number(value)


def interval(ratio: Ratio) -> str:
    """``[1.012, 1.030]``; empty where so few blocks have none."""
    ends = ratio.interval
    return f"[{factor(ends.low)}, {factor(ends.high)}]" if ends else ""


def _on(compared: InBlocks) -> str:
    several = any(len(block.hosts) > 1 for block in compared.blocks)
    return f" on the same node{'s' if several else ''}"


def _blocks(compared: InBlocks) -> str:
    count = len(compared.blocks)
    return f"{count} block{'' if count == 1 else 's'}{MARK if compared.disturbed else ''}"


def _not_shown(compared: InBlocks, verdict: Verdict) -> str:
    ratio = f"{factor(verdict.ratio.median)} {interval(verdict.ratio)}".rstrip()
    return f"{compared.names[verdict.candidate]} / {compared.names[verdict.other]} {ratio} ({_p(verdict)})"


def _p(verdict: Verdict) -> str:
    return "" if verdict.p is None else probability(verdict.p)


def doubts(compared: InBlocks) -> Iterator[str]:
    """Time limits that were met, blocks left out, candidates without values."""
    for place, name in enumerate(compared.names):
        if late := [block.repeat for block in compared.blocks if block.values[place] is None]:
            numbers = repeats_text(late).replace("repeat", "block")
            yield f"{name} met its time limit in {numbers}: the worst rank"
    if compared.disturbed:
        yield BUSY
    if compared.left_out:
        named = [_left_out(one) for one in compared.left_out[:_NAMED]]
        more = len(compared.left_out) - len(named)
        yield f"Left out: {'; '.join([*named, *([f'{more} more blocks'] if more else [])])}"
    if compared.absent:
        yield f"Without any value: {listed(compared.absent)}"


def _left_out(one: LeftOut) -> str:
    """``block 3 (TCP failed)``."""
    if all(kind == OTHER_NODES for _, kind in one.reasons):
        return f"block {one.repeat} (not all on the same nodes)"
    return f"block {one.repeat} ({', '.join(f'{name} {kind_name(kind)}' for name, kind in one.reasons)})"


def block_lines(compared: InBlocks) -> Iterator[str]:
    """The ratios to the reference in each block."""
    for block in compared.blocks:
        ratios = (f"{name} {ratio}" for name, ratio in zip(compared.names[1:], _ratios(block), strict=True))
        yield f"block {block.repeat} on {nodes_text(block)}, times {compared.names[0]}: {', '.join(ratios)}"


def lead(comparison: Comparison, view: View) -> str:
    """``Within blocks: X is better than Y in 2 of 3 comparisons``; empty without block designs."""
    designs = shown_blocks(comparison, view)
    if not designs:
        return ""
    verdicts = [(one, verdict) for one in designs for verdict in one.verdicts]
    asked = Counter(frozenset(_order(*each)) for each in verdicts)
    shown = Counter(_order(*each) for each in verdicts if each[1].verdict in (BETTER, WORSE))
    if not shown:
        few = all(verdict.verdict == FEW for _, verdict in verdicts)
        return f"Within blocks: {FEW if few else 'no difference shown'}"
    said = []
    for pair, count in shown.most_common(_NAMED):
        of = asked[frozenset(pair)]
        said.append(f"{pair[0]} is better than {pair[1]} in {count} of {of} comparison{'s' * (of > 1)}")
    return f"Within blocks: {'; '.join(said)}"


def _order(compared: InBlocks, verdict: Verdict) -> tuple[str, str]:
    """The two, the better one first."""
    name, other = compared.names[verdict.candidate], compared.names[verdict.other]
    return (name, other) if verdict.verdict == BETTER else (other, name)


# Tables


def block_nodes(comparison: Comparison, view: View, level: int = 2, each_block: bool = False) -> list[Node]:
    """A table for each design, and those of each block; nothing where there are none."""
    shown = shown_blocks(comparison, view)
    if not shown:
        return []
    nodes: list[Node] = [Heading(HEADING, level), Paragraph(MEANING)]
    for own in _by_design(shown):
        grid = _grid(own)
        nodes += [Caption(f"{grid.label}:"), replace(grid, title="")]
        said = tuple(_doubts_of(own))
        nodes += [Items(said)] if said else []
        nodes += [node for one in own for node in ratio_nodes(one)] if each_block else []
    return nodes


def _doubts_of(own: Sequence[InBlocks]) -> Iterator[str]:
    """Each once, with the metrics that it concerns where these are not all of the benchmark."""
    said = [(one.title, text, one.metric.name) for one in own for text in doubts(one)]
    for (title, text), alike in grouped(said, lambda each: each[:2]).items():
        few = len(alike) < sum(one.title == title for one in own)
        yield f"{title}{', ' + listed([name for *_, name in alike]) if few else ''}: {text}"


def block_grids(comparison: Comparison, view: View) -> list[Grid]:
    """The tables alone."""
    return [*map(_grid, _by_design(shown_blocks(comparison, view)))]


def _by_design(shown: Sequence[InBlocks]) -> Iterable[list[InBlocks]]:
    return grouped(shown, lambda one: (one.cases[0].machine, one.design)).values()


def _of_pairs(own: Sequence[InBlocks]) -> bool:
    return any(one.compared == ALL_PAIRS or one.reference != own[0].reference for one in own)


def _grid(own: Sequence[InBlocks]) -> Grid:
    """Each candidate against the reference, or all pairs, of which each line names both."""
    title = f"{own[0].design}: ratio " + ("of all pairs" if _of_pairs(own) else f"to {own[0].reference}")
    header = ("", "candidate", "blocks", "ratio", "interval", "p", "verdict")
    lines = tuple(_line(one, verdict, _of_pairs(own)) for one in own for verdict in one.verdicts)
    return Grid(title, 2, header, lines, remarks=1, role="sortable", label=title)


def _line(compared: InBlocks, verdict: Verdict, of_pairs: bool) -> Line:
    name, other = compared.names[verdict.candidate], compared.names[verdict.other]
    return (
        metric_title(compared),
        f"{name} / {other}" if of_pairs else name,
        f"{len(compared.blocks)}{MARK if compared.disturbed else ''}",
        factor(verdict.ratio.median),
        interval(verdict.ratio),
        _p(verdict).removeprefix("p = "),
        f"{FEW}; {compared.enough} would do" if verdict.verdict == FEW else verdict.verdict,
    )


def ratio_nodes(compared: InBlocks) -> tuple[Caption, Grid]:
    """A line for each block with its nodes: the ratios to the reference."""
    header = ("block", "nodes", *compared.names[1:])
    lines = tuple((str(block.repeat), nodes_text(block), *_ratios(block)) for block in compared.blocks)
    title = f"{metric_title(compared)}, ratio to {compared.reference} in each block"
    return Caption(f"{title}:"), Grid("", 2, header, lines, role="sortable", label=title)


def _ratios(block: Block) -> Iterator[str]:
    yield from ("time limit" if value is None else factor(value) for value in within(block))


def within(block: Block) -> list[float | None]:
    """Each candidate's value by that of the reference; ``None`` where either met its time limit."""
    first, *others = block.values
    return [None if first is None or value is None else value / first for value in others]


def nodes_text(block: Block) -> str:
    """The nodes of a block, the first few by name."""
    hosts = [visible(host) for host in sorted(block.hosts)]
    more = f" and {len(hosts) - _NAMED} more" if len(hosts) > _NAMED else ""
    return ", ".join(hosts[:_NAMED]) + more
