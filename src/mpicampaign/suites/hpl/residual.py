"""HPL's check of its solution: the scaled residual, the threshold, and what the program says of it."""

from __future__ import annotations

import re

from mpicampaign.suites.reading import OutputError

THRESHOLD = re.compile(r"- Computational tests pass if scaled residuals are less than\s{1,40}(\S{1,20})\s*$")
_RESIDUAL = re.compile(r"\|\|Ax-b\|\|_oo.{1,120}=\s{0,40}(\S{1,40})\s+\.\.\.\.\.\. (\S{1,20})\s*$")
_NUMBER = re.compile(r"[0-9]{1,20}(\.[0-9]{0,20})?([eE][-+]?[0-9]{1,3})?")


def check_residual(number: int, line: str, threshold: str) -> bool:
    """Whether a line is a check that passed: other lines about the residual are not.

    ``threshold``: as printed; empty where none was.

    Raises
    ------
    OutputError
        when the check did not pass, or when its residual is not below the threshold, whatever the program
        says.
    """
    found = _RESIDUAL.match(line)
    if not found:
        return False
    residual, said = found.groups()
    if said != "PASSED":
        raise OutputError(f"line {number}: the solution did not pass: {line.strip()[:120]}")
    if not _NUMBER.fullmatch(residual):
        raise OutputError(
            f"line {number}: the residual {residual} is not a number, but the program says {said}"
        )
    if _NUMBER.fullmatch(threshold) and float(residual) >= float(threshold):
        raise OutputError(
            f"line {number}: the residual {residual} is not below {threshold}, but the program says {said}"
        )
    return True
