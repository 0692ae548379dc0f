"""What is said of mistakes: a line of golden/NAME.jsonl has what a test is given, and all that is said of it.

After a change on purpose: MPICAMPAIGN_UPDATE_GOLDEN=1 pytest with the test's file, then read the difference.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mpicampaign.base.errors import UserError

GOLDEN = Path(__file__).parent / "golden"


def check(name: str, said: Callable[..., object]) -> None:
    """Compare what is said of each line's mistake with what was."""
    path = GOLDEN / f"{name}.jsonl"
    kept = path.read_text(encoding="utf-8").splitlines()
    now = [json.dumps([*given, said(*given)], ensure_ascii=False) for *given, _ in map(json.loads, kept)]
    now = [re.sub(r"(?<=not valid YAML: ).*?(?=\\n|\"[],])", "…", line) for line in now]  # the parser's words
    if os.environ.get("MPICAMPAIGN_UPDATE_GOLDEN"):
        path.write_text("".join(f"{line}\n" for line in now), encoding="utf-8")
    changed = [line for line, was in zip(now, kept, strict=True) if line != was]
    assert not changed, "\n".join(["it says now:", *changed])


def refusal(folder: Path, call: Callable[[], object]) -> str:
    """The text of the error that a call ends with; files without the folder."""
    with pytest.raises(UserError) as caught:
        call()
    return str(caught.value).replace(f"{folder}/", "")
