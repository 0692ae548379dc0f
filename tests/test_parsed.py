"""What comes out of each output of a real run: tests/golden/parsed.txt, what each
says of itself, and one line for a column of a table.

After a change on purpose, or with a new output: MPICAMPAIGN_UPDATE_GOLDEN=1 pytest tests/test_parsed.py, then
read the difference.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from mpicampaign.suites import SUITES, OutputError, detect_suite, parse

TESTS = Path(__file__).parent
KEPT = TESTS / "golden/parsed.txt"


def lines(path: Path) -> Iterator[str]:
    """What it says of itself; of each column the first and last value in SI units, and their number."""
    text = path.read_text(encoding="utf-8")
    suite = detect_suite(text)
    assert suite is not None
    try:
        parsed = parse(suite, text)
    except OutputError as error:
        yield f"refused: {error}"
        return
    names, facts = SUITES[suite].names(text, ""), SUITES[suite].facts(text)
    said = {"benchmark": names[0], "program": names[1], "version": parsed.version, **facts, **parsed.metadata}
    yield ", ".join(f"{name} {value!r}" for name, value in said.items() if value)
    for series in parsed.series:
        for name, values in series.columns.items():
            ends = " ".join("none" if each is None else f"{each:.10g}" for each in (values[0], values[-1]))
            yield f"{series.label}, {series.ranks} ranks: {name} {len(values)} {ends}"


def test_the_values_of_each_output() -> None:
    outputs = sorted(path for path in TESTS.glob("fixtures/*/*.out"))
    now = "".join(f"{path.parent.name}/{path.stem}: {line}\n" for path in outputs for line in lines(path))
    if os.environ.get("MPICAMPAIGN_UPDATE_GOLDEN"):
        KEPT.write_text(now)
    assert now.splitlines() == KEPT.read_text().splitlines()
