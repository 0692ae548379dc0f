"""Outputs in the programs' layout, with values chosen by a test."""

from __future__ import annotations

from typing import NamedTuple

IMB_MEBIBYTE_VERSION, IMB_MEGABYTE_VERSION = "2017 update 2", "2019 Update 1"


def imb_line(*values: object) -> str:
    """One line of an IMB table."""
    return "".join(f"{value:>13}" for value in values)


def imb_pingpong(version: str, times: list[float], unit: float, first: int = 0) -> str:
    """IMB-MPI1 PingPong: 0 B, then doubling from 2**first B; ``times`` in µs, ``unit``: B of a megabyte."""
    sizes = [0, *(2**k for k in range(first, first + len(times) - 1))]
    rows = [
        imb_line(size, 1000, f"{time:.2f}", f"{size / time * 1e6 / unit:.2f}")
        for size, time in zip(sizes, times, strict=True)
    ]
    lines = [
        "#------------------------------------------------------------",
        f"#    Intel (R) MPI Benchmarks {version}, MPI-1 part    ",
        "#------------------------------------------------------------",
        "# Date                  : Thu Jan  1 00:00:00 2026",
        "# Machine               : x86_64",
        "# MPI Version           : 3.1",
        "",
        "# Calling sequence was: ",
        "",
        f"# IMB-MPI1 -msglog {first}:{first + len(times) - 2} PingPong",
        "",
        "# Minimum message length in bytes:   0",
        f"# Maximum message length in bytes:   {sizes[-1]}",
        "#",
        "# MPI_Datatype                   :   MPI_BYTE ",
        "",
        "# List of Benchmarks to run:",
        "",
        "# PingPong",
        "",
        "#---------------------------------------------------",
        "# Benchmarking PingPong ",
        "# #processes = 2 ",
        "#---------------------------------------------------",
        imb_line("#bytes", "#repetitions", "t[usec]", "Mbytes/sec"),
        *rows,
    ]
    return "\n".join([*lines, "", "", "# All processes entering MPI_Finalize", "", ""])


def osu_table(title: str, heading: str, rows: list[tuple[int, float]], version: str = "5.6.2") -> str:
    """An OSU table of two columns: sizes, and values with two decimals."""
    head = f"# OSU {title} Test v{version}\n# {'Size':<8}{heading:>20}\n"
    return head + "".join(f"{size:<10}{value:>18.2f}\n" for size, value in rows)


class HplRow(NamedTuple):
    """One result: time in s, variant such as WR11R2C4."""

    order: int
    block: int
    rows: int
    columns: int
    time: float
    variant: str = "WR11R2C4"

    @property
    def gflops(self) -> float:
        """The rate as HPL calculates it."""
        return (self.order / 1e9) * (self.order / self.time) * (2 / 3 * self.order + 3 / 2)


HPL_RULE = "=" * 80


def hpl_output(rows: list[HplRow], version: str = "2.2", decimals: int = 3, progress: int = 0) -> str:
    """An output of HPL; 2.2 prints the rate with 3 decimals, 2.3 with 4, Intel's builds with 5."""
    lines = [
        HPL_RULE,
        f"HPLinpack {version}  --  High-Performance Linpack benchmark  --   February 24, 2016",
        "Written by A. Petitet and R. Clint Whaley,  Innovative Computing Laboratory, UTK",
        HPL_RULE,
        "",
        "An explanation of the input/output parameters follows:",
        "N      : The order of the coefficient matrix A.",
        "",
        "The following parameter values will be used:",
        "",
        *_hpl_list("N", [*dict.fromkeys(row.order for row in rows)]),
        *_hpl_list("NB", [*dict.fromkeys(row.block for row in rows)]),
        "PMAP   : Row-major process mapping",
        *_hpl_list("P", [rows for rows, _ in dict.fromkeys((row.rows, row.columns) for row in rows)]),
        *_hpl_list("Q", [columns for _, columns in dict.fromkeys((row.rows, row.columns) for row in rows)]),
        "PFACT  :   Crout ",
        "ALIGN  : 8 double precision words",
        "",
        "-" * 80,
        "",
    ]
    for row in rows:
        lines += _hpl_table(row, decimals, progress)
    lines += [
        HPL_RULE,
        "",
        f"Finished {len(rows):6d} tests with the following results:",
        f"         {len(rows):6d} tests completed and passed residual checks,",
        f"         {0:6d} tests completed and failed residual checks,",
        f"         {0:6d} tests skipped because of illegal input values.",
        "-" * 80,
        "",
        "End of Tests.",
        HPL_RULE,
    ]
    return "\n".join([*lines, ""])


def _hpl_list(name: str, values: list[int]) -> list[str]:
    lines = []
    for number, some in enumerate(_eights(values)):
        head = f"{name:<7}:" if number == 0 else " " * 8
        lines.append(head + "".join(f"{value:8d} " for value in some))
    return lines


def _eights(values: list[int]) -> list[list[int]]:
    return [values[k : k + 8] for k in range(0, len(values), 8)]


def _hpl_table(row: HplRow, decimals: int, progress: int) -> list[str]:
    steps = range(1, progress + 1)
    return [
        *(f"Column={k * row.block:09d} Fraction={k:4.1f}% Gflops={row.gflops * 3:9.3e}" for k in steps),
        HPL_RULE,
        "T/V                N    NB     P     Q               Time                 Gflops",
        "-" * 80,
        f"{row.variant}{row.order:12d} {row.block:5d} {row.rows:5d} {row.columns:5d} {row.time:18.2f} "
        f"{row.gflops:22.{decimals}e}",
        "HPL_pdgesv() start time Thu Jan  1 00:00:00 2026",
        "",
        "HPL_pdgesv() end time   Thu Jan  1 00:00:01 2026",
        "",
        "-" * 80,
        "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0022140 ...... PASSED",
    ]
