"""Invented raw outputs of other people's jobs: LSF reports, cron runs, Slurm outputs."""

from __future__ import annotations

from collections.abc import Sequence

SIZES = (0, *(2**power for power in range(25)))


def imb(latency: float = 0.5, rate: float = 3000.0, second: int = 0) -> str:
    """An IMB 2017 PingPong output of two ranks, with MiB/s in its last column."""
    rows = [_row(size, latency + size / rate) for size in SIZES]
    return "\n".join(
        [
            "#------------------------------------------------------------",
            "#    Intel (R) MPI Benchmarks 2017, MPI-1 part    ",
            "#------------------------------------------------------------",
            f"# Date                  : Wed Mar 22 05:28:{second:02d} 2017",
            "# MPI Version           : 2.2",
            "",
            "# Calling sequence was: ",
            "",
            "# /some/where/IMB-MPI1 -iter 1000 -time 200 -msglog 0:24",
            "#                                                    -iter_policy off PingPong",
            "",
            "# Minimum message length in bytes:   0",
            "# Maximum message length in bytes:   16777216",
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
            "       #bytes #repetitions      t[usec]   Mbytes/sec",
            *rows,
            "",
            "",
            "# All processes entering MPI_Finalize",
            "",
            "",
        ]
    )


def _row(size: int, time: float) -> str:
    time = round(time, 2)
    return f"{size:>13}{1000:>13}{time:>13.2f}{size / time * 1e6 / 2**20:>13.2f}"


def hpl(gflops: str = "3.297e+01", second: int = 0) -> str:
    """An HPL 2.2 output of four ranks; the caller must make rate and time consistent."""
    operations = 2 / 3 * 44640**3 + 3 / 2 * 44640**2
    time = operations / (float(gflops) * 1e9)
    line, dash = "=" * 80, "-" * 80
    return f"""{line}
HPLinpack 2.2  --  High-Performance Linpack benchmark  --   February 24, 2016
Written by A. Petitet and R. Clint Whaley,  Innovative Computing Laboratory, UTK
Modified by Piotr Luszczek, Innovative Computing Laboratory, UTK
Modified by Julien Langou, University of Colorado Denver
{line}

The following parameter values will be used:

N      :   44640 
NB     :     180 
PMAP   : Row-major process mapping
P      :       2 
Q      :       2 

{dash}

- Computational tests pass if scaled residuals are less than                16.0

{line}
T/V                N    NB     P     Q               Time                 Gflops
{dash}
WR11R2C4       44640   180     2     2{time:>19.2f}{gflops:>23}
HPL_pdgesv() start time Sun Mar 26 23:50:{second:02d} 2017

HPL_pdgesv() end time   Mon Mar 27 00:20:19 2017

{dash}
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0006845 ...... PASSED
{line}

Finished      1 tests with the following results:
              1 tests completed and passed residual checks,
              0 tests completed and failed residual checks,
              0 tests skipped because of illegal input values.
{dash}

End of Tests.
{line}
"""  # noqa: W291  HPL ends these lines with blanks


def prot(transport: str, hosts: int) -> str:
    """The table of Platform MPI's -prot."""
    lines = [f"Host {number} -- ip 192.0.2.{number + 1} -- ranks {number}" for number in range(hosts)]
    lines += ["", " Prot -  All Intra-node communication is: SHM"]
    lines += [f" Prot -  All Inter-node communication is: {transport}"] if hosts > 1 else []
    return "\n".join([*lines, "", ""])


def lsf(
    output: str,
    hosts: Sequence[str],
    script: Sequence[str],
    *,
    job: int = 1000,
    name: str = "PingPong",
    state: str = "Done",
    end: str = "Successfully completed.",
) -> str:
    """An LSF report around an output; ``hosts`` such as ``2*node1.site.org``."""
    first, *others = [f"<{host}>" for host in hosts]
    where = [f"Job was executed on host(s) {first}, in queue <par>, as user <someone> in cluster <here>."]
    where += [f"                            {host}" for host in others]
    return "\n".join(
        [
            f"Sender: LSF System <lsfadmin@{hosts[0].partition('*')[2]}>",
            f"Subject: Job {job}: <{name}> in cluster <here> {state}",
            "",
            f"Job <{name}> was submitted from host <login1> by user <someone> in cluster <here>.",
            *where,
            "</home/someone> was used as the home directory.",
            "</home/someone/work> was used as the working directory.",
            "Started at Results reported on ",
            "Your job looked like:",
            "",
            "------------------------------------------------------------",
            "# LSBATCH: User input",
            *script,
            "",
            "------------------------------------------------------------",
            "",
            end,
            "",
            "Resource usage summary:",
            "",
            "    Run time :                                   38 sec.",
            "",
            "The output (if any) follows:",
            "",
            output,
            "",
            "PS:",
            "",
            f"Read file </home/someone/work/outputs/{job}.err> for stderr output of this job.",
            "",
        ]
    )


def directives(ranks: int, ptile: int, *more: str) -> list[str]:
    """The directives of the jobs of the STFC report."""
    return ["#BSUB -x", f"#BSUB -n {ranks}", f'#BSUB -R "span[ptile={ptile}]"', "#BSUB -W 0:45", *more]
