"""Who leads at each message size, and where the repeats show it."""

from __future__ import annotations

from itertools import permutations
from random import Random

import build_records as make

from mpicampaign.base.records import Record
from mpicampaign.compare.compare import compare
from mpicampaign.questions.crossings.draw import size_strips
from mpicampaign.questions.crossings.find import Curves, SizeLeader, leaders_of
from mpicampaign.report.questions import answers
from mpicampaign.show.document import Box

SIZES = (8, 128, 1024, 65536, 1048576)
RATES = {"A": (2e6, 30e6, 2e8, 1e9, 1e9), "B": (1e6, 15e6, 3e8, 4e9, 5e9)}  # A leads below 1 KiB


def runs(repeats: int) -> list[Record]:
    """A is as slow as B at 128 B in one of the repeats."""
    made = []
    for name, rates in RATES.items():
        for repeat in range(1, repeats + 1):
            found = [rate * (1 + repeat / 1000) for rate in rates]
            if name == "A" and repeat == 1:
                found[1] = RATES["B"][1]
            made.append(make.run(name, repeat, make.series("PingPong", size=SIZES, bandwidth=found)))
    return made


def leaders(curves: dict[str, Curves]) -> list[SizeLeader]:
    return leaders_of(curves, [*permutations(curves, 2)], lower_is_better=True)


def noisy(candidates: int, repeats: int) -> list[int]:
    """The sizes at which the first is shown to lead: of 24 it does up to 16 B; at others all are alike."""
    source, sizes = Random(1), [2**power for power in range(24)]
    curves: dict[str, Curves] = {}
    for who in range(candidates):
        factors = [1.5 if place < 5 and who else 1.0 for place in range(24)]
        curves[str(who)] = {
            size: [factor * source.gauss(1, 0.02) for _ in range(repeats)]
            for size, factor in zip(sizes, factors, strict=True)
        }
    return [one.size for one in leaders(curves) if one.shown and one.name == "0"]


def test_the_chance_is_that_of_whole_runs_exchanged_however_many_sizes() -> None:
    assert noisy(4, 6) == noisy(3, 4) == [1, 2, 4, 8, 16], "three candidates, of each 1 of 70 exchanges"
    assert not noisy(2, 3), "2 of 20"
    assert not noisy(4, 4), "four candidates, of each 1 of 70"


def by_chance(gain: float) -> bool:
    """All runs of B are ahead at 1 B; at three other sizes two runs of each are ahead of the rest by 5 %."""
    curves: dict[str, Curves] = {"A": {1: [gain] * 4}, "B": {1: [1.0] * 4}}
    for size, first, second in ((2, {0, 1}, {0, 1}), (4, {0, 2}, {1, 3}), (8, {1, 3}, {0, 2})):
        for name, ahead in (("A", first), ("B", second)):
            curves[name][size] = [1.0 if run in ahead else 1.05 for run in range(4)]
    return leaders(curves)[0].shown


def test_what_other_exchanges_show_as_far_is_chance() -> None:
    assert not by_chance(1.03), "4 of 70 exchanges are as far apart at some size"
    assert by_chance(1.5), "1 of 70"


def test_a_strip_is_deep_where_the_repeats_show_who_leads_and_hollow_elsewhere() -> None:
    bandwidth = next(one for one in answers(compare(runs(6))) if one.title.endswith("maximum bandwidth"))
    [[(_, cell)]] = [grid.lines for grid in size_strips(bandwidth)]
    assert isinstance(cell, Box)
    blue, orange = "#0072B2", "#E69F00"
    titles = ["8 B: A, 2.00", "128 B: A, 2.00", "1 KiB-1 MiB: B, 1.50 to 5.00"]
    for title, fill in zip(titles, (blue, "none", orange), strict=True):
        assert f'fill="{fill}"' in str(cell.text).partition(title)[0].rpartition("<rect")[2], title
