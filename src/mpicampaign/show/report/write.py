"""The report: one HTML file that opens offline and asks no server for anything.

All text from records is escaped by the template engine and made visible first (see `text.visible`),
so that no host name or reason becomes markup. Raw files are linked, relative to the report. Scripts sort and
filter tables and draw curves; no others than these run, and without them everything is still there.
"""

from __future__ import annotations

import os
import re
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from mpicampaign.compare.findings import OF_ONE_SERIES
from mpicampaign.compare.stopping import look
from mpicampaign.dimension import BANDWIDTH, RATIO
from mpicampaign.files import write_whole
from mpicampaign.places import shipped
from mpicampaign.show import numbers
from mpicampaign.show.answers import advice, answers
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.charts.selection import selections
from mpicampaign.show.fits import LEGEND, fit_heads, fit_lines
from mpicampaign.show.names import runs_are
from mpicampaign.show.published import against, published_sources, published_words
from mpicampaign.show.rankings import (
    absent_words,
    change_ratio,
    change_verdict,
    look_words,
    pair_words,
    verdict,
)
from mpicampaign.show.report.plots import bokeh_script, curves_data, script_hash
from mpicampaign.show.runs import anchors, case_runs, facts, how_many, period, run_counts
from mpicampaign.show.sentences import KIND_WORDS, absence, reason
from mpicampaign.text import repeats_words, visible
from mpicampaign.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.compare.changes import Changes
    from mpicampaign.compare.metrics import Metric
    from mpicampaign.compare.tables import Comparison
    from mpicampaign.records import Record
    from mpicampaign.show.answers import Answer
    from mpicampaign.show.charts.selection import SelectionChart
    from mpicampaign.show.figures.draw import Figure

TEMPLATES = shipped("templates/report")
# Declarations, comments and metadata of a drawing.
_NOT_SEEN = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)
_LARGEST = 4_900_000  # characters of a report that mail and browsers take easily
_MOST_DRAWN = 1_800_000  # of these, characters of figures; the others are linked
# Swatches: Bokeh's line styles in SVG's numbers, and its markers as paths around 0, 0.
_DASHES = {"solid": "none", "dashed": "6", "dotted": "2 4", "dashdot": "6 4 2 4"}
_MARKS = {
    "circle": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "square": "M-3.5-3.5h7v7h-7z",
    "triangle": "M0-4.5L4.5 3.5h-9z",
    "diamond": "M0-5L3.5 0L0 5L-3.5 0z",
    "inverted_triangle": "M0 4.5L4.5-3.5h-9z",
    "plus": "M-4 0h8M0-4v8",
    "x": "M-3.5-3.5l7 7M-3.5 3.5l7-7",
}
_ANSWERS = 6  # on the first screen; all rankings follow further down


def write_report(
    path: Path,
    comparison: Comparison,
    records: Sequence[Record],
    figures: Sequence[Figure] = (),
    *,
    campaign_title: str = "",
    campaign_name: str = "",
    campaign_text: str = "",
    provenance: dict[str, str] | None = None,
    beside: Sequence[str] = (),
    unit: str = "MB/s",
    changes: Changes | None = None,
) -> None:
    """Write the report.

    Parameters
    ----------
    path : the HTML file; links to raw files are relative to its folder
    comparison : of the same records
    figures : drawn ones, whose SVG files are read and put inline
    campaign_text : the campaign file, shown as it is
    provenance : further facts to show, such as the version of this program
    beside : lines on results that are there and have no part in the report
    unit : of bandwidths, MB/s (10^6 B/s) or MiB/s
    changes : the earlier series that figures are compared with
    """
    found = selections(Scene(comparison, unit))
    every = answers(comparison, unit)
    first = every[:_ANSWERS]
    template = _environment(unit, path.parent).get_template("report.html.j2")
    render = partial(
        template.render,
        title=campaign_title or campaign_name or "MPI campaign",
        campaign_name=campaign_name,
        campaign_text=campaign_text,
        comparison=comparison,
        answers=first,
        answered=len(every),
        not_answered=_tables_of(every[_ANSWERS:], comparison),
        advice=advice(first),
        how_many=how_many(records),
        runs_are=runs_are(records),
        changes=changes,
        fit_legend=LEGEND,
        fit_heads=fit_heads(unit),
        fit_lines=lambda table: fit_lines(comparison, table, unit),
        against=lambda table: against(comparison, table, unit),
        published_sources=published_sources,
        counts=run_counts(records),
        period=period(records),
        charts=found,
        dashes=_DASHES,
        marks=_MARKS,
        cases=case_runs(comparison, records),
        anchors=anchors(records),
        of_one_series=OF_ONE_SERIES,
        beside=beside,
        provenance={**(provenance or {}), **facts(records)},
        **_scripts(found),
    )
    text = render(figures=_addresses(figures, _MOST_DRAWN))
    if len(text) > _LARGEST:
        text = render(figures=_addresses(figures, _MOST_DRAWN - (len(text) - _LARGEST)))
    write_whole(path, text.encode("utf-8", errors="replace").decode("utf-8"))


