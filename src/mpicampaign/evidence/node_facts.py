"""What a run recorded of each of its nodes: facts by which nodes may differ, and counted errors."""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern

from mpicampaign.base.network_devices import network_of
from mpicampaign.evidence.evidence import Evidence, below
from mpicampaign.evidence.findings import number

# Recorded names, as in /sys and /proc; those with a dot behind them are of a port or adapter: ``speed.eth0``.
_OF_SYSTEM = ("kernel", "bios", "transparent_hugepages", "numa_balancing", "numa_nodes", "memory_kb")
_OF_CPUS = ("cpu_model", "microcode", "online_cpus", "smt", "governor", "boost", "no_turbo")
_OF_NETWORK = ("infiniband", "link.", "rate.", "state.", "speed.", "duplex.", "mtu.", "firmware.", "driver.")
_OF_GPUS = ("gpu_models", "gpu_driver")
FACTS = frozenset((*_OF_SYSTEM, *_OF_CPUS, "scaling_min_freq", "scaling_max_freq", *_OF_NETWORK, *_OF_GPUS))
THROTTLED, CORRECTED, UNCORRECTED = "throttled", "ecc_corrected", "ecc_uncorrected"
COUNTERS = (
    *(THROTTLED, UNCORRECTED, CORRECTED, "symbol_error.", "link_downed.", "port_rcv_errors."),
    *("rx_errors.", "tx_errors.", "carrier_down_count."),
)


def node_facts(evidence: Evidence) -> dict[str, dict[str, str]]:
    """By host: the facts, and by how much counters of errors rose during the job."""
    by_host = {host: {**_facts(seen), **_rises(seen)} for host, seen in evidence.nodes.items()}
    return {host: facts for host, facts in by_host.items() if facts}


def recorded_network(seen: Mapping[str, str], device: str) -> str:
    """The network that a device of a node is on; empty where its files of /sys were not recorded."""
    driver = seen.get(f"driver.{device}", "").partition(" ")[0]
    return network_of(device, seen.get(f"link.{device}/1", ""), seen.get(f"node_type.{device}", ""), driver)


def device_of(key: str) -> tuple[str, str]:
    """``rate.`` and ``mlx5_0/1`` of ``rate.mlx5_0/1``; names of interfaces may have dots, too."""
    name, dot, device = key.partition(".")
    return name + dot, device


def _facts(seen: Mapping[str, str]) -> dict[str, str]:
    # Runs of one node share these texts: a machine has thousands of runs.
    return {intern(key): intern(value) for key, value in seen.items() if device_of(key)[0] in FACTS}


def _rises(seen: Mapping[str, str]) -> dict[str, str]:
    rises = {}
    for counter, value in below(seen, "after.").items():
        before = seen.get(f"before.{counter}", value)
        if before != value and device_of(counter)[0] in COUNTERS:
            first, last = number(before), number(value)
            if first is not None and last is not None and last > first:
                rises[intern(counter)] = str(last - first)
    return rises
