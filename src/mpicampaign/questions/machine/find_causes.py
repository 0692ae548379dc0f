"""What runs recorded as causes beside their values, and of nodes that may be slow: nothing is corrected."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import CLOCK_RATE, COPY, DISTURBED, Record
from mpicampaign.evidence.findings import number
from mpicampaign.evidence.machine_state import FEWEST, site_of
from mpicampaign.evidence.node_facts import CORRECTED, COUNTERS, THROTTLED, UNCORRECTED, device_of
from mpicampaign.questions.configurations.find import odd_nodes
from mpicampaign.statistics.medians import median

SLOW_CLOCK, SLOW_MEMORY = "slow clock", "slow memory"  # keys of the metadata
_THROTTLED = 0.9  # of the clock rate at the begin of the run, or of the node's other runs
_OCCUPIED = 0.7  # of the copy in the node's other runs
_BELOW = {CLOCK_RATE: 0.97, COPY: 0.8}  # of the others' median
_OFTEN = 0.5  # of a node's runs
_PROCESS = re.compile(r"; ([ -~]{1,15}) \(pid [0-9]{1,9}, uid [0-9]{1,10}\) used ")
_COUNTED = {
    THROTTLED: "throttled: its counter rose by",
    UNCORRECTED: "ECC: uncorrected errors,",
    CORRECTED: "ECC: corrected errors,",
}


def with_causes(records: Sequence[Record]) -> list[Record]:
    """The records, with what was slow in a run as its metadata."""
    usual = {
        site: {kind: _usual(runs, kind) for kind in (CLOCK_RATE, COPY)}
        for site, runs in grouped(records, site_of).items()
    }
    return [_with_causes(record, usual[site_of(record)]) for record in records]


def _usual(records: Sequence[Record], kind: str) -> dict[str, float]:
    """The median over the runs of each host, of what they began with."""
    first: dict[str, list[float]] = {}
    for record in records:
        for host, values in record.probes.get(kind, {}).items():
            first.setdefault(host, []).append(values[0])
    return {host: median(values) for host, values in first.items() if len(values) >= FEWEST}


def _with_causes(record: Record, usual: Mapping[str, Mapping[str, float]]) -> Record:
    clocks, copies = (record.probes.get(kind, {}) for kind in (CLOCK_RATE, COPY))
    slow = [text for host, values in clocks.items() if (text := _slow(host, values, usual[CLOCK_RATE]))]
    occupied = [
        f"a copy of memory reached {max(values) / 1e9:.1f} GB/s on {host}, "
        f"{usual[COPY][host] / 1e9:.1f} GB/s in other runs: others may have used the memory"
        for host, values in copies.items()
        if host in usual[COPY] and max(values) < _OCCUPIED * usual[COPY][host]
    ]
    causes = {SLOW_CLOCK: slow, SLOW_MEMORY: occupied}
    facts = {key: "; ".join(texts) for key, texts in causes.items() if texts}
    return replace(record, metadata={**record.metadata, **facts}) if facts else record


def _slow(host: str, values: Sequence[float], usual: Mapping[str, float]) -> str:
    """That the lowest clock rate is below that at the begin, or of the host's other runs; or empty."""
    before = ((values[0], "at its begin"), (usual.get(host, 0.0), "in other runs"))
    least = min(values)
    texts = (
        f"{least / 1e9:.2f} GHz on {host}, {rate / 1e9:.2f} GHz {when}"
        for rate, when in before
        if least < _THROTTLED * rate
    )
    return next(texts, "")


# Of nodes


def causes_by_node(records: Sequence[Record]) -> dict[str, tuple[str, ...]]:
    """What the runs of one host group recorded of each node that may make it slow, the most telling first.

    Nodes have the names of their evidence (``record.hosts``); those without a cause are left out. Counters
    count over all runs of a node, rates are medians over them, and facts are those of the last one.
    """
    runs: dict[str, list[Record]] = {}
    for record in records:
        for node in record.nodes:
            runs.setdefault(node, []).append(record)
    rates = {kind: _rates(runs, kind) for kind in _BELOW}
    odd = {node: nodes_alike.differences for nodes_alike in odd_nodes(records) for node in nodes_alike.nodes}
    disturbed = {node: text for node, node_runs in runs.items() if (text := _disturbed(node, node_runs))}
    if 2 * len(disturbed) > len(runs):  # as most others
        disturbed.clear()
    by_node = {
        node: (
            *_counted(node, node_runs),
            *(text for kind in _BELOW if (text := _below(kind, node, rates[kind]))),
            *(
                str(difference) for difference in odd.get(node, ()) if difference.usual
            ),  # without a majority none is odd
            *filter(None, [disturbed.get(node)]),
        )
        for node, node_runs in runs.items()
    }
    return {node: causes for node, causes in by_node.items() if causes}


def _counted(node: str, runs: Sequence[Record]) -> Iterator[str]:
    """``throttled: its counter rose by 12 in 3 of 20 runs``, ``symbol_error of mlx5_0/1 rose by 4 in …``."""
    rises: dict[str, list[int]] = {}
    for run in runs:
        for key, value in run.nodes[node].items():
            if device_of(key)[0] in COUNTERS and (rise := number(value)):
                rises.setdefault(key, []).append(rise)
    for key in sorted(rises, key=lambda key: COUNTERS.index(device_of(key)[0])):
        name, device = device_of(key)
        counter_text = _COUNTED.get(key, f"{name.removesuffix('.')} of {device} rose by")
        yield f"{counter_text} {sum(rises[key])} in {len(rises[key])} of {len(runs)} runs"


def _rates(runs: Mapping[str, Sequence[Record]], kind: str) -> dict[str, float]:
    """For each node, the median over its runs of the lowest rate in each."""
    lowest = {
        node: [min(values) for run in node_runs if (values := run.probes.get(kind, {}).get(node))]
        for node, node_runs in runs.items()
    }
    return {node: median(values) for node, values in lowest.items() if values}


def _below(kind: str, node: str, rates: Mapping[str, float]) -> str:
    """``clock rate 14 % below that of the others``."""
    others = [rate for other, rate in rates.items() if other != node]
    usual = median(others) if others else 0.0
    if rates.get(node, usual) >= _BELOW[kind] * usual:
        return ""
    return f"{kind} {1 - rates[node] / usual:.0%} below that of the others".replace("%", " %")


def _disturbed(node: str, runs: Sequence[Record]) -> str:
    """``disturbed in 12 of 20 runs, mostly by python3``; of several nodes, the named one."""
    disturbed = [
        run.condition_reason
        for run in runs
        if run.condition == DISTURBED and (len(run.hosts) == 1 or f" of {node} used" in run.condition_reason)
    ]
    if not disturbed or len(disturbed) < _OFTEN * len(runs):
        return ""
    names = Counter(match[1] for why in disturbed if (match := _PROCESS.search(why)))
    by = f", mostly by {names.most_common(1)[0][0]}" if names else ""
    return f"disturbed in {len(disturbed)} of {len(runs)} runs{by}"
