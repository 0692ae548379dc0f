"""What changed since an earlier series."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import build_records as make
import pytest

from mpicampaign.base.errors import UserError
from mpicampaign.base.records import (
    EARLIER_FILE,
    Header,
    Record,
    read_records,
    record_line,
    write_records,
)
from mpicampaign.compare.compare import compare
from mpicampaign.questions.two_sides.find import (
    changes_since,
    check_earlier,
    earlier_series,
    keep_earlier,
)
from mpicampaign.report.make import tables
from mpicampaign.show.view import MATRIX, View


def series(day: str, *latencies: float, placement: str = "SHM-1") -> list[Record]:
    return make.runs(
        placement, latencies, started=f"{day}T01:00:00Z", job_id=lambda repeat: f"{day}-{repeat}"
    )


THEN = series("2026-01-02", 1e-6, 1.01e-6, 1.02e-6, 1.03e-6, 1.04e-6)
NOW = series("2026-03-04", 2e-6, 2.01e-6, 2.02e-6, 2.03e-6, 2.04e-6)


def in_turns(runs: list[Record], hour: int) -> list[Record]:
    return [replace(run, started=f"2026-03-0{run.repeat}T{hour:02d}:00:00Z") for run in runs]


@pytest.mark.parametrize("layout", ["long", MATRIX])
@pytest.mark.parametrize("name", ["terminal", "markdown", "latex", "csv", "json"])
def test_the_change_is_in_every_format(name: str, layout: str) -> None:
    now = [*in_turns(NOW, 2), *series("2026-03-04", 1e-6, placement="TCP")]
    then = in_turns(THEN, 1)
    view = View(layout=layout)
    text = tables(compare(now), name, view, "c", changes_since(then, now, ())).decode("utf-8")
    if name in ("csv", "json"):
        assert "significant, p = 0.0079" in text and "1.98" in text
    else:
        sign = r"$\times$" if name == "latex" else "×"
        assert f"{sign} 1.98" in text and "change: significant at 5" in text and "no earlier value" in text


def test_the_same_runs_and_later_ones_are_not_an_earlier_series() -> None:
    check_earlier("then.jsonl", NOW, THEN)
    with pytest.raises(UserError, match=r"then.jsonl: these are the same runs"):
        check_earlier("then.jsonl", NOW, NOW)
    with pytest.raises(UserError, match=r"last run began at 2026-03-04"):
        check_earlier("then.jsonl", THEN, NOW)


def test_replaced_runs_are_kept_as_the_earlier_series(tmp_path: Path) -> None:
    def report(runs: list[Record]) -> None:
        keep_earlier(tmp_path, runs, [*map(record_line, runs)])
        write_records(tmp_path / "records.jsonl", Header("c"), runs)

    report(THEN)
    report(THEN)
    assert earlier_series(tmp_path, NOW, (1024,)) is None
    report([*NOW[:2], *THEN[2:]])  # a report in the midst of the new series
    report(NOW)
    assert read_records(tmp_path / EARLIER_FILE) == (Header("c"), THEN)
    again = [replace(run, started="2026-03-04T09:00:00Z") for run in NOW]
    report(again)  # on the same day: a run that was repeated, no series
    assert read_records(tmp_path / EARLIER_FILE)[1] == THEN
    found = earlier_series(tmp_path, NOW, (1024,))
    assert found is not None and found.since == "2026-01-02"
    report(series("2026-05-06", 3e-6))
    assert [r.started[:10] for r in read_records(tmp_path / EARLIER_FILE)[1]] == ["2026-03-04"] + [
        "2026-01-02"
    ] * 4


def test_damaged_records_hold_no_series(tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_text("damaged\n")
    keep_earlier(tmp_path, NOW, [*map(record_line, NOW)])
    assert not (tmp_path / EARLIER_FILE).exists()
