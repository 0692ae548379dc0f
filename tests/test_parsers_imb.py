from __future__ import annotations

import re
from pathlib import Path

import pytest

from mpicampaign.records import Series
from mpicampaign.suites import OutputError, ParsedOutput, parse

FIXTURES = Path(__file__).parent / "fixtures" / "imb"  # real runs of IMB 2021.11, short on purpose


def read(name: str) -> str:
    return (FIXTURES / f"{name}.out").read_text(encoding="utf-8")


def find(parsed: ParsedOutput, benchmark: str, ranks: int = 2, **qualifiers: str) -> Series:
    found = [s for s in parsed.series if (s.benchmark, s.ranks) == (benchmark, ranks)]
    (series,) = [s for s in found if s.qualifiers == qualifiers]
    return series


def imb_line(*values: object) -> str:
    return "".join(f"{value:>13}" for value in values)


def pingpong(version: str = "2021.11", megabyte: float = 1e6, microseconds: tuple[float, ...] = ()) -> str:
    """A PingPong output as IMB lays it out, 0 B and then 1 B doubling."""
    times = microseconds or (0.24, 0.3, 0.61, 1.25, 2.97)
    sizes = [0, *(1024 * 2**k for k in range(len(times) - 1))]
    rows = [
        imb_line(size, 1000, f"{time:.2f}", f"{size / time * 1e6 / megabyte:.2f}")
        for size, time in zip(sizes, times, strict=True)
    ]
    head = [
        "#-----",
        f"#    Intel(R) MPI Benchmarks {version}, MPI-1 part",
        "#-----",
        "# Date                  : Thu Jan  1 00:00:00 2026",
        "",
        "# Calling sequence was: ",
        "",
        f"# IMB-MPI1 -msglog 10:{9 + len(times) - 1} PingPong",
        "",
        "# Minimum message length in bytes:   0",
        f"# Maximum message length in bytes:   {sizes[-1]}",
        "#",
        "# List of Benchmarks to run:",
        "",
        "# PingPong",
        "",
        "#-----",
        "# Benchmarking PingPong ",
        "# #processes = 2 ",
        "#-----",
        imb_line("#bytes", "#repetitions", "t[usec]", "Mbytes/sec"),
    ]
    return "\n".join([*head, *rows, "", "", "# All processes entering MPI_Finalize", "", ""])


def test_overlap_is_a_fraction() -> None:
    overlap = find(parse("imb", read("nbc")), "Ialltoall").columns["overlap"]
    assert all(value is not None and 0 <= value <= 1 for value in overlap)


@pytest.mark.parametrize(
    ("version", "megabyte"),
    [
        ("2017", 2**20),
        ("2017 update 1", 2**20),
        ("4.1 Update 1", 2**20),
        ("2018", 1e6),
        ("2019 Update 5", 1e6),
        ("2021.11", 1e6),
        ("unheard-of", 2**20),  # the rows prove it
        ("unheard-of", 1e6),
        ("2019 Update 5", 2**20),  # all rows prove the version's habit wrong
    ],
)
def test_megabyte_of_version(version: str, megabyte: float) -> None:
    (series,) = parse("imb", pingpong(version, megabyte)).series
    assert series.columns["bandwidth"][-1] == pytest.approx(8192 / 2.97e-6, rel=1e-5)


def test_unit_that_nothing_tells_is_refused() -> None:
    text = read("rma").replace("Benchmarks 2021.11", "Benchmarks unheard-of")
    with pytest.raises(OutputError, match="unit of bandwidth unknown"):
        parse("imb", text)


def change(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("2758.25", "2578.25", "us are not 2578.25 Mbytes/sec"),
        ("2758.25", "2778.25", "us are not 2778.25 Mbytes/sec"),  # 0.7 % off, more than print rounding
        ("         2.97", "         3.97", "8192 B in 3.97 us are not"),
        ("         2.97", "          nan", "is 'nan', not a number"),
        ("         2.97", "          inf", "is 'inf', not a number"),
        ("         2.97", "        -2.97", "is '-2.97', not a number"),
        ("         2.97", "         2,97", "is '2,97', not a number"),
        ("         2.97", "        2.97 ", "not where the header's are"),
        ("         8192", "         819 ", "not where the header's are"),
        ("         1000         1.25", "         1.25", "row has 3 columns, the header names 4"),
        (
            "         2048         1000         0.61",
            "[0] 2048         1000         0.61",
            "4096 B follows 1024 B",
        ),
        ("         4096", "         4906", "4906 B follows 2048 B: rows are missing"),
        ("         4096", "         2048", "2048 B follows 2048 B: the row is there twice"),
        ("         4096", "         1024", "1024 B follows 2048 B: the rows are not in order"),
        (
            "            0         1000         0.24         0.00\n",
            "",
            "the row of 0 B of PingPong is missing",
        ),
        ("t[usec]", "t[nsec]", "unknown heading 't\\[nsec\\]'"),
        ("# #processes = 2", "# #processes", "no number of processes"),
        ("# All processes entering MPI_Finalize", "", "ends after 5 rows; the closing line is missing"),
        ("MPI Benchmarks", "Benchmarks", "header of the Intel MPI Benchmarks is missing"),
        ("in bytes:   8192", "in bytes:   16384", "ends at 8192 B, not 16384 B"),
        ("-msglog 10:13", "-msglog 9:13", "starts at 1024 B, not 512 B"),
        ("# PingPong\n", "# PingPong\n# Sendrecv\n", "Sendrecv was to run but has no table"),
        ("0.24         0.00", "0.24         1.00", "0 B in 0.24 us are not 1.0"),
        ("# Benchmarking PingPong", "# Benchmarking Ping Pong", "names no benchmark"),
        ("         2.97", "         2.97\0", "NUL byte"),
        ("#bytes", "bytes", "no rows for PingPong"),
        ("         1000         0.24", "  time-out.; x 0.24", "ends at 8192 B|0 B"),
    ],
)
def test_damage_is_refused_with_a_reason(old: str, new: str, reason: str) -> None:
    with pytest.raises(OutputError, match=reason):
        parse("imb", change(pingpong(), old, new))


