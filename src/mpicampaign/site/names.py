"""Whether a name from a site is valid in a campaign file, and names made from such names. No I/O."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpicampaign.campaign.model import campaign_schema

if TYPE_CHECKING:
    from collections.abc import Container

_LENGTH = 40


def usable(kind: str, text: str) -> bool:
    """Whether a text is of this kind in the campaign file's schema: word, constraint, device, …"""
    pattern = campaign_schema()["$defs"][kind]["pattern"]
    return re.search(pattern, text) is not None and "\n" not in text and text.isprintable()


def name_from(text: str, taken: Container[str], otherwise: str = "nodes") -> str:
    """A name for a campaign file, similar to a text and not in ``taken`` (lower case)."""
    plain = re.sub(r"[^a-z0-9._+-]+", "-", text.lower()).lstrip("._+-")[:_LENGTH].rstrip("._+-")
    base = plain or otherwise
    name, number = base, 2
    while name in taken:
        name, number = f"{base}-{number}", number + 1
    return name
