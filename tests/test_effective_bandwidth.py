"""The formulas of b_eff, compared with the published table of the T3E, and reading its output."""

from __future__ import annotations

import build_records as make
import golden_messages
import pytest

from mpicampaign.base.records import CLAIMED_TRANSPORT, Record
from mpicampaign.compare.compare import compare
from mpicampaign.show.sentences import note_text
from mpicampaign.suites import OutputError, parse

# --- the published table


# --- the output

LENGTHS = [*(2**k for k in range(13)), *range(5000, 5008)]
LMAX = LENGTHS[-1]
HEADER = f"""#mpicampaign-kernel 1
#@kernel=b_eff
#@version=1
#@ranks=3
#@lmax={LMAX}
#@lmax_rule=memory/128
#@columns.rates=set pattern method length repetition loops messages seconds
#@columns.patterns=set pattern processes rings smallest_ring largest_ring messages verified
"""
RINGS = ["ring-2", "ring-4", "ring-8", "ring-quarter", "ring-half", "ring-all"]
RANDOMS = ["random-1", "random-2"]


def pattern_rows(group: str, name: str, lengths: list[int], methods: tuple[str, ...], speed: float) -> str:
    """Rates at the speed (B/s) with the last method in repetition 1, slower ones elsewhere."""
    rows = []
    for repetition in (0, 1):
        for number, method in enumerate(methods):
            slower = 1 if (number, repetition) == (len(methods) - 1, 1) else 2
            rows += [
                f"rates {group} {name} {method} {length} {repetition} 5 6 {slower * length * 30 / speed:.9e}"
                for length in lengths
            ]
    return "\n".join([*rows, f"patterns {group} {name} 3 1 3 3 6 1\n"])


def output(speeds: dict[str, float] | None = None, end: str = "") -> str:
    """An output in which each pattern has one speed at all lengths: 100 B/s, or that of its name."""
    methods = ("sendrecv", "alltoallv", "nonblocking")
    groups = {"ring": RINGS, "random": RANDOMS, "cartesian": ["1d-x", "3d-xyz"]}
    rows = ""
    for group, names in groups.items():
        for name in names:
            rows += pattern_rows(group, name, LENGTHS, methods, (speeds or {}).get(name, 100.0))
    for name in ("best", "worst"):
        powers = [2**k for k in range(21)]
        rows += pattern_rows("first", name, powers, ("ping_pong",), (speeds or {}).get(name, 100.0))
    rows += pattern_rows("pair", "ranks-0-1", [1, LMAX], ("ping_pong",), 50.0)
    trailer = f"#@random_patterns={len(RANDOMS)}\n#@shortened=2 of 30 random patterns\n"
    return HEADER + rows + trailer + (end or f"#@end rows={rows.count(chr(10))} status=ok\n")


def test_damage_is_refused_with_a_reason() -> None:
    def said(old: str, new: str) -> str:
        assert old in output()
        with pytest.raises(OutputError) as refused:
            parse("kernel", output().replace(old, new, 1))
        return str(refused.value)

    golden_messages.check("mistakes/b_eff", said)


def test_a_measurement_without_time_is_refused() -> None:
    row = next(line for line in output().splitlines() if line.startswith("rates ring"))
    with pytest.raises(OutputError, match="took no time at all"):
        parse("kernel", output().replace(row, " ".join([*row.split()[:-1], "0"]), 1))


# --- in a comparison


def b_eff_run(ranks: int, b_eff: float) -> Record:
    case = make.case(f"tcp eth0 {ranks}", "b_eff")
    series = make.series("b_eff", ranks, b_eff=b_eff, b_eff_rings=100e6)
    return make.run(case, 1, series, suite="kernel", metadata={CLAIMED_TRANSPORT: "tcp eth0"})


def monotony_notes(*runs: Record) -> dict[str, str]:
    rows = compare(runs).tables[0].rows
    return {row.case.placement: note_text(n) for row in rows for n in row.notes if n.kind == "not_monotonic"}


def test_rows_that_fewer_ranks_outdo_are_noted() -> None:
    runs = [b_eff_run(2, 90e6), b_eff_run(4, 120e6), b_eff_run(8, 107e6), b_eff_run(10, 111e6)]
    assert monotony_notes(*runs) == {
        "tcp eth0 8": "not monotonic: 8 ranks reach 107.0 MB/s, 4 ranks (tcp eth0 4) 120.0 MB/s: "
        "the drop exceeds the ring patterns' share of one rank"
    }
