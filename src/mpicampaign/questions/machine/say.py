"""The whole machine in sentences: nodes, links and switches that are slow, undecided, or missing."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import comb
from typing import NamedTuple

from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import EACH_NODES, OK, Record
from mpicampaign.base.text import listed, visible
from mpicampaign.base.waves import BUSY, not_judged_text
from mpicampaign.compare.metrics import Metric
from mpicampaign.questions.machine.find import Machine
from mpicampaign.questions.machine.find_searches import MachineSearch
from mpicampaign.schedulers import batch_scheduler
from mpicampaign.show.sentences import first_few
from mpicampaign.show.view import percent, probability
from mpicampaign.statistics.comparisons import LEVEL
from mpicampaign.statistics.slow_members import Search, SlowMember, Undecided

NOT_MEASURED = "pairs-not-measured.csv"
_NAMED = 5  # members in a sentence
_LINE = 100  # characters of a headline
_FEW = 3  # less important ones


class SlowInMetric(NamedTuple):
    """A member that a search names."""

    search: MachineSearch
    named: SlowMember


# Words


def machine_title(machine: Machine) -> str:
    """System and host group; of a node that was measured again also when."""
    stretches = [stretch for search in machine.searches for stretch in search.stretches]
    began = min((stretch.times[0][:10] for stretch in stretches if stretch.times[0]), default="")
    day = f" ({began})" if began and ":" in machine.host_group else ""
    return visible(f"{machine.system}, {machine.host_group}{day}")


def metric_title(machine: Machine, search: MachineSearch) -> str:
    """The metric; with its benchmark where there are several."""
    several = len({(search.subject.benchmark, search.subject.placement) for search in machine.searches}) > 1
    place = f"{search.subject.benchmark} {search.subject.placement}: " if several else ""
    return visible(f"{place}{search.metric.name}")


def _short_title(machine: Machine, search: MachineSearch) -> str:
    """The benchmark where it has one headline metric, which is shorter than its name."""
    same_subject = [
        other for other in machine.searches if other.subject == search.subject and not other.is_probe
    ]
    return visible(search.subject.benchmark) if same_subject == [search] else metric_title(machine, search)


def below(metric: Metric, cost: float) -> str:
    """How far a value is below or above the others', where its cost is so much larger: ``8.3 % below``."""
    if metric.lower_is_better:
        return f"{percent(cost)} above"
    return f"{percent(cost / (1 + cost))} below"


def slower(metric: Metric, cost: float) -> str:
    """The difference in the value, such as ``8.3 % below``, or ``2 % better``."""
    if cost >= 0:
        return below(metric, cost)
    return f"{percent(-cost if metric.lower_is_better else -cost / (1 + cost))} better"


def amount(metric: Metric, cost: float) -> str:
    return below(metric, cost).rpartition(" ")[0]


def _nodes(count: int, what: str = "node") -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _between(search: MachineSearch, member: str) -> str:
    """When its fresh rounds were: ``between 10:02 and 10:31 UTC``."""
    begin, end = search.times(member)
    if not (begin and end):
        return ""
    if begin[:16] == end[:16]:
        return f" at {begin[11:16]} UTC on {begin[:10]}"
    if begin[:10] == end[:10]:
        return f" between {begin[11:16]} and {end[11:16]} UTC on {begin[:10]}"
    return f" between {begin[:16].replace('T', ' ')} and {end[:16].replace('T', ' ')} UTC"


# Slow members


def _named_text(machine: Machine, member: str, evidence: Sequence[SlowInMetric]) -> str:
    """``n37 (STREAM triad 8.3 % below: throttled)``: the largest difference, and the first cause."""
    search, slow = evidence[0]
    cause = "".join(f": {cause}" for cause in _causes(machine, member, evidence)[:1])
    return f"{visible(member)} ({_difference(_short_title(machine, search), search, slow)}{cause})"


def _causes(machine: Machine, member: str, evidence: Sequence[SlowInMetric]) -> list[str]:
    """What its runs recorded, beside what a metric says."""
    shown_metrics = tuple(search.metric.name for search, _ in evidence)
    return [visible(cause) for cause in machine.causes.get(member, ()) if not cause.startswith(shown_metrics)]


