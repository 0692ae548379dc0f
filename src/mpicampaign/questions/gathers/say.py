"""Gathers side by side: their table, and what a drawing against cores in use lacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mpicampaign.base.dimension import BANDWIDTH
from mpicampaign.base.text import counted, visible
from mpicampaign.base.units import format_size
from mpicampaign.questions.gathers.find import Gather, Gathers, gathers
from mpicampaign.show.document import Fold, Grid, Heading, Line, Paragraph
from mpicampaign.statistics.medians import median

if TYPE_CHECKING:
    from mpicampaign.compare.tables import Comparison
    from mpicampaign.show.view import View

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
        nodes += [Paragraph(missing)] if (missing := _missing(of_place)) else []
    return nodes


def gather_fold(comparison: Comparison, view: View) -> list[Fold]:
    """The same folded, below its title."""
    nodes = gather_nodes(comparison, view)
    return [Fold(GATHERS, tuple(nodes[1:]))] if nodes else []


def place_of(comparison: Comparison, found: Gathers) -> str:
    """``local, 1 node``."""
    several = comparison.several
    where = f"{found.system}/{found.host_group}" if several else found.host_group
    nodes = counted(found.nodes, "node") if found.nodes else "unknown nodes"
    return f"{visible(where)}, {nodes}"


def placements_text(found: Gathers) -> str:
    """``2 ranks: SHM-1; 4 ranks: FULL-1.``"""
    used = dict.fromkeys((one.ranks, visible(one.row.case.placement)) for one in found.found)
    return f"{'; '.join(f'{ranks} ranks: {placement}' for ranks, placement in used)}."


def gather_name(one: Gather) -> str:
    """The name; with what its time is where that is not the slowest rank's."""
    return visible(one.name) + (" (mean over ranks)" if one.mean_time else "")


def _missing(found: Gathers) -> str:
    """What a drawing lacks; empty where it is drawn."""
    if len(found.ranks) > 1:
        return ""
    return (
        f"Not drawn: all gathers had {found.ranks[0]} ranks. Add placements of this host group with other "
        "numbers of ranks on as many nodes."
    )


def _grid(found: Gathers, view: View) -> Grid:
    name = view.unit_of(BANDWIDTH)
    header = ("gather", "cores in use", "n", *(f"{format_size(size)} ({name})" for size in found.sizes))
    lines: tuple[Line, ...] = tuple(
        (gather_name(one), one.ranks, len(one.runs), *_medians(one, found.sizes, view))
        for one in sorted(found.found, key=lambda one: (one.ranks, gather_name(one)))
    )
    return Grid(f"{GATHERS}: {visible(found.host_group)}", 1, header, lines, role="sortable", label=GATHERS)


def _medians(one: Gather, sizes: Sequence[int], view: View) -> Iterable[str]:
    for size in sizes:
        values = [values[size] for _, values in one.runs if size in values]
        yield view.number(median(values), BANDWIDTH) if values else "not measured"
