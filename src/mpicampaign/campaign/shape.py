"""The shape of a campaign file, held against its JSON Schema."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from mpicampaign import shape
from mpicampaign.places import shipped

if TYPE_CHECKING:
    from mpicampaign.errors import Problem
    from mpicampaign.yaml_lines import Document, Key

SCHEMA = shipped("workflow/schemas/campaign.schema.json")


@cache
def load_schema() -> dict[str, Any]:
    """The JSON Schema of campaign files."""
    schema: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return schema


def check_shape(document: Document) -> tuple[list[Problem], list[Key]]:
    """What does not fit the schema, and the key paths that this leaves in doubt; see `shape`."""
    return shape.check_shape(document, SCHEMA)
