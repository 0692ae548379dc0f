"""Invented raw outputs of other people's jobs: LSF reports, cron runs, Slurm outputs."""

from __future__ import annotations

from collections.abc import Sequence

from printed_outputs import HplRow, hpl_output, imb_pingpong

NEW_YEAR = "Thu Jan  1 00:00:00 2026"  # what printed_outputs dates its outputs


def imb(latency: float = 0.5, rate: float = 3000.0, second: int = 0) -> str:
    """An IMB 2017 PingPong output of two ranks, with MiB/s in its last column."""
    sizes = [0, *(2**power for power in range(25))]
    text = imb_pingpong("2017", [round(latency + size / rate, 2) for size in sizes], 2.0**20)
    called = "-iter 1000 -time 200 -msglog 0:24\n#" + " " * 52 + "-iter_policy off PingPong"
    text = text.replace("IMB-MPI1 -msglog 0:24 PingPong", f"/some/where/IMB-MPI1 {called}")
    text = text.replace(": 3.1", ": 2.2").replace("# Machine               : x86_64\n", "")
    return text.replace(NEW_YEAR, f"Wed Mar 22 05:28:{second:02d} 2017")


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
