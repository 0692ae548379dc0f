from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_pingpong_in_si_units() -> None:
    parsed = parse("imb", read("pingpong"))
    (series,) = parsed.series
    assert (parsed.version, series.benchmark, series.ranks) == ("2021.11", "PingPong", 2)
    assert series.columns["size"] == [0, *(2**k for k in range(23))]
    printed = [line.split() for line in read("pingpong").splitlines() if re.match(r" +[0-9]", line)]
    assert series.columns["time"] == [pytest.approx(float(row[2]) * 1e-6) for row in printed]
    assert series.columns["bandwidth"] == [pytest.approx(float(row[3]) * 1e6) for row in printed]
    assert parsed.metadata["calling_sequence"] == "IMB-MPI1 -iter 10 -time 0.5 PingPong"
    assert parsed.metadata["part"] == "1"


@pytest.mark.parametrize(
    ("name", "tables"),
    [
        ("mpi1", 36),
        ("nbc", 13),
        ("rma", 33),
        ("p2p", 4),
        ("mt", 10),
        ("ext", 11),
        ("io", 11),
        ("multi", 11),
        ("multi_summary", 3),
        ("own_lengths", 2),
        ("off_cache", 2),
        ("no_zero", 2),
        ("below_element", 2),
        ("bandwidth", 4),
        ("mapped", 1),
        ("stencil", 1),
        ("debug", 1),
        ("checked", 4),
    ],
)
def test_every_table_is_read_whole(name: str, tables: int) -> None:
    text = read(name)
    parsed = parse("imb", text)
    assert len(parsed.series) == tables
    rows = sum(len(next(iter(series.columns.values()))) for series in parsed.series)
    assert rows == len(re.findall(r"^ +[0-9]+ .*[0-9.]$|^ +[0-9]+ (?:time-out|out-of)", text, re.MULTILINE))


def test_ranges_and_averages_of_collectives() -> None:
    parsed = parse("imb", read("mpi1"))
    bcast = find(parsed, "Bcast", 3)
    assert list(bcast.columns) == ["size", "repetitions", "time_min", "time_max", "time"]
    barrier = find(parsed, "Barrier", 3)
    assert list(barrier.columns) == ["repetitions", "time_min", "time_max", "time"]
    assert find(parsed, "Allreduce", 2).columns["size"] == [0, 4, 8, 16]


def test_overlap_is_a_fraction() -> None:
    overlap = find(parse("imb", read("nbc")), "Ialltoall").columns["overlap"]
    assert all(value is not None and 0 <= value <= 1 for value in overlap)


def test_modes_groups_threads_and_windows_are_distinguished() -> None:
    assert find(parse("imb", read("rma")), "Unidir_put", mode="aggregate").columns["size"] == [0, 1, 2, 4]
    assert find(parse("imb", read("multi")), "Multi-PingPong", group="1").columns["size"] == [0, 1, 2, 4]
    assert find(parse("imb", read("mt")), "UniBandMT", threads="2", window_size="64").columns["size"] == [
        8,
        32,
    ]
    assert find(parse("imb", read("twice")), "PingPong", table="2").columns["size"] == [0, 1, 2]


def test_a_time_out_is_a_missing_value_and_reported() -> None:
    parsed = parse("imb", read("out_of_memory"))
    series = find(parsed, "PingPong")
    assert series.columns["size"][-1] == 524288
    assert series.columns["time"][-1] is None
    assert series.columns["bandwidth"][-1] is None
    assert "PingPong 524288 out-of-mem" in parsed.metadata["not_measured"]


def test_too_few_processes_is_a_reason() -> None:
    with pytest.raises(OutputError, match="PingPong invalid for 1 processes"):
        parse("imb", read("invalid"))
    parsed = parse("imb", read("one_process"))
    assert [series.benchmark for series in parsed.series] == ["Sendrecv"]
    assert parsed.metadata["not_measured"] == "PingPong invalid for 1 processes"


