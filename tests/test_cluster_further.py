"""Further repeats through a real Slurm: within the node-hours, adopted after kills, and none made twice."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from build_campaigns import TWO_NODES
from cluster_site import Site, killed_after
from conftest import succeeded

from mpicampaign.base.records import DISTURBED, FAILED, OK, QUIET

pytestmark = pytest.mark.slow

# Two ranks ran for a second; where the run is disturbed, rank 0 waited for 0.4 s of it.
ACCOUNT = """\
case "$MPICAMPAIGN_EVIDENCE_FILE" in {disturbed}) wait=400000000;; *) wait=0;; esac
{{
    printf 'rank 0 start.%s\\n' host=n1 allowed=0 clock_ns=0 cpu_ns=0 wait_ns=0
    printf 'rank 0 end.%s\\n' clock_ns=1000000000 cpu_ns=$((1000000000 - wait)) wait_ns=$wait
    printf 'rank 1 start.%s\\n' host=n2 allowed=1 clock_ns=0 cpu_ns=0 wait_ns=0
    printf 'rank 1 end.%s\\n' clock_ns=1000000000 cpu_ns=1000000000 wait_ns=0
}} >> "$MPICAMPAIGN_EVIDENCE_FILE"
"""
FURTHER = '[ ! "${{MPICAMPAIGN_EVIDENCE_FILE##*/r0{repeat}-*}}" ]'
ALL = "*"


def write(site: Site, disturbed: str, then: str = "", cases: int = 1, **keys: Any) -> None:
    """A campaign whose runs are ``disturbed`` where a pattern of the shell fits their evidence file."""
    names = ["two", *(f"two-{number}" for number in range(2, cases + 1))]
    placements = dict.fromkeys(names, TWO_NODES)
    site.write(body=ACCOUNT.format(disturbed=disturbed) + then, placements=placements, **keys)


def conditions(site: Site) -> list[tuple[int, str, str]]:
    return sorted((record.repeat, record.status, record.condition) for record in site.records())


def once_each(site: Site, jobs: int) -> bool:
    counted = site.submissions()
    return len(counted) == jobs and set(counted.values()) == {1}


@pytest.mark.full
def test_disturbed_jobs_are_repeated_up_to_the_limit_and_none_twice(site: Site) -> None:
    write(site, "*/r01-*|*/r03-*|*/r04-*", repeats=3)
    assert succeeded(site.run())
    states = {1: DISTURBED, 2: QUIET, 3: DISTURBED, 4: DISTURBED, 5: QUIET, 6: QUIET}
    assert conditions(site) == [(repeat, OK, state) for repeat, state in states.items()]
    assert once_each(site, 6)
    assert "nothing to do" in site.run().stdout
    assert once_each(site, 6)


@pytest.mark.full
def test_further_repeats_reach_the_node_hours_exactly_and_no_more(site: Site) -> None:
    """Four runs of two nodes for a minute; the twelve minutes allow two more, of any of the two cases."""
    write(site, ALL, repeats=2, node_hours_cap=0.2, cases=2)
    assert succeeded(site.run())
    assert [state for _, _, state in conditions(site)] == [DISTURBED] * 6
    assert once_each(site, 6)
    again = site.run()
    assert succeeded(again) and "nothing to do" in again.stdout
    assert "busy" in (site.folder / "results/jobs/tables/comparison.txt").read_text()
    assert "2 further repeats, since 6 runs were disturbed" in site.call("status").stdout
    assert "no longer describes" not in again.stdout + again.stderr


@pytest.mark.full
def test_on_busy_nodes_a_call_stops_repeating_disturbed_jobs_and_the_next_one_goes_on(site: Site) -> None:
    write(site, ALL, repeats=12)
    first = site.run()
    assert succeeded(first)
    assert "the nodes are busy: 8 of the last 8 runs were disturbed; disturbed runs are not" in first.stderr
    further = len(site.submissions()) - 12
    assert once_each(site, 12 + further)
    assert 0 < further < 12, "those that had ended before the machine was known to be busy"
    assert (
        f"not run since the nodes are busy: further repeats of {12 - further} disturbed run" in first.stderr
    )
    second = site.run()
    assert succeeded(second) and "nodes are busy" not in second.stderr
    assert once_each(site, 24) and "nothing to do" in site.run().stdout


@pytest.mark.full
def test_further_repeats_are_adopted_after_kills(site: Site) -> None:
    wait = f'if ! {FURTHER.format(repeat=1)}; then while [ ! -e "$0.go" ]; do sleep 0.1; done; fi'
    write(site, ALL, repeats=1, then=wait, further_repeats=2)
    first = site.run(before=killed_after("submitted", signal.SIGKILL, 2))
    assert first.returncode != 0
    second = site.run(before=killed_after("adopted", signal.SIGINT))
    assert second.returncode != 0 and "left to the scheduler" in second.stderr
    assert len(site.states()) >= 2
    (site.folder / "program.go").touch()
    assert succeeded(site.run())
    assert conditions(site) == [(repeat, OK, DISTURBED) for repeat in (1, 2, 3)]
    assert once_each(site, 3)


@pytest.mark.full
def test_a_further_repeat_that_fails_is_named_and_made_by_the_next_call(site: Site) -> None:
    fail = f'{FURTHER.format(repeat=1)} || [ -e "$0.fixed" ] || exit 7'
    write(site, "*/r01-*", repeats=1, then=fail)
    done = site.run()
    assert done.returncode != 0 and "r02" in done.stderr
    assert [(repeat, status) for repeat, status, _ in conditions(site)] == [(1, OK), (2, FAILED)]
    (site.folder / "program.fixed").touch()
    assert succeeded(site.run())
    assert conditions(site) == [(1, OK, DISTURBED), (2, OK, QUIET)]
    assert sorted(site.submissions().values()) == [1, 2]