def test_contradicting_minimum_average_maximum() -> None:
    head, rows = read("own_lengths").split("# Benchmarking Allreduce")
    damaged = re.sub(r"(\n +8 +10.{26}).{13}", rf"\g<1>{'999.99':>13}", rows)
    with pytest.raises(OutputError, match=r"minimum .*, average 999.99, maximum .* contradict each other"):
        parse("imb", f"{head}# Benchmarking Allreduce{damaged}")


def test_defects_found_by_imb_are_refused() -> None:
    text = read("checked")
    assert "defects" in parse("imb", text).series[0].columns
    damaged = re.sub(r"(\n +4 +10 .*)0\.00\n", r"\g<1>1.00\n", text, count=1)
    with pytest.raises(OutputError, match="the data check found defects"):
        parse("imb", damaged)


def test_messages_of_failed_programs() -> None:
    with pytest.raises(OutputError, match="CHECK FAILURES: rank 0: 1"):
        parse("imb", "CHECK FAILURES: rank 0: 1\n" + read("mt"))
    with pytest.raises(OutputError, match="Invalid benchmark name nosuch"):
        parse("imb", change(pingpong(), "# Benchmarking", "Invalid benchmark name nosuch\n# Benchmarking"))
    abort = "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES"
    with pytest.raises(OutputError, match="aborted: =   BAD TERMINATION"):
        parse("imb", change(pingpong(), "\n\n# All processes", f"\n{abort}\n\n# All processes"))


def test_two_outputs_in_one_file() -> None:
    with pytest.raises(OutputError, match="two outputs in one file"):
        parse("imb", pingpong() + pingpong())
    table = pingpong()[pingpong().index("# Benchmarking") :]
    with pytest.raises(OutputError, match="a table after the closing line: two outputs in one file"):
        parse("imb", pingpong() + table)
    with pytest.raises(OutputError, match="header of the Intel MPI Benchmarks is missing"):
        parse("imb", table + pingpong())


def test_a_second_table_that_was_not_asked_for() -> None:
    text = pingpong()
    start, end = text.index("# Benchmarking"), text.index("\n\n# All processes")
    with pytest.raises(OutputError, match="a second table of PingPong: two outputs in one file"):
        parse("imb", f"{text[:end]}\n\n{text[start:end]}{text[end:]}")


def test_mt_has_no_closing_line_but_equal_tables() -> None:
    text = read("mt")
    cut = text.rstrip("\n").rsplit("\n", 1)[0] + "\n\n"
    with pytest.raises(OutputError, match="tables have 1 and 2 rows: some are missing"):
        parse("imb", cut)
    with pytest.raises(OutputError, match="the blank line after it is missing"):
        parse("imb", text.rstrip("\n") + "\n")


def test_unknown_suite() -> None:
    with pytest.raises(OutputError, match="no parser for suite 'ibm'; did you mean 'imb'"):
        parse("ibm", "")


def test_groups_are_numbered_from_0() -> None:
    text = read("multi")
    barrier = text.index("Benchmarking Multi-Barrier")
    assert "\n            0" in text[barrier:]
    changed = text[:barrier] + text[barrier:].replace("\n            0", "\n            2", 1)
    with pytest.raises(OutputError, match=r"line \d+: rows of 2 groups, not of 0 to 1"):
        parse("imb", changed)


def test_a_row_without_time_gave_up() -> None:
    text = pingpong()
    row = next(line for line in text.splitlines() if line.split()[:1] == ["8192"])
    (series,) = parse("imb", text.replace(row, imb_line(8192, 0, "0.00", "0.00"))).series
    assert series.columns["size"][-1] == 8192
    assert [series.columns[name][-1] for name in ("time", "bandwidth")] == [None, None]
