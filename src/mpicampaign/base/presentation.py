"""How to show a campaign's results, as its file or the map of an import defines it."""

from __future__ import annotations

from dataclasses import dataclass

from mpicampaign.base.keys import NAME, NAME_RULE, entry, key, texts

# Default message sizes (B) of tables; the schemas name them, too.
TABLE_SIZES = (1024, 8192, 32768)


PUBLICATION_RULE = NAME_RULE | {"x-message": "must be the name of a publication in reference/"}
_NAMES = texts(
    r"^[^\u0000-\u001f\u007f\u0085\u2028\u2029]+$",
    "must be a text of one line without control characters",
    name="published_names",
    minItems=1,
)


@entry(
    "reference",
    "Published values (`reference: [{…}]`)",
    "One publication in reference/. Its name alone selects all of it.",
    text=PUBLICATION_RULE,
)
@dataclass(frozen=True, slots=True)
class ReferenceChoice:
    """A publication in reference/ to show beside own rows, or some of its rows; () = all."""

    name: str = key(
        NAME, "Name of the publication", "It is in reference/NAME.csv.", "stfc-2017", required=True
    )
    host_groups: tuple[str, ...] = key(
        _NAMES,
        "Published host groups to show",
        "Sentences compare each with own means. Default: all.",
        ["scarf15", "scarf16"],
    )
    placements: tuple[str, ...] = key(
        _NAMES,
        "Published placements to show",
        "Default: those of the own rows; all, if none of these is published.",
        ["TCP"],
    )


@dataclass(frozen=True, slots=True)
class Presentation:
    """What tables and report show.

    ``table_sizes``: message sizes (B) of tables; ``unit``: of bandwidths, MB/s (10^6 B/s) or MiB/s;
    ``reference``: published values to show; ``by``: the attribute of host groups that groups rows.
    """

    title: str = ""
    table_sizes: tuple[int, ...] = TABLE_SIZES
    unit: str = "MB/s"
    reference: tuple[ReferenceChoice, ...] = ()
    by: str = ""
