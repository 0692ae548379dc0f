"""The comparison as terminal text, CSV and Markdown."""

from __future__ import annotations

from dataclasses import replace

import pytest
import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.compare.tables import Comparison
from mpicampaign.records import Case
from mpicampaign.text import clip, display_width, pad

HOSTILE = synthetic.HOSTILE


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(synthetic.campaign())


@pytest.fixture(scope="module")
def hostile() -> Comparison:
    names = Case(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    records = [replace(record, case=names) for record in synthetic.case_runs(names, 1e-6, 1e9)]
    return compare(records + synthetic.not_available(replace(names, placement="=1+1"), HOSTILE))


def test_widths_of_wide_and_combining_characters() -> None:
    assert display_width("宽a") == 3 and display_width("e\u0301") == 1
    assert clip("宽宽宽", 5) == "宽宽…" and pad("宽", 4) == "宽  " and pad("a", 3, right=True) == "  a"
