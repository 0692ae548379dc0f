"""Medians along an axis of an array."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]


def median_along(values: Array, axis: int = 0) -> Array:
    """As `numpy.median` of values without NaN, for which that looks, and loads `numpy.ma`, each time."""
    ordered, count = np.sort(values, axis=axis), values.shape[axis]
    low, high = (ordered.take(place, axis) for place in ((count - 1) // 2, count // 2))
    return np.asarray((low + high) / 2)
