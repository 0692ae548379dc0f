"""The report: one HTML file that opens offline, without scripts, and asks no server for anything.

All text from records is escaped by the template engine and made visible first (see `wording.visible`),
so that no host name or reason becomes markup. Raw files are linked, relative to the report.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from mpicampaign import wording
from mpicampaign.metrics import BASELINE
from mpicampaign.ranking import PLACEMENTS
from mpicampaign.records import OK, UNVERIFIED
from mpicampaign.rows import KIND_WORDS, OF_ONE_SERIES
from mpicampaign.wording import RATIO, quantity, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpicampaign.comparison import Comparison, Table
    from mpicampaign.figures import Figure
    from mpicampaign.metrics import Metric
    from mpicampaign.ranking import Ranking
    from mpicampaign.records import Case, Record
    from mpicampaign.rows import Row

TEMPLATES = Path(__file__).resolve().parents[2] / "templates" / "report"
_ANSWERS = 6  # on the first screen; all rankings follow further down


@dataclass(frozen=True, slots=True)
class Answer:
    """Which placement is best in one metric, over all host groups: what the first screen says."""

    title: str
    verdict: str
    lines: tuple[str, ...]
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CaseRuns:
    """All runs of one case, with the series whose figures are shown for each."""

    anchor: str
    case: Case
    records: tuple[Record, ...]
    rows: tuple[tuple[Table, Row], ...]


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
    unit: str = "MB/s",
) -> None:
    """Write the report.

    Parameters
    ----------
    path : the HTML file; links to raw files are relative to its folder
    comparison : of the same records
    figures : drawn ones, whose SVG files are read and put inline
    campaign_text : the campaign file, shown as it is
    provenance : further facts to show, such as the version of this program
    unit : of bandwidths, MB/s (10^6 B/s) or MiB/s
    """
    template = _environment(unit, path.parent).get_template("report.html.j2")
    text = template.render(
        title=campaign_title or campaign_name or "MPI campaign",
        campaign_name=campaign_name,
        campaign_text=campaign_text,
        comparison=comparison,
        answers=answers(comparison, unit)[:_ANSWERS],
        counts=run_counts(records),
        period=_period(records),
        figures=[(figure, _inline(figure.svg)) for figure in figures],
        cases=case_runs(comparison, records),
        anchors=_anchors(records),
        of_one_series=OF_ONE_SERIES,
        provenance={**(provenance or {}), **_facts(records)},
    )
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8", errors="replace")
    part.replace(path)


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
        "number": partial(_with_unit, wording.number, unit),
        "bounds": partial(_with_unit, wording.bounds, unit),
        "unit": partial(_with_unit, wording.unit_of, unit),
        "words": lambda pair: pair.words(unit),
        "percent": wording.percent,
        "probability": wording.probability,
        "size_range": wording.size_range,
        "repeats_words": wording.repeats_words,
        "state_words": lambda state: KIND_WORDS.get(state, state),
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


def _inline(svg: Path) -> str:
    """The figure as an address that holds its own data: its parts cannot clash with those of others."""
    return "data:image/svg+xml," + quote(svg.read_text(encoding="utf-8"), safe=" /:;,=()!*.-_+?@[]{}|~")


def metric_groups(metrics: Iterable[Metric]) -> list[tuple[str, list[Metric]]]:
    """Metrics that stand under a common heading."""
    return [(group, list(members)) for group, members in groupby(metrics, key=lambda metric: metric.group)]


def answers(comparison: Comparison, unit: str = "MB/s") -> list[Answer]:
    """The statements for the first screen: one for each table and headline metric, placements compared.

    The first table of each benchmark comes before the others, so that each benchmark has its say.
    """
    found = []
    first = {table.benchmark: table for table in reversed(comparison.tables)}
    for table in sorted(comparison.tables, key=lambda table: first[table.benchmark] is not table):
        rankings = [ranking for ranking in table.rankings if ranking.kind == PLACEMENTS]
        for metric in dict.fromkeys(ranking.metric for ranking in rankings):
            if table.label != BASELINE:
                of_metric = [ranking for ranking in rankings if ranking.metric == metric]
                found.append(_answer(table, metric, of_metric, unit))
    return found


def _answer(table: Table, metric: Metric, rankings: Sequence[Ranking], unit: str) -> Answer:
    heading = f"{table.title}: {metric.name}"
    if len(rankings) == 1:
        ranking = rankings[0]
        evidence = tuple(contestant.evidence for contestant in ranking.contestants)
        pairs = tuple(pair.words(unit) for pair in ranking.pairs_of_best)
        return Answer(heading, ranking.verdict, pairs + baseline_lines(table), evidence + ranking.absent)
    lines = tuple(_scope_line(ranking, unit) for ranking in rankings)
    return Answer(heading, _consensus(rankings), lines, (_common_evidence(rankings),))


def baseline_lines(table: Table) -> tuple[str, ...]:
    """How a kernel compares with the baseline of its own runs, at the largest size shown."""
    metric = next((metric for metric in reversed(table.metrics) if metric.baseline), None)
    if metric is None:
        return ()
    cells = [(row.case.placement, row.cell(metric)) for row in table.rows]
    return tuple(
        f"{placement}: {quantity(cell.summary.median, RATIO)} {BASELINE} {metric.group} "
        f"{wording.bounds(cell.summary.interval, RATIO)}"
        for placement, cell in cells
        if cell.summary is not None
    )


def _scope_line(ranking: Ranking, unit: str) -> str:
    """In one host group among several: the best against the nearest."""
    pairs = ranking.pairs_of_best
    return f"{ranking.scope}: {pairs[0].words(unit) if pairs else ranking.verdict}"


def _consensus(rankings: Sequence[Ranking]) -> str:
    """Which placements are best, or cannot be told from the best, in how many host groups."""
    winners = Counter(" or ".join(sorted(ranking.leaders)) for ranking in rankings)
    word = "lowest" if rankings[0].metric.lower_is_better else "highest"
    parts = [f"{names} in {count} of {len(rankings)}" for names, count in winners.most_common()]
    return f"{word}: {', '.join(parts)} host groups"


def _common_evidence(rankings: Sequence[Ranking]) -> str:
    rows = [contestant.row for ranking in rankings for contestant in ranking.contestants]
    verdicts = sum((Counter(row.verdicts) for row in rows), Counter[str]())
    words = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    return f"{sum(row.counted for row in rows)} of {sum(row.planned for row in rows)} runs count: {words}"


def run_counts(records: Iterable[Record]) -> dict[str, int]:
    """How many runs ended in each state: a verdict for complete ones, the status for others."""
    return dict(Counter(_state(record) for record in records).most_common())


def _state(record: Record) -> str:
    return (record.verdict or UNVERIFIED) if record.status == OK else record.status


def _period(records: Iterable[Record]) -> tuple[str, str] | None:
    """When the first run started and the last one ended, as recorded; ISO times sort as text."""
    times = sorted(time for record in records for time in (record.started, record.ended) if time)
    return (times[0], times[-1]) if times else None


def _facts(records: Iterable[Record]) -> dict[str, str]:
    """Metadata that runs recorded: each key with its values, the commonest first."""
    found: dict[str, Counter[str]] = {}
    for record in records:
        for key, value in record.metadata.items():
            found.setdefault(key, Counter())[value] += 1
    return {key: _values_words(values) for key, values in sorted(found.items())}


def _values_words(values: Counter[str]) -> str:
    common = values.most_common(4)
    words = "; ".join(f"{value} ({count} runs)" for value, count in common)
    return words + (f"; and {len(values) - 4} other values" if len(values) > 4 else "")


def case_runs(comparison: Comparison, records: Sequence[Record]) -> list[CaseRuns]:
    """The runs of each case with the rows that were made from them."""
    anchors = _anchors(records)
    rows: dict[Case, list[tuple[Table, Row]]] = {}
    for table in comparison.tables:
        for row in table.rows:
            rows.setdefault(row.case, []).append((table, row))
    return [
        CaseRuns(anchor, case, tuple(rec for rec in records if rec.case == case), tuple(rows.get(case, [])))
        for case, anchor in anchors.items()
    ]


def _anchors(records: Iterable[Record]) -> dict[Case, str]:
    """An identifier for each case that is fit for an address, unlike those of all other cases."""
    anchors: dict[Case, str] = {}
    for case in dict.fromkeys(record.case for record in records):
        base = "case-" + re.sub(r"[^A-Za-z0-9]+", "-", str(case)).strip("-")
        taken = set(anchors.values())
        name, number = base, 1
        while name in taken:
            number += 1
            name = f"{base}-{number}"
        anchors[case] = name
    return anchors
