"""A performance log of ReFrame: a line for each run and metric, as of its option ``perflog_multiline``.

The host group is the partition, the placement the environment. Values are in the usual units with all digits;
a run that failed has one line without a value. Runs that count in no table have none, nor have those without
a time, which a log needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.records import FAILED, Record
from mpicampaign.base.text import visible
from mpicampaign.compare.metrics import NOT_RANKED, Metric
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.report.exports import ExportWriter

_COLUMNS = (
    *("result", "job_completion_time", "environ", "job_completion_time_unix", "job_nodelist", "jobid"),
    *("name", "partition", "perf_var", "perf_value", "perf_unit"),
    *("perf_ref", "perf_lower_thres", "perf_upper_thres", "system"),
)
_NO_REFERENCE = {"perf_ref": 0, "perf_lower_thres": None, "perf_upper_thres": None}  # as ReFrame writes it


def perflog(comparison: Comparison) -> str:
    """The lines in the order of the tables, below a header.

    Raises
    ------
    UserError
        where there is none.
    """
    rows = [(table, row) for table in comparison.tables for row in table.rows]
    lines = [line for table, row in rows for line in _lines(table, row)]
    if rows and not lines:
        raise UserError(Problem("no run has both a time, which a log of ReFrame needs, and a result"))
    return "\n".join(["|".join(_COLUMNS), *lines, ""])


def _lines(table: Table, row: Row) -> Iterator[str]:
    counted = {run.repeat for run, _ in row.curves if run.counts}
    for run in (run for run in row.records if _times(run)):
        if run.status == FAILED:
            yield _line(table, row, run, {"result": "fail"})
        for cell in row.cells if run.repeat in counted else ():
            if (value := cell.by_repeat.get(run.repeat)) is not None:
                yield _line(table, row, run, {"result": "pass", **_of(cell.metric, value)})


def _of(metric: Metric, value: float) -> dict[str, object]:
    unit = metric.dimension.unit()
    words = re.findall(r"\w+", metric.name.removesuffix(NOT_RANKED))  # a colon ends the name of a system
    of_unit = unit.name.replace("µ", "u")
    return {"perf_var": "_".join(words), "perf_value": unit.of(value), "perf_unit": of_unit}


def _line(table: Table, row: Row, run: Record, values: Mapping[str, object]) -> str:
    name = table.title if row.ranks is None else f"{table.title} %ranks={row.ranks}"
    about = {
        **_times(run),
        "environ": run.case.placement,
        "job_nodelist": ",".join(run.hosts) or None,
        "jobid": run.job_id or None,
        "name": name,
        "partition": run.case.host_group,
        "system": run.case.system,
        **_NO_REFERENCE,
        **values,
    }
    return "|".join(visible(str(about.get(column))).replace("|", "/") for column in _COLUMNS)


def _times(run: Record) -> dict[str, object]:
    """When it ended; empty where that is not known."""
    try:
        time = datetime.fromisoformat(run.ended or run.started)
    except ValueError:
        return {}
    unix = {"job_completion_time_unix": time.timestamp()} if time.tzinfo else {}
    return {"job_completion_time": time.isoformat(timespec="seconds"), **unix}


WRITER = ExportWriter(".log", lambda comparison, campaign: perflog(comparison).encode("utf-8"))
