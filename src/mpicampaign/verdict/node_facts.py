"""What a run recorded of each of its nodes: facts by which nodes may differ, and counted errors."""

from __future__ import annotations

from sys import intern
from typing import TYPE_CHECKING

from mpicampaign.verdict.findings import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpicampaign.verdict.evidence import Evidence

# Recorded names, as in /sys and /proc; those with a dot behind them are of a port or adapter: ``speed.eth0``.
FACTS = (
    *(
        "kernel",
        "cpu_model",
        "microcode",
        "bios",
        "memory_kb",
        "numa_nodes",
        "online_cpus",
        "smt",
        "governor",
    ),
    *("scaling_min_freq", "scaling_max_freq", "boost", "no_turbo", "transparent_hugepages", "numa_balancing"),
    *("infiniband", "rate.", "state.", "speed.", "duplex.", "mtu.", "firmware.", "driver."),
)
THROTTLED, CORRECTED, UNCORRECTED = "throttled", "ecc_corrected", "ecc_uncorrected"
COUNTERS = (
    *(THROTTLED, UNCORRECTED, CORRECTED, "symbol_error.", "link_downed.", "port_rcv_errors."),
    *("rx_errors.", "tx_errors.", "carrier_down_count."),
)


def node_facts(evidence: Evidence) -> dict[str, dict[str, str]]:
    """By host: the facts, and by how much counters of errors rose during the job."""
    found = {host: {**_facts(seen), **_rises(seen)} for host, seen in evidence.nodes.items()}
    return {host: facts for host, facts in found.items() if facts}


def device_of(key: str) -> tuple[str, str]:
    """``rate.`` and ``mlx5_0/1`` of ``rate.mlx5_0/1``; names of interfaces may have dots, too."""
    name, dot, device = key.partition(".")
    return name + dot, device


def _facts(seen: Mapping[str, str]) -> dict[str, str]:
    # Runs of one node share these texts: a machine has thousands of runs.
    return {intern(key): intern(value) for key, value in seen.items() if device_of(key)[0] in FACTS}


def _rises(seen: Mapping[str, str]) -> dict[str, str]:
    rises = {}
    for key, value in seen.items():
        moment, _, counter = key.partition(".")
        if moment == "after" and device_of(counter)[0] in COUNTERS:
            before, after = number(seen.get(f"before.{counter}", "")), number(value)
            if before is not None and after is not None and after > before:
                rises[intern(counter)] = str(after - before)
    return rises
