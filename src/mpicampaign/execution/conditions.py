"""The condition of results on disk, which planning needs for further repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpicampaign.jobs.prepare import prepare
from mpicampaign.records import DISTURBED
from mpicampaign.verdict.condition import condition, may_be_disturbed
from mpicampaign.verdict.evidence import read_evidence

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mpicampaign.jobs.prepare import Prepared, Script


def condition_of(folder: Path) -> str:
    """``disturbed`` where the result in a run's folder says so, else empty.

    Each planning asks this of all results, so that evidence without any wait is not parsed.
    """
    try:
        # a Path takes longer than the reading
        with open(f"{folder}/result/evidence.txt", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            text = file.read()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return ""
    found = condition(read_evidence(text))[0] if may_be_disturbed(text) else ""
    return found if found == DISTURBED and (folder / "result/output.txt").exists() else ""


def prepare_with_results(campaign_file: Path, system: str = "", results: Path | None = None) -> Prepared:
    """As `prepare`, with the further repeats that the results on disk ask for."""
    return prepare(campaign_file, system, results, condition_of)


def further_of(script: Script, pending: Iterable[Script]) -> list[Script]:
    """The pending further repeats of the case of a run; none where the campaign now declares it otherwise."""
    case = _declared(script)
    return [each for each in pending if each.run.further and _declared(each) == case]


def _declared(script: Script) -> dict[str, Any]:
    """What is declared of the run, but for the repeat."""
    return {**script.run.declared, "repeat": 0}
