"""Who leads at each message size: a strip of its colour, deep where the repeats show it, hollow elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from markupsafe import Markup

from mpicampaign.base.dimension import RATIO
from mpicampaign.base.units import format_size
from mpicampaign.questions.answer import Answer
from mpicampaign.questions.crossings.find import SizeLeader, leaders_by_size
from mpicampaign.questions.ranking.find import HOST_GROUPS
from mpicampaign.show.charts.looks import Style, ink_on, looks
from mpicampaign.show.document import Box, Grid
from mpicampaign.show.view import size_range
from mpicampaign.show.writers.html import element
from mpicampaign.verdicts.compare import TIE

_CHARACTERS, _ON_PHONES = 55, 30  # that fit in a strip
_TICKS = 4


def size_strips(answer: Answer) -> list[Grid]:
    """A line for each place where placements or MPI libraries are compared; nothing without sizes."""
    named = [
        (ranking.scope, leaders_by_size(ranking))
        for ranking in answer.rankings
        if ranking.kind != HOST_GROUPS
    ]
    lines = [(scope, leaders) for scope, leaders in named if leaders]
    if not lines:
        return []
    styles = looks(one.name for _, leaders in lines for one in leaders)
    several = len(lines) > 1
    rows = tuple(
        (
            Box(scope if several else "best"),
            Box(_strip(leaders, styles), role="scale", below=_key(leaders, styles)),
        )
        for scope, leaders in lines
    )
    label = f"{answer.title}: best at each message size"
    return [Grid(label, 1, ("by size", _axis([one.size for one in lines[0][1]])), rows, role="ratios sizes")]


def _key(leaders: Sequence[SizeLeader], styles: Mapping[str, Style]) -> tuple[Markup, ...]:
    """The names in their colours that have no room within the strip."""
    parts = [(part[0], len([*alike])) for part, alike in groupby(leaders, lambda one: (one.name, one.shown))]
    inside = {name for name, count in parts if _fits(name, count / len(leaders))}
    return tuple(
        element("span", f"■ {name}", style=f"color:{styles[name].ink}")
        for name in dict.fromkeys(one.name for one in leaders if one.name not in inside)
    )


def _fits(name: str, share: float) -> bool:
    return len(name) < share * _CHARACTERS


def _strip(leaders: Sequence[SizeLeader], styles: Mapping[str, Style]) -> Markup:
    """Neighbouring sizes of one leader, with its name where there is room."""
    parts, place, share = [], 0, 100 / len(leaders)
    for (name, shown), alike in groupby(leaders, lambda one: (one.name, one.shown)):
        own, look = [*alike], styles[name]
        title = f"{size_range([one.size for one in own])}: {name}, {_times(own)}"
        title += "" if shown else ", not shown by the repeats"
        left, width = place * share, len(own) * share
        fill, ink = (look.colour, ink_on(look.colour)) if shown else ("none", look.ink)
        part = {"x": f"{left:.2f}%", "width": f"{width:.2f}%", "fill": fill, "stroke": look.colour}
        parts.append(element("rect", element("title", title), height=18, **part))
        if _fits(name, width / 100):
            middle = f"{left + width / 2:.2f}%"
            role = "long" if len(name) >= width / 100 * _ON_PHONES else ""
            style = f"fill:{ink}"
            parts.append(
                element("text", name, x=middle, y=13, text_anchor="middle", style=style, class_=role)
            )
        place += len(own)
    described = "; ".join(f"{format_size(one.size)} {one.name}" for one in leaders)
    return element("svg", Markup("").join(parts), role="img", aria_label=described, height=18)


def _times(leaders: Sequence[SizeLeader]) -> str:
    low, high = (end(one.factor for one in leaders) for end in (min, max))
    if high < 1 + TIE:
        return f"within {TIE:.0%} of the next"
    ends = dict.fromkeys(map(RATIO.number, (low, high)))
    times = " to ".join(ends) if low >= 1 + TIE else f"up to {RATIO.number(high)}"
    return f"{times} times better than the next"


def _axis(sizes: Sequence[int]) -> Markup:
    """Some sizes below the middles of their places."""
    step, share = -(-len(sizes) // _TICKS), 100 / len(sizes)
    texts = (
        element("text", format_size(size), x=f"{(number + 0.5) * share:.1f}%", y=12, text_anchor="middle")
        for number, size in enumerate(sizes)
        if number % step == step // 2
    )
    return element("svg", Markup("").join(texts), role="img", aria_label="message sizes", height=15)
