"""What is said of mistakes: a line of golden/NAME.jsonl has what a test is given, and all that is said of it.

After a change on purpose: MPICAMPAIGN_UPDATE_GOLDEN=1 pytest with the test's file, then read the difference.
A new line has what the test is given, and "" as the last value, which that call fills in.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

from mpicampaign.base.errors import UserError

# what a parser of YAML says, of which there are two
_PARSER = re.compile(
    r"(?<=not valid YAML: )(?=[^\"]*\b(?:found|could not|did not|not allowed|expected|occurrence)\b)"
    r".*?(?=\\n|\"[],])"
)
GOLDEN = Path(__file__).parent / "golden"


def check(name: str, said: Callable[..., object]) -> None:
    """Compare what is said of each line's mistake with what was."""
    path = GOLDEN / f"{name}.jsonl"
    kept = path.read_text(encoding="utf-8").splitlines()
    now = [json.dumps([*given, said(*given)], ensure_ascii=False) for *given, _ in map(json.loads, kept)]
    now = [_PARSER.sub("…", line) for line in now]
    if os.environ.get("MPICAMPAIGN_UPDATE_GOLDEN"):
        path.write_text("".join(f"{line}\n" for line in now), encoding="utf-8")
        kept = now
    assert kept, f"{path} is empty"
    changed = [line for line, was in zip(now, kept, strict=True) if line != was]
    assert not changed, "\n".join(["it says now:", *changed])


def refusal(folder: Path, call: Callable[[], object]) -> str:
    """The text of the error that a call ends with; files without the folder."""
    try:
        call()
    except UserError as error:
        return str(error).replace(f"{folder}/", "")
    return "not refused"
