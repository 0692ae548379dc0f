"""Which message sizes were hit: the bundled kernels count the samples in which a rank waited for a CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpicampaign.records import Series

# A hit sample takes longer. If a tenth of the samples are longer than all others, their median is the 56th
# percentile of the others.
SHARE = 0.1
_NAMED = 4  # sizes; more are counted


def hit_sizes(tables: Iterable[Series]) -> list[int]:
    """The sizes (B) at which more than a tenth of some series' samples were hit, as far as was examined."""
    found: set[int] = set()
    for series in tables:
        columns = (series.columns.get(name, []) for name in ("size", "samples", "hit"))
        for size, samples, hits in zip(*columns, strict=False):
            if size is not None and samples and hits is not None and hits > SHARE * samples:
                found.add(int(size))
    return sorted(found)


def hits_text(tables: Iterable[Series]) -> str:
    """``; hit at 8 B and 64 KiB``, to follow the reason of a condition; empty where no size was hit."""
    sizes = [format_size(size) for size in hit_sizes(tables)]
    if len(sizes) > _NAMED:
        return f"; hit at {len(sizes)} sizes, from {sizes[0]} to {sizes[-1]}"
    *first, last = sizes or [""]
    return f"; hit at {', '.join(first)}{' and ' if first else ''}{last}" if last else ""
