"""How a campaign's results are to be shown: what its file, or the map of an import, says about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpicampaign.keys import NAME, entry, key, texts

if TYPE_CHECKING:
    from collections.abc import Mapping

# Message sizes (B) at which tables show metrics where nothing else is said; the schemas name them, too.
TABLE_SIZES = (1024, 8192, 32768)


_NAMES = texts(
    r"^[^\u0000-\u001f\u007f\u0085\u2028\u2029]+$",
    "must be a text of one line without control characters",
    name="published_names",
    minItems=1,
)


@dataclass(frozen=True, slots=True)
class ReferenceChoice:
    """A publication in reference/ to show beside own rows, or some of its rows; () = no choice made."""

    name: str = key(
        NAME, "Name of the publication", "What is in reference/NAME.csv.", "stfc-2017", required=True
    )
    host_groups: tuple[str, ...] = key(
        _NAMES,
        "Published host groups to show",
        "Each is compared with own means in words. Default: all.",
        ["scarf15", "scarf16"],
    )
    placements: tuple[str, ...] = key(
        _NAMES,
        "Published placements to show",
        "Default: those that the own rows have; all, where none of them is published.",
        ["TCP"],
    )


REFERENCE = entry(
    ReferenceChoice,
    "reference",
    "Published figures (`reference: [{…}]`)",
    "One publication of reference/; its name alone stands for all of it.",
    **{"pattern": NAME.schema["pattern"], "x-message": "must be a name of what is in reference/"},
)


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
