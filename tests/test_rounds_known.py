"""Plans know which rounds results ask for without reading them again, until anything is different."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpicampaign.run import rounds_due
from mpicampaign.run.rounds_due import FILE, known_rounds

ROUNDS = {1: ("n1", "n2"), 2: ("n1+n2",)}


def never() -> dict[int, tuple[str, ...]]:
    raise AssertionError("the results are read again")


def test_the_same_results_are_not_read_again(tmp_path: Path) -> None:
    assert known_rounds(tmp_path, "two runs", lambda: ROUNDS) == ROUNDS
    assert known_rounds(tmp_path, "two runs", never) == ROUNDS
    with pytest.raises(AssertionError):
        known_rounds(tmp_path, "three runs", never)


@pytest.mark.parametrize("text", ["", "{", '{"program": "", "rounds": []}', '{"rounds": {"a": 1}}'])
def test_a_damaged_cache_is_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    assert known_rounds(tmp_path, "two runs", lambda: ROUNDS) == ROUNDS


def test_another_program_reads_them_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known_rounds(tmp_path, "two runs", lambda: ROUNDS)
    monkeypatch.setattr(rounds_due, "program_state", lambda: "another")
    with pytest.raises(AssertionError):
        known_rounds(tmp_path, "two runs", never)
