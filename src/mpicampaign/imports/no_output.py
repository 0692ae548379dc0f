"""Why a text is no output of a suite: what it is instead, where that can be told, and what to do."""

from __future__ import annotations

import re

from mpicampaign.suites.detection import prefix_of
from mpicampaign.suites.hpcc.parser import SUMMARY_ALONE, is_summary

NO_OUTPUT = "no output of IMB, OSU, HPL or HPCC, and no job report that names one of them"
_HPL_ERROR = re.compile(r"^HPL ERROR [^\n]{1,200}\n>>> ([^\n]{1,120}?) <<<", re.MULTILINE)


def why_no_output(text: str, stderr: str) -> str:
    """The reason in words; HPL complains of its input before its header, on standard error."""
    if prefix := prefix_of(text):
        remedy = "have it printed without (mpirun -l, srun -l, time stamps)"
        return f"its lines have a prefix, such as {prefix!r}: {remedy}"
    if error := _HPL_ERROR.search(f"{text}\n{stderr}"):
        return (
            f"HPL did not start, it says {error[1]!r}: mend HPL.dat or the number of ranks and run it again"
        )
    return SUMMARY_ALONE if is_summary(text) else NO_OUTPUT
