"""Races of settings: the sentence, and the table of what won, or why the default stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mpicampaign.base.grouping import grouped
from mpicampaign.base.text import counted, in_ranks, listed
from mpicampaign.compare.tables import Comparison
from mpicampaign.questions.answer import NOT_SHOWN, SHOWN, Answer
from mpicampaign.questions.blocks.say import factor, interval
from mpicampaign.questions.races.find import RUNNING, InRace, RaceCell
from mpicampaign.show.document import Caption, Grid, Heading, Items, Node, Paragraph
from mpicampaign.show.view import probability, rough_amount

HEADING = "Races of settings"
MEANING = (
    "A setting wins that leads the default by the tolerance, and is shown to be better: exact one-sided "
    "test, corrected for all looks, settings and cells of the races of the host group. Elsewhere the "
    "default stays. Ratio: to the default, within blocks; of a winner near the tolerance it is a little "
    "too good."
)
_NAMED = 3  # settings in a sentence


def cell_name(race: InRace, cell: RaceCell) -> str:
    """``time at 1 KiB``; with the benchmark and the ranks where there are several."""
    series_name = cell.label if cell.label.startswith(cell.benchmark) else f"{cell.benchmark}: {cell.label}"
    benchmark = f"{series_name}: " if len({cell.label for cell in race.cells}) > 1 else ""
    ranks = f", {in_ranks(cell.ranks)}" if len({cell.ranks for cell in race.cells}) > 1 else ""
    return f"{benchmark}{cell.metric.name}{ranks}"


def race_lead(race: InRace) -> str:
    """``A beats default in 2 (ratios 0.812 to 0.930) of 12 cells``."""
    return race_sentence(race).partition("; ")[0]


def race_sentence(race: InRace) -> str:
    """``A beats default in 2 (ratios 0.812 to 0.930) of 12 cells; default stays in 10: ...``."""
    default, count = race.names[0], len(race.cells)
    if not race.cells:
        return f"The race of {len(race.names)} settings has no values yet"
    if not race.ended:
        return f"The race of {len(race.names)} settings is not decided: {progress(race)}"
    won = grouped(race.won, lambda cell: cell.leader)
    if not won:
        return f"{default} stays{f' in all {count} cells' if count > 1 else ''}: {_none_better(race)}"
    most = sorted(won.items(), key=lambda winner: -len(winner[1]))
    named = [
        f"{race.names[place]} beats {default} in {len(cells)} ({_ratios(cells)})"
        for place, cells in most[:_NAMED]
    ]
    more = [f"others in {sum(len(cells) for _, cells in most[_NAMED:])}"] if len(most) > _NAMED else []
    stays = count - len(race.won)
    rest = f"; {default} stays in {stays}: {_none_better(race)}" if stays else ""
    return f"{listed([*named, *more])} of {counted(count, 'cell')}{rest}"


def _none_better(race: InRace) -> str:
    """``no setting is shown to be better by 2 %; in 1 of them 24 blocks find 5 % in 8 of 10 cases``."""
    text = f"no setting is shown to be better by {100 * race.rules.tolerance:g} %"
    undecided = [cell for cell in race.cells if cell.seen]
    if not undecided:
        return text
    blocks, seen = max(cell.blocks for cell in undecided), max(cell.seen or 0.0 for cell in undecided)
    return f"{text}; in {len(undecided)} of them {blocks} blocks find {rough_amount(seen)} in 8 of 10 cases"


def _ratios(cells: Sequence[RaceCell]) -> str:
    """``ratio 0.860``, ``ratios 0.812 to 0.930``: of the winner to the default."""
    ends = dict.fromkeys(factor(end(c.ratio.median for c in cells if c.ratio)) for end in (min, max))
    return f"ratio{'s' * (len(ends) > 1)} {' to '.join(ends)}"


def progress(race: InRace) -> str:
    """``9 of 12 blocks``, of the benchmark that lacks most."""
    of_benchmarks = [
        [(stage.blocks, len(stage.counted or ())) for stage in of] for of in race.stages.values()
    ]
    sums = ([sum(numbers) for numbers in zip(*stages, strict=True)] for stages in of_benchmarks)
    due, made = max(sums, key=lambda due_made: (due_made[0] - due_made[1], due_made[0]))
    return f"{made} of {due} blocks"


def race_answers(comparison: Comparison) -> Iterator[Answer]:
    """An answer for each race; titles name the design if there are several."""
    for race in comparison.races:
        benchmarks = {case.benchmark for case in race.every_case}
        table = next(table for table in comparison.tables if table.benchmark in benchmarks)
        title = f"Race, {race.design}" if len(comparison.races) > 1 else "Race of settings"
        yield Answer(table, title, SHOWN if race.won else NOT_SHOWN, (f"{race_sentence(race)}.",))


def left_lines(race: InRace) -> Iterator[str]:
    """Who left all cells, and when; who never gave a value."""
    for blocks, gone in grouped(race.left, lambda leaver: leaver[1]).items():
        yield f"Left after {blocks} blocks: {listed([race.names[place] for place, _ in gone])}"
    if race.out:
        yield f"Without any value: {listed([race.names[place] for place in race.out])}"
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
        return f"{RUNNING}; {race.names[cell.leader]} leads" if cell.leader else RUNNING
    return f"{race.names[cell.leader]} {cell.outcome}" if cell.leader else cell.outcome


def race_nodes(races: Sequence[InRace], level: int = 2) -> list[Node]:
    """All tables; nothing without a race."""
    nodes: list[Node] = [Heading(HEADING, level), Paragraph(MEANING)] if races else []
    for race in races:
        grid = race_grid(race)
        nodes += [Caption(f"{grid.label}:"), replace(grid, title="")]
        sentences = (f"{race_sentence(race)}.", *(f"{line}." for line in left_lines(race)))
        nodes.append(Items(sentences))
    return nodes
