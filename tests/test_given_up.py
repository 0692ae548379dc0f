"""What gave up has no value, and the tables say why."""

from __future__ import annotations

import build_records as make

from mpicampaign.compare.compare import compare
from mpicampaign.compare.findings import GIVEN_UP
from mpicampaign.compare.tables import absence_of

OUT_OF_TIME = make.series("PingPong", size=[0, 1], time=[2.5e-7, None], bandwidth=[0.0, None])


def test_a_ping_pong_out_of_time_at_1_byte_has_a_latency_and_no_bandwidth() -> None:
    (table,) = compare([make.run("SHM-1", repeat, OUT_OF_TIME) for repeat in range(1, 4)], [1]).tables
    (row,) = table.rows
    values = {metric.name: row.cell(metric).values for metric in table.metrics}
    assert values.pop("latency at 0 B") == (2.5e-7,) * 3
    assert set(values.values()) == {()}
    for name in values:
        metric = next(metric for metric in table.metrics if metric.name == name)
        assert [note.kind for note in absence_of(row, metric)] == [GIVEN_UP]
    assert not any(ranking.metric.column == "bandwidth" for ranking in table.rankings)
