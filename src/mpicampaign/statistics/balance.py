"""The balance of communication and computation: how many bytes a process can send while it computes.

Rabenseifner, Balance of HPC Systems Based on HPCC Benchmark Results (2005), section 4: the random ring's
bandwidth per process divided by the speed of HPL per process. Both must be of the same processes.
"""

from __future__ import annotations

import math

from mpicampaign.errors import Problem, UserError


def balance(ring_bandwidth: float | None, hpl_speed: float | None, processes: int) -> float:
    """Bytes that can be sent for each 1000 floating-point operations (byte/kflop).

    Parameters
    ----------
    ring_bandwidth : random ring bandwidth of each process (B/s)
    hpl_speed : what HPL reached with all processes together (flop/s)
    processes : number of MPI processes, the same in both

    Raises
    ------
    UserError
        when a figure is missing or not positive: a balance without HPL would be a guess.
    """
    ring = _checked(ring_bandwidth, "random ring bandwidth", "run the kernel latency_bandwidth")
    hpl = _checked(hpl_speed, "speed of HPL", "run HPL with the same processes, tuned for the machine")
    if processes < 1:
        raise UserError(
            Problem(
                "no balance: there must be at least one process", value=str(processes), hint="see 'ranks'"
            )
        )
    return 1000 * ring / (hpl / processes)


def _checked(value: float | None, what: str, remedy: str) -> float:
    if value is None:
        raise UserError(Problem(f"no balance: the {what} is missing", hint=remedy))
    if not math.isfinite(value) or value <= 0:
        raise UserError(Problem(f"no balance: the {what} is not positive", value=f"{value:g}", hint=remedy))
    return value
