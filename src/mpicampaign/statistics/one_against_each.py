"""One group against each of the others, as a family of its own: which of them differ from it.

A group counts as far off when it is separated from the one, and Welch's test has p of at most `WELCH` and of
5 % divided by the number of groups: a group of little spread lies wholly to one side of wide ones too often.
All that count are called different together, or none is: of m groups that are truly like the one some are far
off by chance, and with m alike at least max(1, m - q) of them count, where q others do not. So all are called
different only if for every possible m that many would be there by chance in at most 5 % of cases. The chance
that any group like the one is called different is then at most 5 % (simulated in
``tests/test_many_groups.py``).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from mpicampaign.statistics.best import WELCH, at_least
from mpicampaign.statistics.comparisons import FEWEST, LEVEL
from mpicampaign.statistics.welch import welch

if TYPE_CHECKING:
    from collections.abc import Sequence

_STEPS = 200  # of each of two integrals


def differ_from(one: Sequence[float], others: Sequence[Sequence[float]]) -> list[bool | None]:
    """Whether each of the others differs from the one.

    ``False``: not separated, or not by both tests. ``None``: too few repeats (below `FEWEST`), or it is far
    off, but so many could be by chance.
    """
    tested = [len(one) >= FEWEST and len(other) >= FEWEST for other in others]
    least = min(WELCH, LEVEL / max(sum(tested), 1))
    far = [known and _far_off(one, other, least) for known, other in zip(tested, others, strict=True)]
    fewest = min((len(other) for known, other in zip(tested, others, strict=True) if known), default=0)
    near = sum(tested) - sum(far)
    sure = all(max(1, m - near) >= by_chance(len(one), fewest, m) for m in range(1, sum(tested) + 1))
    return [
        None if not known or (found and not sure) else found for known, found in zip(tested, far, strict=True)
    ]


def _far_off(one: Sequence[float], other: Sequence[float], least: float) -> bool:
    separated = min(one) > max(other) or max(one) < min(other)
    return separated and welch(one, other) <= least


@cache
def by_chance(n: int, fewest: int, alike: int) -> int:
    """The least number of groups of which, of so many alike, that many are separated from one at 5 % or less.

    The smallest and the largest of the n values are at the quantiles u < v with density
    n (n - 1) (v - u)^(n - 2); all repeats of another lie outside with the chance u^fewest + (1 - v)^fewest.
    """
    quantiles = (np.arange(_STEPS) + 0.5) / _STEPS
    u, v = np.meshgrid(quantiles, quantiles, indexing="ij")
    density = n * (n - 1) * np.clip(v - u, 0, None) ** (n - 2)
    outside = np.minimum(u**fewest + (1 - v) ** fewest, 1.0)
    for count in range(1, alike + 1):
        if (density * at_least(count, alike, outside)).mean() <= LEVEL:
            return count
    return alike + 1
