"""Own values beside those of public systems, in words: ranges and how many, never a place among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.base.reference import BALANCE, LATENCY, PAIR, Likeness, SystemValue
from mpicampaign.base.text import counted, listed, visible
from mpicampaign.base.units import format_size
from mpicampaign.compare.tables import Comparison
from mpicampaign.evidence.fabrics import GIGABIT, NODES, SAME_NODE, SAME_SOCKET, SOCKETS, fabric_title
from mpicampaign.evidence.plausible import BOUND_SIZE
from mpicampaign.questions.public_systems.find import (
    NO_FABRIC,
    NO_RANKS,
    NO_SCOPE,
    NONE_ALIKE,
    NOT_SHM,
    ON_DEVICE,
    ONE_NODE,
    OVER_TCP,
    SHORT,
    UNRANKED,
    Beside,
    beside_public,
)
from mpicampaign.show.document import Grid, Heading, Items, Kind, Line, Node, Paragraph
from mpicampaign.show.view import View
from mpicampaign.statistics.medians import median

TITLE = "Beside public systems"
_NAMED = 3  # rows of a reason
_NOTHING = "No run with values is of a benchmark that public systems ran."
LEGEND = (
    "Alike are scope, fabric and rate, size, ranks, nodes and what the number means; processor, MPI library "
    "and year are not. Few systems are no norm."
)
_WHERE = {
    **{SAME_SOCKET: "within a socket", SOCKETS: "between sockets", SAME_NODE: "within a node"},
    **{NODES: "between nodes"},
}
_NAME_IT = (
    "name it as an attribute of the host group or, in a map, of the placement, such as fabric: infiniband-hdr"
)
_WHY = {
    NO_SCOPE: "where these ranks ran was not recorded; a map says it by nodes: of the placement",
    NO_FABRIC: f"the fabric of these runs is not known; {_NAME_IT}",
    NO_RANKS: "how many ranks took part, or on how many nodes, is not known",
    OVER_TCP: "within a node public systems sent over shared memory; these runs sent over TCP",
    NOT_SHM: "within a node public systems sent over shared memory; these runs are not known to",
    ONE_NODE: "with several ranks on a node, ranks 0 and 1 may share one",
    SHORT: f"no peak bandwidth, as their messages end below {format_size(BOUND_SIZE)}; most public peaks are "
    "at that size or above",
    UNRANKED: "disturbed, with ranks that share cores, in another state, or at most so much",
    ON_DEVICE: "values of device buffers are compared with none",
}


class Alike(NamedTuple):
    """Own rows and other values of one kind in one metric of a table."""

    title: str
    rows: Sequence[Beside]

    @property
    def first(self) -> Beside:
        """What all rows have in common is read from it."""
        return self.rows[0]


def alike(rows: Iterable[Beside]) -> list[Alike]:
    """Own rows with others of like kind, those of one kind together."""
    kinds = grouped(
        (beside for beside in rows if beside.others),
        lambda beside: (beside.table.title, beside.own.kind.same, beside.own.rails),
    )
    return [Alike(what(of_kind[0]), of_kind) for of_kind in kinds.values()]


def what(beside: Beside) -> str:
    """``PingPong, 8 B between nodes over InfiniBand HDR``."""
    return f"{beside.table.title}, {_number(beside.own.kind)}{_where(beside.own.kind)}"


def _number(kind: Likeness) -> str:
    return format_size(kind.size) if kind.metric == LATENCY and kind.size is not None else kind.metric


def _where(kind: Likeness) -> str:
    if kind.metric == BALANCE:
        return ""
    over = f" over {visible(fabric_title(kind.fabric))}" if kind.scope == NODES else ""
    ranks = "" if kind.ranks == PAIR else f", {kind.ranks} ranks on {counted(kind.nodes or 0, 'node')}"
    return f" {_WHERE[kind.scope]}{over}{ranks}"


def sentence(group: Alike, view: View) -> str:
    """``8 B between nodes over InfiniBand HDR: 1.31 µs; 5 public systems 0.78 to 1.96, median 1.58``."""
    dimension, systems = group.first.metric.dimension, group.first.systems
    medians = [beside.summary.median for beside in group.rows]
    mine = view.quantity(medians[0], dimension)
    if len(medians) > 1:
        ends = view.number(min(medians), dimension), view.quantity(max(medians), dimension)
        mine = f"{len(medians)} own {' to '.join(ends)}"
    bundles = {other.system for other in group.first.others if other.bundle}
    public = counted(len(systems) - len(bundles), "public system")
    public += f" and {len(bundles)} of bundles" if bundles else ""
    values = [other.value for other in group.first.others]
    low, high, middle = (
        view.number(value, dimension) for value in (min(values), max(values), median([*systems.values()]))
    )
    theirs = f"{low} to {high}, median {middle}" if len(values) > 1 else low
    return f"{group.title}: {mine}; {public} {theirs}"


def shares(comparison: Comparison, rows: Iterable[Beside]) -> Iterator[str]:
    """``skylake IBV, PingPong: 11.3 GB/s is 90 % of 100 Gb/s``, where rate and adapters are known."""
    for beside in rows:
        if beside.bound:
            both = "2 × " if beside.directions > 1 else ""
            median_of_row = beside.summary.median
            value = f"{median_of_row / 1e9:.3g} GB/s is {100 * median_of_row / beside.bound:.0f} %"
            rate = f"{both}{beside.bound / beside.directions / GIGABIT:g} Gb/s"
            yield f"{_place(comparison, beside)}, {beside.table.title}: {value} of {rate}"


def not_compared(comparison: Comparison, every: Iterable[Beside]) -> Iterator[str]:
    """What is of no kind in the table, each reason once, with the rows."""
    lacking = [beside for beside in every if beside.lacking]
    for (why, where), rows in grouped(lacking, _reason).items():
        names = list(dict.fromkeys(_place(comparison, beside) for beside in rows))
        shown = listed(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
        numbers = dict.fromkeys(f"{beside.table.series} {_number(beside.own.kind)}" for beside in rows)
        yield f"{shown}: {_WHY.get(why) or f'no public value{where} of {visible(listed([*numbers]))}'}"


def _reason(beside: Beside) -> tuple[str, str]:
    return beside.lacking, _where(beside.own.kind) if beside.lacking == NONE_ALIKE else ""


def _place(comparison: Comparison, beside: Beside) -> str:
    return f"{comparison.place(beside.row)} {visible(beside.row.case.placement)}"


def public_document(comparison: Comparison, more: Sequence[SystemValue], view: View) -> list[Node]:
    """All that is said, and each value with its source; ``more``: of others' bundles."""
    rows = beside_public(comparison, more)
    groups = alike(rows)
    sentences = [*shares(comparison, rows), *(sentence(group, view) for group in groups)]
    nodes: list[Node] = [Heading(TITLE, 1), *_items(sentences if rows else [_NOTHING])]
    if lacking := _items(not_compared(comparison, rows)):
        nodes += [Heading("Not compared"), *lacking]
    grids = [values_grid(group, view) for group in groups]
    return [*nodes, Paragraph(LEGEND, "legend"), *grids] if groups else nodes


