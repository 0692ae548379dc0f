"""The balance of communication and computation: the bytes that a process can send while it computes.

Rabenseifner, Balance of HPC Systems Based on HPCC Benchmark Results (2005), section 4: the random ring
bandwidth per process divided by the HPL speed per process. Both must come from the same processes.
"""

from __future__ import annotations

import math

from mpicampaign.errors import Problem, UserError


def balance(ring_bandwidth: float | None, hpl_speed: float | None, processes: int) -> float:
    """Bytes that a process can send per 1000 floating-point operations (byte/kflop).

    Parameters
    ----------
    ring_bandwidth : random ring bandwidth per process (B/s)
    hpl_speed : HPL performance of all processes together (flop/s)
    processes : number of MPI processes, the same in both

    Raises
    ------
    UserError
        when a value is missing or not positive, since a balance without HPL would be a guess.
    """
    ring = _checked(ring_bandwidth, "random ring bandwidth", "run the kernel latency_bandwidth")
    hpl = _checked(hpl_speed, "HPL speed", "run HPL with the same processes, tuned for the machine")
    if processes < 1:
        message = "no balance: there must be at least one process"
        raise UserError(Problem(message, value=str(processes), hint="see 'ranks'"))
    return 1000 * ring / (hpl / processes)


def _checked(value: float | None, what: str, remedy: str) -> float:
    if value is None:
        raise UserError(Problem(f"no balance: the {what} is missing", hint=remedy))
    if not math.isfinite(value) or value <= 0:
        raise UserError(Problem(f"no balance: the {what} is not positive", value=f"{value:g}", hint=remedy))
    return value
