"""Whether the ranks had the GPUs that the placement claims, and used them; none of it was seen on a GPU yet.

A node records its GPUs, a rank the variable that leaves it some of them, the address of the one in use, and
the libraries that it mapped (docs/formats.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from mpicampaign.base.text import counted
from mpicampaign.evidence.evidence import Evidence, Rank
from mpicampaign.evidence.findings import CONTRADICTS, LACKS, SUPPORTS, Finding, number

_VARIABLES = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
_KIND = "GPUs"


class Gpu(NamedTuple):
    """A GPU of a node: PCI address, UUID and NUMA node, a hyphen where one is unknown."""

    address: str
    uuid: str
    numa: str


def gpu_findings(evidence: Evidence) -> list[Finding]:
    """The first contradiction, else the first missing evidence, else what supports the claim."""
    claimed = number(evidence.claim.get("gpus_per_node", ""))
    if not claimed or not evidence.ranks:
        return []
    if evidence.claim.get("gpu_binding") == "library":
        problems = [*_used(evidence), *_used_fewer(evidence, claimed)]
    else:
        had = {rank: _gpus_of(evidence, rank) for rank in sorted(evidence.ranks)}
        problems = [*_changed(evidence), *_unknown(evidence, had)]
        if not problems:
            problems = [*_numbers(evidence, had, claimed), *_shared(evidence, had), *_far(evidence, had)]
            problems += _used(evidence, had)
    if problems:
        return [min(problems, key=lambda finding: finding.outcome != CONTRADICTS)]
    return [Finding(_KIND, SUPPORTS, _gpus_per_node_text(evidence, claimed))]


def _node_gpus(evidence: Evidence, host: str) -> list[Gpu]:
    """The GPUs of a node that the job could use, in the order of its library's numbers."""
    node = evidence.nodes.get(host, {})
    lines = (node.get(f"gpu.{index}", "").split() for index in range(sum(k.startswith("gpu.") for k in node)))
    return [Gpu(*parts[:3]) for parts in lines if len(parts) >= 3]


def _variable(evidence: Evidence, rank: int) -> tuple[str, str | None]:
    """The variable that leaves a rank some GPUs, as its program had it at the start; None: it has all."""
    seen = evidence.ranks[rank]
    for name in _VARIABLES:
        value = seen.get(f"start.env.{name}", evidence.job.get(f"env.{name}"))
        if value is not None and f"start.unset.{name}" not in seen:
            return name, value
    return _VARIABLES[0], None


def _gpus_of(evidence: Evidence, rank: int) -> list[Gpu]:
    """The GPUs that a rank's variable leaves it; none where they are not known."""
    known = _node_gpus(evidence, evidence.host_of(rank))
    _, value = _variable(evidence, rank)
    if "start.variables" not in evidence.ranks[rank]:
        return []
    given = known if value is None else [_named(known, name) for name in value.split(",") if name]
    return [gpu for gpu in given if gpu] if None not in given else []


def _setting(evidence: Evidence, rank: int) -> str:
    name, value = _variable(evidence, rank)
    return f"no {name}" if value is None else f"{name}={value}"


def _named(known: list[Gpu], name: str) -> Gpu | None:
    """The GPU of this number, or of a UUID that may be shortened."""
    index = number(name)
    if index is not None:
        return known[index] if index < len(known) else None
    return next((gpu for gpu in known if name.startswith("GPU-") and gpu.uuid.startswith(name)), None)


def _unknown(evidence: Evidence, had: Mapping[int, list[Gpu]]) -> Iterator[Finding]:
    for rank in (rank for rank in had if not had[rank]):
        node = counted(len(_node_gpus(evidence, evidence.host_of(rank))), "GPU")
        recorded = f"its node recorded {node}, its program {_setting(evidence, rank)}"
        yield Finding(_KIND, LACKS, f"what rank {rank} had is not known: {recorded}")


def _changed(evidence: Evidence) -> Iterator[Finding]:
    """A variable that is not the one with which the job script started the rank."""
    for rank, seen in sorted(evidence.ranks.items()):
        given, had = seen.get("launch.gpus", ""), _setting(evidence, rank)
        if given and "start.variables" in seen and given != had:
            yield Finding(_KIND, CONTRADICTS, f"rank {rank} was started with {given}, and had {had}")


def _wanted(evidence: Evidence, claimed: int) -> int:
    """How many of a node's GPUs its ranks should have: those that the placement names, or all."""
    binding = evidence.claim.get("gpu_binding", "")
    return len(binding.split(",")) if binding[:1].isdigit() else claimed


