"""The identity of a run: made only from what its campaign declares. Pure.

A declaration is a flat mapping of plain JSON values, without keys at their defaults. The execution half
makes it (`mpicampaign.jobs.declaration`); both halves compare it. How outputs are read does not belong to it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Mapping
from typing import Any

from mpicampaign.base.records import Case

Declaration = Mapping[str, Any]

LENGTH = 12
METRIC = "metrics."  # before its name
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True)
_VALUE = os.urandom(16).hex()  # stands in for one


def canonical(declared: object) -> str:
    """A declaration, or a value of one, as JSON: equal ones give equal text."""
    return _CANONICAL.encode(declared)


def identity(declared: Declaration) -> str:
    """The first digits of the SHA-256 of a declaration."""
    return identity_of(canonical(declared))


def identity_of(canonical_text: str) -> str:
    return hashlib.sha256(canonical_text.encode()).hexdigest()[:LENGTH]


def canonical_but_for(declared: Declaration, *keys: str) -> str:
    """The canonical text with `%s` for the values of these keys, which are in the order of their names."""
    text = canonical({**declared, **dict.fromkeys(keys, _VALUE)})
    return text.replace("%", "%%").replace(f'"{_VALUE}"', "%s")


def run_path(case: Case, repeat: int, run_identity: str) -> str:
    """The folder of a run, below that of its campaign."""
    return f"runs/{case.host_group}/{case.placement}/{case.benchmark}/r{repeat:02d}-{run_identity}"


def differences(before: Declaration, now: Declaration) -> list[str]:
    """What differs, key by key: ``arguments: -iter 1000 → -iter 2000``."""
    keys = [key for key in {**before, **now} if before.get(key) != now.get(key)]
    return [f"{key}: {_shown(before.get(key))} → {_shown(now.get(key))}" for key in keys]


def _shown(value: object) -> str:
    if value is None:
        return "(default)"
    if isinstance(value, list):
        return shlex.join(map(str, value))
    return canonical(value) if isinstance(value, dict) else str(value)
