"""Races of settings: the sentence, and the table of what won, or why the default stays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpicampaign.compare.races import RUNNING
from mpicampaign.grouping import grouped
from mpicampaign.show.blocks import factor, interval
from mpicampaign.show.document import Caption, Grid, Heading, Items, Paragraph
from mpicampaign.show.view import probability
from mpicampaign.text import in_ranks, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpicampaign.compare.races import InRace, RaceCell
    from mpicampaign.show.document import Node

HEADING = "Races of settings"
MEANING = (
    "A setting that wins beats the default on fresh blocks, which had no part in choosing it: one-sided "
    "exact test, corrected for all races of the host group. Elsewhere the default stays. Ratio: to the "
    "default on these blocks, within each."
)
_NAMED = 3  # settings in a sentence


def cell_name(found: InRace, cell: RaceCell) -> str:
    """``time at 1 KiB``; with the benchmark and the ranks where there are several."""
    own = cell.label if cell.label.startswith(cell.benchmark) else f"{cell.benchmark}: {cell.label}"
    benchmark = f"{own}: " if len({each.label for each in found.cells}) > 1 else ""
    ranks = f", {in_ranks(cell.ranks)}" if len({each.ranks for each in found.cells}) > 1 else ""
    return f"{benchmark}{cell.metric.name}{ranks}"


def race_sentence(found: InRace) -> str:
    """``On fresh blocks A beats default in 2 of 12 cells; default stays in 10``."""
    default, count = found.names[0], len(found.cells)
    if not found.cells:
        return f"The race of {len(found.names)} settings has no values yet"
    if not found.ended:
        return f"The race of {len(found.names)} settings is not decided: {progress(found)}"
    won = grouped(found.won, lambda cell: cell.leader)
    if not won:
        return f"{default} stays in all {count} cells: no setting is shown to beat it on fresh blocks"
    most = sorted(won.items(), key=lambda each: -len(each[1]))
    named = [f"{found.names[place]} beats {default} in {len(cells)}" for place, cells in most[:_NAMED]]
    more = [f"others in {sum(len(cells) for _, cells in most[_NAMED:])}"] if len(most) > _NAMED else []
    stays = count - len(found.won)
    rest = f"; {default} stays in {stays}" if stays else ""
    return f"On fresh blocks {listed([*named, *more])} of {count} cells{rest}"


def progress(found: InRace) -> str:
    """``9 of 12 blocks``, of the benchmark that lacks most."""
    due = max(sum(stage.blocks for stage in stages) for stages in found.stages.values())
    lacking = (stage.blocks - len(stage.repeats) for stages in found.stages.values() for stage in stages)
    return f"{due - max(lacking)} of {due} blocks"


def race_title(found: InRace, races: Sequence[InRace]) -> str:
    """Its design, where there are several."""
    return f"Race, {found.design}" if len(races) > 1 else "Race of settings"


def left_lines(found: InRace) -> Iterator[str]:
    """Who left all cells, and when; who never gave a value."""
    for blocks, gone in grouped(found.left, lambda each: each[1]).items():
        yield f"Left after {blocks} blocks: {listed([found.names[place] for place, _ in gone])}"
    if found.out:
        yield f"Without any value: {listed([found.names[place] for place in found.out])}"
    if found.fresh:
        yield f"Proof: {found.fresh} fresh blocks"


def race_grid(found: InRace) -> Grid:
    """A line for each cell."""
    benchmarks = listed(list(dict.fromkeys(cell.label for cell in found.cells)) or ["no values"])
    title = f"{found.design}, {benchmarks}: settings against {found.names[0]}"
    header = ("", "ratio", "interval", "p", "outcome")
    lines = tuple(_line(found, cell) for cell in found.cells)
    return Grid(title, 1, header, lines, remarks=1, role="sortable", label=title)


def _line(found: InRace, cell: RaceCell) -> tuple[str, ...]:
    ratio = (factor(cell.ratio.median), interval(cell.ratio)) if cell.ratio else ("", "")
    p = "" if cell.p is None else probability(cell.p).removeprefix("p = ")
    return (cell_name(found, cell), *ratio, p, outcome_text(found, cell))


def outcome_text(found: InRace, cell: RaceCell) -> str:
    """``A won``; who leads, or why the best does not replace the default."""
    if cell.outcome == RUNNING:
        return f"{RUNNING}; {found.names[cell.leader]} leads"
    return f"{found.names[cell.leader]} {cell.outcome}" if cell.leader else cell.outcome


def race_nodes(races: Sequence[InRace], level: int = 2) -> list[Node]:
    """All tables; nothing without a race."""
    nodes: list[Node] = [Heading(HEADING, level), Paragraph(MEANING)] if races else []
    for found in races:
        grid = race_grid(found)
        nodes += [Caption(f"{grid.label}:"), replace(grid, title="")]
        said = (f"{race_sentence(found)}.", *(f"{line}." for line in left_lines(found)))
        nodes.append(Items(said))
    return nodes
