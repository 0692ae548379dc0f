"""The comparison as a document, brief for a terminal or in full for reading on."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from mpicampaign.base.text import visible
from mpicampaign.compare.findings import OF_ONE_SERIES
from mpicampaign.questions.balance.draw import interpolated_text
from mpicampaign.questions.balance.find import NAME
from mpicampaign.questions.balance.find_hpcc import RANDOM_RING, hpcc_results
from mpicampaign.questions.blocks.say import block_nodes
from mpicampaign.questions.configurations.say import configuration_nodes
from mpicampaign.questions.decided.say import decided_sentences
from mpicampaign.questions.gathers.say import gather_nodes
from mpicampaign.questions.machine.say_tables import machine_nodes
from mpicampaign.questions.over_groups.say import (
    HEADING,
    OF_FEW,
    legend,
    legend_of_few,
    lines_of_few,
    over_group_lines,
    telling_lines,
)
from mpicampaign.questions.own.say import OWN, own_legend, own_lines
from mpicampaign.questions.races.say import race_nodes
from mpicampaign.questions.ranking import say_pairs as pairs
from mpicampaign.questions.ranking.find import HOST_GROUPS, LIBRARIES, PLACEMENTS
from mpicampaign.questions.ranking.say import (
    BUSY,
    OF_OWN_REPEATS,
    disturbed_lines,
    errors_text,
    ranking_text,
    untested_lines,
)
from mpicampaign.questions.scaling.say import scaling_nodes
from mpicampaign.report.summary import summary
from mpicampaign.show.cells import published_sources, row_name
from mpicampaign.show.document import Caption, Grid, Heading, Items, Paragraph, Statement
from mpicampaign.show.runs import (
    condition_text,
    explained,
    is_offered,
    not_available,
    offered,
    ranked_state,
    runs_are,
)
from mpicampaign.show.sentences import absence, note_text
from mpicampaign.show.tables import brief_grid, full_grid, median_text, published_grid, range_text
from mpicampaign.show.view import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpicampaign.compare.tables import Comparison, Table
    from mpicampaign.questions.ranking.find import Ranking
    from mpicampaign.show.document import Node
    from mpicampaign.show.view import View


def interpolated_lines(comparison: Comparison, table: Table, view: View) -> list[str]:
    """``random ring / HPL at 1000 Gflop/s, interpolated, not measured: NEC SX-6 59.6 byte/kflop …``."""
    text = interpolated_text(hpcc_results(comparison), RANDOM_RING, view) if table.label == NAME else ""
    return [text] if text else []


def comparison_document(comparison: Comparison, view: View, *, brief: bool) -> list[Node]:
    """The tables, the notes, and the rankings.

    Parameters
    ----------
    brief : a line for each metric, and at the end the best of each ranking against few others; otherwise a
        line for each row, and all rankings below their tables
    """
    parts = _brief_parts if brief else _full_parts
    nodes: list[Node] = []
    for table in filter(offered, comparison.tables):
        marks = [f"{mark}  {meaning}" for mark, meaning in explained(table.rows)]
        nodes += [Heading(table.title), *parts(comparison, table, view), *_items(marks)]
    errors = errors_text(ranking for _, ranking in comparison.rankings)
    runs = ranked_state(comparison.states), condition_text(comparison.records).rstrip()
    about = (long_legend(comparison, view), *runs, errors)
    meaning = Paragraph(" ".join(filter(None, about)))
    notes = _items(note_lines(comparison, view))
    left_out = [Heading("Left out and in doubt"), *notes] if notes else []
    machines, raced = machine_nodes(comparison.machines), race_nodes(comparison.races)
    odd = configuration_nodes(comparison.configurations)
    looks = _items([sentence for found in comparison.decided for sentence in decided_sentences(found)])
    raced += [Heading("Until it is decided"), *looks] if looks else []
    answer = [Paragraph(f"{summary(comparison, view).lead}.")] if brief else []
    if not comparison.tables:
        return [*answer, *machines, *odd]
    if brief:
        return [*answer, *machines, *nodes, *raced, meaning, *left_out, *odd, *_statements(comparison, view)]
    beside = [*gather_nodes(comparison, view), *scaling_nodes(comparison, view)]
    of_blocks = block_nodes(comparison, view, each_block=True)
    return [*machines, *nodes, *of_blocks, *raced, *beside, *odd, *left_out, meaning]


def _items(found: Sequence[str]) -> list[Node]:
    return [Items(tuple(found))] if found else []


def _published(table: Table) -> list[Node]:
    """Where published values are from."""
    return _items(published_sources(table))


# In full


def _full_parts(comparison: Comparison, table: Table, view: View) -> Iterator[Node]:
    """Median and interval, mean and range, published values, rankings as sentences."""
    yield Caption("median [interval]:")
    yield full_grid(comparison, table, view, median_text)
    if table.metrics:
        yield Caption("mean (minimum to maximum):")
        yield full_grid(comparison, table, view, range_text)
    if table.published:
        yield Caption("published:")
        yield published_grid(table, view)
    yield from _published(table)
    yield from _items(interpolated_lines(comparison, table, view))
    untested, told = _untested_and_told(table.rankings)
    rankings = [*map(ranking_text, told), *untested]
    sentences = [sentence for ranking in table.rankings for sentence in pairs.pair_sentences(ranking, view)]
    over = over_group_lines(table, view)
    yield from _items([*over, *rankings, *sentences, *disturbed_lines(comparison, table, view)])


def _untested_and_told(rankings: Sequence[Ranking]) -> tuple[list[str], list[Ranking]]:
    """The lines of those that share one, and the others."""
    lines = untested_lines(rankings)
    together = {id(one) for several in lines.values() for one in several}
    return list(lines), [one for one in rankings if id(one) not in together]


# Brief


def _brief_parts(comparison: Comparison, table: Table, view: View) -> Iterator[Node]:
    """The values of each group of metrics, published ones among them."""
    if not table.metrics:
        rows = [(f"{row_name(comparison, table, row)}  {absence(row.absence)}",) for row in offered(table)]
        yield Grid("", 1, ("", ""), tuple(rows))
    for group, found in groupby(table.metrics, key=lambda metric: metric.group):
        metrics = list(found)
        units = dict.fromkeys(view.unit_of(metric.dimension) for metric in metrics)
        yield Caption(f"{group or metrics[0].name} ({', '.join(units)})")
        yield brief_grid(comparison, table, metrics, view)
    yield from _published(table)
    yield from _items(interpolated_lines(comparison, table, view))


def _statements(comparison: Comparison, view: View) -> Iterator[Node]:
    """Which host group, own against others, then which placement; each ranking once."""
    only_tested = any(found.kind == PLACEMENTS for found in comparison.of_few)
    found = [(table, ranking) for table, ranking in comparison.rankings if not table.is_baseline]
    found = [(table, ranking) for table, ranking in found if ranking.judged or not only_tested]
    of_kind = {
        kind: [*_of_kind([each for each in found if each[1].kind == kind], view)]
        for kind in (HOST_GROUPS, LIBRARIES, PLACEMENTS)
    }
    tables = [table for table in comparison.tables if not table.is_baseline]
    busy = (
        Statement(f"{table.title}: {BUSY}", lines)
        for table in tables
        if (lines := disturbed_lines(comparison, table, view))
    )
    yield from _answered("Which host group is best, by how much", of_kind[HOST_GROUPS])
    yield from _answered("Which MPI library is best, by how much", of_kind[LIBRARIES])
    yield from block_nodes(comparison, view)
    yield from _own(comparison, view)
    yield from _of_few(comparison)
    yield from _over_groups(tables, view)
    yield from _answered("Which placement is best, by how much", [*of_kind[PLACEMENTS], *busy])


def _of_kind(found: Sequence[tuple[Table, Ranking]], view: View) -> Iterator[Node]:
    untested, told = _untested_and_told([ranking for _, ranking in found])
    shown = {id(ranking) for ranking in told}
    yield from (_ranking(table, ranking, view) for table, ranking in found if id(ranking) in shown)
    yield from (Statement(line, ()) for line in untested)


def _answered(question: str, answers: Sequence[Node]) -> list[Node]:
    return [Heading(question), *answers] if answers else []


def _own(comparison: Comparison, view: View) -> list[Node]:
    """The campaign's own host groups against those of others."""
    lines = own_lines(comparison, view)
    return [Heading(OWN), *_items(lines), Paragraph(own_legend(comparison))] if lines else []


