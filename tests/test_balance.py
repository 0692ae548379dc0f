"""The balance of communication and computation, compared with its author's table."""

from __future__ import annotations

import math

import pytest

from mpicampaign.errors import UserError
from mpicampaign.reference import load_reference
from mpicampaign.statistics.balance import balance

PUBLISHED = {"random_ring_bandwidth": "GB/s", "hpl_flops_per_process": "Gflop/s", "balance": "byte/kflop"}


def rows() -> list[dict[str, str]]:
    """The printed values of each row, in the units that `PUBLISHED` names."""
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for value in load_reference("hpcc-2005").values:
        row = found.setdefault((value.system, value.host_group, value.placement), {})
        row["id"] = f"{value.host_group} {value.placement}"
        row[value.quantity] = value.printed
        assert value.unit == PUBLISHED.get(value.quantity, value.unit)
    return list(found.values())


def rounding(printed: str) -> float:
    """Half a unit of the last digit: 0.398 -> 0.0005, 220. -> 0.5."""
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])


def of_each(ring_gbytes: float, hpl_gflops: float) -> float:
    """From the table's values per process."""
    return balance(ring_gbytes * 1e9, hpl_gflops * 1e9, 1)


def test_nec_sx6_with_192_processes() -> None:
    assert balance(0.398e9, 192 * 6.91e9, 192) == pytest.approx(57.6, abs=0.05)  # the paper prints 57.5


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["id"])
def test_published_rows_within_the_rounding_of_their_digits(row: dict[str, str]) -> None:
    """In all 24 rows the printed balance lies within the range of the printed digits."""
    ring, hpl, printed = (row[name] for name in PUBLISHED)
    lowest = of_each(float(ring) - rounding(ring), float(hpl) + rounding(hpl))
    highest = of_each(float(ring) + rounding(ring), float(hpl) - rounding(hpl))
    assert lowest <= float(printed) + rounding(printed)
    assert highest >= float(printed) - rounding(printed)


def test_the_table_is_whole() -> None:
    assert len(rows()) == 24


@pytest.mark.parametrize("hpl", [None, 0.0, -1e9, math.nan, math.inf])
def test_no_balance_without_hpl(hpl: float | None) -> None:
    with pytest.raises(UserError, match=r"no balance: the HPL speed is (missing|not positive)[^\0]*run HPL"):
        balance(1e9, hpl, 4)


@pytest.mark.parametrize("ring", [None, 0.0, -1.0])
def test_no_balance_without_rings(ring: float | None) -> None:
    with pytest.raises(
        UserError, match=r"the random ring bandwidth is [^\0]*run the kernel latency_bandwidth"
    ):
        balance(ring, 1e12, 4)


def test_no_balance_without_processes() -> None:
    with pytest.raises(UserError, match="at least one process"):
        balance(1e9, 1e12, 0)