def _difference(title: str, search: MachineSearch, slow: SlowMember) -> str:
    if math.isinf(slow.slower):
        return "runs failed or met their time limit"
    return f"{title} {below(search.metric, slow.slower)}"


def _evidence(machine: Machine) -> Iterator[str]:
    """For each slow member what shows it, and all causes: the first few."""
    slow_members = [
        member_evidence for kind in KINDS for member_evidence in found_members(machine, kind).items()
    ]
    for member, evidence in slow_members[:_NAMED]:
        shown = "; ".join(_evidence_text(machine, *slow_in) for slow_in in evidence[:_FEW])
        more = f"; {_nodes(len(evidence) - _FEW, 'more metric')}" if len(evidence) > _FEW else ""
        causes = "; ".join(_causes(machine, member, evidence))
        yield f"{visible(member)}: {shown}{more}.{f' Recorded there: {causes}.' if causes else ''}"


def _evidence_text(machine: Machine, search: MachineSearch, slow: SlowMember) -> str:
    least = "" if math.isinf(slow.slower) else f", at least {amount(search.metric, slow.at_least)}"
    rounds = f"in {slow.in_rounds} of {_nodes(slow.rounds, 'round')}{_between(search, slow.member)}"
    return (
        f"{_difference(metric_title(machine, search), search, slow)}{least}, {probability(slow.p)}, {rounds}"
    )


KINDS = ("switches", "nodes", "links")  # the parts of a search by their names


def found_members(machine: Machine, kind: str) -> dict[str, list[SlowInMetric]]:
    """The slow switches, nodes or links, each with all that shows it."""
    parts: list[tuple[MachineSearch, Search | None]]
    parts = [(search, getattr(search.found, kind)) for search in machine.searches]
    named = [SlowInMetric(search, slow) for search, part in parts if part for slow in part.named]
    named.sort(key=lambda evidence: -evidence.named.slower)
    by_member = grouped(named, lambda evidence: evidence.named.member)
    # a run that failed has no value in any metric: said once
    return {
        name: evidence[:1] if math.isinf(evidence[0].named.slower) else evidence
        for name, evidence in by_member.items()
    }


def found_nodes(machine: Machine) -> dict[str, list[SlowInMetric]]:
    """The slow nodes."""
    return found_members(machine, "nodes")


def lead(machine: Machine, others: Sequence[Machine] = (), *, brief: bool = False) -> str:
    """``2 of 1,024 nodes are slow: n37 (…), n512 (…)``, in brief by name; or that none is shown to be."""
    place = f"{machine_title(machine)}: " if len(others) > 1 else ""
    nodes = len(machine.nodes) - len({*machine.absent, *machine.alone})
    counts = {"switches": len({*machine.switches.values()}), "nodes": nodes, "links": len(machine.pairs)}
    leads = []
    for kind, of in counts.items():
        if members := found_members(machine, kind):
            named = [
                visible(member) if brief else _named_text(machine, member, evidence)
                for member, evidence in members.items()
            ]
            verb, few = "is" if len(members) == 1 else "are", first_few(named, _NAMED, "in the table")
            leads.append(f"{len(members)} of {of:,} {kind} {verb} slow: {', '.join(few)}")
    return place + (". ".join(leads) or _none(machine, nodes))


def _none(machine: Machine, of: int) -> str:
    if not any(search.costs for search in machine.searches):
        return f"No run on the {_nodes(len(machine.nodes))} has a value yet"
    if not any(part.smallest for search in machine.searches for part in search.parts):
        return f"Not decided on {_nodes(of)}: two rounds with values of three or more are needed"
    tolerance = max(search.tolerance for search in machine.searches)
    so_far = " so far" if _open(machine) else ""
    return (
        f"No node of {of:,} is shown{so_far} to be slower than the others by more than {100 * tolerance:g} %"
    )


def _open(machine: Machine) -> set[str]:
    """Suspects with rounds to come."""
    return {member for search in machine.searches for part in search.parts for member in part.open}


# What else there is to say