def _numbers(evidence: Evidence, had: Mapping[int, list[Gpu]], claimed: int) -> Iterator[Finding]:
    """A finding on the number of GPUs that each node's ranks had."""
    wanted = _wanted(evidence, claimed)
    for host in evidence.hosts:
        on_host = {gpu.address for rank in evidence.ranks_on(host) for gpu in had[rank]}
        if len(on_host) != wanted:
            bad = f"the ranks of {host} had {counted(len(on_host), 'GPU')}, claimed: {wanted}"
            yield Finding(_KIND, CONTRADICTS, bad)


def _shared(evidence: Evidence, had: Mapping[int, list[Gpu]]) -> Iterator[Finding]:
    """Two ranks with the same GPU, unless each has all."""
    if evidence.claim.get("gpu_binding") == "none":
        return
    owners: dict[tuple[str, str], int] = {}
    for rank, gpus in had.items():
        for gpu in gpus:
            owner = owners.setdefault((evidence.host_of(rank), gpu.address), rank)
            if owner != rank:
                where = f"GPU {gpu.address} of {evidence.host_of(rank)}"
                yield Finding(_KIND, CONTRADICTS, f"ranks {owner} and {rank} both had {where}")


def _far(evidence: Evidence, had: Mapping[int, list[Gpu]]) -> Iterator[Finding]:
    """Of closest: one on another NUMA node than its rank, while a rank from elsewhere has one of there."""
    if evidence.claim.get("gpu_binding") != "closest":
        return
    for rank, gpus in had.items():
        domains = evidence.ranks[rank].get("start.numa", "")
        far = [gpu for gpu in gpus if gpu.numa != domains]
        if not domains or any(gpu.numa == "-" for gpu in gpus):
            yield Finding(_KIND, LACKS, f"the NUMA node of rank {rank} or of its GPUs is not known")
        elif far and (near := _near(evidence, had, rank, domains)):
            bad = f"rank {rank} on NUMA node {domains} had GPU {far[0].address} of {far[0].numa}, not {near}"
            yield Finding(_KIND, CONTRADICTS, bad)


def _near(evidence: Evidence, had: Mapping[int, list[Gpu]], rank: int, numa: str) -> str:
    """A GPU of a NUMA node of a rank that a rank of another one has; empty where there is none."""
    beside = evidence.ranks_on(evidence.host_of(rank))
    strangers = (other for other, seen in beside.items() if seen.get("start.numa") != numa)
    return next((gpu.address for other in strangers for gpu in had[other] if gpu.numa == numa), "")


def _used(evidence: Evidence, had: Mapping[int, list[Gpu]] | None = None) -> Iterator[Finding]:
    """The one in use must be among those that a rank had, where these are known, and no other rank's."""
    users: dict[tuple[str, str], int] = {}
    for rank, seen in sorted(evidence.ranks.items()):
        used, host = in_use(seen), evidence.host_of(rank)
        if not used:
            mapped = seen.get("end.gpu_libraries") or "neither libcuda nor libamdhip64"
            yield Finding(_KIND, LACKS, f"nothing shows that rank {rank} used one: it mapped {mapped}")
        elif had and used not in [gpu.address for gpu in had[rank]]:
            names = ", ".join(gpu.address for gpu in had[rank])
            yield Finding(_KIND, CONTRADICTS, f"rank {rank} used GPU {used} of {host}, and had {names}")
        elif (user := users.setdefault((host, used), rank)) != rank:
            yield Finding(_KIND, CONTRADICTS, f"ranks {user} and {rank} both used GPU {used} of {host}")


def _used_fewer(evidence: Evidence, claimed: int) -> Iterator[Finding]:
    """Of GPUs that the library gave: each rank may see its own as number 0, so that those in use count."""
    for host in evidence.hosts:
        used = {*map(in_use, evidence.ranks_on(host).values())} - {""}
        if len(used) != claimed:
            bad = f"the ranks of {host} used {counted(len(used), 'GPU')}, claimed: {claimed}"
            yield Finding(_KIND, CONTRADICTS if len(used) > claimed else LACKS, bad)


def in_use(seen: Rank) -> str:
    """The PCI address of the GPU that a rank used at its start or end; empty where it is not known."""
    return (seen.get("end.gpu") or seen.get("start.gpu", "")).casefold()


def _gpus_per_node_text(evidence: Evidence, claimed: int) -> str:
    libraries = gpu_libraries(evidence)
    wanted = _wanted(evidence, claimed)
    number = f"{wanted} of {claimed}" if wanted < claimed else str(claimed)
    return f"{number} on each node, none used by two ranks{libraries and f' ({libraries})'}"


def gpu_libraries(evidence: Evidence) -> str:
    """``libcuda.so.550.54.14, libnccl.so.2, NCCL 22005``, as the first rank mapped them; may be empty."""
    first = evidence.ranks.get(0, {})
    files = [path.rpartition("/")[2] for path in first.get("end.gpu_libraries", "").split()]
    version = first.get("end.nccl_version", "")
    return ", ".join([*files, *([f"NCCL {version}"] if version else [])])
