"""Work on a second core: its result, its failures, and its death."""

from __future__ import annotations

import os
import signal
from typing import NoReturn

import pytest

from mpicampaign.background import in_background
from mpicampaign.errors import Problem, UserError


def test_a_failure_is_raised_by_the_one_who_waits() -> None:
    def refused() -> NoReturn:
        raise UserError(Problem("no such file", "a.yaml"))

    result = in_background(refused)
    with pytest.raises(UserError, match=r"a\.yaml"):
        result()


def test_work_whose_process_is_killed_is_done_here() -> None:
    here = os.getpid()

    def killed_elsewhere() -> int:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return os.getpid()

    assert in_background(killed_elsewhere)() == here
