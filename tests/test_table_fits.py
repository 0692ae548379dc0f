"""Hockney fits in tables: values, doubts, and rows without a fit."""

from __future__ import annotations

import pytest
import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.compare.tables import Comparison
from mpicampaign.records import Case
from mpicampaign.show.make import to_markdown, to_terminal


@pytest.fixture(scope="module")
def one() -> Comparison:
    return compare(synthetic.case_runs(Case("s", "g1", "SHM", "PingPong"), 1e-6, 8e9, repeats=6))


def test_tables_show_few_fits_and_point_to_the_report_for_many(one: Comparison) -> None:
    assert "half length" in to_terminal(one) and "| g1 SHM | 0 B-4 MiB |" in to_markdown(one)
    records = [
        record
        for number in range(25)
        for record in synthetic.case_runs(Case("s", f"g{number}", "SHM", "PingPong"), 1e-6, 8e9, repeats=1)
    ]
    text = to_terminal(compare(records))
    assert "half length" not in text and "see the report" in text


def test_a_sentence_states_what_holds_over_all_host_groups() -> None:
    records = synthetic.campaign() + synthetic.campaign(host_group="other", factor=2)
    for text in (to_terminal(compare(records)), to_markdown(compare(records))):
        assert "latency at 0 B: SHM-1" in text and "of 2 host groups" in text
    assert "What holds over all host groups" not in to_terminal(compare(synthetic.campaign()))
