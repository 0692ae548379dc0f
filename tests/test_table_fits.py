"""Hockney fits in tables: values, doubts, and rows without a fit."""

from __future__ import annotations

import pytest
import synthetic

from mpicampaign.compare.compare import compare
from mpicampaign.compare.hockney import fits
from mpicampaign.compare.tables import Comparison
from mpicampaign.records import Case
from mpicampaign.show.fits import fit_heads, fit_lines
from mpicampaign.show.make import to_markdown, to_terminal


@pytest.fixture(scope="module")
def one() -> Comparison:
    return compare(synthetic.case_runs(Case("s", "g1", "SHM", "PingPong"), 1e-6, 8e9, repeats=6))


def test_a_line_has_the_models_values_in_the_tables_units(one: Comparison) -> None:
    line = fit_lines(one, one.tables[0])[0]
    sizes, latency, bandwidth, half, error = line.values
    assert (line.name, line.first, sizes) == ("g1 SHM", True, "0 B-4 MiB")
    assert 0.9 < float(latency) < 1.1 and 7200 < float(bandwidth) < 8800
    length = fits(one.tables[0].rows[0])[0].half_length
    assert length is not None and half.endswith(" KiB")
    assert float(half.split()[0]) == pytest.approx(length / 1024, rel=0.01)
    assert error.endswith(" %") and line.doubt == ""
    assert fit_heads("MiB/s")[2] == "bandwidth (MiB/s)"


def test_what_is_not_a_message_has_no_model() -> None:
    records = [
        synthetic.run(Case("s", "g", "SHM", "A"), n, synthetic.collective("A", 1e-6, 1e9)) for n in (1, 2)
    ]
    comparison = compare(records)
    assert fit_lines(comparison, comparison.tables[0]) == []
    assert "Hockney" not in to_terminal(comparison) + to_markdown(comparison)


def test_tables_show_few_fits_and_point_to_the_report_for_many(one: Comparison) -> None:
    assert "half length" in to_terminal(one) and "| g1 SHM | 0 B-4 MiB |" in to_markdown(one)
    records = [
        record
        for number in range(25)
        for record in synthetic.case_runs(Case("s", f"g{number}", "SHM", "PingPong"), 1e-6, 8e9, repeats=1)
    ]
    text = to_terminal(compare(records))
    assert "half length" not in text and "see the report" in text
