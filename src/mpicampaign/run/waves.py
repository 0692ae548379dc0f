"""Which nodes of `each` a call can have now: rounds go on without the others, which further waves take."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mpicampaign.base.commands import CommandResult
from mpicampaign.base.files import write_whole
from mpicampaign.base.grouping import grouped
from mpicampaign.base.host_lists import short
from mpicampaign.base.text import counted
from mpicampaign.base.waves import BUSY, Waves, keep_waves, not_judged_text, read_waves, waves_key
from mpicampaign.collect.campaign import collect_all
from mpicampaign.collect.runs import ended_by_itself
from mpicampaign.questions.machine.find_searches import open_nodes
from mpicampaign.run.again import CONTROLS
from mpicampaign.run.batches import states_file, whole_group
from mpicampaign.run.cluster import LONGEST_WAIT
from mpicampaign.run.scheduler_calls import Query, caller
from mpicampaign.schedulers import BatchScheduler, batch_scheduler
from mpicampaign.schedulers.listings import RUNNING, NodeState
from mpicampaign.schedulers.node_states import node_states

if TYPE_CHECKING:
    from mpicampaign.jobs.prepare import Prepared
    from mpicampaign.jobs.run import Run


def states_now(
    scheduler: BatchScheduler, call: Callable[..., CommandResult], runs: Sequence[Run]
) -> dict[str, NodeState]:
    """The states of the nodes of runs, kept for the analysis; empty where the scheduler does not say."""
    folder, group, file = runs[0].campaign_folder, whole_group(runs[0]), states_file(runs[0])
    hosts = dict.fromkeys(
        [*(host for run in runs for host in run.job.group.hosts), *node_states(folder, group)]
    )
    answer = call(scheduler.state_query(list(hosts)))
    states = scheduler.read_states(answer.out) if answer.status == 0 else {}
    if not states:
        return {}
    known = {short(host): state for host, state in states.items()}  # LSF prints full names
    unknown = NodeState(False, "unknown to the scheduler")
    states = {host: known.get(short(host), unknown) for host in hosts}
    file.parent.mkdir(exist_ok=True)
    lines = (f"{host}|{state.native_state}|{state.reason}\n" for host, state in states.items())
    write_whole(file, "".join(lines))
    return states


def not_to_be_had(
    run: Run, scheduler: BatchScheduler, states: dict[str, NodeState], own: Collection[str]
) -> dict[str, str]:
    """Nodes of a run that are down, or used by others, with their states; ``own``: used by the campaign."""
    known = {host: states[host] for host in run.job.group.hosts if host in states}
    return {
        host: str(state)
        for host, state in known.items()
        if not state.usable or (_takes_idle(run) and host not in own and scheduler.in_use(state))
    }


def _takes_idle(run: Run) -> bool:
    return run.each is not None and run.each.takes_idle


class LateNodes:
    """Those of one call, which waits for nodes that others use, as long as the campaign allows."""

    def __init__(self, prepared: Prepared, say: Callable[[str], None]) -> None:
        self._folder, self._limit = prepared.folder, prepared.campaign.time_when_busy
        self._say, self._began, self._said = say, time.monotonic(), set[str]()
        self._hosts = {run.job_name: run.job.group.hosts for run in prepared.runs if run.each}

    def without(self, runs: Sequence[Run]) -> list[Run]:
        """The runs whose nodes can be had. Nodes that are measured by themselves are late then."""
        self._hosts |= {run.job_name: run.job.group.hosts for run in runs if run.each}
        waves, missing = read_waves(self._folder), set[str]()
        of_each = [run for run in runs if run.each]
        for key, several in grouped(of_each, lambda run: waves_key(run.case)).items():
            known = waves.get(key, Waves())
            in_time = [run for run in several if known.late.keys().isdisjoint(run.job.group.hosts)]
            late = {**known.late, **(self._late(in_time) or {} if in_time else {})}
            missing |= {run.job_name for run in several if not late.keys().isdisjoint(run.job.group.hosts)}
            if late != known.late and _takes_idle(several[0]):
                keep_waves(self._folder, waves := waves | {key: known._replace(late=late)})
        return [run for run in runs if run.job_name not in missing]

    def take(self, prepared: Prepared) -> bool:
        """Wait until late nodes are free, and put them into a further wave; False if none come."""
        waves = read_waves(self._folder)
        idle = grouped(filter(_takes_idle, prepared.selected), lambda run: waves_key(run.case))
        groups = {key: runs for key, runs in idle.items() if key in waves}
        left_open = open_nodes(collect_all(self._folder)) if groups else {}
        busy: list[str] = []
        while groups:
            for key, runs in groups.items():
                if (late_now := self._late(runs)) is None:
                    continue
                late, further = waves[key]
                wanted = late.keys() & left_open.get(key, ())
                if wave := _wave(prepared, runs, wanted - late_now.keys(), {*late, *late_now}, len(further)):
                    late = {node: until for node, until in late.items() if node not in wave}
                    keep_waves(self._folder, waves | {key: Waves(late, (*further, wave))})
                    return True
                waves[key] = Waves(
                    {node: late_now.get(node, "") if node in wanted else "" for node in late}, further
                )
            keep_waves(self._folder, waves)
            busy = [f"{BUSY} {until}" for key in groups for until in waves[key].late.values() if until]
            if not busy or 0 < self._limit < time.monotonic() - self._began:
                break
            self._say_once(f"{counted(len(busy), 'node')} busy: measured when they are free")
            time.sleep(LONGEST_WAIT)
        if busy:
            self._say(f"{not_judged_text(busy)}; the same command measures them")
        return False

    def _late(self, runs: Sequence[Run]) -> dict[str, str] | None:
        """Nodes that cannot be had: until when others used them, or empty; None where it is unknown."""
        scheduler = batch_scheduler(runs[0].job.system.scheduler)
        if scheduler is None:
            return None
        jobs, problem = Query(scheduler, campaign_folder=self._folder).jobs()  # first: they may end meanwhile
        if problem or not (states := states_now(scheduler, caller(scheduler), runs)):
            return None
        own = {host for job in jobs if job.state == RUNNING for host in self._hosts.get(job.name, ())}
        lost = {host: why for run in runs for host, why in not_to_be_had(run, scheduler, states, own).items()}
        for host, why in lost.items():
            if not states[host].usable:
                self._say_once(f"not measured: {host} is {why}")
        now = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
        return {host: now if states[host].usable else "" for host in lost}

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._say(text)
        self._said.add(text)


def _wave(
    prepared: Prepared, runs: Sequence[Run], late: Collection[str], others: Collection[str], number: int
) -> dict[str, int]:
    """Late nodes and controls, with the repeats that each has had; empty where they are too few."""
    of_nodes = grouped(runs, lambda run: run.job.group.hosts[0])
    free = [node for node in of_nodes if node not in others]
    chance = random.Random(f"{prepared.campaign.seed} {number}")
    controls = chance.sample(free, min(len(free), max(CONTROLS + 1 - len(late), 0)))
    nodes = [*sorted(late), *controls]
    each = runs[0].each
    if not late or not each or len(nodes) < each.fewest:
        return {}
    return {node: _repeats(of_nodes[node]) for node in nodes}


def _repeats(runs: Sequence[Run]) -> int:
    """The last repeat of a node that is made; before its first one, the number that comes before."""
    made = [run.repeat for run in runs if run.has_result or ended_by_itself(run.folder)]
    return max(made, default=min(run.repeat for run in runs) - 1)
