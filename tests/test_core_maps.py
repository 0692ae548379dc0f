"""Maps of all pairs of ranks: what records keep, the order of the ranks, values, and lines."""

from __future__ import annotations

import random
from itertools import permutations
from statistics import median

import build_records as make
import pytest
from test_charts import drawn, named_lines, texts_of

from mpicampaign.base.records import Record
from mpicampaign.compare.compare import compare
from mpicampaign.questions.core_pairs.draw import core_maps
from mpicampaign.report.questions import every_chart
from mpicampaign.show.charts.model import CoreMap
from mpicampaign.show.charts.scene import Scene
from mpicampaign.suites import parse

# By what two ranks share: a core, a NUMA node, a socket, a node, nothing.
LATENCIES = (0.5e-7, 1e-7, 1.6e-7, 3.2e-7, 1.5e-6)
SECONDS = (1e-4, 1.3e-4, 1.8e-4, 2.6e-4, 3e-4)
HEADER = "#mpicampaign-kernel 1\n#@kernel=core_pairs\n#@version=3\n#@ranks={ranks}\n"
COLUMNS = "#@columns.core_pairs=from to latency_seconds bandwidth_seconds class{level}\n"
COLUMNS += "#@columns.contention=from to other_from other_to seconds_alone seconds_together\n"

Place = tuple[int, int, int]  # node, socket, NUMA node


def cyclic(nodes: int, sockets: int, numa: int, cores: int) -> list[Place]:
    """Places of consecutive ranks on the nodes in turn, there on the sockets, there on the NUMA nodes."""
    ranks = range(nodes * sockets * numa * cores)
    return [(r % nodes, r // nodes % sockets, r // nodes // sockets % numa) for r in ranks]


def level(one: Place, other: Place) -> int:
    """What two ranks share, as core_pairs numbers it."""
    same = next((part for part in range(3) if one[part] != other[part]), 3)
    return 4 - same


def core_pairs(places: list[Place], with_level: bool = True, seed: int = 1) -> str:
    """The output; classes are the levels that occur."""
    noise = random.Random(seed)
    pairs = list(permutations(range(len(places)), 2))
    levels = {(a, b): level(places[a], places[b]) for a, b in pairs}
    classes = {found: number for number, found in enumerate(sorted(set(levels.values())))}
    lines = []
    for (a, b), at in levels.items():
        latency, seconds = (times[at] * noise.uniform(1, 1.1) for times in (LATENCIES, SECONDS))
        last = f" {at}" if with_level else ""
        lines.append(f"core_pairs {a} {b} {latency:.3e} {seconds:.3e} {classes[at]}{last}\n")
    header = HEADER.format(ranks=len(places)) + COLUMNS.format(level=" level" if with_level else "")
    agreement = f"#@topology_agreement={len(pairs)}/{len(pairs)}"
    header += f"#@classes={len(classes)}\n{agreement}\n#@pairs_rows=all\n"
    return f"{header}{''.join(lines)}#@end rows={len(lines)} status=ok\n"


SIXTEEN = cyclic(1, 2, 2, 4)  # rank r: socket r mod 2, its NUMA node r // 2 mod 2


def of(text: str, repeat: int = 1) -> Record:
    parsed = parse("kernel", text)
    case = make.case("full", "core_pairs")
    return make.run(case, repeat, *parsed.series, suite="kernel", metadata=parsed.metadata)


def maps(*runs: Record) -> list[CoreMap]:
    return list(core_maps(Scene(compare(list(runs)))))


def test_outputs_without_levels_are_in_the_order_of_ranks() -> None:
    found, _ = maps(of(core_pairs(SIXTEEN, with_level=False)))
    assert found.ranks == tuple(range(16)) and not found.edges
    assert "by number: no place is known" in found.caption
    assert found.classes[0][1:4] == (2, 1, 2)


def test_fields_are_the_medians_of_repeats_with_the_same_layout() -> None:
    other = of(core_pairs(cyclic(1, 2, 1, 8), seed=9), 4)
    runs = [of(core_pairs(SIXTEEN, seed=seed), seed) for seed in (1, 2, 3)]
    latency, bandwidth = maps(*runs, other)
    columns = [run.series[0].columns for run in runs]
    pairs = list(zip(columns[0]["pairs_from"], columns[0]["pairs_to"], strict=True))
    index = pairs.index((4, 8))
    times = [each["pairs_latency_seconds"][index] or 0.0 for each in columns]
    rates = [2e6 / (each["pairs_bandwidth_seconds"][index] or 0.0) for each in columns]
    for chart, values, text in ((latency, times, "0.10"), (bandwidth, rates, "14")):
        field = chart.fields[1][2]  # from rank 4 to rank 8
        assert field is not None and field.median == pytest.approx(median(values))
        assert field.text.startswith(text)
        assert chart.fields[3][3] is None and chart.classes[1][2] == 0
        assert "Medians of 3 repeats. Left out: 1 with ranks on other cores." in chart.caption
        assert "240 of 240 pairs are at the most frequent level of their class" in chart.caption
    assert latency.best < latency.worst and latency.unit == "µs"
    fractions = [field.fraction for line in bandwidth.fields for field in line if field]
    assert (min(fractions), max(fractions)) == (0, 1)
    assert "class 0 0.10" in latency.alt and "class 2 0.33" in latency.alt


def test_values_parts_and_borders_of_classes_are_drawn() -> None:
    comparison = compare([of(core_pairs(SIXTEEN))])
    chart, *_ = [each for each in every_chart(Scene(comparison)) if isinstance(each, CoreMap)]
    page, _ = drawn(chart)
    texts = texts_of(page)
    assert all(field.text in texts for line in chart.fields for field in line if field)
    (numa,), (sockets,) = named_lines(page, "parts-1"), named_lines(page, "parts-2")
    assert (len(numa), len(sockets)) == (4, 2)
    (borders,) = named_lines(page, "classes")
    classes = chart.classes
    pairs = [
        (classes[a][b], classes[a + down][b + across])
        for down, across in ((0, 1), (1, 0))
        for a in range(16 - down)
        for b in range(16 - across)
    ]
    assert len(borders) == sum(None not in pair and len(set(pair)) > 1 for pair in pairs) > 40
    assert max(x for line in (*numa, *sockets, *borders) for x, _ in line) < 7.4


def test_numbers_that_do_not_fit_are_left_out() -> None:
    chart, _ = maps(of(core_pairs(cyclic(1, 2, 1, 40))))
    page, _ = drawn(chart)
    texts = set(texts_of(page))
    assert not any(field.text in texts for field in chart.fields[0] if field)
    assert {"0", "to rank", "from rank", chart.worst} < texts
