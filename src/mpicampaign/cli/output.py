"""What subcommands print, and the lines that several of them print."""

from __future__ import annotations

import io
import os
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from mpicampaign.base.records import IN_PART, Record
from mpicampaign.base.text import counted, visible_lines

if TYPE_CHECKING:
    from mpicampaign.jobs.prepare import Prepared


def selection_lines(prepared: Prepared) -> list[str]:
    """One line that names the selection, if there is one."""
    if not prepared.selection:
        return []
    return [f"only {prepared.selection}: {len(prepared.selected)} of {len(prepared.runs)} runs"]


def print_lines(*lines: str) -> None:
    """Print, what a terminal would act on escaped; where the reader has left (``| head``), go on without."""
    try:
        for line in lines:
            print(visible_lines(line))
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()


def say(*lines: str) -> None:
    """Print what is no answer, such as progress; where nobody reads it, go on without."""
    with suppress(OSError):
        for line in lines:
            print(visible_lines(line), file=sys.stderr, flush=True)


def discard_output() -> None:
    """Discard all further output, and output not yet written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with suppress(io.UnsupportedOperation):  # a caller's own stream, with no file behind it
        os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def doubts(prepared: Prepared, *keys: str) -> list[str]:
    """Lines about what is doubtful in the campaign file; ``keys``: only at these."""
    warnings = (
        warning
        for warning in prepared.campaign.warnings
        if not keys or warning.key.split(".")[-1].partition("[")[0] in keys
    )
    return [f"warning: {warning}" for warning in warnings]


def beside(prepared: Prepared) -> list[str]:
    """Lines about results that the campaign does not describe, and those of other sites."""
    from mpicampaign.collect.merged import merged_folders
    from mpicampaign.collect.undescribed import undescribed_lines

    count = len(merged_folders(prepared.folder))
    has = "its runs are" if count == 1 else "their runs are"
    merged = [f"{counted(count, 'merged bundle')}: {has} in the report, and due here all the same"]
    return undescribed_lines(prepared.plan, prepared.folder) + merged * bool(count)


def unread_lines(records: Iterable[Record]) -> list[str]:
    """What to do where the patterns do not fit the outputs of finished runs; empty where they fit."""
    files = (record.files["output"] for record in records if record.unread)
    hint = "correct the campaign file, and call report again: no run is repeated"
    return [f"not read, such as {file}: {hint}" for file in files][:1]


def counts(records: list[Record]) -> str:
    """How the runs ended. Contradicted and disturbed ones are complete, but left out of all numbers."""
    counts = Counter(
        "not read" if record.unread else record.end + " in part" * (IN_PART in record.metadata)
        for record in records
    )
    ends_text = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in sorted(counts.items()))
    return f"{counted(len(records), 'run')}: {ends_text}"