def _items(lines: Iterable[str]) -> list[Node]:
    return [Items(texts)] if (texts := tuple(lines)) else []


def values_grid(group: Alike, view: View) -> Grid:
    """Each value with its source and licence, own ones first."""
    dimension = group.first.metric.dimension
    unit = view.unit_of(dimension)
    lines: list[Line] = []
    for value, of in _values(group):
        numbers = (view.number(number, dimension) for number in (value.value, *value.ends))
        source = "; ".join(filter(None, (value.source or of, value.licence, value.about, value.note)))
        lines.append((visible(value.system), *numbers, value.n, visible(source)))
    header = ("", f"median ({unit})", "lowest", "highest", "outputs", "source")
    return Grid(group.title, 1, header, tuple(lines), remarks=1)


_COLUMNS: dict[str, Kind] = {
    **dict.fromkeys(("compared", "system", "of"), str),
    **dict.fromkeys(("median [unit]", "lowest [unit]", "highest [unit]"), float),
    **{"unit": str, "n": int, "made_with": str, "source": str, "licence": str, "note": str},
}


def public_data(comparison: Comparison, more: Sequence[SystemValue]) -> Grid:
    """A line for each value of like kind, own ones first, in SI units."""
    lines: list[Line] = []
    for group in alike(beside_public(comparison, more)):
        unit = group.first.metric.dimension.si_unit
        for value, of in _values(group):
            texts = map(visible, (value.about, value.source, value.licence, value.note))
            names = (group.title, visible(value.system), of)
            lines.append((*names, value.value, *value.ends, unit, value.n, *texts))
    return Grid("", 3, tuple(_COLUMNS), tuple(lines), kinds=tuple(_COLUMNS.values()))


def _values(group: Alike) -> Iterator[tuple[SystemValue, str]]:
    """Own ones first, and whose each is."""
    yield from ((beside.own, "own") for beside in group.rows)
    for other in sorted(group.first.others, key=lambda other: other.value):
        yield other, "bundle" if other.bundle else "public"
