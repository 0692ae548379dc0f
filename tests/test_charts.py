"""The chart model: its values are those of the records, and both renderers draw them."""

from __future__ import annotations

import re
import statistics
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import synthetic
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from test_report_curves import sources

from mpicampaign import dimension as dimensions
from mpicampaign.compare.compare import compare
from mpicampaign.dimension import BANDWIDTH, TIME, Dimension
from mpicampaign.records import CONTRADICTED, FAILED, OK, UNVERIFIED, VERIFIED, Case, Record, Series
from mpicampaign.show.charts.curves import COLUMNS
from mpicampaign.show.charts.every import every_chart
from mpicampaign.show.charts.model import Axis, CurveChart, DotChart
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.charts.selection import SelectionChart, selections
from mpicampaign.show.figures import axes
from mpicampaign.show.figures.draw import Page, page_of, plain_style
from mpicampaign.show.report.write import write_report
from mpicampaign.show.view import View
from mpicampaign.units import parse_size

DIMENSIONS = [each for each in vars(dimensions).values() if isinstance(each, Dimension)]

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpicampaign.show.charts.model import Chart, Curve
    from mpicampaign.show.figures.axes import Panel

SHOW = Path(axes.__file__).parents[1]
# Without shrinking: what is drawn takes long, and a failure names its records anyway.
PHASES = (Phase.explicit, Phase.generate)
SIZES = [0.0, 1.0, 8.0, 1024.0, 8192.0, 32768.0, 1048576.0]


# Random records


def values(low: float, high: float) -> st.SearchStrategy[float | None]:
    """Mostly ordinary values; zeros, as suites print for very small values; and gaps."""
    ordinary = st.floats(low, high, allow_nan=False)
    return st.one_of(ordinary, ordinary, ordinary, st.sampled_from([0.0, None]))


def column(low: float, high: float) -> st.SearchStrategy[list[float | None]]:
    return st.lists(values(low, high), min_size=len(SIZES), max_size=len(SIZES))


TIMES, RATES = column(1e-8, 1e-2), column(1e4, 2e10)
STATES = st.sampled_from([VERIFIED, VERIFIED, VERIFIED, UNVERIFIED, CONTRADICTED, FAILED])


@st.composite
def campaigns(draw: st.DrawFn) -> list[Record]:
    """A sweep, a kernel and a benchmark without sizes, on one or two host groups."""
    found = []
    groups = draw(st.sampled_from([("a",), ("a", "b")]))
    for group in groups:
        for benchmark, suite in (("HPL", "hpl"), ("PingPong", "imb"), ("tree_gather", "kernel")):
            for placement in draw(st.permutations(["SHM", "TCP", "IBV"]))[: draw(st.integers(1, 3))]:
                case = Case("s", group, placement, benchmark)
                runs = draw(st.integers(1, 4))
                found += [one_run(draw, case, suite, repeat) for repeat in range(1, runs + 1)]
    return found


def one_run(draw: st.DrawFn, case: Case, suite: str, repeat: int) -> Record:
    state = draw(STATES)
    if state == FAILED:
        return Record(case, suite, repeat, FAILED, "it ended early")
    run = synthetic.run(case, repeat, *series_of(draw, case.benchmark), suite=suite)
    return replace(run, verdict=state)


def series_of(draw: st.DrawFn, benchmark: str) -> list[Series]:
    size: list[float | None] = [*SIZES]
    if benchmark == "HPL":
        return [Series("HPL", 4, {"flops": [draw(values(1e8, 1e13))], "time": [draw(values(1.0, 1e4))]})]
    if benchmark == "PingPong":
        return [Series(benchmark, 2, {"size": size, "time": draw(TIMES), "bandwidth": draw(RATES)})]
    columns = {"size": size, "bandwidth": draw(RATES), "bandwidth_wire": draw(RATES)}
    base = {"size": size, "bandwidth": draw(RATES), "bandwidth_wire": draw(RATES)}
    return [Series(benchmark, 4, columns, {"tree": "max-inter"}), Series("MPI_Gather", 4, base)]


