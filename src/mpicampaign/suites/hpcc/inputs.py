"""The input file of HPCC: HPL's, and what PTRANS adds to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.suites.hpl import problem

if TYPE_CHECKING:
    from mpicampaign.suites.request import Request

NAME = "hpccinf.txt"
RESULTS = "hpccoutf.txt"
_NO_MORE = """\
this line separates HPL's part from that of PTRANS
0            number of further orders for PTRANS
0            orders
0            number of further block sizes for PTRANS
0            block sizes
"""


def input_file(request: Request) -> str:
    """``hpccinf.txt`` of a request that is not refused; PTRANS takes HPL's order and block size."""
    return problem.input_file(request) + _NO_MORE
