"""Repeats until it is decided: which are due, who leaves at which look, and what the report says of it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import build_records as make
import pytest
from build_campaigns import AnyMachine, campaign, plan, program_at, write_campaign
from conftest import ProjectCopy, executable

from mpicampaign.base.errors import UserError
from mpicampaign.base.expectation import UNTIL_DECIDED
from mpicampaign.base.planned_looks import Decided, Stage
from mpicampaign.base.records import DECIDED_WITH, DISTURBED, LOOKS_SINCE, QUIET, TO_DECIDE, Case, Record
from mpicampaign.campaign.file import load_campaign
from mpicampaign.compare.compare import compare
from mpicampaign.jobs.plan import Plan
from mpicampaign.jobs.plan_text import blocks_text, further_text
from mpicampaign.questions.decided.find import ByLooks, decide_by
from mpicampaign.questions.decided.say import decided_sentences
from mpicampaign.report.make import to_terminal
from mpicampaign.report.summary import summary_text
from mpicampaign.run import why_due
from mpicampaign.schemes.block import VALUE, Made
from mpicampaign.schemes.unit import RepeatedCase

# ---- what is due


def planned(
    rows: Sequence[int], running: Sequence[int] = (), lacking: int = 0, made: int = 0, disturbed: int = 0
) -> Plan:
    """With these rows by the looks so far; ``made``: repeats that have results, of SHM one ``disturbed``."""

    def decided(candidates: Sequence[RepeatedCase], ranked: bool) -> Decided:
        cases = [candidate.case for candidate in candidates]
        still = frozenset(cases[place] for place in running)
        return Decided(dict(zip(cases, rows, strict=True)), still, lacking)

    def condition_of(case: Case, repeat: int, identity: str) -> str:
        return "" if repeat > made else DISTURBED if (case.placement, repeat) == ("SHM", disturbed) else QUIET

    machine = AnyMachine(decided=decided, condition_of=condition_of)
    return plan(replace(campaign(repeats=UNTIL_DECIDED), node_hours_cap=100), machine)


def repeats(plan: Plan) -> list[int]:
    return [len(case.runs) for case in plan.cases]


def test_repeats_up_to_the_next_look_are_none_in_place_of_disturbed_ones() -> None:
    found = planned((12, 12), (0, 1), made=8, disturbed=3)
    assert further_text(found) == "1 further repeat, since 1 run was disturbed"
    entry = replace(campaign().matrix[0], repeats=UNTIL_DECIDED)
    prepared: Any = SimpleNamespace(plan=found, unit_of=lambda run: SimpleNamespace(entry=entry))
    causes = Counter(why_due.cause_of(run, prepared) for run in found.further)
    assert causes == {why_due.FOR_NEXT_STAGE: 8, why_due.FOR_DISTURBED: 1}


def test_rows_that_lack_are_made_once_the_planned_ones_are() -> None:
    assert repeats(planned((8, 8), (0, 1), lacking=2, made=7)) == [8, 8]
    assert repeats(planned((8, 8), (0, 1), lacking=2, made=8)) == [10, 10]
    assert repeats(planned((8, 8), (0, 1), lacking=2, made=8, disturbed=3)) == [8, 9], "that one comes first"
    assert repeats(planned((8, 8), (0, 1), lacking=99, made=8)) == [48, 48], "as many again, no more"
    assert repeats(planned((8, 8), made=11)) == [11, 11], "what was made stays in the plan"


def test_in_blocks_those_that_are_left_have_the_next_stage() -> None:
    """As in a race: whole blocks of them, up to the next look."""
    done = Made(VALUE, has_result=True)
    stages = [
        Stage(frozenset({0, 1}), 8, 0, frozenset(range(1, 9))),
        Stage(frozenset({1}), 4, 8, frozenset()),
    ]
    machine = AnyMachine(
        stages=lambda compared, candidates, ranked: {"PingPong": stages} if compared == TO_DECIDE else {},
        in_block=lambda case, repeat, *_: done if repeat <= 8 else Made(),
    )
    made = campaign(repeats=UNTIL_DECIDED)
    entry = replace(made.matrix[0], blocks="reference")
    found = plan(replace(made, matrix=(entry,), node_hours_cap=100), machine)
    assert repeats(found) == [8, 12] and {case.repeats for case in found.cases} == {8}
    assert "of PingPong, until decided, 1 left, next look after 12 blocks" in blocks_text(found)[0]
    stages.pop()
    ended = plan(replace(made, matrix=(entry,), node_hours_cap=100), machine)
    assert blocks_text(ended)[0].endswith("until decided, ended: 8 of 8 blocks complete")


def file(folder: Path, placements: int = 0, cap: float | None = 1, **entry: str) -> Path:
    executable(folder / "rate.sh", PROGRAM)
    shared = {"nodes": 1, "ranks_per_node": 2, "transport": "shm"}
    metrics = {"rate": {"pattern": "^rate ([0-9]+)", "unit": "1/s", "better": "higher"}}
    return write_campaign(
        folder / "decided.yaml",
        repeats="until decided",
        node_hours_cap=cap,
        busy_machine="rank",
        time_limit="1 min",
        group={"fabrics": {"lo": {"transport": "tcp", "interface": "lo"}}},
        placements={f"P{n}": dict(shared) for n in range(placements)} or ["SHM-1", "TCP-loopback"],
        benchmarks={"rate": {**program_at(folder / "rate.sh", "own"), "metrics": metrics}},
        entry=entry,
    )


def problem_of(path: Path) -> str:
    with pytest.raises(UserError) as caught:
        load_campaign(path)
    return str(caught.value)


def test_check_wants_a_cap_and_no_more_candidates_than_were_simulated(tmp_path: Path) -> None:
    assert "until decided needs a cap" in problem_of(file(tmp_path, cap=None))
    assert "at most 12 candidates; rate on local has 13" in problem_of(file(tmp_path, 13))
    in_blocks = file(tmp_path, 13, blocks="reference")
    assert "at most 12 candidates; rate on local has 13" in problem_of(in_blocks)
    [alone] = load_campaign(file(tmp_path, 1)).warnings
    assert "nothing to compare" in str(alone)


# ---- what the looks show


def runs(costs: dict[str, float], made: int, noise: float = 0.01, apart: float = 60) -> list[list[Record]]:
    """So many repeats of each, in even order; a row each ten minutes."""
    source, begin = random.Random(1), datetime(2026, 1, 2, tzinfo=UTC)
    found: dict[str, list[Record]] = {name: [] for name in costs}
    for repeat in range(1, made + 1):
        order = list(costs) if repeat % 4 < 2 else [*reversed(costs)]
        for place, name in enumerate(order):
            time = 1e-6 * costs[name] * source.lognormvariate(0, noise)
            started = (begin + timedelta(minutes=10 * repeat, seconds=apart * place)).isoformat()
            metadata = {DECIDED_WITH: "these", LOOKS_SINCE: "2026-01-01T00:00:00Z"}
            run = make.run(name, repeat, make.pingpong(time), started=started, metadata=metadata)
            found[name].append(run)
    return list(found.values())


def names(found: ByLooks) -> tuple[list[str], dict[str, int]]:
    """Those that remain, and after how many rows others left."""
    remaining = [case.placement for case in found.remaining]
    return remaining, {case.placement: rows for case, rows in found.left.items()}


def test_who_is_led_leaves_and_the_others_go_on_to_the_next_look() -> None:
    alike = {"A": 1.0, "B": 1.0, "C": 1.1}
    waits, first = decide_by(runs(alike, 7)), decide_by(runs(alike, 8))
    assert (names(waits), waits.due.lacking, set(waits.due.rows.values())) == ((["A", "B", "C"], {}), 1, {8})
    assert sorted(names(first)[0]) == ["A", "B"] and names(first)[1] == {"C": 8}
    assert {case.placement: rows for case, rows in first.due.rows.items()} == {"A": 12, "B": 12, "C": 8}
    assert {case.placement for case in first.due.running} == {"A", "B"} and first.due.lacking == 4


@pytest.mark.parametrize(
    ("costs", "noise", "made", "said"),
    [
        ({"A": 1, "B": 1}, 0.01, 3, ["Not decided yet: 3 of 8 repeats for the next look."]),
        (
            {"A": 1, "B": 1.1, "C": 1.2},
            0.01,
            8,
            ["Decided after 8 repeats: A is the best.", "B and C left after 8"],
        ),
        ({"A": 1, "B": 1}, 0.001, 8, ["Decided after 8 repeats: ", "are within 1 %."]),
        (
            {"A": 1, "B": 1},
            0.03,
            24,
            ["Not decided after 24 repeats which of ", ": the repeats find 3 % in 8 of 10"],
        ),
    ],
)
def test_the_sentences_say_what_ended_it(
    costs: dict[str, float], noise: float, made: int, said: list[str]
) -> None:
    records = [run for own in runs(costs, made, noise) for run in own]
    comparison = compare(records)
    for text in (summary_text(comparison), to_terminal(comparison)):
        shown = " ".join(text.split())
        assert all(sentence in shown for sentence in said), shown
        assert "is not recorded" not in shown
    assert "Ask for more repeats" not in summary_text(comparison)
    after = [replace(run, metadata={**run.metadata, LOOKS_SINCE: "2027-01-01T00:00:00Z"}) for run in records]
    assert "No record shows that these looks were planned" in " ".join(
        decided_sentences(*compare(after).decided)
    )


# ---- on this machine

PROGRAM = """\
#!/bin/bash
[ "${PMI_RANK:-0}" = 0 ] || exit 0
slow=0; [ "$I_MPI_FABRICS" = shm ] || slow=500
echo "rate $((1000 - slow + RANDOM % 10))"
"""


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize("entry", [{}, pytest.param({"blocks": "reference"}, marks=pytest.mark.full)])
def test_a_campaign_goes_on_until_it_is_decided(project: ProjectCopy, entry: dict[str, str]) -> None:
    path = file(project.folder, **entry)
    for _ in range(4):  # on a busy machine a call makes no more than was planned when it began
        done = project.succeed("run", "--campaign", str(path))
        if "nothing to do" in done.stdout:
            break
    text = " ".join(project.ask("report", "--campaign", str(path)).stdout.split())
    assert "Decided after 8 repeats: SHM-1 is the best. TCP-loopback left after 8 repeats." in text
    assert "not recorded" not in text, "the looks were planned before the first run"
    assert "nothing to do" in done.stdout
    assert (project.folder / "results/decided/planned-looks.jsonl").read_text().count("planned") == 1


@pytest.mark.mpi
@pytest.mark.slow
def test_a_call_that_the_cap_ends_says_so(project: ProjectCopy) -> None:
    """Each is better in every other row, and there are no node-hours for the second look."""
    path = file(project.folder, 2, cap=0.3)
    plus = "transport: shm\n    environment: {PLUS: 0}"
    path.write_text(path.read_text().replace("transport: shm", plus, 1))
    turn = r'[[ $PWD =~ /r0*([0-9]+)- ]]; echo "rate $((1000 + 500 * ((BASH_REMATCH[1] + ${PLUS:-1}) % 2)))"'
    (project.folder / "rate.sh").write_text(f'#!/bin/bash\n[ "${{PMI_RANK:-0}}" = 0 ] || exit 0\n{turn}\n')
    done = project.succeed("run", "--campaign", str(path))
    assert "node_hours_cap leaves out" in done.stderr
