"""The chart model: its values are those of the records, and figures and the page show them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import build_records as make
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from lxml import html

from mpicampaign.base.records import CONTRADICTED, FAILED, UNVERIFIED, VERIFIED, Case, Record, Series
from mpicampaign.compare.compare import compare
from mpicampaign.report.draw_figures import page_of
from mpicampaign.report.questions import every_chart
from mpicampaign.report.write import write_report
from mpicampaign.show.charts.curves import by_placement
from mpicampaign.show.charts.dots import at_sizes
from mpicampaign.show.charts.looks import COLOURS
from mpicampaign.show.charts.model import Axis, CurveChart, DotChart
from mpicampaign.show.charts.scene import Scene
from mpicampaign.show.figures import axes
from mpicampaign.show.figures.page import WIDTH, Lines, Marks, Page, Writing, points_of
from mpicampaign.show.interactive import interactive_charts
from mpicampaign.show.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpicampaign.show.charts.model import Chart
    from mpicampaign.show.figures.axes import Panel
    from mpicampaign.show.figures.page import Point

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
    return make.run(case, repeat, *series_of(draw, case.benchmark), suite=suite, verdict=state)


def series_of(draw: st.DrawFn, benchmark: str) -> list[Series]:
    if benchmark == "HPL":
        return [make.series("HPL", 4, flops=draw(values(1e8, 1e13)), time=draw(values(1.0, 1e4)))]
    if benchmark == "PingPong":
        return [make.series(benchmark, size=SIZES, time=draw(TIMES), bandwidth=draw(RATES))]
    return [
        make.series(name, 4, qualifiers=of, size=SIZES, bandwidth=draw(RATES), bandwidth_wire=draw(RATES))
        for name, of in ((benchmark, {"tree": "max-inter"}), ("MPI_Gather", {}))
    ]


# The renderers against the model


@settings(max_examples=8, phases=PHASES)
@given(campaigns())
def test_figures_draw_what_the_model_holds(records: list[Record]) -> None:
    scene = Scene(compare(records))
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
    points += [point for marks in marks_of(page) for point in marks.points]
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


def named_lines(page: Page, name: str) -> list[tuple[tuple[Point, ...], ...]]:
    """The lines of each group of this name, in the order of drawing."""
    groups = [each.lines for each in page.drawn if isinstance(each, Lines) and each.name == name]
    return [tuple(tuple(points_of(line)) for line in lines) for lines in groups]


def marks_of(page: Page) -> list[Marks]:
    return [each for each in page.drawn if isinstance(each, Marks)]


def texts_of(page: Page) -> list[str]:
    return [each.text for each in page.drawn if isinstance(each, Writing)]


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
    crosses = [marks for marks in marks_of(page) if marks.marker == "cross"]
    repeats = [marks for marks in marks_of(page) if marks.marker != "cross"]
    for index, (panel, part) in enumerate(zip(panels, chart.columns, strict=True)):
        log = part.across.scale.logarithmic
        summaries = [cell.summary for cell in part.cells if cell.summary is not None]
        ends = [(s.minimum, s.maximum) for s in summaries if s.maximum > 0 or not log]
        edge = value_at(part.across, 0.0)
        assert same(
            sorted([value for value, _ in read_back(panel, line)] for line in ranges[index]),
            sorted([low if low > 0 or not log else edge, high] for low, high in ends),
        )
        strokes = [line for lines in medians for line in lines if beside(panel, line[0][0])]
        found = sorted(read_back(panel, line)[0][0] for line in strokes)
        assert found == pytest.approx(sorted(s.median for s in summaries if s.median > 0 or not log))
        expected = sorted(dot.value for cell in part.cells for dot in cell.dots if dot.value > 0 or not log)
        assert marked(panel, repeats) == pytest.approx(expected)
        means = [summary.mean for summary in summaries]
        for cross in marked(panel, crosses):
            assert any(cross == pytest.approx(mean) for mean in means), chart.title


def beside(panel: Panel, x: float) -> bool:
    """Whether the place is between the sides of the panel."""
    return panel.place.left - 0.01 <= x <= panel.place.right + 0.01


def marked(panel: Panel, marks: Sequence[Marks]) -> list[float]:
    """The values of the marks that lie in a panel, ascending."""
    place = panel.place
    xs = [x for mark in marks for x, _ in mark.points if beside(panel, x)]
    return sorted(value_at(panel.across, (x - place.left) / place.width) for x in xs)


def tables_of_medians(page: str) -> list[list[list[tuple[str, str]]]]:
    """The tables of medians below the curves: in each the cells with their values, line by line."""
    return [
        [
            [(cell.get("data-v", ""), cell.text_content().strip()) for cell in line.iter("td")]
            for line in table.iter("tr")
        ]
        for table in html.fromstring(page).find_class("medians")
    ]


@settings(max_examples=3, phases=PHASES)
@given(records=campaigns(), unit=st.sampled_from(["MB/s", "MiB/s"]))
def test_the_page_writes_what_the_model_holds(
    tmp_path_factory: pytest.TempPathFactory, records: list[Record], unit: str
) -> None:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(path, compare(records), records, view=View(unit))
    tables = tables_of_medians(path.read_text(encoding="utf-8"))
    charts = interactive_charts(Scene(compare(records), View(unit)))
    for chart, (_, *lines) in zip(charts, tables, strict=True):
        for line, cells in zip(chart.lines, lines, strict=True):
            medians = [line.curve.median.get(size) for size in chart.labels]
            assert cells == [
                ("", "n/a")
                if value is None
                else (repr(value).removesuffix(".0"), chart.up.dimension.number(value, unit))
                for value in medians
            ]


# Looks


def test_line_styles_are_the_placements_own_unless_they_tell_ranks_apart() -> None:
    runs = make.case_runs("SHM", repeats=2) + make.case_runs("TCP", repeats=2)
    assert lines_of(runs) == ["solid", "dashed"]
    several = [replace(run, series=(*run.series, replace(run.series[0], ranks=4))) for run in runs]
    assert lines_of(several) == ["solid", "dashed", "solid", "dashed"]


def lines_of(runs: list[Record]) -> list[str]:
    """The line styles on the page, which are those of the figure."""
    scene = Scene(compare(runs))
    on_page = [line.curve.look.line for line in interactive_charts(scene)[0].lines]
    charts = (chart for chart in every_chart(scene) if isinstance(chart, CurveChart))
    in_figure = [curve.look.line for curve in next(charts).panels[0].curves]
    assert on_page == in_figure
    return on_page


SCARF = [f"scarf{number}" for number in range(10, 17)]
LOTUS = ["broadwell256G", "haswell256G", "ivybridge128G", "ivybridge2000G", "ivybridge512G"]
PLACEMENTS = ("SHM-1", "TCP")


def of_groups(system: str, groups: list[str]) -> list[Record]:
    """PingPong in two placements, TCP ten times as slow; each host group unlike the one before."""
    return [
        run
        for number, group in enumerate(groups, 1)
        for factor, placement in zip((1, 10), PLACEMENTS, strict=True)
        for run in make.case_runs(
            make.case(placement, group=group, system=system), 1e-7 * number * factor, 1e10 / factor, 2
        )
    ]


@pytest.mark.parametrize("groups", [SCARF, [f"a host group with a long name {n}" for n in range(60)]])
def test_values_of_many_host_groups_are_drawn_where_they_belong(groups: list[str]) -> None:
    """Each placement of a host group has its own line; nothing lies outside the panels or the page."""
    comparison = compare(of_groups("scarf", groups) + of_groups("lotus", LOTUS) + of_groups("c", ["C"]))
    chart = at_sizes(Scene(comparison), comparison.tables[0])
    assert chart is not None
    page, panels = drawn(chart)
    assert all(panel.place.right <= WIDTH and panel.place.bottom > 0 for panel in panels)
    cells = [cell for column in chart.columns for cell in column.cells]
    values = Counter(f"{dot.value:.6g}" for cell in cells for dot in cell.dots)
    small = [m for m in marks_of(page) if m.size == 2.8]
    assert Counter(f"{v:.6g}" for panel in panels for v in marked(panel, small)) == values
    strokes = [line for lines in named_lines(page, "medians") for line in lines]
    middles = {(round(line[0][0], 3), round(line[0][1] + line[1][1], 3)) for line in strokes}
    assert len(middles) == len(strokes) == 4 * len(PLACEMENTS) * (len(groups) + 6)


def test_a_panel_of_repeats_has_no_more_host_groups_than_colours() -> None:
    comparison = compare(of_groups("scarf", SCARF) + of_groups("lotus", [f"group {n}" for n in range(16)]))
    chart = by_placement(Scene(comparison), comparison.tables[0])
    assert chart is not None
    titles = ["scarf", *(f"lotus, {part} of 3" for part in (1, 2, 3))]
    assert [part.title for part in chart.panels] == [f"{name}, {t}" for name in PLACEMENTS for t in titles]
    for part in chart.panels:
        colours = {curve.look.colour for curve in part.curves}
        assert len(colours) == len(part.curves) <= len(COLOURS)
    assert sum(len(part.curves) for part in chart.panels) == 2 * 23
    assert chart.panels[0].curves[0].label == "scarf10"
    few = compare(of_groups("scarf", SCARF[:2]) + of_groups("lotus", LOTUS))
    one = by_placement(Scene(few), few.tables[0])
    assert one is not None
    assert [part.title for part in one.panels] == list(PLACEMENTS)
    assert one.panels[0].curves[0].label == "scarf/scarf10"
