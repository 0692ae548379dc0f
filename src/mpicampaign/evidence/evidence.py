"""The claim of a run and its recorded evidence; docs/formats.md describes the formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from sys import intern

HEADER = "#mpicampaign-evidence 2"
CLAIM_HEADER = "#mpicampaign-claim 1"
END = "end of evidence"
# How a script ends where a pattern of the campaign file refuses the output of a program that ended well.
REFUSED = "65"
ENDED_WELL = ("the benchmark ended with exit status 0, ", "the benchmark rejected its arguments: ")
Rank = dict[str, str]  # what a rank recorded, by key
MOST_CPUS = 1 << 20  # of a host; a damaged list must not fill the memory


@dataclass
class Evidence:
    """The lines of a claim and its evidence file by scope; values are text as recorded.

    ``repeated`` names keys that were recorded with two values, such as those of two ranks of one number.
    """

    claim: dict[str, str] = field(default_factory=dict)
    job: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    ranks: dict[int, Rank] = field(default_factory=dict)
    repeated: list[str] = field(default_factory=list)
    complete: bool = False

    @property
    def ended_well(self) -> bool:
        """Whether the program ended with status 0, even if a pattern refused its output then."""
        status, reason = self.job.get("exit_status"), self.job.get("reason", "")
        return self.complete and (status == "0" or (status == REFUSED and reason.startswith(ENDED_WELL)))

    def host_of(self, rank: int) -> str:
        """The host that the rank recorded when its program started."""
        return self.ranks[rank].get("start.host", "")

    def ranks_on(self, host: str) -> dict[int, Rank]:
        """What the ranks of a host recorded, by their numbers."""
        return {rank: seen for rank, seen in self.ranks.items() if self.host_of(rank) == host}

    @cached_property
    def settings(self) -> dict[str, str]:
        """The variables that the claim sets for the MPI library."""
        return below(self.claim, "setting.")

    @cached_property
    def variables(self) -> dict[str, str]:
        """Those of the job script that steer the MPI library or the program."""
        return below(self.job, "env.")

    @cached_property
    def changed_variables(self) -> dict[int, dict[str, str]]:
        """Those of each rank that differ from the job script's."""
        return {rank: below(seen, "start.env.") for rank, seen in self.ranks.items()}

    @cached_property
    def moments(self) -> tuple[str, ...]:
        """When ranks recorded anything: at the start, within the run, at the end; then ``launch``."""
        recorded = {name.partition(".")[0] for seen in self.ranks.values() for name in seen}
        return tuple(sorted(recorded, key=_order))

    @property
    def library(self) -> tuple[str, str]:
        """The file of the MPI library that a rank mapped, with its build-id or else its SHA-256."""
        for seen in self.ranks.values():
            if path := seen.get("start.library", ""):
                recorded = seen.get("end.library_sha256", "")
                checksum = recorded or self.job.get(f"sha256.{path.rpartition('/')[2]}", "")  # older evidence
                return path, seen.get("start.library_build_id") or checksum
        return "", ""

    @property
    def bound_by(self) -> tuple[str, ...]:
        """The tools that bound the ranks, each with its memory policy: ``taskset (memory: first touch)``.

        Empty where no rank was bound, and in older evidence.
        """
        bound = [seen for _, seen in sorted(self.ranks.items()) if "launch.bound_by" in seen]
        tools = [f"{seen['launch.bound_by']} (memory: {seen.get('launch.memory', '?')})" for seen in bound]
        return tuple(dict.fromkeys(tools))

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """The distinct hosts of the ranks, in the order of the ranks."""
        names = [self.host_of(rank) for rank in sorted(self.ranks)]
        return tuple(dict.fromkeys(name for name in names if name))


def _order(moment: str) -> tuple[int, int, str]:
    number = moment.removeprefix("within")
    return (moment != "start", int(number) if number.isdecimal() and len(number) < 10 else 1 << 30, moment)


def read_evidence(text: str, claim: str = "") -> Evidence:
    """The evidence and the claim from the texts of two files; lines of unknown form are ignored."""
    evidence, lines = Evidence(), _lines(text, HEADER)
    if END in lines:
        evidence.complete = True
        lines = lines[: lines.index(END)]  # the outputs of a run follow in its file
    claims = [line for line in _lines(claim, CLAIM_HEADER) if line.startswith("claim ")]
    known: dict[str, dict[str, str] | None] = {}  # where lines belong, of which a run has hundreds
    if "\nclaim " in text:
        lines = [line for line in lines if not line.startswith("claim ")]
    for line in claims + lines:
        name, equals, value = line.partition("=")
        place, _, key = name.rpartition(" ")
        target = known.get(place)
        if target is None or not equals or key in target:
            known[place] = _take(evidence, line)
        else:
            target[intern(key)] = value  # one object in all runs: `below` compares them
    return evidence


def _lines(text: str, header: str) -> list[str]:
    """The lines below the header; none below another header."""
    lines = text.split("\n")  # a value may hold other characters that end a line in Python
    return lines[1:] if lines[0] == header else []


def _take(evidence: Evidence, line: str) -> dict[str, str] | None:
    """Where it belongs; ``None`` where its key has a space, or it is of an unknown form."""
    scope, _, rest = line.partition(" ")
    if scope in ("claim", "job"):
        target = evidence.claim if scope == "claim" else evidence.job
    elif scope == "node":
        host, _, rest = rest.partition(" ")
        target = evidence.nodes.setdefault(host, {})
    elif scope == "rank":
        number, _, rest = rest.partition(" ")
        if not number.isdecimal() or len(number) > 9:
            return None
        target = evidence.ranks.setdefault(int(number), {})
    else:
        return None
    key, equals, value = rest.partition("=")
    if not equals:
        return None
    if key in target and target[key] != value and scope != "job":
        evidence.repeated.append(f"{scope} {key}" if scope == "claim" else line.partition("=")[0])
    target[key] = value
    return target if " " not in key else None


def below(values: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The values whose keys begin with a prefix, by the rest of their keys: ``LANG`` of ``env.LANG``."""
    return {rest: values[name] for name, rest in _below(tuple(values), prefix)}


@lru_cache(maxsize=256)  # thousands of runs record the same names
def _below(names: tuple[str, ...], prefix: str) -> list[tuple[str, str]]:
    return [(name, name.removeprefix(prefix)) for name in names if name.startswith(prefix)]


def cpu_list(text: str) -> set[int]:
    """The CPUs of a list such as ``0-3,8``.

    Raises
    ------
    ValueError
        when the text is not such a list.
    """
    cpus: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        end = int(last or first)
        if end >= MOST_CPUS:
            raise ValueError(f"CPU {end}")
        cpus.update(range(int(first), end + 1))
    return cpus
