"""Snakemake without the libraries that it never uses here keeps the same records."""

from __future__ import annotations

import subprocess
import sys

RECORDS = """
import sys
{first}
import smart_open, snakemake.cli
from snakemake.persistence import MetadataRecord
given = MetadataRecord.model_validate({{"rule": "run", "params": [1], "incomplete": True}})
given.endtime = 2.5
print(dict(MetadataRecord().items()), dict(given.items()), given["rule"], given.get("none"))
print(sorted({{"requests", "sqlalchemy.orm"}} & sys.modules.keys()), file=sys.stderr)
"""


def records(first: str) -> tuple[str, str]:
    command = [sys.executable, "-c", RECORDS.format(first=first)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


def test_its_records_are_the_same_and_neither_databases_nor_downloads_are_loaded() -> None:
    """After an update of Snakemake: add its version to KNOWN, and see whether this still holds."""
    ours = records("from mpicampaign.execution.lean_snakemake import load_less; load_less()")
    real = records("")
    assert (ours[0], ours[1], real[1]) == (real[0], "[]\n", "['requests', 'sqlalchemy.orm']\n")
