"""Errors in a campaign's choice of published values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.base.errors import did_you_mean
from mpicampaign.base.reference import load_reference, reference_names
from mpicampaign.base.yaml_lines import Key, shown

if TYPE_CHECKING:
    from mpicampaign.campaign.checks import Notes


def check_reference_choices(notes: Notes) -> None:
    """Note publications that are not shipped or named twice, and names they do not contain."""
    seen: list[str] = []
    for key, entry in notes.document.items(("reference",)):
        name_key = key if isinstance(entry, str) else (*key, "name")
        name = entry if isinstance(entry, str) else str(entry.get("name", ""))
        if name not in reference_names():
            notes.add(name_key, f"unknown reference {shown(name)}", "", did_you_mean(name, reference_names()))
        elif name in seen:
            notes.add(name_key, "this reference is named twice", shown(name))
        elif isinstance(entry, dict):
            _check_choice(key, name, notes)
        seen.append(name)


def _check_choice(key: Key, name: str, notes: Notes) -> None:
    reference = load_reference(name)
    for part in ("host_groups", "placements"):
        known = {getattr(value, part.removesuffix("s")) for value in reference.values}
        for item, wanted in notes.document.items((*key, part)):
            if wanted not in known:
                message = f"{name} has no values for {shown(wanted)}"
                notes.add(item, message, "", did_you_mean(str(wanted), known))
