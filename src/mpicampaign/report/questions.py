"""Where each question is answered: all that reports take from the folders of `mpicampaign.questions`.

To add a question, write its folder and name its functions here. The order is that of the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from mpicampaign.base.records import IMPORTED_FROM
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.questions.answer import ALONE, SHOWN, Answer
from mpicampaign.questions.balance.draw import balance
from mpicampaign.questions.blocks.draw import block_charts
from mpicampaign.questions.blocks.say import block_answers, block_grids, block_nodes, block_ratios
from mpicampaign.questions.blocks.say import lead as block_lead
from mpicampaign.questions.configurations.say import configuration_nodes
from mpicampaign.questions.core_pairs.draw import core_maps
from mpicampaign.questions.decided.say import decided_nodes
from mpicampaign.questions.gathers.draw import gather_charts
from mpicampaign.questions.gathers.say import gather_fold, gather_nodes
from mpicampaign.questions.kernels.draw import kernel_charts, level_charts
from mpicampaign.questions.machine.draw import machine_maps
from mpicampaign.questions.machine.say_tables import machine_section
from mpicampaign.questions.public_systems.draw import public_nodes
from mpicampaign.questions.races.say import race_answers, race_grid, race_lead, race_nodes
from mpicampaign.questions.ranking.answer import busy_lead, leads, ranking_answers
from mpicampaign.questions.scaling.draw import scaling_charts
from mpicampaign.questions.scaling.find import MESSAGES, WORK
from mpicampaign.questions.scaling.say import scaling_answers, scaling_lead, scaling_nodes, scaling_section
from mpicampaign.show.charts.curves import by_host_group, by_placement
from mpicampaign.show.charts.dots import at_sizes, latency, single_metrics
from mpicampaign.show.charts.model import Chart
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.document import Drawing, Grid, Node, PageNode, Section
from mpicampaign.show.view import DEFAULT, View

_LINE = 100  # characters of the headline
_FEW = 2  # host groups that one sees in a table


def answers(comparison: Comparison, view: View = DEFAULT) -> list[Answer]:
    """An answer for each table, headline metric and number of ranks that have anything to compare.

    Answers that show a difference come first, and of these the first table of each benchmark. Where nothing
    can be compared, the only candidates.
    """
    every = [
        *race_answers(comparison),
        *block_answers(comparison, view),
        *scaling_answers(comparison, WORK, view),
        *ranking_answers(comparison, view),
    ]
    compared = [answer for answer in every if answer.real != ALONE]
    compared = compared or [*scaling_answers(comparison, MESSAGES, view)]
    return sorted(compared or every, key=lambda answer: not (answer.scaling or answer.real == SHOWN))


def lead(comparison: Comparison, found: Sequence[Answer], view: View = DEFAULT) -> str:
    """The answers in one line: of each question in its order, as far as they fit."""
    scaled = [answer.scaling for answer in found if answer.scaling]
    said = [
        *map(race_lead, comparison.races),
        block_lead(comparison, view),
        scaling_lead(comparison, scaled, view) if scaled else "",
        *leads(found),
    ]
    parts = [*filter(None, said)] or [busy_lead(found)]
    fitting = (parts[:count] for count in range(len(parts), 1, -1))
    return next((text for some in fitting if len(text := ". ".join(some)) <= _LINE), parts[0])


def tables_of_questions(comparison: Comparison, view: View) -> list[Grid]:
    """The tables beside those of benchmarks, in the long layout."""
    return [*block_grids(comparison, view), *map(race_grid, comparison.races)]


def nodes_of_questions(comparison: Comparison, view: View, *, brief: bool) -> list[Node]:
    """What a document says below the tables; in brief without what has a place among the answers."""
    decided = [*race_nodes(comparison.races), *decided_nodes(comparison.decided)]
    if brief:
        return decided
    of_blocks = block_nodes(comparison, view, each_block=True)
    beside = [*gather_nodes(comparison, view), *scaling_nodes(comparison, view)]
    return [*of_blocks, *decided, *beside, *configuration_nodes(comparison.configurations)]


def nodes_of_page(comparison: Comparison, view: View) -> list[PageNode]:
    """What the page shows behind the tables of benchmarks."""
    return [
        *scaling_nodes(comparison, view, 3, (MESSAGES,)),
        *block_nodes(comparison, view, 3),
        *race_nodes(comparison.races, 3),
        *block_ratios(comparison, view),
        *gather_fold(comparison, view),
        *public_nodes(comparison, view),
    ]


def sections_of_page(
    comparison: Comparison, view: View, drawings: Callable[[str], Sequence[Drawing]]
) -> list[Section]:
    """The sections after the answers; ``drawings``: of a section, by its anchor."""
    return [*machine_section(comparison.machines, drawings), *scaling_section(comparison, view, drawings)]


# Charts


def every_chart(scene: Scene, few: bool = False) -> Iterator[Chart]:
    """The charts that become figures: machines, blocks, those of HPCC's paper, tables, then kernels.

    ``few``: one of each table over message size, and the pictures that the papers have. The others show what
    the tables say.
    """
    yield from machine_maps(scene)
    yield from block_charts(scene)
    yield from balance(scene, few)
    for table in scene.comparison.tables:
        yield from single_metrics(scene, table)
        if not table.useful:  # kernels have charts of their own
            yield from _over_sizes(scene, table, few)
    for charts in (kernel_charts, level_charts, gather_charts, scaling_charts, core_maps):
        yield from charts(scene)


def _over_sizes(scene: Scene, table: Table, few: bool) -> Iterator[Chart]:
    """The charts over message size for which the table has values."""
    dots, curves = (latency, at_sizes), (by_host_group, by_placement)
    places = len({scene.place(row) for row in table.rows})
    first = (*(curves if places < 2 else reversed(curves)), *reversed(dots))
    yield from islice(_drawn(scene, table, first), 1) if few else _drawn(scene, table, (*dots, *curves))
    # Figures 4 and 5 of the STFC report: people import in order to compare host groups, as that report does.
    imported = all(IMPORTED_FROM in run.metadata for row in table.rows for run, _ in row.curves)
    if few and places > _FEW and imported:
        yield from _drawn(scene, table, dots)


def _drawn(
    scene: Scene, table: Table, charts: Sequence[Callable[[Scene, Table], Chart | None]]
) -> Iterator[Chart]:
    return (drawn for chart in charts if (drawn := chart(scene, table)) is not None)
