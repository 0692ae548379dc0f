"""Why a text is no output of a suite: what it is instead, where that can be told, and what to do."""

from __future__ import annotations

from mpicampaign.suites import SUITES, prefix_of


def why_no_output(text: str, stderr: str) -> str:
    """The reason, for people."""
    if prefix := prefix_of(text):
        remedy = "have it printed without (mpirun -l, srun -l, time stamps)"
        return f"its lines have a prefix, such as {prefix!r}: {remedy}"
    reasons = (suite.no_output(f"{text}\n{stderr}") for suite in SUITES.values())
    return next(filter(None, reasons), None) or _of_no_suite()


def _of_no_suite() -> str:
    known = ", ".join(suite.called for suite in SUITES.values())
    return f"no output of a known suite ({known}), and no job report that names one of their programs"
