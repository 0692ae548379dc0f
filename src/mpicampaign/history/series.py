"""The open series of a campaign: its name, and what the campaign file said when it began.

``series.json`` in the campaign's folder; `mpicampaign tick` writes it. A campaign that no tick has run has
none: its runs are the series ``open``.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from mpicampaign.base.errors import UserError
from mpicampaign.base.files import write_whole
from mpicampaign.base.records import NEW_SERIES, REPEATS, plain_fields

FILE = "series.json"
FORMAT = "mpicampaign-series"
VERSION = 1
OPEN = "open"  # the name of a series that no tick began
STAMP = "%Y%m%dT%H%M%SZ"  # the beginning of the name of every other one
NAME = re.compile(r"2[0-9]{7}T[0-9]{6}Z-[0-9a-f]{8}")
DAMAGE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)  # by which a reader finds it


@dataclass(frozen=True, slots=True)
class OpenSeries:
    """The series that ``runs/`` holds.

    ``name``: unique over sites, and in the order of time: ``20261123T083500Z-1a2b3c4d``. ``kind``: `REPEATS`
    or `NEW_SERIES`. ``campaign``: the campaign file's data when the series began. ``changed``: what
    changed in the file since, one line for each key.
    """

    name: str
    began: str
    kind: str
    campaign: dict[str, Any]
    changed: tuple[str, ...] = ()

    def tick_of(self, repeat: int) -> str:
        """The tick that made a repeat: ``NAME``, or ``NAME/r03`` where each tick makes a repeat."""
        return f"{self.name}/r{repeat:02d}" if self.kind == REPEATS else self.name


def is_name(text: str) -> bool:
    """Whether a text is the name of a series that a tick began; files may have any name."""
    if not NAME.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text.partition("-")[0])
    except ValueError:  # such as day 32
        return False
    return True


def tick_order(tick: str) -> tuple[str, int, str]:
    """Sorts ticks: series have names in the order of time, and repeats count up (r99 is before r100)."""
    series, _, repeat = tick.partition("/")
    return series, len(repeat), repeat


NO_SERIES = OpenSeries(OPEN, "", NEW_SERIES, {})


def read_series(campaign_folder: Path) -> OpenSeries:
    """The open series; `NO_SERIES` where no tick began one.

    Raises
    ------
    UserError
        when the file is damaged.
    """
    path = campaign_folder / FILE
    try:
        return series_from(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return NO_SERIES
    except DAMAGE as error:
        raise UserError(f"{path} is damaged: {error}") from error


def series_from(data: dict[str, Any]) -> OpenSeries:
    """The series from the data of a file.

    Raises
    ------
    ValueError, TypeError, KeyError, AttributeError
        when it has another shape, format or version; all are `DAMAGE`.
    """
    if (data.pop("format"), data.pop("version")) != (FORMAT, VERSION):
        raise ValueError(f"not of version {VERSION} of this program")
    series = OpenSeries(**{**data, "changed": tuple(data["changed"])})
    texts = (series.name, series.began, series.kind, *series.changed)
    if not all(isinstance(text, str) for text in texts) or not isinstance(series.campaign, dict):
        raise ValueError("its values are of other kinds")
    return series


def write_series(campaign_folder: Path, series: OpenSeries) -> None:
    """Write the file, whole."""
    write_whole(campaign_folder / FILE, series_text(series))


def series_text(series: OpenSeries) -> str:
    """The text of the file."""
    data = {"format": FORMAT, "version": VERSION, **plain_fields(series)}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def with_changes(series: OpenSeries, changed: tuple[str, ...]) -> OpenSeries:
    """The series, marked with what changed in the campaign file since it began."""
    return replace(series, changed=tuple(dict.fromkeys((*series.changed, *changed))))