# The model against the records


@settings(max_examples=15, phases=PHASES)
@given(campaigns(), st.sampled_from(["MB/s", "MiB/s"]))
def test_every_number_of_a_chart_is_that_of_the_records(records: list[Record], unit: str) -> None:
    scene = Scene(compare(records), unit)
    for chart in every_chart(scene):
        if isinstance(chart, CurveChart):
            for panel in chart.panels:
                for curve in panel.curves:
                    check_curve(curve, panel.up, records)
        else:
            assert isinstance(chart, DotChart)
            check_dots(chart, records)
    for selection in selections(scene):
        for line in selection.lines:
            check_curve(line.curve, selection.up, records)


def recorded(run: Record, of: Curve, axis: Axis) -> dict[float, float]:
    """The run's printed values of the curve's column, by size."""
    wire = "wire" in (axis.name + of.label)
    name = "time" if axis.dimension == TIME else "bandwidth_wire" if wire else "bandwidth"
    base = "MPI_Gather" in of.name
    (series,) = (series for series in run.series if (series.benchmark == "MPI_Gather") == base)
    pairs = zip(series.columns["size"], series.columns[name], strict=True)
    return {size: value for size, value in pairs if size is not None and value is not None}


def counting(records: Iterable[Record], case: Case) -> list[Record]:
    return [r for r in records if r.case == case and r.status == OK and r.verdict != CONTRADICTED]


def check_curve(curve: Curve, axis: Axis, records: Sequence[Record]) -> None:
    case = curve.repeats[0].run.case
    runs = counting(records, case)
    assert [repeat.run for repeat in curve.repeats] == runs
    assert [repeat.values for repeat in curve.repeats] == [recorded(run, curve, axis) for run in runs]
    assert case.host_group in curve.name and case.placement in curve.name
    by_size: dict[float, list[float]] = {}
    for run in runs:
        for size, value in recorded(run, curve, axis).items():
            by_size.setdefault(size, []).append(value)
    assert curve.median == pytest.approx({size: statistics.median(of) for size, of in by_size.items()})


def readings(records: Sequence[Record], case: Case, title: str) -> list[float]:
    """The values of a case's counted runs for a metric, by its displayed name."""
    runs = counting(records, case)
    if case.benchmark == "HPL":
        found = [run.series[0].columns["flops"][0] for run in runs]
        return [value for value in found if value is not None]
    name = "time" if "latency" in title or "time" in title else "bandwidth"
    columns = [dict(zip(SIZES, run.series[0].columns[name], strict=True)) for run in runs]
    if "maximum" in title:
        return whole(runs)
    size = parse_size(re.findall(r"\d+ (?:Ki)?B", title)[0])
    return [value for of in columns if (value := of[float(size)]) is not None]


def whole(runs: Sequence[Record]) -> list[float]:
    """Only of sweeps that reach their largest size."""
    found = []
    for run in runs:
        columns, last = run.series[0].columns, SIZES.index(max(SIZES))
        reached = any(columns[name][last] is not None for name in columns if name != "size")
        known = [rate for rate in columns["bandwidth"] if rate is not None]
        found += [max(known)] if reached and known else []
    return found


def check_dots(chart: DotChart, records: Sequence[Record]) -> None:
    benchmark = chart.title.split(":")[0]
    for part in chart.columns:
        what = part.title or part.across.name
        for row, cell in zip(chart.rows, part.cells, strict=True):
            case = Case("s", row.host_group, row.label, benchmark)
            expected = readings(records, case, what)
            assert [dot.value for dot in cell.dots] == expected
            assert (cell.summary is None) == (not expected)
            if cell.summary is not None:
                summary = cell.summary
                assert (summary.minimum, summary.maximum) == (min(expected), max(expected))
                assert summary.median == pytest.approx(statistics.median(expected))
                if len(chart.columns) == 1:
                    assert cell.text.startswith(part.across.text(summary.median))


# The renderers against the model


