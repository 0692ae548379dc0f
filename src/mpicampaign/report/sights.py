"""What the repeats of a plan will see, by the spread that earlier results had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mpicampaign.base.text import counted, listed
from mpicampaign.compare.tables import Comparison
from mpicampaign.questions.ranking.say import sight_text
from mpicampaign.verdicts.smallest import MOST_REPEATS, Sight

_WANTED = (0.05, 0.02, 0.01)
_MOST = 8  # lines


def sight_lines(comparison: Comparison, planned: Mapping[str, int]) -> list[str]:
    """A line for each metric that is ranked: what the repeats see, and how many would see 5, 2 and 1 %.

    Parameters
    ----------
    planned : repeats by benchmark
    """
    of_metrics: dict[tuple[str, str, str], list[Sight]] = {}
    for table, ranking in comparison.rankings:
        if ranking.sight:
            metric = table.title, table.benchmark, ranking.metric.name
            of_metrics.setdefault(metric, []).append(ranking.sight)
    lines = [
        f"  {title}, {metric}: {_line(sights, planned.get(benchmark, 0))}"
        for (title, benchmark, metric), sights in of_metrics.items()
    ]
    more = [f"  and {counted(len(lines) - _MOST, 'more metric')}"] if len(lines) > _MOST else []
    return [*lines[:_MOST], *more]


def _line(sights: Sequence[Sight], repeats: int) -> str:
    """Of several host groups: from the quietest to the noisiest, of which ``5, 2 and 1 % take 6 …``."""
    asked = [sight._replace(repeats=repeats or sight.repeats) for sight in sights]
    blind = any(sight.difference is None for sight in asked)
    seen = f"{counted(asked[0].repeats, 'repeat')} can show nothing"
    seen = seen if blind else f"{sight_text(asked)} in 8 of 10 cases"
    percents = listed([f"{100 * wanted:g}" for wanted in _WANTED])
    return f"{seen}; {percents} % take {listed([_count(wanted, sights) for wanted in _WANTED])}"


def _count(wanted: float, sights: Sequence[Sight]) -> str:
    needed = [sight.repeats_for(wanted) for sight in sights]
    return str(max(n or 0 for n in needed)) if all(needed) else f"more than {MOST_REPEATS}"
