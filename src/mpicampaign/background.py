"""Work on a second core, in a copy of this process."""

from __future__ import annotations

import multiprocessing
import signal
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from mpicampaign.interrupts import SIGNALS, end_at_once

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection

T = TypeVar("T")
Item = TypeVar("Item")


class _Failure(NamedTuple):
    error: Exception


def in_background(work: Callable[[], T]) -> Callable[[], T]:
    """Begin the work now; what is returned waits for its result, or raises what the work raised.

    A copy of this process does it: no argument is copied by hand, and nothing that the work changes in memory
    is seen here. If the copy is killed, the work is done here. A signal that ends this process ends the copy
    without a word.
    """
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    process = fork.Process(target=_work, args=(work, there), daemon=True)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    there.close()

    def result() -> T:
        found: T | _Failure
        try:
            found = here.recv()
        except EOFError:
            return work()
        finally:
            here.close()
            process.join()
        if isinstance(found, _Failure):
            raise found.error
        return found

    return result


def on_two_cores(work: Callable[[Sequence[Item]], T], items: Sequence[Item], many: bool) -> list[T]:
    """Do the work on all items; ``many`` of them: on both halves at once. The results in their order."""
    if not many:
        return [work(items)]
    half = len(items) // 2
    others = in_background(partial(work, items[half:]))
    return [work(items[:half]), others()]


def _work(work: Callable[[], T], there: Connection) -> None:
    end_at_once()  # our handlers are for the process that the user called
    answer: T | _Failure
    try:
        answer = work()
    except Exception as error:
        answer = _Failure(error)
    there.send(answer)
