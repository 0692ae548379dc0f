"""Gathers side by side: their table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mpicampaign.base.dimension import BANDWIDTH
from mpicampaign.base.text import counted, visible
from mpicampaign.base.units import format_size
from mpicampaign.compare.tables import Comparison
from mpicampaign.questions.gathers.find import Gather, Gathers, gathers
from mpicampaign.show.document import Fold, Grid, Heading, Line, Paragraph
from mpicampaign.show.view import View
from mpicampaign.statistics.medians import median

GATHERS = "Gathers side by side: bandwidth against cores in use"
DEFINITION = (
    "Bandwidth: (P - 1) m / T for P ranks with m bytes each; T is the time of the slowest rank (IMB: t_max), "
    "or the mean over ranks where OSU prints no other, which is shorter."
)


def gather_nodes(comparison: Comparison, view: View) -> list[Heading | Paragraph | Grid]:
    """The table of each host group and number of nodes; nothing where there are no gathers to compare."""
    tables = gathers(comparison)
    nodes: list[Heading | Paragraph | Grid] = []
    nodes += [Heading(GATHERS), Paragraph(DEFINITION)] if tables else []
    for of_place in tables:
        nodes += [Paragraph(f"{place_of(comparison, of_place)}. {placements_text(of_place)}")]
        nodes += [_grid(of_place, view)]
    return nodes


def gather_fold(comparison: Comparison, view: View) -> list[Fold]:
    """The table of gathers, folded below its title."""
    nodes = gather_nodes(comparison, view)
    return [Fold(GATHERS, tuple(nodes[1:]))] if nodes else []


def place_of(comparison: Comparison, comparable: Gathers) -> str:
    """``local, 1 node``."""
    several = comparison.several
    where = f"{comparable.system}/{comparable.host_group}" if several else comparable.host_group
    nodes = counted(comparable.nodes, "node") if comparable.nodes else "unknown nodes"
    return f"{visible(where)}, {nodes}"


def placements_text(comparable: Gathers) -> str:
    """``2 ranks: SHM-1; 4 ranks: FULL-1.``"""
    used = dict.fromkeys((gather.ranks, visible(gather.row.case.placement)) for gather in comparable.gathers)
    return f"{'; '.join(f'{ranks} ranks: {placement}' for ranks, placement in used)}."


def gather_name(gather: Gather) -> str:
    """The name; with what its time is where that is not the slowest rank's."""
    return visible(gather.name) + (" (mean over ranks)" if gather.mean_time else "")


def _grid(comparable: Gathers, view: View) -> Grid:
    name = view.unit_of(BANDWIDTH)
    header = ("gather", "cores in use", "n", *(f"{format_size(size)} ({name})" for size in comparable.sizes))
    lines: tuple[Line, ...] = tuple(
        (gather_name(gather), gather.ranks, len(gather.runs), *_medians(gather, comparable.sizes, view))
        for gather in sorted(comparable.gathers, key=lambda gather: (gather.ranks, gather_name(gather)))
    )
    return Grid(
        f"{GATHERS}: {visible(comparable.host_group)}", 1, header, lines, role="sortable", label=GATHERS
    )


def _medians(gather: Gather, sizes: Sequence[int], view: View) -> Iterable[str]:
    for size in sizes:
        values = [values[size] for _, values in gather.runs if size in values]
        yield view.number(median(values), BANDWIDTH) if values else "not measured"
