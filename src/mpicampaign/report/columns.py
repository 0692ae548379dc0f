"""The columns of results as data: names, types and meaning. Builds need it: it imports next to nothing.

`mpicampaign.report.data` fills them; documents, the JSON Schema and the interface name them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mpicampaign.show.document import Kind
from mpicampaign.show.writers.json import JSON_FORMAT, JSON_VERSION

VALUES, MEDIANS, ANSWERS = TABLES = ("values", "medians", "answers")


class Column(NamedTuple):
    """A name, the type of its values, and what they are."""

    name: str
    kind: Kind
    about: str


_CASE = """\
system: text, the cluster or machine
host_group: text, without its MPI library
library: text, the MPI library's name in the campaign file, where its system has several
placement: text, of the ranks; with the state of the machine where it stands apart
benchmark: text, as defined in the campaign file
series: text, the table that the benchmark printed
ranks: int, of the series
"""
_TEXTS = {
    VALUES: _CASE
    + """repeat: int, number of the run among those of its case
metric: text, what was printed, such as time; empty of a run without values
size: int, message size in B; empty where there is none
value: float, as printed, in SI units
unit: text, SI unit of the values of the line: s, B/s, flop/s, 1/s, 1, or that of an own metric
counts: bool, whether the medians are made of this run
status: text, of the run: ok, failed, missing or not_available
reason: text, why it is not ok, or belongs to an earlier state of its program
verdict: text, on the label: verified, unverified or contradicted
condition: text, of the machine during the run: quiet, disturbed or not judged
state: text, of the machine below the operating system, where it has several
date: text, when the run began, ISO 8601
hosts: text, on which it ran, separated by spaces
job: text, number of the job or process
identity: text, checksum of what describes the run: equal ones are repeats of one thing
output: text, the raw output
""",
    MEDIANS: _CASE
    + """metric: text, what is compared, such as latency at 0 B
made_of: text, the metric of the values that it is taken from
size: int, message size in B; empty of a maximum over sizes
unit: text, SI unit of the values of the line: s, B/s, flop/s, 1/s, 1, or that of an own metric
runs_planned: int, repeats that the campaign asks for
runs_counted: int, runs that enter the medians of the series
n: int, repeats with the metric
median: float, over repeats
interval_low: float, lower end of the order-statistic interval of the median
interval_high: float, upper end
interval_coverage: float, of the interval, 0 to 1
mean: float, over repeats
minimum: float, over repeats
maximum: float, over repeats
line_rate_bound: float, what the link can carry in B/s, of fractions of it
runs_verified: int, complete runs by verdict
runs_verified_against_declared_topology: int, against a declared topology, as in tests
runs_unverified: int
runs_contradicted: int, they enter no median
runs_quiet: int, complete runs by condition
runs_disturbed: int
runs_not_judged: int
disturbed: bool, whether the medians are of disturbed runs, as too few were quiet
ranked: bool, whether the row is compared with others
busy_machine: text, what the campaign does with disturbed runs
state: text, of the machine, where it has several
group: text, the attribute of the host group that --by names
missing_because: text, why there is no median
notes: text, what is doubtful about the runs
identity: text, checksum of what describes the runs
program_checksum: text, of the program that ran
mpi_library_checksum: text, of the MPI library that the ranks mapped
newest_run: text, when the last run with a value ended
""",
    ANSWERS: """\
question: text, what is compared: placements, host groups, MPI libraries, blocks, ranks, …
scope: text, what the candidates have in common, such as the host group
benchmark: text, as defined in the campaign file
series: text, the table that the benchmark printed
ranks: int, of the series
metric: text, what is compared
sentence: text, the answer, the same for all candidates of the question
candidate: text, by the name in the sentence; empty of an answer that has none
system: text, the cluster or machine
host_group: text, without its MPI library
library: text, the MPI library's name in the campaign file, where its system has several
placement: text, of the ranks; with the state of the machine where it stands apart
n: int, repeats, or blocks, with a value
median: float, of the candidate
unit: text, SI unit of the values of the line: s, B/s, flop/s, 1/s, 1, or that of an own metric
against: text, with which the candidate is compared: the best, the reference, or ideally scaled fewest ranks
ratio: float, how many times worse than that the candidate is, by medians; in blocks within them
ratio_low: float, the lower end of the interval of its median as such a ratio; in blocks of the ratio
ratio_high: float, the upper end
p: float, that the two are alike, among all pairs of the question; empty where it is not tested
smallest_difference: float, that the repeats would show in 8 of 10 cases: 0.02 is 2 %
verdict: text, may be best, worse, or why not tested; in blocks against the reference
""",
}


def _column(line: str) -> Column:
    name, _, rest = line.partition(": ")
    kind, _, about = rest.partition(", ")
    return Column(name, _KINDS[kind], about)


_KINDS: dict[str, Kind] = {"text": str, "int": int, "float": float, "bool": bool}
COLUMNS = {table: tuple(map(_column, text.splitlines())) for table, text in _TEXTS.items()}

_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def results_schema() -> dict[str, Any]:
    """The JSON Schema of ``mpicampaign tables --format json``: one of the three tables."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Results of an mpicampaign campaign as data",
        "oneOf": [_document(table) for table in TABLES],
    }


def _document(table: str) -> dict[str, Any]:
    columns = COLUMNS[table]
    row = {
        name: {"type": [_TYPES[kind], "null"], **({"description": about} if about else {})}
        for name, kind, about in columns
    }
    header = {
        **{"format": {"const": JSON_FORMAT}, "version": {"const": JSON_VERSION}, "table": {"const": table}},
        **{"campaign": {"type": "string"}, "columns": {"const": [column.name for column in columns]}},
    }
    line = {"type": "object", "properties": row, "required": [*row], "additionalProperties": False}
    return {
        "type": "object",
        "properties": header | {"rows": {"type": "array", "items": line}},
        "required": [*header, "rows"],
    }
