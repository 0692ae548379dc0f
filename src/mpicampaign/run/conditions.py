"""The condition of results on disk, which planning needs for further repeats."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from glob import glob
from itertools import chain, count
from os import F_OK, access
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.base.background import MANY, on_cores
from mpicampaign.base.expectation import LOOKS, looks_to_decide
from mpicampaign.base.grouping import grouped
from mpicampaign.base.identity import run_path
from mpicampaign.base.planned_looks import Decided, Stage
from mpicampaign.base.records import (
    BLOCK,
    COMPARED,
    CONTRADICTED,
    DECIDED_IN_BLOCKS,
    DISTURBED,
    FAILED,
    NOT_AVAILABLE,
    OK,
    Case,
    Record,
    defined_name,
    race_rules,
)
from mpicampaign.base.run_files import attempts_of, part_of, result_in, text_of, written
from mpicampaign.base.selection import ALL_RUNS, RunSelection
from mpicampaign.campaign.model import Benchmark, Each
from mpicampaign.collect.runs import RunFolder, ended_by_itself
from mpicampaign.evidence.condition import condition, may_be_disturbed
from mpicampaign.evidence.evidence import read_evidence
from mpicampaign.evidence.machine_state import GAP, probes
from mpicampaign.jobs.declaration import reading_of
from mpicampaign.jobs.prepare import Prepared, ThisMachine, prepare
from mpicampaign.run.again import read_again
from mpicampaign.run.new_runs import NewRunsRequest, read_requests
from mpicampaign.run.read_once import read_once
from mpicampaign.schemes.block import ENDED, LEFT, LEFT_BEHIND, VALUE, Made
from mpicampaign.schemes.unit import CaseInStates, CaseOnMembers, NodeAgain, RepeatedCase, RequestedRun

if TYPE_CHECKING:
    from mpicampaign.questions.decided.find import ByLooks

ANY_OTHER = "any other"
ASKED_ANEW = "asked for anew with its other candidates"
_STOPPED = re.compile(r"stopped at the time limit of ([0-9]+) s")
_ROUND_TRIP = re.compile(r"\.round_trip_ns=([0-9]{1,7}\.[0-9]) to ")


class _Result(NamedTuple):
    """What a result says; ``round_trips``: the least and the largest (ns), empty where none was probed."""

    condition: str
    round_trips: tuple[float, ...] = ()


@dataclass(frozen=True)
class MachineWithResults(ThisMachine):
    """This machine, with what the results in the campaign's folder say.

    ``wanted``: nodes that this call measures again. ``request``: new runs that it asks for.
    """

    wanted: tuple[NodeAgain, ...] = ()
    request: NewRunsRequest | None = None

    @cached_property
    def _results(self) -> dict[tuple[str, int], _Result]:
        """The results that were read, by folder and time of writing; many are all read here."""
        folders = [f"{self.folder}/{run}" for run in glob("runs/*/*/*/r*", root_dir=self.folder)]  # noqa: PTH207
        if len(folders) < MANY:
            return {}
        return dict(chain.from_iterable(on_cores(_results_in, folders, many=True)))

    def _result(self, case: Case, repeat: int, identity: str) -> _Result | None:
        """Each planning asks this of all results, so that evidence without any wait is not parsed."""
        folder = f"{self.folder}/{run_path(case, repeat, identity)}"  # a text: a path takes longer
        if (time := written(folder)) is None:
            return None
        key = folder, time
        if key not in self._results:
            self._results[key] = _read_result(folder)
        return self._results[key]

    def condition_of(self, case: Case, repeat: int, identity: str) -> str:
        result = self._result(case, repeat, identity)
        return result.condition if result else ""

    def in_block(self, case: Case, repeat: int, identity: str, benchmark: Benchmark, time_limit: int) -> Made:
        folder = self.run_folder(case, repeat, identity)
        if identity in self._left and not result_in(folder):
            return Made(LEFT, why=ASKED_ANEW)
        if not folder.exists():
            return Made()
        record, has_result = self._record(case, repeat, identity, benchmark)
        made = _in_block(record, folder, time_limit, has_result)
        mark = folder / LEFT_BEHIND
        if has_result or not mark.exists():
            return made
        return made._replace(state=LEFT, why=mark.read_text(encoding="utf-8", errors="replace").strip())

    def _record(self, case: Case, repeat: int, identity: str, benchmark: Benchmark) -> tuple[Record, bool]:
        folder = RunFolder(self.run_folder(case, repeat, identity), repeat)
        return read_once(case, benchmark.suite, folder, reading_of(benchmark))

    def is_known(self, case: Case, benchmark: Benchmark, identities: Sequence[str]) -> bool:
        """An output that its patterns do not fit asks for other patterns, not for more repeats."""
        from mpicampaign.compare.stopping import is_known

        repeats = enumerate(identities, start=1)
        records = [self._record(case, number, identity, benchmark)[0] for number, identity in repeats]
        return any(record.unread for record in records) or is_known(records)

    def stages(
        self, compared: str, candidates: Sequence[RepeatedCase], ranked: bool
    ) -> Mapping[str, Sequence[Stage]]:
        if not race_rules(compared):
            of_benchmarks = grouped(candidates, lambda candidate: defined_name(candidate.case.benchmark))
            looked = {
                name: self._by_looks(of_one, ranked, in_blocks=True) for name, of_one in of_benchmarks.items()
            }
            return {name: decision.stages for name, decision in looked.items()}
        from mpicampaign.questions.races.find import races

        records = [
            record
            for candidate in candidates
            for record in self._records(candidate, ranked, 4 * LOOKS[-1], {BLOCK: "race", COMPARED: compared})
        ]
        [race] = races(records)
        return race.stages

    def decided(self, candidates: Sequence[RepeatedCase], ranked: bool) -> Decided:
        return self._by_looks(candidates, ranked).due

    def _by_looks(self, candidates: Sequence[RepeatedCase], ranked: bool, in_blocks: bool = False) -> ByLooks:
        from mpicampaign.questions.decided.find import decide_by

        most = 2 * looks_to_decide(len(candidates))[-1]
        known = {DECIDED_IN_BLOCKS: "true"} if in_blocks else {}
        return decide_by([list(self._records(candidate, ranked, most, known)) for candidate in candidates])

    def _records(
        self, candidate: RepeatedCase, ranked: bool, most: int, known: Mapping[str, str]
    ) -> Iterable[Record]:
        """The runs that were begun, or the first; a candidate that had left may be in later ones again."""
        kept_case, identities = candidate.kept, candidate.identities
        for repeat in range(1, most + 1):
            if repeat == 1 or self.run_folder(kept_case, repeat, identities[repeat]).exists():
                record, _ = self._record(kept_case, repeat, identities[repeat], candidate.benchmark)
                metadata = {**record.metadata, **known}
                yield replace(record, case=candidate.case, ranks_busy=ranked, metadata=metadata)

    def rounds(
        self,
        each: Each,
        screen: Mapping[int, Collection[str]],
        benchmarks: Sequence[CaseOnMembers],
        earlier: int,
    ) -> Mapping[int, Collection[str]]:
        from mpicampaign.run.rounds_due import due_rounds

        return due_rounds(each, screen, benchmarks, earlier, self.folder)

    def again(self) -> list[NodeAgain]:
        return list(dict.fromkeys([*read_again(self.folder), *self.wanted]))

    @cached_property
    def _requests(self) -> list[NewRunsRequest]:
        return [*read_requests(self.folder), *([self.request] if self.request else [])]

    @cached_property
    def _requested(self) -> dict[Case, list[RequestedRun]]:
        requested = [case for request in self._requests for case in request.cases]
        of_cases = grouped(requested, lambda case_and_runs: case_and_runs[0])
        return {case: [run for _, runs in requests for run in runs] for case, requests in of_cases.items()}

    @cached_property
    def _left(self) -> frozenset[str]:
        return frozenset(identity for request in self._requests for identity in request.left)

    def requested(self, case: Case) -> Sequence[RequestedRun]:
        return self._requested.get(case, ())

    def is_stopped(
        self, case: Case, repeat: int, identity: str, benchmark: Benchmark, time_limit: int
    ) -> bool:
        if not access(f"{self.folder}/runs", F_OK):  # of thousands of runs that are new
            return False
        folder = f"{self.folder}/{run_path(case, repeat, identity)}"
        if not attempts_of(folder) or result_in(folder):
            return False
        return self.in_block(case, repeat, identity, benchmark, time_limit).state == VALUE

    def blocks(self, cases: Sequence[CaseInStates]) -> dict[Case, int]:
        """Whole blocks: when the last one is made, the next one follows while a case lacks repeats there.

        Cases without any probed run, such as those that cannot be run here, take no part. Evidence is parsed
        only where the round trips of some case differ as those of two states do.
        """
        from mpicampaign.compare.states import find_states, lacks_repeats

        first = [(case, self._results_of(case, 0).values()) for case in cases]
        probed = [
            (case, probes)
            for case, probes in first
            if any(result and result.round_trips for result in probes)
        ]
        if not all(all(probes) for _, probes in probed) or not any(_mixes(probes) for _, probes in probed):
            return {}
        made = self._blocks_begun([case for case, _ in probed])
        results = [(case, self._results_of(case, made)) for case, _ in probed]
        runs = [run for case, of_case in results for run in self._runs(case, of_case)]
        states = find_states(runs)
        if not states.names:
            return {}
        more = all(all(of_case.values()) for _, of_case in results) and lacks_repeats(runs, states)
        return {case.case: min(made + more, case.limit) for case, _ in probed}

    def _results_of(self, case: CaseInStates, made: int) -> dict[int, _Result | None]:
        """The results of the planned repeats and of so many blocks, by their numbers."""
        numbers = range(1, case.planned + min(made, case.limit) + 1)
        asked = (number for number in numbers if number not in case.absent)
        return {number: self._result(case.kept, number, case.identity_of(number)) for number in asked}

    def _blocks_begun(self, cases: Sequence[CaseInStates]) -> int:
        """How many blocks were begun."""

        def is_begun(number: int) -> bool:
            repeats = ((case, case.planned + number) for case in cases if number <= case.limit)
            return any(self.begun(case.kept, repeat, case.identity_of(repeat)) for case, repeat in repeats)

        return next(number for number in count() if not is_begun(number + 1))

    def _runs(self, case: CaseInStates, results: Mapping[int, _Result | None]) -> Iterable[Record]:
        """The runs that have a result, with what their evidence says of the machine alone."""
        for number, result in results.items():
            if result is None:
                continue
            folder = self.run_folder(case.kept, number, case.identity_of(number))
            evidence = read_evidence(_evidence_text(folder))
            yield Record(
                case.case,
                "",
                number,
                OK,
                started=evidence.job.get("started", ""),
                condition=result.condition,
                probes=probes(evidence),
                further=number > case.planned,
            )


def _mixes(results: Iterable[_Result | None]) -> bool:
    """Whether the least or the largest round trips of runs are as far apart as two states are."""
    ends = [result.round_trips for result in results if result and result.round_trips]
    return any(max(values) > GAP * min(values) for values in zip(*ends, strict=True))


def _in_block(record: Record, folder: Path, time_limit: int, has_result: bool) -> Made:
    """What is there of a run in a block."""
    if record.status == OK:
        state = CONTRADICTED if record.verdict == CONTRADICTED else record.condition
        state = state if state in (CONTRADICTED, DISTURBED) else VALUE
    elif record.status == NOT_AVAILABLE or record.unread:
        state = ENDED
    elif record.condition == DISTURBED:
        state = DISTURBED if has_result else ""  # it is made again
    elif met_limit(record, time_limit):
        state = VALUE
    else:
        state = FAILED if has_result or ended_by_itself(folder) else ""
    why = record.reason.partition("; files in ")[0] if state == FAILED else ""
    return Made(state, has_result, tuple(sorted(record.hosts)), why)


def met_limit(record: Record, time_limit: int) -> bool:
    """Whether a run was stopped at its time limit, or at a longer one."""
    stopped = _STOPPED.match(record.reason)
    return record.status == FAILED and stopped is not None and int(stopped[1]) >= time_limit


def _results_in(folders: Sequence[str]) -> list[tuple[tuple[str, int], _Result]]:
    """What the results say that are in these folders; an unreadable one is left to its plan."""
    found = []
    for folder in folders:
        with suppress(OSError):
            if (time := written(folder)) is not None:
                found.append(((folder, time), _read_result(folder)))
    return found


def _read_result(folder: str) -> _Result:
    text = _evidence_text(folder)
    is_disturbed = may_be_disturbed(text) and condition(read_evidence(text))[0] == DISTURBED
    trips = sorted(map(float, _ROUND_TRIP.findall(text)))
    return _Result(DISTURBED if is_disturbed else ANY_OTHER, (trips[0], trips[-1]) if trips else ())


def _evidence_text(folder: Path | str) -> str:
    """The evidence of the result in a run's folder; empty where there is none."""
    return text_of(part_of(result_in(folder), "evidence"))


def prepare_with_results(
    campaign_file: Path,
    system: str = "",
    results: Path | None = None,
    selection: RunSelection = ALL_RUNS,
    wanted: Sequence[NodeAgain] = (),
    request: NewRunsRequest | None = None,
) -> Prepared:
    """Prepare a campaign, with the further repeats that its results ask for, and the selection of a call.

    ``wanted``: nodes that the call measures again. ``request``: new runs that it asks for.

    Raises
    ------
    UserError
        as `prepare`, and where the selection names what the campaign has not.
    """
    machine = partial(MachineWithResults, wanted=tuple(wanted), request=request)
    prepared = prepare(campaign_file, system, results, machine)
    runs = ((planned.case, run.repeat) for planned in prepared.plan.cases for run in planned.runs)
    selection.check(runs, prepared.campaign.file)
    return replace(prepared, selection=selection)