@settings(max_examples=8, phases=PHASES)
@given(campaigns())
def test_figures_draw_what_the_model_holds(records: list[Record]) -> None:
    scene = Scene(compare(records), "MB/s")
    with plain_style():
        for chart in every_chart(scene):
            page, panels = drawn(chart)
            check_nothing_lies_outside(chart, page, panels)
            if isinstance(chart, CurveChart):
                check_drawn_curves(chart, page, panels)
            else:
                assert isinstance(chart, DotChart)
                check_drawn_dots(chart, page, panels)


def drawn(chart: Chart) -> tuple[Page, list[Panel]]:
    """The page and its panels."""
    panels: list[Panel] = []
    made = axes.Panel.__init__

    def keep(panel: Panel, *arguments: Any) -> None:
        made(panel, *arguments)
        panels.append(panel)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(axes.Panel, "__init__", keep)
        return page_of(chart), panels


def check_nothing_lies_outside(chart: Chart, page: Page, panels: Sequence[Panel]) -> None:
    """Each line and mark of values is in a panel; the key's, grid's and axes' lines have no name."""
    groups = [
        lines for name in ("median", "repeats", "ranges", "medians") for lines in named_lines(page, name)
    ]
    points = [point for lines in groups for line in lines for point in line]
    for mark in (mark for mark in page._figure.artists if hasattr(mark, "get_marker")):
        points += [[float(x), float(y)] for x, y in mark.get_xydata()]
    places = [panel.place for panel in panels]
    for x, y in points:
        assert any(
            place.left - 1e-9 <= x <= place.right + 1e-9 and place.bottom - 1e-9 <= y <= place.top + 0.1
            for place in places
        ), chart.title


def value_at(axis: Axis, share: float) -> float:
    """The recorded value at a place from 0 to 1 of an axis."""
    scale = axis.scale
    if scale.logarithmic:
        return float(scale.low * (scale.high / scale.low) ** share * axis.unit.size)
    return (scale.low + share * (scale.high - scale.low)) * axis.unit.size


def read_back(panel: Panel, points: Iterable[Sequence[float]]) -> list[tuple[float, float]]:
    """Sizes and values of points on a page."""
    place = panel.place
    return [
        (
            value_at(panel.across, (x - place.left) / place.width),
            value_at(panel.up, (y - place.bottom) / place.height),
        )
        for x, y in points
    ]


def named_lines(page: Page, name: str) -> list[list[list[list[float]]]]:
    """The lines of each group of this name, in the order of drawing."""
    groups = [artist for artist in page._figure.artists if str(artist.get_gid()).startswith(name)]
    return [[line.tolist() for line in group.get_segments()] for group in groups]


def shown(panel: Panel, points: Mapping[int, float]) -> list[tuple[float, float]]:
    """What a reader expects to see."""
    log = panel.up.scale.logarithmic
    return [(size, value) for size, value in points.items() if size > 0 and (value > 0 or not log)]


def same(found: Sequence[Sequence[float]], expected: Sequence[Sequence[float]]) -> bool:
    pairs = zip(found, expected, strict=True)
    return all(one == pytest.approx(other, rel=1e-6, abs=1e-12) for one, other in pairs)


def check_drawn_curves(chart: CurveChart, page: Page, panels: Sequence[Panel]) -> None:
    medians, repeats = iter(named_lines(page, "median")), iter(named_lines(page, "repeats"))
    for panel, part in zip(panels, chart.panels, strict=True):
        for curve in part.curves:
            if chart.each_repeat or len(curve.repeats) > 1:
                expected = [shown(panel, repeat.values) for repeat in curve.repeats]
                lines = [points for points in expected if len(points) > 1]
                for line, points in zip(next(repeats), lines, strict=True):
                    assert same(read_back(panel, line), points)
            points = [] if chart.each_repeat else shown(panel, curve.median)
            if points:
                (line,) = next(medians)
                assert same(read_back(panel, line), points)
    assert list(medians) == [] and list(repeats) == []


