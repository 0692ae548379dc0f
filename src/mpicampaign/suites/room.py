"""The room of suites: those of this folder, and those that other packages bring."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.base.registry import Registry
from mpicampaign.suites.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpicampaign.suites.suite import Sends

SUITES = Registry("mpicampaign.suites", "SUITE", Suite)


def sends(suite: str, benchmark: str) -> Sends | None:
    """Who sends to whom in a benchmark, by the name of its series; None where that is unknown.

    ``suite``: empty where evidence does not name it. Series of different suites have different names.
    """
    known = [SUITES[suite]] if suite in SUITES else SUITES.values()
    return next((each.sends[benchmark] for each in known if benchmark in each.sends), None)


def is_baseline(suite: str, series: str) -> bool:
    """Whether other series of the same run are compared with this one."""
    known = SUITES.get(suite)
    sent = known.sends.values() if known else ()
    return any(each.useful is not None and each.useful.baseline == series for each in sent)


def printed_resolution(suite: str, column: str) -> float:
    """The step between neighbouring printed values of a column (SI); 0 where all digits are printed."""
    known = SUITES.get(suite)
    return known.resolution.get(column, 0.0) if known else 0.0


def benchmarks(named: Iterable[str] = ()) -> dict[str, dict[str, object]]:
    """The benchmarks that a campaign file may use, override or add to, by name.

    Those of other packages are among them only where the file names (``named``) one that is not built in.
    """
    built_in = _benchmarks_of(SUITES.built_in())
    return built_in if built_in.keys() >= set(named) else _benchmarks_of(SUITES.values())


def _benchmarks_of(suites: Iterable[Suite]) -> dict[str, dict[str, object]]:
    return {
        name: {"suite": suite.name, **entry} for suite in suites for name, entry in suite.benchmarks.items()
    }
