"""Outputs in the programs' layout (fixtures/printed), with values chosen by a test, and of other people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

PRINTED = Path(__file__).parent / "fixtures/printed"
NEW_YEAR = "Thu Jan  1 00:00:00 2026"  # the date of these layouts


def filled(layout: str, **values: object) -> str:
    return (PRINTED / f"{layout}.txt").read_text().format(**values)


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
    ends = {"first": first, "last": first + len(times) - 2, "largest": sizes[-1]}
    return filled("imb_pingpong", version=version, rows="\n".join(rows), **ends)


def imb(latency: float = 0.5, rate: float = 3000.0, second: int = 0) -> str:
    """An IMB 2017 PingPong output of two ranks in somebody's job, with MiB/s in its last column."""
    sizes = [0, *(2**power for power in range(25))]
    text = imb_pingpong("2017", [round(latency + size / rate, 2) for size in sizes], 2.0**20)
    called = "-iter 1000 -time 200 -msglog 0:24\n#" + " " * 52 + "-iter_policy off PingPong"
    text = text.replace("IMB-MPI1 -msglog 0:24 PingPong", f"/some/where/IMB-MPI1 {called}")
    text = text.replace(": 3.1", ": 2.2").replace("# Machine               : x86_64\n", "")
    return text.replace(NEW_YEAR, f"Wed Mar 22 05:28:{second:02d} 2017")


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


def hpl_output(rows: list[HplRow], progress: int = 0) -> str:
    """An output of HPL 2.2, which prints the rate with 3 decimals; ``progress``: lines above each result."""
    grids = dict.fromkeys((row.rows, row.columns) for row in rows)
    of_run = {"N": dict.fromkeys(row.order for row in rows), "NB": dict.fromkeys(row.block for row in rows)}
    of_grid = {"P": [rows for rows, _ in grids], "Q": [columns for _, columns in grids]}
    lists, grid = (
        "\n".join(_hpl_list(name, [*values]) for name, values in of.items()) for of in (of_run, of_grid)
    )
    tables = ""
    for row in rows:
        for k in range(1, progress + 1):
            tables += f"Column={k * row.block:09d} Fraction={k:4.1f}% Gflops={row.gflops * 3:9.3e}\n"
        tables += filled("hpl_table", row=row)
    return filled("hpl", lists=lists, grid=grid, tables=tables, count=len(rows))


def _hpl_list(name: str, values: list[int]) -> str:
    """Eight in a line."""
    lines = ["".join(f"{value:8d} " for value in values[k : k + 8]) for k in range(0, len(values), 8)]
    return f"{name:<7}:" + f"\n{' ' * 8}".join(lines)


def hpl(gflops: str = "3.297e+01", second: int = 0) -> str:
    """An HPL 2.2 output of four ranks at this rate."""
    operations = 2 / 3 * 44640**3 + 3 / 2 * 44640**2
    text = hpl_output([HplRow(44640, 180, 2, 2, operations / (float(gflops) * 1e9))])
    return text.replace(NEW_YEAR, f"Sun Mar 26 23:50:{second:02d} 2017")


def prot(transport: str, hosts: int) -> str:
    """The table of Platform MPI's -prot."""
    lines = [f"Host {number} -- ip 192.0.2.{number + 1} -- ranks {number}" for number in range(hosts)]
    lines += ["", " Prot -  All Intra-node communication is: SHM"]
    lines += [f" Prot -  All Inter-node communication is: {transport}"] if hosts > 1 else []
    return "\n".join([*lines, "", ""])


def lsf(output: str, hosts: Sequence[str], script: Sequence[str], **changes: object) -> str:
    """An LSF report around an output; ``hosts`` such as ``2*node1.site.org``; ``changes``: of the job."""
    job = {"job": 1000, "name": "PingPong", "state": "Done", "end": "Successfully completed.", **changes}
    first, *others = [f"<{host}>" for host in hosts]
    where = {"first": first, "others": "".join(f"{' ' * 28}{host}\n" for host in others)}
    text = {
        "script": "".join(f"{line}\n" for line in script),
        "output": output,
        "host": hosts[0].partition("*")[2],
    }
    return filled("lsf", **job, **where, **text)


def directives(ranks: int, ptile: int, *more: str) -> list[str]:
    """The directives of the jobs of the STFC report."""
    return ["#BSUB -x", f"#BSUB -n {ranks}", f'#BSUB -R "span[ptile={ptile}]"', "#BSUB -W 0:45", *more]
