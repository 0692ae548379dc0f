"""The campaign file of a benchmark that is named on the command line, for one machine. No I/O."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mpicampaign.site.campaign_file import (
    FlowMapping,
    comment,
    dumped,
    host_groups_text,
    placements_of,
    system_text,
)
from mpicampaign.site.facts import Site

_LONGEST = 40  # characters of a name
OWN = "own"
TIME = {"time to solution": {"unit": "s", "better": "lower"}}
_OF_WHOLE_NODES = (OWN, "hpl", "hpcc")  # suites that are not about messages between two ranks
_OTHERS = "Others: SHM-1, SHM-2, SHM, SHM-full, TCP-loopback, default-node. Lists: benchmarks: [A, B]"


@dataclass(frozen=True, slots=True)
class Bench:
    """What is asked for: ``call``, the command line; ``entry``, the benchmark's keys in a campaign file."""

    name: str
    suite: str
    entry: dict[str, Any]
    call: Sequence[str]
    repeats: int = 6
    placements: Sequence[str] = ()

    @property
    def stem(self) -> str:
        """The name of the campaign and of its file."""
        return f"bench-{self.name}"


def plain_name(text: str) -> str:
    """A benchmark's name that a campaign file takes, after that of a program."""
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", text).lstrip("._+-")[:_LONGEST] or "program"


def bench_text(bench: Bench, site: Site, name: str) -> str:
    """The campaign file ``NAME.yaml``, with comments on what to change next."""
    [group] = (replace(named, name="local") for named in site.groups)
    whole_node = bench.suite in _OF_WHOLE_NODES
    text = comment(f"Written by: {shlex.join(bench.call)}")
    text += comment(f"Edit it, then: mpicampaign run {name}.yaml. docs/campaign.md explains the keys.")
    title = {"campaign": name, "title": f"{bench.name} on {site.host}", "repeats": bench.repeats}
    text += dumped(title | {"time_limit": "10 min" if whole_node else "2 min"})
    text += comment("busy_machine: rank    # counts runs that other programs disturbed, too")
    default = ["SHM-full"] if whole_node else placements_of(site, group)
    case = {"host_groups": group.name, "placements": [*bench.placements] or default, "benchmarks": bench.name}
    matrix = dumped({"matrix": [FlowMapping(case)]}) + comment(_OTHERS)
    groups = host_groups_text(replace(site, groups=(group,)))
    return "\n".join([text, system_text(site), groups, _benchmark(bench), matrix])


def _benchmark(bench: Bench) -> str:
    """The lines that define a benchmark, with comments on keys that deserve one."""
    entry = {
        key: FlowMapping(value) if isinstance(value, dict) else value for key, value in bench.entry.items()
    }
    text = dumped({"benchmarks": {bench.name: entry}})
    if bench.suite == OWN:
        text += comment("It starts in a folder of its own: name the files that it reads under inputs.", 4)
        text += comment("Its output may hold metrics, too: docs/own-programs.md.", 4)
    if "parameters" in entry:
        text += comment("Without N it takes 80 % of the memory, and a long time: docs/applications.md.", 4)
    return text
