"""Limits from a history as YAML: ``expect:`` of a campaign file, or references of ReFrame's tests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from mpicampaign.base.dimension import own_dimension
from mpicampaign.base.expectation import AlarmRule, limit_value
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import defined_name
from mpicampaign.base.text import visible
from mpicampaign.base.units import format_duration
from mpicampaign.history.changes import key_id
from mpicampaign.history.limits import (
    FEW,
    NEIGHBOURS,
    NO_DIRECTION,
    NO_TIMES,
    NOT_OWN,
    SEVERAL_RUNS,
    SEVERAL_TESTS,
    TREND,
    Proposal,
)
from mpicampaign.questions.history.say import WHY_NOT, curve_name, day, factor
from mpicampaign.statistics.limits import (
    LEVEL,
    POWER,
    RETESTED,
    SINGLE,
    PastLimit,
    false_alarm_rate,
    is_beyond,
)
from mpicampaign.suites.reframe import RENAMED

_WHY = WHY_NOT | {
    NOT_OWN: "it was imported or merged: no tick repeats it; for tests elsewhere: --reframe",
    SEVERAL_RUNS: "a tick is the median of several runs, a test is one",
    SEVERAL_TESTS: "its runs are of several tests of ReFrame: label them apart in the map",
    NO_DIRECTION: "nothing says whether lower or higher is better",
    NO_TIMES: "the start times of its runs are not known",
    TREND: f"its values rise or fall with time (p < {LEVEL}): new ones are not like the past",
    NEIGHBOURS: f"values next to each other in time are alike (p < {LEVEL}): re-tests are no new evidence",
}
_Path = tuple[str, ...]  # the test's class, what `_INDEX` names, performance variable: as YAML
_INDEX = ("$partition", "$environ", "display_name")
_TEST = re.compile(r"(?P<test>.+) @(?P<partition>[^:\s]+:[^+\s]+)\+(?P<environ>\S+)")
_UNITS = {"s": ("us", 1e-6), "B/s": ("MB/s", 1e6), "flop/s": ("Gflop/s", 1e9)}
_NAMED = 5  # curves, where many have no limit for one reason
_FURTHER = 5  # digits after the first
_SHARE = Decimal("0.000001")
_PLAIN = re.compile(
    r"(?!(?:y|n|yes|no|on|off|true|false|null)\Z)[a-z][a-z0-9_.+-]*(?: [a-z0-9_.+-]+)*", re.IGNORECASE
)
_HEAD = """\
# Limits from the history of {campaign}. False alarms per 1,000 {checks}: {wish:g} of each at most,
# {all:.2g} of all. Rates are averages over histories, not of this one.
# Re-tests must be as far apart as the past was.
"""
_NONE = "# The history of {campaign} gives no limit.\n"

_REFRAME = """\
# In a test beside FILE: reference = {'$ref': 'FILE'}, require_reference = True. Without a reference it then
# fails, else it passes.
# A test has to report the unit written here: of another one ReFrame only warns.
# --max-retries=2 passes if any of 3 runs does. They come at once: the rate holds only if what slows
# one run down is over by the next.
"""


def expect_text(campaign: str, proposals: Sequence[Proposal], wish: float) -> str:
    """What a campaign file says below ``expect:``; comments alone where there is no limit."""
    entries = "".join(
        f"{_about(proposal, proposal.limit)}{_entry(proposal, proposal.limit)}"
        for proposal in proposals
        if proposal.limit
    )
    refused = "".join(f"# {line}\n" for line in refused_lines(proposals))
    return _head(campaign, proposals, wish, "ticks") + (f"expect:\n{entries}" if entries else "") + refused


def _head(campaign: str, proposals: Iterable[Proposal], wish: float, checks: str) -> str:
    rates = [proposal.limit.rate for proposal in proposals if proposal.limit]
    head = _HEAD if rates else _NONE
    return head.format(campaign=visible(campaign), checks=checks, wish=1000 * wish, all=1000 * sum(rates))


def refused_lines(proposals: Iterable[Proposal]) -> list[str]:
    """Why curves without a limit have none, a line for each reason."""
    reasons = grouped((proposal for proposal in proposals if not proposal.limit), _refusal)
    return [f"no limit: {reason}: {_names(of)}" for reason, of in reasons.items()]


def _names(proposals: Sequence[Proposal]) -> str:
    names = [curve_name(proposal.curve.key) for proposal in proposals]
    return "; ".join(names[:_NAMED]) + (f"; and {len(names) - _NAMED} more" if names[_NAMED:] else "")


def _refusal(proposal: Proposal) -> str:
    if proposal.why != FEW:
        return _WHY[proposal.why]
    has = len(proposal.points)
    missing = f"{proposal.needed - has} {'is' if proposal.needed - has == 1 else 'are'} missing"
    return f"needs {proposal.needed} {_values(proposal)}{_since(proposal)}, has {has}: {missing}"


def _values(proposal: Proposal) -> str:
    return "ticks" if proposal.own else "runs"


def _since(proposal: Proposal) -> str:
    return f" since the change of {day(proposal.points[0].time)}" if proposal.curve.changes else ""


def _about(proposal: Proposal, limit: PastLimit) -> str:
    """What a limit is, as a comment."""
    rates = ", ".join(
        f"{1000 * false_alarm_rate(rule, limit.n, limit.place):.2g} ({rule})"
        for rule in (SINGLE, AlarmRule(2, 3), RETESTED)
    )
    seen = f"{10 * POWER:.0f} of 10 changes for the worse by {factor(limit.change)} are seen"
    lines = [
        f"{curve_name(proposal.curve.key)}: {_past(proposal, limit)}",
        f"false alarms per 1,000: {rates}; {limit.rule.of - 1} re-tests; {seen}",
    ]
    return "".join(f"  # {line}\n" for line in lines)


def _past(proposal: Proposal, limit: PastLimit) -> str:
    """``second worst of 30 ticks since the change of 3 March 2026, 24 h 0 min apart``."""
    worst = {1: "worst", 2: "second worst", 3: "third worst"}.get(limit.place, f"worst but {limit.place - 1}")
    past = f"{worst} of {limit.n} {_values(proposal)}{_since(proposal)}"
    return f"{past}, {format_duration(proposal.gap)} apart"


def _entry(proposal: Proposal, limit: PastLimit) -> str:
    key = proposal.curve.key
    side = "at_most" if key.lower_is_better else "at_least"
    value = _quantity(limit.value, key.unit, up=bool(key.lower_is_better))
    apart = f"{max(1, int(proposal.gap / 2))} s"
    after = proposal.points[-1].time
    return (
        f"  - benchmark: {_scalar(defined_name(key.benchmark))}\n"
        f"    metric: {_scalar(key.metric)}\n"
        f"    host_groups: {_scalar(defined_name(key.host_group))}\n"
        f"    placements: {_scalar(defined_name(key.placement))}\n"
        f"    {side}: {value}\n"
        f'    alarm: {{rule: {limit.rule}, curve: "{key_id(key)}", after: "{after}", apart: {apart}}}\n'
    )


def _scalar(text: str) -> str:
    """A text in YAML, quoted where it must be."""
    return text if _PLAIN.fullmatch(text) else json.dumps(visible(text), ensure_ascii=False)


def _quantity(value: float, si_unit: str, *, up: bool) -> str:
    """The limit with six digits, such that the value itself is within it."""
    unit, size = _UNITS.get(si_unit, ("", 1.0))
    exact = Decimal(repr(value)) / Decimal(repr(size))
    last = Decimal(1).scaleb(exact.adjusted() - _FURTHER)
    number = exact.quantize(last)
    while is_beyond(value, limit_value(_with_unit(number, unit), si_unit), lower_is_better=up):
        number += last if up else -last
    return _with_unit(number, unit)


def _with_unit(number: Decimal, unit: str) -> str:
    return f"{number.normalize():f} {unit}".rstrip()


# ---- ReFrame


def reframe_text(campaign: str, proposals: Sequence[Proposal], wish: float) -> str:
    """References by test, partition, environment and variable, as ``{'$ref': FILE}`` reads them."""
    written: dict[_Path, tuple[str, str]] = {}
    index: dict[str, int] = {}  # the lengths of a class's paths
    ranks: dict[str, set[int | None]] = {}
    for proposal in proposals:
        ranks.setdefault(proposal.curve.key.benchmark, set()).add(proposal.curve.key.ranks)
    refused = refused_lines(proposals)
    for proposal in proposals:
        path, limit = _path(proposal, of_ranks=len(ranks[proposal.curve.key.benchmark]) > 1), proposal.limit
        if limit and (path in written or index.setdefault(path[0], len(path)) != len(path)):
            refused.append(f"no limit: another one has its names: {curve_name(proposal.curve.key)}")
        elif limit:
            written[path] = _reference(proposal, limit)
    lines = [_head(campaign, proposals, wish, "tests") + _REFRAME.rstrip("\n"), *_nested(written)]
    return "\n".join([*lines, *(f"# {line}" for line in refused)]) + "\n"


def _path(proposal: Proposal, *, of_ranks: bool) -> _Path:
    """Of runs of ReFrame its own names, with the test's parameters; else those that a test may have.

    ``of_ranks``: the numbers of ranks are a parameter of the test.
    """
    key = proposal.curve.key
    if own := _TEST.fullmatch(next(iter(proposal.tests), "")):
        variable = _scalar(key.metric.removesuffix(RENAMED))
        place = map(_scalar, (own["partition"], own["environ"], own["test"]))
        return (_name(own["test"].partition(" ")[0].rstrip(":")), *place, variable)
    test = _name(key.benchmark)
    variant = [f"{test} %ranks={key.ranks}"] if of_ranks else []  # as in a performance log
    place = map(_scalar, (f"{key.system}:{key.host_group}", key.placement, *variant))
    return (test, *place, _name(key.metric))


def _nested(written: Mapping[_Path, tuple[str, str]]) -> Iterator[str]:
    before: _Path = ()
    for path, (about, reference) in sorted(written.items()):
        for depth, name in enumerate(path[:-1]):
            if path[: depth + 1] != before[: depth + 1]:
                yield "  " * depth + f"{name}:"
                yield from () if depth else [f"  $index: [{', '.join(_INDEX[: len(path) - 2])}]"]
        indent = "  " * (len(path) - 1)
        yield f"{indent}# {about}"
        yield f"{indent}{path[-1]}: {reference}"
        before = path


def _name(text: str) -> str:
    """A name in Python."""
    return re.sub(r"\W", "_", text, flags=re.ASCII)


def _reference(proposal: Proposal, limit: PastLimit) -> tuple[str, str]:
    """A comment with the rates, and the median with a threshold on the bad side."""
    key, metric = proposal.curve.key, proposal.metric
    unit, size = _UNITS.get(key.unit, (key.unit, 1.0))
    if metric:
        size = own_dimension(metric["unit"], metric["better"]).factor
        unit = metric.get("reported", metric["unit"])
    middle = Decimal(f"{proposal.median / size:.6g}")
    share = Decimal(repr(limit.value)) / Decimal(repr(size)) / middle - 1
    threshold = share.quantize(_SHARE, rounding=ROUND_CEILING if key.lower_is_better else ROUND_FLOOR)
    ends = f"null, {threshold:f}" if key.lower_is_better else f"{threshold:f}, null"
    single, retested = (1000 * false_alarm_rate(rule, limit.n, limit.place) for rule in (SINGLE, RETESTED))
    about = f"{_past(proposal, limit)}; per 1,000: one run {single:.2g}, --max-retries=2 {retested:.2g}"
    return about, f"[{middle:f}, {ends}, {_scalar(unit)}]"
