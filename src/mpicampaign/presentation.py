"""How a campaign's results are to be shown: what its file, or the map of an import, says about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Message sizes (B) at which tables show metrics where nothing else is said; the schemas name them, too.
TABLE_SIZES = (1024, 8192, 32768)


@dataclass(frozen=True, slots=True)
class ReferenceChoice:
    """A publication in reference/ to show beside own rows, or some of its rows; () = no choice made."""

    name: str
    host_groups: tuple[str, ...] = ()
    placements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Presentation:
    """What tables and report show.

    ``table_sizes``: message sizes (B) at which tables show figures; ``benchmark_sizes``: the same for single
    benchmarks, where they differ; ``unit``: of bandwidths, MB/s (10^6 B/s) or MiB/s; ``reference``: published
    figures beside the campaign's own.
    """

    title: str = ""
    table_sizes: tuple[int, ...] = TABLE_SIZES
    benchmark_sizes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    unit: str = "MB/s"
    reference: tuple[ReferenceChoice, ...] = ()