def test_scheduler_report_and_library_messages_around_the_output() -> None:
    report = (
        "Job 42 was executed on host(s) <2*node1>\n------\n#BSUB -n 2\n#BSUB -W 0:45\n"
        "# Benchmarking PingPong\nmpirun -prot IMB-MPI1 PingPong\n"
        "TERM_PROGRAM=tmux\nGroup of hosts: 1\n------\nSuccessfully completed.\n"
        "    CPU time :   1.00 sec.\n\n host | 0\n======|======\n    0 : SHM\n\n"
    )
    text = pingpong().replace("# Benchmarking", "[0] MPI startup(): more\n# Benchmarking")
    whole = report + text + "\nPS:\n\nRead file <42.err> for stderr output of this job.\n"
    assert parse("imb", whole).series == parse("imb", pingpong()).series
    interrupted = pingpong().replace("\n         2048 ", "\nnode1: a warning in between\n         2048 ")
    assert parse("imb", interrupted).series == parse("imb", pingpong()).series


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


@pytest.mark.parametrize("banner", ["Intel (R) MPI Benchmarks 2017", "Intel (R) MPI Benchmark Suite V3.2.4"])
def test_banners_of_older_versions(banner: str) -> None:
    text = pingpong(megabyte=2**20).replace("Intel(R) MPI Benchmarks 2021.11", banner)
    (series,) = parse("imb", text).series
    assert series.columns["bandwidth"][-1] == pytest.approx(8192 / 2.97e-6, rel=1e-5)


def test_the_version_decides_where_no_row_does() -> None:
    text = read("rma")
    first, last = (parse("imb", text.replace("2021.11", year)).series for year in ("2018", "2017"))
    assert first == parse("imb", text).series != last


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


def test_largest_size_asked_for() -> None:
    assert parse("imb", pingpong(), expected_max=8192).series
    with pytest.raises(OutputError, match="PingPong ends at 8192 B; 16384 B was asked for"):
        parse("imb", pingpong(), expected_max=16384)


def test_windows_line_ends() -> None:
    assert parse("imb", pingpong().replace("\n", "\r\n")).series == parse("imb", pingpong()).series


def test_unknown_suite() -> None:
    with pytest.raises(OutputError, match="no parser for suite 'ibm'; did you mean 'imb'"):
        parse("ibm", "")


@given(st.lists(st.integers(100, 10**8), min_size=2, max_size=20), st.sampled_from([1e6, 2.0**20]))
def test_what_is_printed_is_what_is_parsed(hundredths: list[int], megabyte: float) -> None:
    times = tuple(value / 100 for value in hundredths)
    text = pingpong("2017" if megabyte != 1e6 else "2021.11", megabyte, times)
    columns = parse("imb", text).series[0].columns
    assert columns["time"] == [pytest.approx(time * 1e-6) for time in times]
    printed = [float(line.split()[3]) for line in text.splitlines() if re.match(r" +[0-9]", line)]
    for size, time, rate, value in zip(columns["size"], times, columns["bandwidth"], printed, strict=True):
        expected = value * megabyte or (size or 0) / time * 1e6  # 0.00 is too small to print
        assert rate == pytest.approx(expected)


def test_groups_are_numbered_from_0() -> None:
    text = read("multi")
    barrier = text.index("Benchmarking Multi-Barrier")
    assert "\n            0" in text[barrier:]
    changed = text[:barrier] + text[barrier:].replace("\n            0", "\n            2", 1)
    with pytest.raises(OutputError, match=r"line \d+: rows of 2 groups, not of 0 to 1"):
        parse("imb", changed)


def test_rows_taken_at_once_are_the_rows_taken_one_by_one() -> None:
    text = pingpong()
    at_once = parse("imb", text)
    assert parse("imb", text.replace("\n", "\r\n")) == at_once  # no such row is taken at once
    last = text.splitlines().index(next(line for line in reversed(text.splitlines()) if line[:1] == " "))
    moved = text.splitlines()
    moved[last] = moved[last].replace(" ", "", 1)
    with pytest.raises(OutputError, match=f"line {last + 1}: the row's columns are not where"):
        parse("imb", "\n".join(moved))


def test_a_bandwidth_too_small_to_print_is_size_over_time() -> None:
    (series,) = parse("imb", pingpong(microseconds=(300000.0, 400000.0))).series
    assert series.columns["bandwidth"] == [0.0, pytest.approx(1024 / 0.4)]


def test_a_row_without_time_gave_up() -> None:
    text = pingpong()
    row = next(line for line in text.splitlines() if line.split()[:1] == ["8192"])
    (series,) = parse("imb", text.replace(row, imb_line(8192, 0, "0.00", "0.00"))).series
    assert series.columns["size"][-1] == 8192
    assert [series.columns[name][-1] for name in ("time", "bandwidth")] == [None, None]
