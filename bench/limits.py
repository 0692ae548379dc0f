"""False alarms of limits from past runs of a healthy system: simulated, as docs/statistics.md prints it.

bench/limits.py [--checks 20000] [--past 30] [--seed 31]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from common import options, usually
from statistics_errors import NOISES, Array, Noise, normal, two_modes

from mpicampaign.base.expectation import AlarmRule
from mpicampaign.statistics.limits import (
    LEVEL,
    RETESTED,
    dependence,
    false_alarm_rate,
    is_beyond,
    is_met,
    past_limit,
)

CHECKS = usually(20000, smallest=20)
WISH = 1e-3
RULES = (AlarmRule(1, 1), AlarmRule(2, 3), RETESTED)


def correlated(r: float) -> Noise:
    """Normal noise of which each run keeps a part of the one before."""

    def noise(source: np.random.Generator, shape: tuple[int, int], scatter: float) -> Array:
        values = normal(source, shape, scatter)
        for run in range(1, shape[1]):
            values[:, run] = r * values[:, run - 1] + np.sqrt(1 - r * r) * values[:, run]
        return values

    return noise


_NOISES = {name: NOISES[name] for name in ("normal", "exponential", "t3")} | {"two modes": two_modes}
_NOISES |= {f"correlated {r}": correlated(r) for r in (0.2, 0.4, 0.6)}


def alarms(past: list[float], new: list[float]) -> list[bool]:
    """Which limits raise an alarm, and whether the past is accepted as exchangeable."""
    proposed = past_limit(past, lower_is_better=True, wish=WISH).value
    beyond, retested = (
        [is_beyond(value, limit, lower_is_better=True) for value in new] for limit in (max(past), proposed)
    )
    accepted = min(dependence(past)) >= LEVEL
    return [
        *(is_met(rule, beyond[: rule.of]) for rule in RULES),
        is_met(RETESTED, retested),
        accepted and is_met(RETESTED, retested),
        accepted,
    ]


def main(arguments: Sequence[str] = ()) -> None:
    given = options(__doc__, arguments, checks=CHECKS, past=30, seed=31)
    source = np.random.default_rng(given.seed)
    names = [*(f"{rule} beyond the worst" for rule in RULES), "proposed", "proposed where accepted"]
    exact = [false_alarm_rate(rule, given.past) for rule in RULES]
    print(f"Alarms per 1,000 checks, {given.past} past runs: {'; '.join(names)}; share accepted")
    print("  exact, by ranks: " + "; ".join(f"{1000 * rate:.2f}" for rate in exact))
    for name, noise in _NOISES.items():
        for scatter in (0.02, 0.05):
            drawn = np.exp(noise(source, (given.checks, given.past + RETESTED.of), scatter)).tolist()
            found = [alarms(each[: given.past], each[given.past :]) for each in drawn]
            *rates, of_accepted, accepted = np.mean(found, axis=0)
            rates.append(of_accepted / (accepted or 1))
            shown = "; ".join(f"{1000 * rate:.2f}" for rate in rates)
            print(f"  {name} {scatter:.0%}: {shown}; {accepted:.3f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
