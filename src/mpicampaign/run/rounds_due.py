"""The rounds of `each` that are due by the results on disk: those of all members, then those of suspects."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from operator import attrgetter
from os import F_OK, access, stat
from pathlib import Path
from typing import NamedTuple

from mpicampaign.base.background import MANY, on_cores
from mpicampaign.base.identity import run_path
from mpicampaign.base.records import FAILED, MISSING, Record, defined_name
from mpicampaign.base.run_files import attempts_of, result_in
from mpicampaign.base.waves import ROUNDS, Waves, read_waves, waves_key
from mpicampaign.campaign.each import SCREEN
from mpicampaign.campaign.model import Each
from mpicampaign.collect.caches import keep_of_program, kept_of_program
from mpicampaign.collect.member_metadata import member_metadata
from mpicampaign.collect.runs import RunFolder, ended_by_itself
from mpicampaign.jobs.declaration import reading_of
from mpicampaign.run.read_once import parsed, read_once
from mpicampaign.schedulers.node_states import node_states
from mpicampaign.schemes.unit import CaseOnMembers, RepeatedCase

Rounds = Mapping[int, tuple[str, ...]]

FILE = "rounds-known.json"


class _Run(NamedTuple):
    """A run of a member in a round, and its folder."""

    candidate: RepeatedCase
    nodes: list[str]
    repeat: int
    round: int
    folder: str

    @property
    def has_ended(self) -> bool:
        """Whether it has a result, or failed of itself: a run that was killed is made again."""
        return bool(result_in(self.folder)) or ended_by_itself(Path(self.folder))

    @property
    def state(self) -> str:
        """The run, and what changes with its result."""
        benchmark = self.candidate.benchmark
        known = self.round, self.folder, benchmark.suite, reading_of(benchmark)
        result = result_in(self.folder)
        for path in [result] if result else attempts_of(self.folder)[-1:]:
            with suppress(OSError):
                about = stat(path)  # noqa: PTH116  a Path takes longer
                return f"{known} {path} {about.st_mtime_ns} {about.st_size}"
        return f"{known} missing"

    def record(self, each: Each) -> Record:
        benchmark, folder = self.candidate.benchmark, RunFolder(Path(self.folder), self.repeat)
        record, _ = read_once(self.candidate.kept, benchmark.suite, folder, reading_of(benchmark), keep=False)
        known = member_metadata(each.unit, self.nodes, self.round, each.tolerance)
        killed = record.status == FAILED and not self.has_ended
        status = MISSING if killed else record.status
        # of thousands of runs: no more than a search reads
        return replace(record, case=self.candidate.case, status=status, metadata=known, files={})


def due_rounds(
    each: Each,
    screen: Mapping[int, Collection[str]],
    benchmarks: Sequence[CaseOnMembers],
    earlier: int,
    campaign_folder: Path,
) -> Rounds:
    """The members in each round that is due so far: nothing is read before the rounds known so far are made.

    Parameters
    ----------
    screen : the first rounds, of all members
    benchmarks : the case of each on a member
    earlier : how many repeats come before the first of these rounds
    """
    case = benchmarks[0](next(iter(screen[1]))).case
    states = node_states(campaign_folder, (case.machine[0], defined_name(case.host_group)))
    down = {node for node, state in states.items() if not state.usable}  # when a job was last submitted
    waves = read_waves(campaign_folder).get(waves_key(case), Waves())
    late, further = waves
    due: Rounds = {}
    if not (late or further or (campaign_folder / "runs").exists()):
        return {number: tuple(members) for number, members in screen.items()}
    for wave in range(len(further) + 1):
        nodes = further[wave - 1] if wave else ()
        numbers = range(wave * ROUNDS + 1, wave * ROUNDS + SCREEN + 1)
        of_screen = dict.fromkeys(numbers, nodes) if wave else screen
        left = waves.left_after(wave)
        first: Rounds = _until_left({number: tuple(members) for number, members in of_screen.items()}, left)
        closed = wave < len(further)
        absent = {*down, *late, *(node for members in first.values() for node in members if closed)}
        in_wave, following, runs = first, dict[int, tuple[str, ...]](), list[_Run]()
        while following != in_wave:
            in_wave = following or first
            runs = [
                run for on in benchmarks for run in _runs(on, {**due, **in_wave}, earlier, campaign_folder)
            ]
            of_wave = [run for run in runs if run.round // ROUNDS == wave]
            there = {node for run in of_wave for node in run.nodes if access(run.folder, F_OK)}
            absent |= {node for run in of_wave for node in run.nodes} - there  # added to the file since
            ended = all(run.has_ended for run in of_wave if absent.isdisjoint(run.nodes))
            if not there or not ended:
                break
            results = "\n".join([repr((each, sorted(absent), closed)), *(run.state for run in runs)])
            asked = known_rounds(campaign_folder, results, partial(_asked, each, runs, first, absent, closed))
            # absent nodes stay in the plan
            together = {n: tuple(dict.fromkeys((*first.get(n, ()), *asked[n]))) for n in asked}
            following = _until_left(together, left)
        if late:  # what they have not made of a wave is left to a later one
            last = {run.nodes[0]: run.round for run in sorted(runs, key=attrgetter("round")) if run.has_ended}
            in_wave = _until_left(in_wave, {node: last[node] for node in late.keys() & last.keys()})
        due = {**due, **in_wave}
    return due


def _until_left(rounds: Rounds, last: Mapping[str, int]) -> dict[int, tuple[str, ...]]:
    """The rounds without nodes behind their last one; the next that such a node makes is of a later wave."""
    return {
        number: tuple(member for member in members if number <= last.get(member, number))
        for number, members in rounds.items()
    }


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

    records = on_cores(partial(_records, each), runs, len(runs) - len(parsed) >= MANY)
    return rounds_due(chain.from_iterable(records), first, absent=absent, closed=closed)


def _runs(
    candidate_on: CaseOnMembers, due: Mapping[int, Collection[str]], earlier: int, campaign_folder: Path
) -> Iterator[_Run]:
    """The n-th round of a member is its n-th repeat."""
    made = Counter[str]()
    for number in sorted(due):
        for member in due[number]:
            made[member] += 1
            repeat, candidate = earlier + made[member], candidate_on(member)
            path = run_path(candidate.kept, repeat, candidate.identities[repeat])
            yield _Run(candidate, member.split("+"), repeat, number, f"{campaign_folder}/{path}")


def _records(each: Each, runs: Sequence[_Run]) -> list[Record]:
    return [run.record(each) for run in runs]
