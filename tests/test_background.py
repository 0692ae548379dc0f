"""Work on a second core: its result, its failures, and its death."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from itertools import chain
from typing import NoReturn

import pytest

from mpicampaign.base.background import in_background, on_two_cores
from mpicampaign.base.errors import Problem, UserError


def test_a_failure_is_raised_by_the_one_who_waits() -> None:
    def refused() -> NoReturn:
        raise UserError(Problem("no such file", "a.yaml"))

    result = in_background(refused)
    with pytest.raises(UserError, match=r"a\.yaml"):
        result()


def test_pieces_keep_their_order_and_those_of_a_killed_copy_are_done_here() -> None:
    here = os.getpid()

    def doubled(items: Sequence[int]) -> list[int]:
        if os.getpid() != here and 800 in items:
            os.kill(os.getpid(), signal.SIGKILL)
        return [2 * item for item in items]

    pieces = [*on_two_cores(doubled, range(2001), many=True)]
    assert list(chain.from_iterable(pieces)) == list(range(0, 4002, 2))
    assert len(pieces) > 2


# The copy is handing its result over when the process that began it ends.
ENDING = """
import os, sys, time
from mpicampaign.base.background import in_background
from mpicampaign.base.interrupts import end_in_order

class Slow:
    def __reduce__(self):
        os.write(ready, b"1")
        time.sleep(60)

end_in_order()
read, ready = os.pipe()
result = in_background(Slow)
os.read(read, 1)
sys.exit("full disk")
"""


def test_the_copy_ends_with_its_process_without_a_word() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENDING], capture_output=True, text=True, check=False, timeout=30
    )
    assert (done.returncode, done.stderr) == (1, "full disk\n")
