"""Detection of an output's suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpicampaign.suites import OutputError, detect_suite

FIXTURES = Path(__file__).parent / "fixtures"
SUITES = ("imb", "osu", "kernel")


def text(suite: str, name: str) -> str:
    return (FIXTURES / suite / f"{name}.out").read_text(encoding="utf-8")


def test_two_suites_in_one_file() -> None:
    with pytest.raises(OutputError, match=r"outputs of imb \(line 5\) and of osu \(line 67\) in one file"):
        detect_suite("\n" * 3 + text("imb", "pingpong") + text("osu", "latency"))
