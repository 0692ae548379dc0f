"""Which nodes of `each` a call can have now: rounds go on without the others, which further waves take."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

from mpicampaign.base.files import write_whole
from mpicampaign.base.grouping import grouped
from mpicampaign.base.host_lists import short
from mpicampaign.base.text import counted
from mpicampaign.base.waves import BUSY, Waves, keep_waves, not_judged_text, read_waves, waves_key
from mpicampaign.collect.campaign import collect_all
from mpicampaign.collect.runs import ended_by_itself
from mpicampaign.jobs.run import WAITS
from mpicampaign.questions.machine.find_searches import measured_alone, open_nodes
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


def lost_nodes(
    scheduler: BatchScheduler, runs: Sequence[Run], own: Collection[str]
) -> tuple[dict[str, NodeState], list[str]] | None:
    """The nodes of runs that they do not wait for, as they are down, or those in use but for ``own``.

    Then those in use that they wait for. The states of all nodes are kept for the analysis, until when the
    latter were busy as their reason. None where the scheduler does not say.
    """
    hosts = dict.fromkeys(host for run in runs for host in run.job.hosts)
    asked = [*hosts, *(node_states(runs[0].campaign_folder, whole_group(runs[0])).keys() - hosts)]
    answer = caller(scheduler)(scheduler.state_query(asked))
    told = scheduler.read_states(answer.out) if answer.status == 0 else {}
    if not told:
        return None
    known = {short(host): state for host, state in told.items()}  # LSF prints full names
    unknown = NodeState(False, "unknown to the scheduler")
    states = {host: known.get(short(host), unknown) for host in asked}
    in_use = [host for host in hosts if host not in own and scheduler.in_use(states[host])]
    waits = runs[0].waits_for_all
    lost = {host: states[host] for host in hosts if not states[host].usable or (host in in_use and not waits)}
    awaited = [host for host in in_use if host not in lost]
    kept = states | {host: states[host]._replace(reason=f"{BUSY} {_now()}") for host in awaited}
    lines = (f"{host}|{state.native_state}|{state.reason}\n" for host, state in kept.items())
    states_file(runs[0]).parent.mkdir(exist_ok=True)
    write_whole(states_file(runs[0]), "".join(lines))
    return lost, awaited


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"


def _by_key(runs: Iterable[Run]) -> dict[str, list[Run]]:
    return grouped((run for run in runs if run.each), lambda run: waves_key(run.case))


class LateNodes:
    """Those of one call, which waits for nodes that others use, as long as the campaign allows."""

    def __init__(self, prepared: Prepared, say: Callable[[str], None]) -> None:
        self._folder, self._limit = prepared.folder, prepared.campaign.time_when_busy
        self._say, self._began = say, time.monotonic()
        self._hosts = {run.job_name: run.job.hosts for run in prepared.runs if run.each}

    def without(self, runs: Sequence[Run]) -> list[Run]:
        """The runs whose nodes can be had; nodes that rounds do not wait for are late then."""
        self._hosts |= {run.job_name: run.job.hosts for run in runs if run.each}
        dropped = set[str]()
        for key, several in _by_key(runs).items():
            waves = read_waves(self._folder)
            known = waves.get(key, Waves())
            in_time = [run for run in several if known.late.keys().isdisjoint(run.job.hosts)]
            late = {**known.late, **((self._late(in_time) if in_time else {}) or {})}
            dropped |= {run.job_name for run in several if not late.keys().isdisjoint(run.job.hosts)}
            if late != known.late and not several[0].waits_for_all:
                keep_waves(self._folder, {**waves, key: known._replace(late=late)})
        return [run for run in runs if run.job_name not in dropped]

    def take(self, prepared: Prepared) -> bool:
        """Put late nodes, once they are free, and those measured alone into a further wave; False if none."""
        waves = read_waves(self._folder)
        of_nodes = _by_key(run for run in prepared.selected if run.job.placement.nodes == 1)
        records = collect_all(self._folder) if of_nodes else []
        alone = measured_alone(records)
        groups = {key: runs for key, runs in of_nodes.items() if key in waves or alone.get(key)}
        left_open = open_nodes(records) if groups else {}
        busy: list[str] = []
        while groups:
            for key, runs in groups.items():
                late_now, (late, further) = self._late(runs), waves.get(key, Waves())
                if late_now is None:
                    continue
                again = alone.get(key, set()) & {run.job.hosts[0] for run in runs} - {*chain(*further)}
                wanted = {*late, *again} & left_open.get(key, set())
                others = {*late, *again, *late_now}
                if wave := _wave(prepared, runs, wanted - late_now.keys(), others, len(further)):
                    late = {node: until for node, until in late.items() if node not in wave}
                    further = (*further, _last_rounds(_by_key(prepared.runs)[key], wave))
                    keep_waves(self._folder, {**waves, key: Waves(late, further)})
                    return True
                if free := wanted - late_now.keys():
                    self._say(f"{counted(len(free), 'node')} free: at least three are compared")
                late = {node: late_now.get(node, "") if node in wanted else "" for node in late}
                waves[key] = Waves(late, further)
            keep_waves(self._folder, waves)
            waited, was_busy = time.monotonic() - self._began, bool(busy)
            busy = [
                f"{BUSY} {until}"
                for key in groups
                for until in waves.get(key, Waves()).late.values()
                if until
            ]
            if not busy or 0 < self._limit < waited:
                break
            if not was_busy:
                self._say(f"{counted(len(busy), 'node')} busy: judged when they are free")
            time.sleep(LONGEST_WAIT)
        if busy:
            self._say(f"{not_judged_text(busy)}; the same command measures them")
        return False

    def _late(self, runs: Sequence[Run]) -> dict[str, str] | None:
        """Nodes that cannot be had: until when others used them, or empty; None where it is unknown."""
        if (scheduler := batch_scheduler(runs[0].job.system.scheduler)) is None:
            return None
        jobs, problem = Query(scheduler, campaign_folder=self._folder).jobs()  # first: they may end meanwhile
        own = {host for job in jobs if job.state == RUNNING for host in self._hosts.get(job.name, ())}
        if problem or (answer := lost_nodes(scheduler, runs, own)) is None:
            return None
        lost, awaited = answer
        if awaited:
            group = runs[0].case.host_group.partition(" ")[0]
            self._say(f"{group}: {counted(len(awaited), 'node')} busy: {WAITS}")
        for host, state in lost.items():
            if not state.usable:
                self._say(f"not measured: {host} is {state}")
        return {host: _now() if state.usable else "" for host, state in lost.items()}


def _wave(
    prepared: Prepared, runs: Sequence[Run], late: Collection[str], others: Collection[str], number: int
) -> list[str]:
    """Late nodes and controls; none where they are too few."""
    free = [node for node in dict.fromkeys(run.job.hosts[0] for run in runs) if node not in others]
    chance = random.Random(f"{prepared.campaign.seed} {number}")
    nodes = [*sorted(late), *chance.sample(free, min(len(free), max(CONTROLS + 1 - len(late), 0)))]
    return nodes if late and runs[0].each and len(nodes) >= runs[0].each.fewest else []


def _last_rounds(runs: Iterable[Run], nodes: Sequence[str]) -> dict[str, int]:
    """The last round that each of the nodes has made; 0 if none."""
    ended = (run for run in runs if run.has_result or ended_by_itself(run.folder))
    last = {run.job.hosts[0]: run.round for run in sorted(ended, key=attrgetter("round"))}
    return {node: last.get(node, 0) for node in nodes}
