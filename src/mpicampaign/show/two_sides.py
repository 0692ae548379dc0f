"""Two sets of results side by side: what differs, by how much, and whether it is real."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.compare.in_turn import IN_TURN
from mpicampaign.dimension import RATIO
from mpicampaign.grouping import grouped
from mpicampaign.show.document import Box, Grid, Heading, Items, Paragraph
from mpicampaign.show.view import DEFAULT, probability
from mpicampaign.text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpicampaign.compare.rows import Cell
    from mpicampaign.compare.two_sides import Both, TwoSides
    from mpicampaign.show.document import Node
    from mpicampaign.show.view import View

_APART, _OVERLAP = "apart", "overlap"
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
        nodes += [_grid(sides, known, names, view), Paragraph(_legend(sides), "legend")]
    if sides.recorded:
        recorded = tuple((name, visible(before), visible(after)) for name, before, after in sides.recorded)
        nodes += [Heading("Recorded as different"), Grid("", 1, ("", *names), recorded, remarks=2)]
    for name, cases in zip(names, sides.only, strict=True):
        if cases:
            nodes += [Heading(f"Only in {name}"), Items(tuple(map(visible, cases)))]
    return nodes


def _grid(sides: TwoSides, known: Mapping[int, str], names: tuple[str, str], view: View) -> Grid:
    """A line for each case, and below it one for each metric."""
    numbered = [(one, known.get(number, "")) for number, one in enumerate(sides.both)]
    of_cases = grouped(numbered, lambda pair: _name(pair[0])).items()
    lines = (
        line for case, of in of_cases for line in ((case,), *(_line(one, said, view) for one, said in of))
    )
    return Grid("", 1, ("case, metric", *names, "ratio", "judged"), tuple(lines), remarks=1)


def _legend(sides: TwoSides) -> str:
    untested = any(one.p is None for one in sides.both)
    return "In brackets: the range of all repeats." + f" {_UNTESTED}" * untested


def lead(sides: TwoSides, known: Mapping[int, str]) -> str:
    """``3 of 40 values differ``, and what that rests on."""
    every = len(sides.both)
    if not every:
        return "No case has values on both sides."
    if not sides.one_after_the_other:
        real = sum(one.real for one in sides.both)
        tested = sum(one.p is not None for one in sides.both)
        return f"{real} of {tested} tested values differ by 1 % or more; {every - tested} were not tested."
    said = f"{sum(one.apart for one in sides.both)} of {every} values differ by more than their ranges"
    if known:
        said += f"; the history shows a change between the two in {len(known)}"
    return f"{said}. The two were {IN_TURN}: what else changed meanwhile may be the reason."


def _name(one: Both) -> str:
    case, label = one.row.case, one.row.label
    return visible(f"{case}" if label == case.benchmark else f"{case}: {label}")


def _line(one: Both, known: str, view: View) -> tuple[Box | str, ...]:
    ratio = "" if one.ratio is None else RATIO.number(one.ratio)
    return (
        f"  {one.metric.name} ({view.unit_of(one.metric.dimension)})",
        _values(one.before, view),
        _values(one.after, view),
        ratio,
        known or _judged(one),
    )


def _values(cell: Cell, view: View) -> str:
    """``0.170 [0.168, 0.175]``: the median with the range."""
    dimension = cell.metric.dimension
    low, high = (view.number(end(cell.values), dimension) for end in (min, max))
    median = view.number(cell.summary.median, dimension) if cell.summary else ""
    return f"{median} [{low}, {high}]" if cell.n > 1 else median


def _judged(one: Both) -> str:
    if one.p is None:
        return _APART if one.apart else _OVERLAP
    if one.real:
        return f"real, {probability(one.p)}"
    return "less than 1 %" if one.small else f"no difference shown, {probability(one.p)}"