def sentences(machine: Machine) -> Iterator[str]:
    """What would have been found, the error, what is undecided, who failed, was disturbed, or is missing."""
    found = _evidence, _smallest, _undecided, _failed, _disturbed, _absent, _dependent, _not_measured
    for say in (*found, _contradicted):
        yield from say(machine)


def _smallest(machine: Machine) -> Iterator[str]:
    """By how much a node must be slower to be found in nine of ten cases, and the error."""
    known = [
        (search, search.found.nodes.smallest, search.found.links.smallest) for search in machine.searches
    ]
    named = [_smallest_text(machine, search, node, link) for search, node, link in known if node]
    if named:
        most = max(least for _, *both in known for least in both if least)
        few = named if len(named) <= _NAMED else [f"{percent(most)} in each metric"]
        yield f"A slow-down of {listed(few, 'or')} or more would have been found in nine of ten cases."
        what = "node or link" if _links_are_judged(machine) else "node"
        judged = " of those judged" if machine.absent or machine.alone else ""
        yield f"The chance that any {what}{judged} is wrongly named is at most {100 * LEVEL:g} %."
    if still := len(_open(machine)):
        yield f"Not decided yet: {_nodes(still, 'suspect')}; the next run of the campaign continues."


def _smallest_text(machine: Machine, search: MachineSearch, node: float, link: float | None) -> str:
    of_link = f"; of a link {percent(link)}" if link else ""
    return f"{percent(node)} ({metric_title(machine, search)}{of_link})"


def undecided(machine: Machine) -> list[tuple[MachineSearch, Undecided]]:
    """Who is not decided after the last look, and in what; the slowest first."""
    open_ones = [(s, suspect) for s in machine.searches for part in s.parts for suspect in part.undecided]
    return sorted(open_ones, key=lambda search_suspect: -search_suspect[1].slower)


def _undecided(machine: Machine) -> Iterator[str]:
    if named := [_undecided_text(machine, *search_suspect) for search_suspect in undecided(machine)]:
        yield f"Not decided: {'; '.join(first_few(named, _FEW, 'in the table'))}."


def _undecided_text(machine: Machine, search: MachineSearch, suspect: Undecided) -> str:
    needed = (
        f"{suspect.rounds_needed} rounds would decide" if suspect.rounds_needed else "too near the tolerance"
    )
    how = below(search.metric, suspect.slower) if 0 < suspect.slower < math.inf else "about as the others"
    metric = f"{metric_title(machine, search)} {how}"
    return f"{visible(suspect.member)} ({metric}, {probability(suspect.p)}; {needed})"


def _failed(machine: Machine) -> Iterator[str]:
    told = {*found_nodes(machine)}  # their partners are not blamed
    unblamed = {
        node: [run for run in runs if node in told or told.isdisjoint(run.metadata[EACH_NODES].split(" "))]
        for node, runs in machine.failed.items()
    }
    failed = sorted(
        ((node, runs) for node, runs in unblamed.items() if runs), key=lambda node_runs: -len(node_runs[1])
    )
    if failed:
        named = [
            f"{visible(node)} ({len(runs)} of {machine.made(node)}: {_why(runs)})" for node, runs in failed
        ]
        yield f"Runs failed on {'; '.join(first_few(named, _FEW, 'nodes'))}."


def _why(runs: Iterable[Record]) -> str:
    """The commonest reason."""
    reasons = Counter(run.reason.partition("; files in ")[0] for run in runs)
    return visible(reasons.most_common(1)[0][0]) or "no reason known"


def _disturbed(machine: Machine) -> Iterator[str]:
    told = found_nodes(machine)  # with their causes
    disturbed = {node: runs for node, runs in machine.disturbed.items() if node not in told}
    some = [*disturbed.items()] if len(disturbed) <= _FEW else [*disturbed.items()][:1]
    for node, runs in some:
        why = visible(Counter(run.condition_reason for run in runs).most_common(1)[0][0])
        how_often = f"{len(runs)} of {machine.made(node)} runs"
        yield f"{visible(node)} was disturbed in {how_often}: {why or 'no cause known'}."
    if more := len(disturbed) - len(some):
        were = "other node was" if more == 1 else "other nodes were"
        yield f"{more:,} {were} disturbed in most runs."