def _tables_of(found: Sequence[Answer], comparison: Comparison) -> dict[str, str]:
    """The tables that answers are of: anchors by title."""
    wanted = [id(answer.table) for answer in found]
    numbered = enumerate(comparison.tables, start=1)
    return {table.title: f"table-{number}" for number, table in numbered if id(table) in wanted}


def _scripts(found: Sequence[SelectionChart]) -> dict[str, Any]:
    """The report's programs and their data, and what the page may run: these programs alone."""
    own = [Markup((TEMPLATES / name).read_text(encoding="utf-8")) for name in ("tables.js", "curves.js")]
    programs = [bokeh_script(), *own] if found else own[:1]
    return {
        "programs": programs,
        "policy": Markup(" ".join(script_hash(text) for text in programs)),
        "curves": curves_data(found),
    }


def _environment(unit: str, folder: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_made_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": partial(_with_unit, numbers.number, unit),
        "bounds": partial(_with_unit, numbers.bounds, unit),
        "ratio": RATIO.number,
        "rate": lambda value: numbers.quantity(value, BANDWIDTH, unit),
        "unit": partial(_with_unit, numbers.unit_of, unit),
        "pair_words": lambda pair: pair_words(pair, unit),
        "reason": lambda note: reason(note, unit),
        "absence": absence,
        "absent_words": absent_words,
        "verdict": verdict,
        "change_ratio": change_ratio,
        "change_verdict": change_verdict,
        "published_words": published_words,
        "percent": numbers.percent,
        "probability": numbers.probability,
        "size_range": numbers.size_range,
        "repeats_words": repeats_words,
        "state_words": lambda state: KIND_WORDS.get(state, state),
        "size": format_size,
        "enough": lambda values: look_words(look(values)),
        "metric_groups": metric_groups,
        "link": partial(_link, folder),
        "lines": _lines,
    }
    return environment


def _with_unit(function: Any, unit: str, *arguments: Any) -> Any:
    return function(*arguments, unit)


def _made_visible(value: Any) -> Any:
    """What the template prints: foreign text without characters that act instead of being seen."""
    return value if isinstance(value, Markup) else visible(str(value))


def _lines(text: str) -> Markup:
    """A text of several lines, escaped, each line made visible."""
    return Markup("\n").join(escape(visible(line)) for line in text.expandtabs().splitlines())


def _link(folder: Path, target: str) -> str:
    """The address of a file relative to the report's folder, safe in an attribute."""
    return quote(os.path.relpath(target, folder).replace(os.sep, "/"), errors="replace")


def _addresses(figures: Sequence[Figure], most: int) -> list[tuple[Figure, Markup | None]]:
    """Each figure with its address; ``None`` for those beyond so many characters in all."""
    left, found = most, []
    for figure in figures:
        address = _inline(figure.svg)
        found.append((figure, address if len(address) <= left else None))
        left -= len(address) if len(address) <= left else 0
    return found


def _inline(svg: Path) -> Markup:
    """The figure as an address that holds its own data: its parts cannot clash with those of others.

    Without what is not seen, and quoted with apostrophes where it has none: a sixth shorter.
    """
    text = _NOT_SEEN.sub("", svg.read_text(encoding="utf-8"))
    text = re.sub(r"\s+", " ", text)
    text = text if "'" in text else text.replace('"', "'")
    return Markup("data:image/svg+xml," + quote(text, safe=" /:;,=()!*.-_+?@[]{}|~'"))


def metric_groups(metrics: Iterable[Metric]) -> list[tuple[str, list[Metric]]]:
    """Metrics that stand under a common heading."""
    return [(group, list(members)) for group, members in groupby(metrics, key=lambda metric: metric.group)]
