"""False alarms of limits from 30 past runs of a healthy system: simulated, as docs/statistics.md prints it.

bench/limits.py [--checks 20000] [--seed 31]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

import numpy as np
from common import usually
from statistics_errors import NOISES, two_modes

from mpicampaign.expectation import Rule
from mpicampaign.statistics.limits import (
    LEVEL,
    RETESTED,
    dependence,
    false_alarm_rate,
    is_beyond,
    is_met,
    past_limit,
)
from mpicampaign.statistics.medians import median

CHECKS = usually(20000, smallest=20)
PAST, WISH = 30, 1e-3
RULES = (Rule(1, 1), Rule(2, 3), RETESTED)
_USUAL: dict[str, Callable[[list[float]], float]] = {
    "median + 5 %": lambda past: 1.05 * median(past),
    "median + 10 %": lambda past: 1.1 * median(past),
    "mean + 3 sd": lambda past: float(np.mean(past) + 3 * np.std(past, ddof=1)),
}


def alarms(past: list[float], new: list[float]) -> list[bool]:
    """Whether each usual limit, each rule with the worst of the past, and what is proposed raise an alarm."""
    usual = [new[0] > limit(past) for limit in _USUAL.values()]
    beyond = [is_beyond(value, max(past), lower_is_better=True) for value in new]
    proposed = past_limit(past, lower_is_better=True, wish=WISH)
    retested = [is_beyond(value, proposed.value, lower_is_better=True) for value in new]
    accepted = min(dependence(past)) >= LEVEL
    return [
        *usual,
        *(is_met(rule, beyond[: rule.of]) for rule in RULES),
        is_met(RETESTED, retested),
        accepted and is_met(RETESTED, retested),
        not accepted,
    ]


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checks", type=int, default=CHECKS, help="of a healthy system, for each noise")
    parser.add_argument("--seed", type=int, default=31)
    options = parser.parse_args(arguments)
    source = np.random.default_rng(options.seed)
    names = [*_USUAL, *(f"{rule} beyond the worst" for rule in RULES), "proposed", "and accepted", "refused"]
    exact = [false_alarm_rate(rule, PAST) for rule in RULES]
    print(f"Alarms per 1,000 checks, {PAST} past runs: " + "; ".join(names))
    print("  exact, by ranks: " + "; ".join(f"{1000 * rate:.2f}" for rate in exact))
    for name, noise in {
        **{key: NOISES[key] for key in ("normal", "exponential", "t3")},
        "two modes": two_modes,
    }.items():
        for scatter in (0.02, 0.05):
            drawn = np.exp(noise(source, (options.checks, PAST + RETESTED.of), scatter)).tolist()
            rates = np.mean([alarms(each[:PAST], each[PAST:]) for each in drawn], axis=0)
            print(f"  {name} {scatter:.0%}: " + "; ".join(f"{1000 * rate:.2f}" for rate in rates))


if __name__ == "__main__":
    main(sys.argv[1:])