def check_drawn_dots(chart: DotChart, page: Page, panels: Sequence[Panel]) -> None:
    ranges, medians = named_lines(page, "ranges"), named_lines(page, "medians")
    marks = [line for line in page._figure.artists if hasattr(line, "get_marker")]
    for index, (panel, part) in enumerate(zip(panels, chart.columns, strict=True)):
        log = part.across.scale.logarithmic
        summaries = [cell.summary for cell in part.cells if cell.summary is not None]
        ends = [(s.minimum, s.maximum) for s in summaries if s.maximum > 0 or not log]
        edge = value_at(part.across, 0.0)
        assert same(
            sorted([value for value, _ in read_back(panel, line)] for line in ranges[index]),
            sorted([low if low > 0 or not log else edge, high] for low, high in ends),
        )
        found = sorted(read_back(panel, line)[0][0] for line in medians[index])
        assert found == pytest.approx(sorted(s.median for s in summaries if s.median > 0 or not log))
        expected = sorted(dot.value for cell in part.cells for dot in cell.dots if dot.value > 0 or not log)
        assert marked(panel, [mark for mark in marks if mark.get_marker() != "x"]) == pytest.approx(expected)
        means = [summary.mean for summary in summaries]
        for cross in marked(panel, [mark for mark in marks if mark.get_marker() == "x"]):
            assert any(cross == pytest.approx(mean) for mean in means), chart.title


def marked_up(panel: Panel, marks: Sequence[Any]) -> list[float]:
    """The values of the marks that lie in a panel whose axis is at its left."""
    place = panel.place
    points = [(x, y) for mark in marks for x, y in mark.get_xydata()]
    inside = (y for x, y in points if place.left < x < place.right and place.bottom <= y <= place.top)
    return [value_at(panel.up, (y - place.bottom) / place.height) for y in inside]


def marked(panel: Panel, marks: Sequence[Any]) -> list[float]:
    """The values of the marks that lie in a panel, ascending."""
    place = panel.place
    xs = [x for mark in marks for x in mark.get_xdata() if place.left - 0.01 <= x <= place.right + 0.01]
    return sorted(value_at(panel.across, (x - place.left) / place.width) for x in xs)


@settings(max_examples=8, phases=PHASES)
@given(campaigns(), st.sampled_from(["MB/s", "MiB/s"]))
def test_bokeh_gets_what_the_model_holds(records: list[Record], unit: str) -> None:
    for chart in selections(Scene(compare(records), unit)):
        found = sources(chart)
        curves = [line.curve for line in chart.lines]
        medians = [on_page(chart, curve.median) for curve in curves]
        assert pairs_of(found["medians"]) == medians
        flat = [(n, *point) for n, points in enumerate(medians) for point in points]
        points = found["points"]
        assert list(zip(points["line"], points["x"], points["y"], strict=True)) == flat
        repeats = [repeat for curve in curves for repeat in curve.repeats]
        assert pairs_of(found["repeats"]) == [on_page(chart, repeat.values) for repeat in repeats]
        assert found["repeats"]["repeat"] == [repeat.run.repeat for repeat in repeats]
        said = [curves[n].median[size] for n, size, _ in flat]
        assert points["median"] == [chart.up.dimension.number(value, unit) for value in said]


def on_page(chart: SelectionChart, points: Mapping[int, float]) -> list[tuple[float, float]]:
    """What logarithmic axes can show, in the unit of the table, to five digits."""
    size = chart.up.dimension.unit(chart.up.unit.name).size
    return [(s, float(f"{v / size:.5g}")) for s, v in points.items() if s > 0 and v > 0]


def pairs_of(source: dict[str, Any]) -> list[list[tuple[float, float]]]:
    return [list(zip(xs, ys, strict=True)) for xs, ys in zip(source["xs"], source["ys"], strict=True)]


