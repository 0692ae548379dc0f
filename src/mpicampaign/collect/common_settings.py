"""What the repeats of a case must have in common, as metadata: how a run was launched, and with which MPI.

`mpicampaign.compare.run_notes` compares these. What may differ between repeats, such as hosts, job
numbers and time limits, is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from mpicampaign.base.records import NO_SETTINGS, SETTINGS_FILES, UNREAD_SETTINGS
from mpicampaign.evidence.evidence import Evidence, below
from mpicampaign.evidence.settings_files import settings_files, unread_settings
from mpicampaign.mpis import library_version, steers

_PTILE = re.compile(r"\bptile=(\d+)")
_IN_PATH = re.compile(r"\d+(?:\.\d+)+")
PROCESS = "process"  # of runs whose ranks recorded how they were started
# Of the linker and the C library, but what launchers and this program extend.
_RUNTIME = re.compile(r"GLIBC|MALLOC_|KMP_|LD_(?!LIBRARY_PATH|PRELOAD)")
# Names of hosts and files differ from job to job; secrets stay private.
_OWN = re.compile(r"HOST|FILE|DIR|PATH|ROOT|TOKEN|SECRET|PASS|KEY|CRED|AUTH|COOKIE")


def library_file(path: str) -> str:
    """The file's name with the versions in the names of its folders: the folders themselves may differ."""
    folder, _, name = path.rpartition("/")
    versions = " ".join(dict.fromkeys(_IN_PATH.findall(folder)))
    return f"{name} ({versions})" if name and versions else name


def of_own_run(evidence: Evidence, output: str) -> dict[str, str]:
    """The settings of a campaign's run, by its claim, evidence and output."""
    libraries = {library_file(rank.get("start.library", "")) for rank in evidence.ranks.values()}
    common = {
        "mpi_library": library_version(output),
        "mpi_library_file": " ".join(sorted(libraries - {""})),
        "binding": _binding(evidence),
        "settings": _settings(evidence.settings),
        SETTINGS_FILES: _files(evidence),
        UNREAD_SETTINGS: " ".join(unread_settings(evidence, evidence.settings)),
        PROCESS: _process(evidence),
        "attributes": _attributes(evidence),
        "arguments": evidence.claim.get("arguments", ""),
    }
    return {key: value for key, value in common.items() if value}


def _files(evidence: Evidence) -> str:
    """What files of settings set, as one token each; empty where that was not recorded."""
    of_ranks = settings_files(evidence)
    if of_ranks is None:
        return ""
    tokens = (token for files in of_ranks.values() for file in files for token in file.tokens)
    return " ".join(sorted(set(tokens))) or NO_SETTINGS


def _process(evidence: Evidence) -> str:
    """Nice values, preloaded libraries and variables of the C library, as one token each."""
    tokens: dict[str, None] = {}
    for rank, seen in evidence.ranks.items():
        if "start.nice" not in seen:
            return ""
        variables = evidence.variables | evidence.changed_variables[rank]
        preloads = [path.rpartition("/")[2] for path in below(seen, "start.preload.").values()]
        tokens |= dict.fromkeys([f"nice={seen['start.nice']}", *(f"preload={name}" for name in preloads)])
        runtime = sorted(filter(_RUNTIME.match, variables))
        tokens |= dict.fromkeys(f"{name}={'_'.join(variables[name].split())}" for name in runtime)
    return " ".join(tokens)


def _attributes(evidence: Evidence) -> str:
    """How the ranks were scheduled, traced and filtered, at start or end, as one token each."""
    recorded = (seen.get(f"{m}.attributes", "") for seen in evidence.ranks.values() for m in ("start", "end"))
    return " ".join(dict.fromkeys(token for text in recorded for token in text.split()))


def _binding(evidence: Evidence) -> str:
    """``core by taskset (memory: first touch)``; numactl, which bound all older runs, is not named."""
    others = " and ".join(tool for tool in evidence.bound_by if not tool.startswith("numactl "))
    claimed = evidence.claim.get("binding", "")
    return f"{claimed} by {others}" if others else claimed


def of_import(facts: Mapping[str, str]) -> dict[str, str]:
    """The settings of an imported run, by the facts of its output and job script."""
    per_node = _PTILE.search(facts.get("directive.R", ""))
    common = {
        "mpi": facts.get("mpi"),
        "mpi_library": facts.get("mpi_library"),
        "nodes": _first(facts, "nodes", "mpi_hosts", "directive.nodes", "directive.N"),
        "slots": _first(facts, "directive.ntasks", "directive.n"),
        "slots_per_node": per_node[1] if per_node else facts.get("directive.ntasks-per-node"),
    }
    if "command" in facts:  # with the script it is known which settings are absent
        steering = {name: value for name, value in below(facts, "environment.").items() if steers(name)}
        common |= {"command": facts["command"], "modules": facts.get("modules", NO_SETTINGS)}
        common["settings"] = _settings(steering)
    return {key: value for key, value in common.items() if value}


def _first(facts: Mapping[str, str], *names: str) -> str | None:
    return next((facts[name] for name in names if facts.get(name)), None)


def _settings(variables: Mapping[str, str]) -> str:
    """Variables that steer the MPI library, as one token each."""
    chosen = [name for name in sorted(variables) if not _OWN.search(name)]
    return " ".join(f"{name}={'_'.join(variables[name].split())}" for name in chosen) or NO_SETTINGS
