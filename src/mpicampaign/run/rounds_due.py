"""The rounds of `each` that are due by the results on disk: those of all members, then those of suspects."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from os import stat
from os.path import exists
from pathlib import Path
from typing import NamedTuple

from mpicampaign.base.background import on_two_cores
from mpicampaign.base.records import FAILED, MISSING, Case, Record, defined_name
from mpicampaign.base.waves import Waves, WaveScreen, read_waves, waves_key
from mpicampaign.campaign.model import Each
from mpicampaign.collect.caches import keep_of_program, kept_of_program
from mpicampaign.collect.member_metadata import member_metadata
from mpicampaign.collect.runs import RunFolder, ended_by_itself, read_run
from mpicampaign.jobs.declaration import reading_of
from mpicampaign.schedulers.node_states import node_states
from mpicampaign.schemes.unit import CaseOnMembers, RepeatedCase

RunFolderOf = Callable[[Case, int, str], Path]
Rounds = Mapping[int, tuple[str, ...]]

FILE = "rounds-known.json"
_MANY = 200  # runs: to read them takes longer than to start a process


class _Run(NamedTuple):
    """A run of a member in a round, and its folder."""

    candidate: RepeatedCase
    nodes: list[str]
    repeat: int
    round: int
    folder: Path

    @property
    def has_ended(self) -> bool:
        """Whether it has a result, or failed of itself: a run that was killed is made again."""
        return exists(f"{self.folder}/result/output.txt") or ended_by_itself(self.folder)  # noqa: PTH110

    @property
    def state(self) -> str:
        """The run, and what changes with its result."""
        benchmark = self.candidate.benchmark
        known = self.round, str(self.folder), benchmark.suite, reading_of(benchmark)
        for name in ("result/output.txt", "attempts"):
            with suppress(OSError):
                about = stat(f"{self.folder}/{name}")  # noqa: PTH116  a Path takes longer
                return f"{known} {name} {about.st_mtime_ns} {about.st_size}"
        return f"{known} missing"

    def record(self, each: Each) -> Record:
        benchmark, folder = self.candidate.benchmark, RunFolder(self.folder, self.repeat)
        record = read_run(self.candidate.kept, benchmark.suite, folder, reading=reading_of(benchmark))
        known = member_metadata(each.unit, self.nodes, self.round, each.tolerance)
        killed = record.status == FAILED and not self.has_ended
        status = MISSING if killed else record.status
        return replace(record, case=self.candidate.case, status=status, metadata={**record.metadata, **known})


def due_rounds(
    each: Each,
    waves: Sequence[WaveScreen],
    benchmarks: Sequence[CaseOnMembers],
    campaign_folder: Path,
    folder_of: RunFolderOf,
) -> Rounds:
    """The members in each round that is due so far: nothing is read before the rounds known so far are made.

    ``benchmarks``: the case of each on a member.
    """
    case = benchmarks[0](next(iter(waves[0].before))).case
    states = node_states(campaign_folder, (case.machine[0], defined_name(case.host_group)))
    down = {node for node, state in states.items() if not state.usable}  # when a job was last submitted
    late = read_waves(campaign_folder).get(waves_key(case), Waves()).late
    due: Rounds = {}
    earlier: list[_Run] = []
    for wave in waves:
        closed = wave is not waves[-1]
        absent = {*down, *late, *(wave.before if closed else ())}
        first: Rounds = {number: tuple(members) for number, members in wave.rounds.items()}
        in_wave, following = first, dict[int, tuple[str, ...]]()
        while following != in_wave:
            in_wave = following or first
            runs = [run for on in benchmarks for run in _runs(on, in_wave, wave, folder_of)]
            if not all(run.has_ended for run in runs if absent.isdisjoint(run.nodes)):
                break
            known = [*earlier, *runs]
            results = "\n".join([repr((each, sorted(absent), closed)), *(run.state for run in known)])
            asked = known_rounds(
                campaign_folder, results, partial(_asked, each, known, first, absent, closed)
            )
            # absent nodes stay in the plan
            following = {
                number: tuple(dict.fromkeys((*first.get(number, ()), *asked[number]))) for number in asked
            }
        if closed:  # what it has not made is left to later ones
            kept = {(run.round, *run.nodes) for run in runs if run.has_ended or run.nodes[0] in late}
            runs = [run for run in runs if (run.round, *run.nodes) in kept]
            in_wave = {n: tuple(node for node in in_wave[n] if (n, node) in kept) for n in in_wave}
        due = {**due, **in_wave}
        earlier += runs
    return due


def known_rounds(campaign_folder: Path, results: str, find: Callable[[], Rounds]) -> Rounds:
    """The rounds that results ask for: from a cache, so that no plan reads thousands of results again.

    An entry holds for the results as they are and the state of this program. The file may be removed at any
    time; in a folder without write permission nothing is kept.
    """
    path, key = campaign_folder / FILE, hashlib.sha256(results.encode()).hexdigest()
    rounds_of = kept_of_program(path, "rounds")
    with suppress(KeyError, ValueError, TypeError, AttributeError):
        return {int(number): tuple(map(str, members)) for number, members in rounds_of[key].items()}
    found = find()
    keep_of_program(path, "rounds", rounds_of | {key: found})
    return found


def _asked(each: Each, runs: Sequence[_Run], first: Rounds, absent: Collection[str], closed: bool) -> Rounds:
    """All rounds that the results of these runs ask for."""
    from mpicampaign.questions.machine.find_searches import rounds_due  # few campaigns need it

    records = on_two_cores(partial(_records, each), runs, len(runs) >= _MANY)
    return rounds_due(chain.from_iterable(records), first, absent=absent, closed=closed)


def _runs(
    candidate_on: CaseOnMembers, due: Rounds, wave: WaveScreen, folder_of: RunFolderOf
) -> Iterator[_Run]:
    for member, number, repeat in wave.numbered(due):
        candidate = candidate_on(member)
        folder = folder_of(candidate.kept, repeat, candidate.identities[repeat])
        yield _Run(candidate, member.split("+"), repeat, number, folder)


def _records(each: Each, runs: Sequence[_Run]) -> list[Record]:
    return [run.record(each) for run in runs]