def _absent(machine: Machine) -> Iterator[str]:
    if machine.alone:
        yield f"Not judged, measured beside fewer than two others: {_named(sorted(machine.alone))}."
    for what, nodes in (("Not measured", machine.absent), ("Not measured any more", machine.gone)):
        busy = [why for why in nodes.values() if nodes is machine.absent and why.startswith(BUSY)]
        if busy:
            yield f"{not_judged_text(busy)}."
        others = [(node, why) for node, why in nodes.items() if why not in busy]
        reasons = grouped(others, lambda node_reason: node_reason[1])
        reasons_text = [_same_reason([node for node, _ in alike], why) for why, alike in reasons.items()]
        if reasons_text:
            yield f"{what}: {'; '.join(first_few(reasons_text, _NAMED, 'reasons'))}."


def _same_reason(nodes: Sequence[str], why: str) -> str:
    return f"{_named(nodes)}: {visible(why) or 'no reason known'}"


def _named(nodes: Sequence[str]) -> str:
    return ", ".join(map(visible, nodes[:_FEW])) + (f" and {len(nodes) - _FEW} more" if nodes[_FEW:] else "")


def _dependent(machine: Machine) -> Iterator[str]:
    named = {*found_nodes(machine), *found_members(machine, "links")}
    dependent = dict.fromkeys(
        member for s in machine.searches for part in s.parts for member in part.dependent if member in named
    )
    if dependent:
        yield (
            f"The rounds of {listed([*map(visible, dependent)][:_NAMED])} are correlated: slow in that "
            "period, perhaps not in others."
        )


def _not_measured(machine: Machine) -> Iterator[str]:
    """Pairs without any run, and whether links are judged."""
    if not machine.pairs:
        return
    all_pairs = comb(len(machine.nodes), 2)
    if missing := all_pairs - len(machine.pairs):
        yield f"{missing:,} of {all_pairs:,} pairs were never measured; tables/{NOT_MEASURED} lists them."
    if not _links_are_judged(machine):
        yield "Single links are not judged: too few pairs were measured."


def _links_are_judged(machine: Machine) -> bool:
    return any(search.found.links.smallest is not None for search in machine.searches)


def _contradicted(machine: Machine) -> Iterator[str]:
    runs = {id(run): run for of_node in machine.runs.values() for run in of_node}.values()
    if count := sum(run.status == OK and not run.sound for run in runs):
        yield f"{_nodes(count, 'run')} left out: contradicted, or of an earlier program."


# Commands


def drain_commands(machine: Machine) -> list[str]:
    """What an administrator may type so that no job starts on the slow nodes; never called.

    Names that are not plain are left out: schedulers take brackets and commas for lists of nodes.
    """
    scheduler = batch_scheduler(machine.scheduler)
    if scheduler is None or not scheduler.drain:
        return []
    return [
        scheduler.drain.format(node=shlex.quote(node), reason=shlex.quote(_reason(machine, evidence)))
        for node, evidence in found_nodes(machine).items()
        if _PLAIN.fullmatch(node)
    ]


_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def _reason(machine: Machine, evidence: Sequence[SlowInMetric]) -> str:
    """The reason for draining a node, in ASCII without quotes: ``slow: stream 8.3 % below``."""
    search, slow = evidence[0]
    text = f"slow: {_difference(_short_title(machine, search), search, slow)}"
    return text.encode("ascii", "replace").decode().replace("'", "").replace('"', "")


def machine_lines(machines: Sequence[Machine]) -> list[str]:
    """All that is said of machines; of several each below its title."""
    lines = []
    for machine in machines:
        lines += [f"{machine_title(machine)}:"] if len(machines) > 1 else []
        lines += machine_items(machine)
    return lines


def machine_leads(machines: Sequence[Machine]) -> list[str]:
    """A sentence for each; those too long for a headline with names alone."""
    full = [lead(machine, machines) for machine in machines]
    return (
        full
        if len(". ".join(full)) <= _LINE
        else [lead(machine, machines, brief=True) for machine in machines]
    )


def machine_items(machine: Machine) -> list[str]:
    """All that is said below the lead, and the commands."""
    return [*sentences(machine), *drain_commands(machine)]
