"""Snakemake without the libraries that it never uses here keeps the same records."""

from __future__ import annotations

import subprocess
import sys

RECORDS = """
import sys
{first}
import snakemake.cli
from snakemake.persistence import MetadataRecord
given = MetadataRecord.model_validate({{"rule": "run", "params": [1], "incomplete": True}})
given.endtime = 2.5
print(dict(MetadataRecord().items()), dict(given.items()), given["rule"], given.get("none"))
print("sqlalchemy.orm" in sys.modules, file=sys.stderr)
"""


def records(first: str) -> tuple[str, str]:
    command = [sys.executable, "-c", RECORDS.format(first=first)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


def test_its_records_are_the_same_and_no_database_is_loaded() -> None:
    """After an update of Snakemake: add its version to KNOWN, and see whether this still holds."""
    ours = records("from mpicampaign.execution.lean_snakemake import load_less; load_less()")
    real = records("")
    assert (ours[0], ours[1], real[1]) == (real[0], "False\n", "True\n")
