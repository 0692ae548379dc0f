"""What the bundled kernels count: the measurements in which a rank waited for a CPU (preempted samples)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from mpicampaign.base.records import Series
from mpicampaign.base.text import listed
from mpicampaign.base.units import format_size

# A hit sample takes longer. If a tenth of the samples are longer than all others, their median is the 56th
# percentile of the others.
SHARE = 0.1
PARTS = "hit_parts"  # in the header of kernels that have parts instead of sizes
_PART = re.compile(r"([a-z_]{1,40}):([0-9]{1,12})/([0-9]{1,12})", re.ASCII)
_NAMED = 4  # sizes; more are counted


def hit_sizes(tables: Iterable[Series]) -> list[int]:
    """The sizes (B) at which more than a tenth of some series' samples were hit, as far as was examined."""
    sizes: set[int] = set()
    for series in tables:
        columns = (series.columns.get(name, []) for name in ("size", "samples", "hit"))
        for size, samples, hits in zip(*columns, strict=False):
            if size is not None and samples and hits is not None and hits > SHARE * samples:
                sizes.add(int(size))
    return sorted(sizes)


def hit_parts(metadata: Mapping[str, str]) -> list[str]:
    """The parts of which more than a tenth of the measurements were hit; no list of parts names none."""
    parts = [_PART.fullmatch(entry) for entry in metadata.get(PARTS, "").split(",")]
    return [part[1].replace("_", " ") for part in parts if part and int(part[2]) > SHARE * int(part[3])]


def preempted_text(tables: Iterable[Series], metadata: Mapping[str, str]) -> str:
    """``; hit at 8 B and 64 KiB``, to follow the reason of a condition; empty where nothing was hit."""
    sizes, parts = [format_size(size) for size in hit_sizes(tables)], hit_parts(metadata)
    if len(sizes) > _NAMED:
        return f"; hit at {len(sizes)} sizes, from {sizes[0]} to {sizes[-1]}"
    if sizes:
        return f"; hit at {listed(sizes)}"
    return f"; hit in {listed(parts)}" if parts else ""
