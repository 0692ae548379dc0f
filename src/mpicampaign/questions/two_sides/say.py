"""Two sets of results side by side: what differs, by how much, and whether it is real."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mpicampaign.base.dimension import RATIO
from mpicampaign.base.grouping import grouped
from mpicampaign.base.text import visible
from mpicampaign.compare.rows import Cell
from mpicampaign.questions.ranking.say import sight_text
from mpicampaign.show.document import Grid, Heading, Items, Node, Paragraph
from mpicampaign.show.runs import ranked_state
from mpicampaign.show.view import DEFAULT, View, probability
from mpicampaign.statistics.comparisons import FEWEST

if TYPE_CHECKING:
    from mpicampaign.questions.two_sides.find import Both, TwoSides

_APART, _OVERLAP, _FEW = "apart", "overlap", "too few to tell"
_UNTESTED = (
    f"Not tested are {_APART} (all repeats of one lie on one side of the other's, and the medians differ by "
    f"1 % or more) and {_OVERLAP}."
)


def two_sides_document(sides: TwoSides, known: Mapping[int, str], view: View = DEFAULT) -> list[Node]:
    """What differs, then each metric of each case, then what the runs recorded and what one side lacks.

    ``known``: what the history says of a metric, by its number in ``sides.both``.
    """
    names = visible(sides.before.name), visible(sides.after.name)
    nodes: list[Node] = [Heading(f"{names[1]} against {names[0]}", 1), Paragraph(lead(sides, known))]
    if sides.both:
        legend = _legend(sides)
        nodes += [_grid(sides, known, names, view), *([Paragraph(legend, "legend")] if legend else [])]
    if sides.recorded:
        recorded = tuple((name, visible(before), visible(after)) for name, before, after in sides.recorded)
        nodes += [Heading("Recorded as different"), Grid("", 1, ("", *names), recorded, remarks=2)]
    for name, cases in zip(names, sides.only, strict=True):
        if cases:
            nodes += [Heading(f"Only in {name}"), Items(tuple(map(visible, cases)))]
    return nodes


def _grid(sides: TwoSides, known: Mapping[int, str], names: tuple[str, str], view: View) -> Grid:
    """A line for each case, and below it one for each metric."""
    heads = _told_apart(names)
    numbered = [(one, known.get(number, "")) for number, one in enumerate(sides.both)]
    of_cases = grouped(numbered, lambda pair: _name(pair[0])).items()
    lines = (
        line for case, of in of_cases for line in ((case,), *(_line(one, said, view) for one, said in of))
    )
    return Grid("", 1, ("case, metric", *heads, "ratio", "judged"), tuple(lines), remarks=1)


def _told_apart(names: tuple[str, str]) -> tuple[str, ...]:
    """As much of the ends of two paths as tells them apart: the table keeps its width for what is judged."""
    parts = [name.split("/") for name in names]
    ends = (tuple("/".join(part[-count:]) for part in parts) for count in range(1, max(map(len, parts)) + 1))
    return next((pair for pair in ends if pair[0] != pair[1]), names)


def _legend(sides: TwoSides) -> str:
    untested = any(one.p is None and not one.few for one in sides.both)
    single = all(len(cell.values) < 2 for one in sides.both for cell in (one.before, one.after))
    ranges = "" if single else "In brackets: the range of all repeats."
    return " ".join(filter(None, (ranges, ranked_state(sides.states), _UNTESTED * untested)))


def lead(sides: TwoSides, known: Mapping[int, str]) -> str:
    """``3 of 40 values differ``, and what that rests on."""
    every = len(sides.both)
    if not every:
        return "No case has values that count on both sides."
    tested = [one for one in sides.both if one.p is not None]
    untested = [one for one in sides.both if one.p is None and not one.few]
    parts = []
    if tested:
        real = sum(one.real for one in tested)
        parts.append(f"{real} of {len(tested)} tested values differ by 1 % or more{_furthest(tested)}")
    if untested:
        of = f"{len(untested)} {'other ' * bool(tested)}values"
        apart = sum(one.apart for one in untested)
        parts.append(f"{apart} of {of} differ by more than their ranges{_furthest(untested)}")
    if few := every - len(tested) - len(untested):
        parts.append(f"{few} of {every} have fewer than {FEWEST} repeats a side, {_FEW}")
    if known:
        parts.append(f"the history shows a change between the two in {len(known)}")
    return " ".join([f"{'; '.join(parts)}.", *_reservations(sides, untested)])


def _furthest(of: Sequence[Both]) -> str:
    """``, most s/g SHM PingPong, latency at 0 B (× 1.30)``: of those that differ the largest ratio."""
    differ = [one for one in of if one.ratio and (one.real or (one.p is None and one.apart))]
    if not differ:
        return ""
    most = max(differ, key=lambda one: abs(math.log(one.ratio or 1)))
    return f", most {_name(most)}, {most.metric.name} (× {RATIO.number(most.ratio or 1)})"


def _reservations(sides: TwoSides, untested: Sequence[Both]) -> Iterator[str]:
    """What else may be the reason."""
    if why := dict.fromkeys(one.pair.reason for one in untested):
        yield f"Not tested: {'; '.join(why)}. What else changed meanwhile may be the reason."
    open_ = [one.sight for one in sides.both if one.sight and not (one.pair.small or one.real)]
    if shown := [sight for sight in open_ if sight.difference]:
        yield f"Where no difference is shown, {sight_text(shown)} in 8 of 10 cases."
    if any(one.p is not None and one.pair.same_order for one in sides.both):
        yield "The two always ran in the same order: what the order does would look the same."


def _name(one: Both) -> str:
    case, label = one.row.case, one.row.label
    return visible(f"{case}" if label == case.benchmark else f"{case}: {label}")


def _line(one: Both, known: str, view: View) -> tuple[str, ...]:
    ratio = "" if one.ratio is None else RATIO.number(one.ratio)
    name = f"  {one.metric.name} ({view.unit_of(one.metric.dimension)})"
    return name, _values(one.before, view), _values(one.after, view), ratio, known or _judged(one)


def _values(cell: Cell, view: View) -> str:
    """``0.170 [0.168, 0.175]``: the median with the range."""
    dimension = cell.metric.dimension
    low, high = (view.number(end(cell.values), dimension) for end in (min, max))
    median = view.number(cell.summary.median, dimension) if cell.summary else ""
    return f"{median} [{low}, {high}]" if cell.n > 1 else median


def _judged(one: Both) -> str:
    if one.few:
        return _FEW
    if one.p is None:
        return _APART if one.apart else _OVERLAP
    if one.real:
        return f"real, {probability(one.p)}"
    return "less than 1 %" if one.pair.small else f"no difference shown, {probability(one.p)}"
