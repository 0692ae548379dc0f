"""Work on other cores, in copies of this process."""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from itertools import islice
from os import sched_getaffinity
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mpicampaign.base.interrupts import SIGNALS, end_quietly

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

T = TypeVar("T")
Item = TypeVar("Item")

MANY = 200  # runs or files: to read or write them takes longer than to start a process
_PIECE = 250  # items, which are handed over at once: no process holds more of the others' results
_MOST_CORES = 8  # others use the login nodes, too
_PATIENCE = 5.0  # s, for a copy that cleans up


class _Failure(NamedTuple):
    error: Exception


def in_background(work: Callable[[], T]) -> Callable[[], T]:
    """Begin the work now; what is returned waits for its result, or raises what the work raised.

    A copy of this process does it: no argument is copied by hand, and nothing that the work changes in memory
    is seen here. If the copy is killed, the work is done here. A signal that ends this process ends the copy
    without a word.
    """
    return partial(next, _begun([work]))


def on_cores(
    work: Callable[[Sequence[Item]], T], items: Sequence[Item], many: bool, most: int = _PIECE
) -> Iterator[T]:
    """Do the work on all items, at ``most`` so many at a time; ``many``: on its cores, at most eight.

    The results come in order.
    """
    cores = min(len(sched_getaffinity(0)), _MOST_CORES) if many else 1
    size = min(most, _PIECE, -(-len(items) // cores)) if cores > 1 else most
    pieces = [partial(work, items[start : start + size]) for start in range(0, len(items), size)]
    others = [_begun(pieces[core::cores]) for core in range(1, min(cores, len(pieces)))]
    try:
        for piece in pieces[::cores]:
            yield piece()
            for other in others:
                yield from islice(other, 1)
    finally:
        for other in others:
            other.close()


def _begun(works: Sequence[Callable[[], T]]) -> Generator[T, None, None]:
    """The results of works that a copy of this process begins now, one after the other."""
    import multiprocessing  # few calls need it

    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    process = fork.Process(target=_work, args=(works, here, there), daemon=True)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    there.close()
    results = _results(works, here, process)
    next(results)  # it ends the copy from now on
    return results


def _results(
    works: Sequence[Callable[[], T]], here: Connection, process: ForkProcess
) -> Generator[Any, None, None]:
    try:
        yield None
        for work in works:
            answer: T | _Failure
            try:
                answer = here.recv()
            except (EOFError, OSError):  # it was killed, perhaps while it sent
                answer = work()
            if isinstance(answer, _Failure):
                raise answer.error
            yield answer
    finally:
        here.close()
        process.terminate()  # where its further results are not wanted
        process.join(_PATIENCE)
        process.kill()
        process.join()


def _work(works: Sequence[Callable[[], T]], here: Connection, there: Connection) -> None:
    here.close()  # so that it ends with its first process, however that ends
    end_quietly()  # our handlers are for the process that the user called
    for work in works:
        answer: T | _Failure
        try:
            answer = work()
        except Exception as error:
            answer = _Failure(error)
        there.send(answer)
