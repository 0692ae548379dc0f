"""Suites: one file (of the kernels a folder) holds all that is known of each, and ends in one ``SUITE``.

Another package brings its own as entry points of the group ``mpicampaign.suites``. No I/O: parsers are pure
functions of text. A truncated, empty or garbled output raises `OutputError`, or says what it lacks.
"""

from mpicampaign.suites.line_labels import without_labels
from mpicampaign.suites.parts import Part, above_banner, detect_suite, parts
from mpicampaign.suites.reading import OutputError, ParsedOutput, UnreadError
from mpicampaign.suites.room import (
    SUITES,
    benchmarks,
    is_baseline,
    parse,
    printed_resolution,
    program_names,
    program_of,
    sends,
    suite_of,
)

__all__ = [
    "SUITES",
    "OutputError",
    "ParsedOutput",
    "Part",
    "UnreadError",
    "above_banner",
    "benchmarks",
    "detect_suite",
    "is_baseline",
    "parse",
    "parts",
    "printed_resolution",
    "program_names",
    "program_of",
    "sends",
    "suite_of",
    "without_labels",
]
