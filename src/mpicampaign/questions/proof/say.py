"""What `mpicampaign prove` says of a command: ten lines for people, and the same as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from mpicampaign.base.host_lists import fold
from mpicampaign.base.records import CLOCK_RATE, COPY, ROUND_TRIP
from mpicampaign.base.text import in_ranks, listed
from mpicampaign.evidence.chosen_transport import chosen_transport
from mpicampaign.evidence.condition import condition, ranks_by_host
from mpicampaign.evidence.counters import NOISE_BYTES, traffic, volume
from mpicampaign.evidence.doubts import doubts
from mpicampaign.evidence.evidence import Evidence, cpu_list
from mpicampaign.evidence.judge import at_least, local_share
from mpicampaign.evidence.machine_state import changed, probes
from mpicampaign.evidence.proof import Command, judge_label, not_recorded, parted, without_counters
from mpicampaign.evidence.software import checksums_of, library_of
from mpicampaign.evidence.traffic import ANY, SHM
from mpicampaign.mpis import launcher_version, library_of_mpirun, library_title, library_version

BINDERS = ("numactl", "taskset", "likwid-pin", "likwid-mpirun", "hwloc-bind")
_SHOWN = 12  # digits of a checksum
_FEW = 8  # ranks whose CPUs are listed one by one
NOT_MPI = "none: the program never called MPI_Init"


class Fact(NamedTuple):
    """A line: its title, its text, and the same as data."""

    title: str
    text: str
    data: Mapping[str, Any]


class Shown(NamedTuple):
    """All that is said of a command. ``outcome``: of its label; empty without one."""

    facts: tuple[Fact, ...]
    outcome: str

    @property
    def lines(self) -> list[str]:
        """A line for each fact."""
        return [f"{fact.title + ':':<12}{fact.text}" for fact in self.facts]

    @property
    def data(self) -> dict[str, Any]:
        """What the lines say, for programs, in SI units."""
        return {fact.title: {"text": fact.text, **fact.data} for fact in self.facts}


def shown(command: Command, label: str = "") -> Shown:
    """What the evidence shows; ``label``: the placement that is claimed."""
    outcome, reasons = judge_label(command) if label else ("", ())
    data = {"placement": label, "outcome": outcome, "reasons": [*reasons]}
    verdict = [Fact("label", f"{label} is {outcome}: {'; '.join(reasons)}", data)] if label else []
    if not command.evidence.ranks:
        known = {"launcher": command.evidence.job.get("launcher")}
        return Shown((Fact("evidence", not_recorded(command), known), *verdict), outcome)
    facts = (_hosts, _binding, _memory, _transport, _mpi, _program, _condition, _machine, _doubts)
    return Shown((*(fact_of(command) for fact_of in facts), *verdict), outcome)


def _hosts(command: Command) -> Fact:
    counts = {host: len(ranks) for host, ranks in ranks_by_host(command.evidence).items()}
    total, several = sum(counts.values()), len(set(counts.values())) > 1
    if len(counts) == 1:
        text = f"{in_ranks(total)} on {next(iter(counts))}"
    elif several:
        text = f"{in_ranks(total)} on {', '.join(f'{host} ({count})' for host, count in counts.items())}"
    else:
        per_host = next(iter(counts.values()), 0)
        text = f"{in_ranks(total)}, {per_host} on each of {fold([*counts])}"
    return Fact("hosts", text, {"ranks": total, "ranks_by_host": counts})


def _binding(command: Command) -> Fact:
    evidence = command.evidence
    allowed = {rank: seen.get("start.allowed", "") for rank, seen in sorted(evidence.ranks.items())}
    sockets = {
        host: sorted({rank["start.socket"] for rank in ranks if "start.socket" in rank})
        for host, ranks in ranks_by_host(evidence).items()
    }
    most, by = max(map(len, sockets.values()), default=0), _bound_by(evidence)
    data = {"cpus": {str(rank): text or None for rank, text in allowed.items()}, "sockets": sockets}
    on = f", on {most} socket{'s' * (most > 1)}{' of each host' * (len(sockets) > 1)}" if most else ""
    return Fact(
        "binding", f"{_cpus(allowed)}{on}{by and f'; bound by {by}'}", {**data, "bound_by": by or None}
    )


def _cpus(allowed: Mapping[int, str]) -> str:
    """How many CPUs each rank may use, and which."""
    try:
        counts = sorted({len(cpu_list(text)) for text in allowed.values()})
    except ValueError:
        return "not recorded"
    many = f"{counts[0]} CPU{'s' * (counts[-1] > 1)}"
    many = many if len(counts) == 1 else f"{counts[0]} to {counts[-1]} CPUs"
    different = [*dict.fromkeys(allowed.values())]
    which = ", ".join(different[:_FEW]) + " …" * (len(different) > _FEW)
    if len(different) > 1 and len(allowed) <= _FEW:
        which = ", ".join(f"rank {rank}: {text}" for rank, text in allowed.items())
    return f"each rank may use {many} ({which})"


def _bound_by(evidence: Evidence) -> str:
    """The tool on the command line, else the launcher or library; empty where no rank is bound."""
    if evidence.bound_by:
        return listed(evidence.bound_by)
    names = {token.rpartition("/")[2] for token in evidence.claim["launch"].split()}
    tool = next((tool for tool in BINDERS if tool in names), "the launcher or the MPI library")
    return tool if any(_is_bound(evidence, rank) for rank in evidence.ranks) else ""


def _is_bound(evidence: Evidence, rank: int) -> bool:
    """Whether a rank may use fewer CPUs than its node offered."""
    cores = evidence.nodes.get(evidence.host_of(rank), {}).get("cores", "")
    try:
        return len(cpu_list(evidence.ranks[rank]["start.allowed"])) < int(cores)
    except (KeyError, ValueError):
        return False


def _memory(command: Command) -> Fact:
    shares = [local_share(seen) for seen in command.evidence.ranks.values()]
    known = [share for share in shares if share is not None]
    least = min(known) if len(known) == len(shares) else None
    whose = "the rank's own NUMA node" if len(shares) == 1 else "each rank's own NUMA node"
    text = "not recorded" if least is None else f"{at_least(least)} of it is on {whose}"
    return Fact("memory", text, {"least_local_share": least})


def _transport(command: Command) -> Fact:
    """What carried messages, and how many bytes over what."""
    evidence = command.evidence
    if not command.uses_mpi or len(evidence.ranks) < 2:
        return Fact("transport", "none: there is one rank" if command.uses_mpi else NOT_MPI, {})
    chosen = _chosen(command)
    exchanged = command.exchanged
    tcp = {name: exchanged.over(name).total for name in exchanged.interfaces} if exchanged else None
    ports = {
        f"{host}: {port}": seen.through(port, both=False)
        for host in evidence.hosts
        for seen in [traffic(evidence, host)]
        for port in seen.ports
    }
    parts = [chosen or "not known"]
    over = [f"{volume(count)} over {name}" for name, count in sorted((tcp or {}).items())]
    parts += [f"TCP carried {listed(over)}"] if over else []
    parts += [f"{port} counted {volume(count)}" for port, count in ports.items() if count >= NOISE_BYTES]
    parts += ["the ranks have no account of their sockets"] if tcp is None else []
    parts += [f"at least {volume(command.payload)} by the output"] if command.payload else []
    if not command.payload and len(evidence.hosts) < len(evidence.ranks):
        parts.append("nothing counts what shared memory carried")
    data = {
        "chosen": chosen or None,
        "tcp_bytes": tcp,
        "infiniband_bytes": ports,
        "least_payload_bytes": command.payload or None,
    }
    return Fact("transport", "; ".join(parts), data)


def _chosen(command: Command) -> str:
    """What the library chose, whatever the label claims; silence tells nothing of ranks that are alone."""
    evidence = command.evidence
    without_label = replace(evidence, claim=evidence.claim | {"transport": ANY})
    chosen = chosen_transport(without_label, command.printed, command.tables)
    silent = chosen.startswith(SHM) and "report" not in chosen
    return "" if silent and (parted(evidence) or without_counters(evidence)) else chosen


def _mpi(command: Command) -> Fact:
    evidence = command.evidence
    if not command.uses_mpi:
        return Fact("MPI", NOT_MPI, {})
    first, checksums = min(evidence.ranks), checksums_of(evidence, "library")
    library, says = library_of(evidence, first, checksums[first]), evidence.job.get("launcher_version", "")
    launcher = library_of_mpirun(says)
    version = f"{library_title(launcher)} {launcher_version(launcher, says)}".strip() if launcher else says
    data = {
        "library": library_version(library.says) or None,
        "file": library.path or None,
        "checksum": library.content or None,
        "launcher": version or None,
    }
    text = str(library) if library.path else "the library's file was not recorded"
    return Fact("MPI", f"{text}{version and f'; launcher: {version}'}", data)


def _program(command: Command) -> Fact:
    """The files that the ranks became, each with its checksum."""
    evidence = command.evidence
    checksums, job = checksums_of(evidence, "program"), evidence.job
    known = {job.get("program"): job.get("program_sha256", "")}
    files = dict.fromkeys(
        (
            path := seen.get("end.program") or seen.get("start.program") or "not recorded",
            checksums[rank] or known.get(path, ""),
        )
        for rank, seen in sorted(evidence.ranks.items())
    )
    text = ", ".join(f"{path}{sha256 and f' (sha256 {sha256[:_SHOWN]})'}" for path, sha256 in files)
    return Fact(
        "program", text, {"files": [{"file": path, "sha256": sha256 or None} for path, sha256 in files]}
    )


def _condition(command: Command) -> Fact:
    state, why = condition(command.evidence)
    why = why if command.uses_mpi else why.replace("MPI_Init and MPI_Finalize", "its start and its end")
    return Fact("condition", f"{state}: {why}", {"state": state, "reason": why})


def _machine(command: Command) -> Fact:
    """The probes at the start and the end, and whether they say that the machine changed."""
    measured = probes(command.evidence)
    together = len(command.evidence.hosts) < len(command.evidence.ranks)
    parts = [f"{ROUND_TRIP} not probed"] if together and ROUND_TRIP not in measured else []
    moved = changed(command.evidence) if measured else None
    for kind, unit, scale in ((ROUND_TRIP, "ns", 1e9), (CLOCK_RATE, "GHz", 1e-9), (COPY, "GB/s", 1e-9)):
        for place, values in measured.get(kind, {}).items():
            low, high = min(values), max(values)
            span = f"{low * scale:.3g}" if high < 1.05 * low else f"{low * scale:.3g} to {high * scale:.3g}"
            parts.append(f"{kind} {span} {unit} ({place})")
    end = "" if moved is None else f"; {listed(moved)} changed" if moved else "; unchanged"
    data = {**{kind.replace(" ", "_"): places for kind, places in measured.items()}, "changed": moved}
    return Fact("machine", (", ".join(parts) or "not probed") + end, data)


def _doubts(command: Command) -> Fact:
    reasons = doubts(command)
    return Fact("doubts", "; ".join(reasons) or "none", {"found": reasons})