def _over_groups(tables: Sequence[Table], view: View) -> list[Node]:
    lines = [f"{table.title}, {line}" for table in tables for line in telling_lines(table, view)]
    return [Heading(HEADING), *_items(lines), Paragraph(legend(tables))] if lines else []


def _of_few(comparison: Comparison) -> list[Node]:
    lines = lines_of_few(comparison)
    return [Heading(OF_FEW), *_items(lines), Paragraph(legend_of_few(comparison))] if lines else []


def _ranking(table: Table, ranking: Ranking, view: View) -> Statement:
    """The verdict, then the best against its nearest rivals, and the last of all."""
    found = ranking.told_pairs
    shown = found if len(found) <= 3 else (*found[:2], found[-1])
    text = f"{table.title}, {ranking_text(ranking)}"
    return Statement(text, tuple(pairs.pair_sentence(pair, view) for pair in shown))


# What the tables mean, and what is left out


def note_lines(comparison: Comparison, view: View) -> list[str]:
    """What is left out or doubtful, with the case that it concerns; the series where only one is meant."""
    found = list(map(str, not_available(comparison)))
    for table, row, note in comparison.notes():
        if not is_offered(row):
            continue
        series = table.title if note.kind in OF_ONE_SERIES else visible(table.benchmark)
        found.append(
            f"{comparison.place(row)} {visible(row.case.placement)} {series}: {note_text(note, view)}"
        )
    return found


def long_legend(comparison: Comparison, view: View) -> str:
    """What the columns of the long layout are."""
    coverages = ", ".join(f"{percent(c)} for n = {n}" for n, c in comparison.coverages().items())
    scale = "10^6" if view.unit == "MB/s" else "2^20"
    text = f"n: repeats with a value / {runs_are(comparison.records)}. median: over repeats. "
    text += "[interval]: order-statistic interval "
    text += f"of the median; coverage {coverages}. " if coverages else "of the median. "
    text += f"{view.unit} = {scale} B/s. Contradicted and failed runs are left out. "
    text += f"{OF_OWN_REPEATS} " if comparison.apart_in_time else ""
    return text.rstrip()
