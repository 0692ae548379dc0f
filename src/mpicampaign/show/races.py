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


def cell_name(race: InRace, cell: RaceCell) -> str:
    """``time at 1 KiB``; with the benchmark and the ranks where there are several."""
    own = cell.label if cell.label.startswith(cell.benchmark) else f"{cell.benchmark}: {cell.label}"
    benchmark = f"{own}: " if len({each.label for each in race.cells}) > 1 else ""
    ranks = f", {in_ranks(cell.ranks)}" if len({each.ranks for each in race.cells}) > 1 else ""
    return f"{benchmark}{cell.metric.name}{ranks}"


def race_sentence(race: InRace) -> str:
    """``On fresh blocks A beats default in 2 (ratios 0.812 to 0.930) of 12 cells; default stays in 10``."""
    default, count = race.names[0], len(race.cells)
    if not race.cells:
        return f"The race of {len(race.names)} settings has no values yet"
    if not race.ended:
        return f"The race of {len(race.names)} settings is not decided: {progress(race)}"
    won = grouped(race.won, lambda cell: cell.leader)
    if not won:
        return f"{default} stays in all {count} cells: no setting is shown to beat it on fresh blocks"
    most = sorted(won.items(), key=lambda each: -len(each[1]))
    named = [
        f"{race.names[place]} beats {default} in {len(cells)} ({_ratios(cells)})"
        for place, cells in most[:_NAMED]
    ]
    more = [f"others in {sum(len(cells) for _, cells in most[_NAMED:])}"] if len(most) > _NAMED else []
    stays = count - len(race.won)
    rest = f"; {default} stays in {stays}" if stays else ""
    return f"On fresh blocks {listed([*named, *more])} of {count} cells{rest}"


def _ratios(cells: Sequence[RaceCell]) -> str:
    """``ratio 0.860``, ``ratios 0.812 to 0.930``: of the winner to the default."""
    ends = sorted({factor(end(c.ratio.median for c in cells if c.ratio)) for end in (min, max)}, key=float)
    return f"ratio{'s' * (len(ends) > 1)} {' to '.join(ends)}"


def progress(race: InRace) -> str:
    """``9 of 12 blocks``, of the benchmark that lacks most."""
    due = max(sum(stage.blocks for stage in stages) for stages in race.stages.values())
    lacking = (stage.blocks - len(stage.repeats) for stages in race.stages.values() for stage in stages)
    return f"{due - max(lacking)} of {due} blocks"


def race_title(race: InRace, races: Sequence[InRace]) -> str:
    """Its design, where there are several."""
    return f"Race, {race.design}" if len(races) > 1 else "Race of settings"


def left_lines(race: InRace) -> Iterator[str]:
    """Who left all cells, and when; who never gave a value."""
    for blocks, gone in grouped(race.left, lambda each: each[1]).items():
        yield f"Left after {blocks} blocks: {listed([race.names[place] for place, _ in gone])}"
    if race.out:
        yield f"Without any value: {listed([race.names[place] for place in race.out])}"
    if race.fresh:
        yield f"Proof: {race.fresh} fresh blocks"
    if race.won:
        yield "What won is written for use, in the folder settings beside the tables"


def race_grid(race: InRace) -> Grid:
    """A line for each cell."""
    benchmarks = listed(list(dict.fromkeys(cell.label for cell in race.cells)) or ["no values"])
    title = f"{race.design}, {benchmarks}: settings against {race.names[0]}"
    header = ("", "ratio", "interval", "p", "outcome")
    lines = tuple(_line(race, cell) for cell in race.cells)
    return Grid(title, 1, header, lines, remarks=1, role="sortable", label=title)


def _line(race: InRace, cell: RaceCell) -> tuple[str, ...]:
    ratio = (factor(cell.ratio.median), interval(cell.ratio)) if cell.ratio else ("", "")
    p = "" if cell.p is None else probability(cell.p).removeprefix("p = ")
    return (cell_name(race, cell), *ratio, p, outcome_text(race, cell))


def outcome_text(race: InRace, cell: RaceCell) -> str:
    """``A won``; who leads, or why the best does not replace the default."""
    if cell.outcome == RUNNING:
        return f"{RUNNING}; {race.names[cell.leader]} leads"
    return f"{race.names[cell.leader]} {cell.outcome}" if cell.leader else cell.outcome


def race_nodes(races: Sequence[InRace], level: int = 2) -> list[Node]:
    """All tables; nothing without a race."""
    nodes: list[Node] = [Heading(HEADING, level), Paragraph(MEANING)] if races else []
    for race in races:
        grid = race_grid(race)
        nodes += [Caption(f"{grid.label}:"), replace(grid, title="")]
        said = (f"{race_sentence(race)}.", *(f"{line}." for line in left_lines(race)))
        nodes.append(Items(said))
    return nodes
