"""The outcome of an acceptance contract: as sentences, a table, JUnit XML, JSON and Markdown."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree

from mpicampaign.base.expectation import FEWEST_OF_RATIO, FEWEST_OF_VALUE, AlarmRule
from mpicampaign.base.records import RANKED
from mpicampaign.base.text import visible
from mpicampaign.questions.limits.find import (
    FAILED,
    FEW,
    NO_HISTORY,
    NO_OTHER,
    NO_SIZES,
    NO_VALUE,
    NOTHING_NEW,
    OF_MACHINE,
    PASSED,
    UNDECIDED,
    Judged,
)
from mpicampaign.show.document import Grid, Heading, Node, Paragraph
from mpicampaign.show.sentences import absence, note_text, over_sizes
from mpicampaign.show.view import DEFAULT
from mpicampaign.statistics.medians import Interval

_MOST = 20  # limits in a comment
# What XML 1.0 cannot hold
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WHY = {
    NO_VALUE: "no value of a run that counts",
    FEW: "too few repeats for an interval of 95 %",
    OF_MACHINE: "its members are compared with each other: the report's whole-machine answer judges them",
    NO_OTHER: "there is nothing to compare with",
    NO_SIZES: "no message size is of both",
    NO_HISTORY: "the history has no such curve: call judge --propose again",
    NOTHING_NEW: "no tick yet after the past that it is from",
}


def judged_name(judged: Judged) -> str:
    """``blue TCP PingPong: latency at 0 B``."""
    case = judged.case
    metric = f"{judged.limit.metric}{over_sizes(judged.sizes)}"
    return visible(f"{case.host_group} {case.placement} {judged.label}: {metric}")


def limit_text(judged: Judged) -> str:
    """``at most 2.000 µs``, ``at most 1.05 × before``."""
    limit, bound = judged.limit, judged.bound
    if limit.against is None:
        value = f"at most {limit.at_most}" if limit.at_most else f"at least {limit.at_least}"
        return visible(value + (f" ({limit.alarm.rule} ticks)" if limit.alarm else ""))
    word = "" if bound is None else "at most " if bound.lower else "at least "
    places = [part for part in (limit.against.host_group, limit.against.placement) if part]
    source = visible(" ".join([limit.against.source, *places]))
    if bound is None:
        return f"within {100 * limit.tolerance:g} % of {source}"
    if bound.ratio:
        return f"{word}{bound.value:g} × {source}"
    return f"{word}{_value(judged, bound.value)} ({source})"


def reason_text(judged: Judged) -> str:
    """Why: the interval and the limit, or what is missing."""
    if judged.why:
        detail = absence(judged.absence)
        if judged.why == FEW:  # what there is, and what would decide
            counts = f"has {judged.n}, needs {FEWEST_OF_VALUE}"
            if judged.bound and judged.bound.ratio:
                needs = f"{FEWEST_OF_RATIO} against {FEWEST_OF_RATIO}"
                counts = f"has {judged.n} against {judged.others}, needs {needs}"
            lost = "; ".join(map(note_text, judged.absence))
            detail = counts + (f"; not counted: {lost}" if lost else "")
        why = _WHY.get(judged.why, f"{judged.why}: not tested")
        return why + (f": {detail}" if detail else "")
    if judged.limit.alarm:
        return _retests_text(judged, judged.limit.alarm.rule)
    interval = judged.interval
    if interval is None:
        return ""
    side = {PASSED: "within", FAILED: "beyond", UNDECIDED: "across"}[judged.outcome]
    more = "; more repeats would narrow it" if judged.outcome == UNDECIDED else ""
    return f"{_ends(judged, interval)} is {side} the limit{more}"


def _retests_text(judged: Judged, rule: AlarmRule) -> str:
    """``1 of 3 beyond, 2 re-tests by the next ticks``."""
    if judged.outcome == PASSED:
        return "the newest tick is within the limit"
    if not judged.retests:
        return f"the rule is met: {rule} beyond"
    tests = f"{judged.retests} re-test{'s' if judged.retests > 1 else ''} by the next ticks"
    return f"{rule.beyond - judged.retests} of {rule.of} beyond, {tests}"


def _ends(judged: Judged, interval: Interval) -> str:
    if judged.bound and judged.bound.ratio:
        return f"the ratio [{interval.low:.3f} ×, {interval.high:.3f} ×]"
    return f"[{_value(judged, interval.low)}, {_value(judged, interval.high)}]"


def _value(judged: Judged, value: float) -> str:
    dimension = judged.metric.dimension if judged.metric else None
    return DEFAULT.quantity(value, dimension) if dimension else f"{value:g}"


def summary_text(judgements: Sequence[Judged]) -> str:
    """``3 passed, 1 failed, 2 undecided``."""
    counts = Counter(judged.outcome for judged in judgements)
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in (PASSED, FAILED, UNDECIDED))


def contract_lines(judgements: Sequence[Judged]) -> list[str]:
    """A sentence for each limit and case, the failed ones first; then how many have which outcome."""
    lines = [f"{judged.outcome}: {judged_text(judged)}" for judged in _failed_first(judgements)]
    return [*lines, summary_text(judgements)]


def judged_text(judged: Judged) -> str:
    """``blue TCP PingPong: latency at 0 B 1.6 µs, at most 2 us: [1.5 µs, 1.7 µs] is within the limit``."""
    measured = " ".join(filter(None, [judged_name(judged), _median(judged)]))
    return f"{measured}, {limit_text(judged)}: {reason_text(judged)}"


def _failed_first(judgements: Sequence[Judged]) -> list[Judged]:
    return sorted(judgements, key=lambda judged: (FAILED, UNDECIDED, PASSED).index(judged.outcome))


def contract_document(campaign: str, judgements: Sequence[Judged]) -> list[Node]:
    """As a comment on a change: the limits that are not passed, then how many are.

    Of many the first `_MOST`, the failed ones first.
    """
    open_limits = [judged for judged in _failed_first(judgements) if judged.outcome != PASSED]
    lines = tuple(
        (judged_name(judged), judged.outcome, _median(judged), limit_text(judged), reason_text(judged))
        for judged in open_limits[:_MOST]
    )
    header = ("case and metric", "outcome", "median", "limit", "because")
    more = f"{len(open_limits) - _MOST} more are in judgement.json. " if len(open_limits) > _MOST else ""
    return [
        Heading(f"Acceptance of {visible(campaign)}: {summary_text(judgements)}", 1),
        *([Grid("", 1, header, lines, remarks=4)] if lines else []),
        Paragraph(
            f"{more}Intervals hold the median, or its ratio, with at least 95 % confidence, each limit for "
            f"itself. {_what_counts(judgements)}"
        ),
    ]


def _what_counts(judgements: Iterable[Judged]) -> str:
    if any(judged.busy_ranked for judged in judgements):
        return f"Disturbed runs count (busy_machine: {RANKED}); contradicted ones do not."
    return "Disturbed and contradicted runs do not count."


def _median(judged: Judged) -> str:
    return "" if judged.median is None else _value(judged, judged.median)


def contract_json(campaign: str, judgements: Sequence[Judged]) -> str:
    """One object per limit and case; values in SI units."""
    outcomes = [
        {
            "system": judged.case.system,
            "host_group": judged.case.host_group,
            "placement": judged.case.placement,
            "benchmark": judged.case.benchmark,
            "series": judged.label,
            "metric": judged.limit.metric,
            "unit": judged.metric.dimension.si_unit if judged.metric else None,
            "outcome": judged.outcome,
            "limit": limit_text(judged),
            "bound": judged.bound.value if judged.bound else None,
            "n": judged.n,
            "median": judged.median,
            "interval": [judged.interval.low, judged.interval.high] if judged.interval else None,
            "coverage": judged.interval.coverage if judged.interval else None,
            "reason": reason_text(judged),
        }
        for judged in judgements
    ]
    data = {"format": "mpicampaign-judgement", "version": 1, "campaign": campaign, "limits": outcomes}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def contract_junit(campaign: str, judgements: Sequence[Judged]) -> str:
    """JUnit XML: a test case for each limit and case; what is undecided is an error: it is not passed."""
    counts = Counter(judged.outcome for judged in judgements)
    numbers = {"tests": len(judgements), "failures": counts[FAILED], "errors": counts[UNDECIDED]}
    attributes = {"name": _xml(campaign), **{name: str(count) for name, count in numbers.items()}}
    suites = ElementTree.Element("testsuites", attributes)
    suite = ElementTree.SubElement(suites, "testsuite", attributes)
    for judged in judgements:
        name = f"{judged_name(judged)} {limit_text(judged)}"
        about = {"classname": _xml(f"{campaign}.{judged.case.benchmark}"), "name": _xml(name)}
        case = ElementTree.SubElement(suite, "testcase", about)
        kind = {FAILED: "failure", UNDECIDED: "error"}.get(judged.outcome)
        if kind:
            ElementTree.SubElement(case, kind, {"message": _xml(reason_text(judged)), "type": judged.outcome})
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"
    )


def _xml(text: str) -> str:
    return _NOT_XML.sub("?", text)
