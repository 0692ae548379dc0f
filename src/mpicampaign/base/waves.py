"""Waves of `each`: nodes that are measured side by side, since they were free at the same time.

The first wave is of all hosts of a group. Its rounds go on without late nodes, which others use or which are
down; a further wave takes these, beside controls. ``waves.json`` in the campaign's folder tells both, so that
what is due follows from files alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

from mpicampaign.base.files import text_or_nothing, write_whole
from mpicampaign.base.records import WITH, Case, defined_name
from mpicampaign.base.text import counted

FILE = "waves.json"
ROUNDS = 10_000  # of the n-th further wave the first round has the number n * ROUNDS + 1
BUSY = "busy until"


class Waves(NamedTuple):
    """``late``: by node, until when others used it, or empty.

    ``further``: the nodes of each later wave, each with the last round that it had made by then.
    """

    late: Mapping[str, str] = {}
    further: tuple[Mapping[str, int], ...] = ()

    def left_after(self, wave: int) -> dict[str, int]:
        """The nodes that later waves took: the last round that each made before that."""
        left: dict[str, int] = {}
        for taken in reversed(self.further[wave:]):
            left |= taken
        return left


def waves_key(case: Case) -> str:
    """Whose waves those of a case are: a host group's with a placement, for all benchmarks."""
    return f"{case.system} {defined_name(case.host_group)}{WITH}{case.library} {case.placement}"


def read_waves(campaign_folder: Path) -> dict[str, Waves]:
    """By `waves_key`; of those that were ever short of nodes."""
    known = json.loads(text_or_nothing(campaign_folder / FILE) or "{}")
    return {
        key: Waves(late, tuple(map(_last_rounds, further, count(1))))
        for key, (late, further) in known.items()
    }


def _last_rounds(wave: Mapping[str, int] | Sequence[str], number: int) -> Mapping[str, int]:
    """Earlier releases did not keep them: then a node's first rounds are those of the waves before."""
    return wave if isinstance(wave, dict) else dict.fromkeys(wave, number * ROUNDS)


def keep_waves(campaign_folder: Path, waves: Mapping[str, Waves]) -> None:
    write_whole(campaign_folder / FILE, json.dumps(waves, indent=1))


def not_judged_text(busy: Iterable[str]) -> str:
    """``41 nodes were busy until 2026-11-29 14:00 UTC: not judged``, from what is said of each."""
    counts = Counter(busy).items()
    were = ", ".join(f"{counted(n, 'node')} {'was' if n == 1 else 'were'} {until}" for until, n in counts)
    return f"{were}: not judged" if were else ""