class Medians(HTMLParser):
    """The tables of medians below the curves: in each the cells with their values, line by line."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[tuple[str, str]]]] = []
        self.inside = False
        self.in_cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "details":
            self.inside = values.get("class") == "medians"
            self.tables += [[]] if self.inside else []
        if tag == "tr" and self.inside:
            self.tables[-1].append([])
        if tag == "td" and self.inside:
            self.in_cell = True
            self.tables[-1][-1].append((values.get("data-v") or "", ""))

    def handle_endtag(self, tag: str) -> None:
        self.in_cell = self.in_cell and tag != "td"
        self.inside = self.inside and tag != "details"

    def handle_data(self, data: str) -> None:
        if self.in_cell:
            value, text = self.tables[-1][-1][-1]
            self.tables[-1][-1][-1] = (value, text + data)


@settings(max_examples=3, phases=PHASES)
@given(records=campaigns(), unit=st.sampled_from(["MB/s", "MiB/s"]))
def test_the_page_writes_what_the_model_holds(
    tmp_path_factory: pytest.TempPathFactory, records: list[Record], unit: str
) -> None:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(path, compare(records), records, view=View(unit))
    tables = Medians(path.read_text(encoding="utf-8")).tables
    charts = selections(Scene(compare(records), unit))
    for chart, (_, *lines) in zip(charts, tables, strict=True):
        for line, cells in zip(chart.lines, lines, strict=True):
            medians = [line.curve.median.get(size) for size in chart.sizes]
            assert cells == [
                ("", "n/a")
                if value is None
                else (repr(value).removesuffix(".0"), chart.up.dimension.number(value, unit))
                for value in medians
            ]


# Zeros


def half_zero() -> list[Record]:
    """One of two placements printed a bandwidth of 0 in three of four repeats at 8 KiB."""
    runs = []
    for placement in ("SHM", "TCP"):
        case = Case("s", "g", placement, "PingPong")
        for run in synthetic.case_runs(case, 1e-6, 1e9, repeats=4):
            columns = run.series[0].columns
            zero = placement == "TCP" and run.repeat > 1
            rates = [
                0.0 if zero and size == 8192 else rate
                for size, rate in zip(columns["size"], columns["bandwidth"], strict=True)
            ]
            series = replace(run.series[0], columns={**columns, "bandwidth": rates})
            runs.append(replace(run, series=(series,)))
    return runs


def test_zeros_stay_in_the_medians_of_the_page_and_are_named_where_they_cannot_be_drawn(
    tmp_path: Path,
) -> None:
    comparison = compare(half_zero())
    table = comparison.tables[0]
    metric = next(metric for metric in table.metrics if metric.name == "bandwidth at 8 KiB")
    cell = table.rows[1].cell(metric)
    assert cell.summary is not None and cell.summary.median == 0
    (chart,) = (chart for chart in selections(Scene(comparison, "MB/s")) if chart.up.dimension == BANDWIDTH)
    tcp = chart.lines[1].curve
    assert tcp.median[8192] == 0 and tcp.median[4096] > 0
    assert chart.note == "Zero, which a logarithmic axis cannot show: g, TCP at 8 KiB."
    write_report(tmp_path / "report.html", comparison, comparison.records)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert chart.note in text and '<td class="number" data-v="0">0.00</td>' in text
    captions = {drawn.title: drawn.caption for drawn in every_chart(Scene(comparison, "MB/s"))}
    over_size = captions["PingPong: bandwidth over message size"]
    assert "Zero, which a logarithmic axis cannot show: g TCP at 8 KiB." in over_size
    assert "cannot show: g TCP." in captions["PingPong: bandwidth at the table sizes and maximum"]
    assert "cannot show" not in captions["PingPong: latency at 0 B by placement"]


def test_a_median_of_zero_is_written_where_its_stroke_would_be() -> None:
    charts = every_chart(Scene(compare(half_zero()), "MB/s"))
    (chart,) = (c for c in charts if isinstance(c, DotChart) and "table sizes" in c.title)
    words = [cell.text for cell in chart.columns[1].cells]
    assert words == ["", "0.00 MB/s"]
    page, panels = drawn(chart)
    check_drawn_dots(chart, page, panels)
    assert "0.00 MB/s" in [text.get_text() for text in page._figure.texts]


# Looks


def test_a_placement_has_one_colour_and_marker_in_all_figures_and_on_the_page() -> None:
    """HPL has the placements in another order than PingPong, and TCP with two numbers of ranks."""
    records = [
        synthetic.run(Case("s", "g", name, "HPL"), n, Series("HPL", 4, {"flops": [1e11 + n]}), suite="hpl")
        for name in ("TCP", "IBV", "SHM")
        for n in (1, 2, 3)
    ]
    for name in ("SHM", "TCP", "IBV"):
        for run in synthetic.case_runs(Case("s", "g", name, "PingPong"), 1e-6, 1e9, repeats=3):
            four = replace(run.series[0], ranks=4)
            records.append(replace(run, series=(*run.series, four) if name == "TCP" else run.series))
    scene = Scene(compare(records), "MB/s")
    found: dict[str, set[tuple[str, str]]] = {}
    for name, colour, marker in (*in_figures(scene), *on_the_page(scene)):
        found.setdefault(name, set()).add((colour, marker))
    assert {name: len(looks) for name, looks in found.items()} == {"TCP": 1, "IBV": 1, "SHM": 1}
    assert len(set.union(*found.values())) == 3


def in_figures(scene: Scene) -> Iterator[tuple[str, str, str]]:
    for chart in every_chart(scene):
        if isinstance(chart, DotChart):
            for row in chart.rows:
                assert row.look is not None
                yield row.label.split(",")[0], row.look.colour, row.look.marker
        if isinstance(chart, CurveChart) and not chart.each_repeat:
            for curve in (curve for panel in chart.panels for curve in panel.curves):
                yield curve.label.split(",")[0], curve.look.colour, curve.look.marker


def on_the_page(scene: Scene) -> Iterator[tuple[str, str, str]]:
    for chart in selections(scene):
        points = sources(chart)["points"]
        for what, colour, marker in zip(points["what"], points["colour"], points["marker"], strict=True):
            yield what.split(", ")[1], colour, marker
        (placements,) = (facet for facet in chart.facets if facet.name == "placement")
        for value in placements.values:
            yield value.name, value.colour, value.marker


def test_line_styles_are_the_placements_own_unless_they_tell_ranks_apart() -> None:
    case = Case("s", "g", "SHM", "PingPong")
    runs = synthetic.case_runs(case, 1e-6, 1e9, repeats=2)
    runs += synthetic.case_runs(replace(case, placement="TCP"), 1e-6, 1e9, repeats=2)
    assert lines_of(runs) == ["solid", "dashed"]
    several = [replace(run, series=(*run.series, replace(run.series[0], ranks=4))) for run in runs]
    assert lines_of(several) == ["solid", "dashed", "solid", "dashed"]


def lines_of(runs: list[Record]) -> list[str]:
    """The line styles on the page, which are those of the figure."""
    scene = Scene(compare(runs), "MB/s")
    on_page = [line.curve.look.line for line in selections(scene)[0].lines]
    charts = (chart for chart in every_chart(scene) if isinstance(chart, CurveChart))
    in_figure = [curve.look.line for curve in next(charts).panels[0].curves]
    assert on_page == in_figure
    return on_page


# Units


@pytest.mark.parametrize("unit", ["MB/s", "MiB/s"])
@pytest.mark.parametrize("dimension", DIMENSIONS, ids=str)
def test_axes_have_the_units_of_tables(dimension: Dimension, unit: str) -> None:
    for value in (1.2345e-4, 1.0, 54321.0, 9.87e9):
        written = float(dimension.number(value, unit))
        assert written == pytest.approx(value / dimension.unit(unit).size, rel=6e-3, abs=6e-2)


def test_no_chart_scales_by_itself() -> None:
    factors = re.compile(r"\bMB\b(?!/s)|\bMIB\b|\b1e-?[36]\b|2\.0 ?\*\* ?-?20")
    for folder in ("charts", "figures", "report"):
        for path in (SHOW / folder).glob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert path.name == "units.py" or not factors.findall(text), path


def test_columns_over_message_size_have_a_dimension() -> None:
    assert {dimension for _, dimension in COLUMNS.values()} == {TIME, BANDWIDTH}
