"""A history as text, tables and data: what changed, series by series, curve by curve."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import pairwise

from mpicampaign.base.text import counted, visible
from mpicampaign.history.changes import Event, Share
from mpicampaign.history.curves import Cause, ChangePoint, Curve, CurveKey, dimension_of
from mpicampaign.history.overview import Overview, SeriesEntry
from mpicampaign.show.document import Box, Grid, Heading, Items, Kind, Node, Paragraph, Span, Value
from mpicampaign.show.view import DEFAULT
from mpicampaign.statistics.change_points import (
    ALTERNATING,
    CORRELATED,
    LASTING,
    NOT_POSITIVE,
    SHORT,
    TOO_SHORT,
)
from mpicampaign.statistics.medians import median

_WHERE = {"shm": "in shared memory", "tcp": "over TCP", "ibv": "over verbs", "ofi": "over libfabric"}
WHY_NOT = {
    NOT_POSITIVE: "it has values that are 0 or less",
    SHORT: f"fewer than {TOO_SHORT} points",
    CORRELATED: "each point resembles the one before: the noise itself drifts",
    ALTERNATING: "it alternates between the same two levels",
}
_WHOLE = 100  # per cent, by which nothing can fall: a smallest change of as much says nothing
_BARS = "▁▂▃▄▅▆▇█"
_RATE = "Of the changes reported at a tick, at most 5 % are expected to be false (Benjamini and Yekutieli)."
_STATES = (
    "A distance in brackets after a placement is the round trip of a cache line between the CPUs of its runs."
)


def event_text(event: Event, year: str = "") -> str:
    """``since 3 March, with kernel 5.14.0-427: worse by 5.1 % in 9 of 9 curves over TCP``.

    ``year``: which dates need not name.
    """
    words = [text for count, text in ((event.worse, "worse"), (event.better, "better")) if count]
    numbers = f" ({event.worse} worse, {event.better} better)" if len(words) == 2 else ""
    size = factor(1 + event.change)
    size = f"a factor of {size.removesuffix(' times')}" if size.endswith("times") else size
    direction = f"{' or '.join(words) or 'changed'} by {size}{numbers}"
    since = f"since {day(event.since, year)}, {with_text(event.causes)}"
    return f"{since}: {direction} {_shares_text(event.shares)}"


def factor(ratio: float) -> str:
    """``5.2 %``, or ``2.4 times`` from a factor of 2 on."""
    return f"{ratio:.3g} times" if ratio >= 2 else f"{100 * (ratio - 1):.2g} %"


def with_text(causes: Iterable[Cause]) -> str:
    """``with kernel 5.14.0-427 and microcode 0x2b``."""
    named = [f"{cause.name} {visible(cause.after.removeprefix('Linux '))}" for cause in causes]
    return f"with {' and '.join(named)}" if named else "no cause recorded"


def _shares_text(shares: Sequence[Share]) -> str:
    some = [share for share in shares if share.changed]
    none = [share for share in shares if not share.changed]
    first = " and ".join(f"in {share.changed} of {share.of} curves {_where(share.where)}" for share in some)
    return first + "".join(f", none {_where(share.where)}" for share in none)


def _where(name: str) -> str:
    return _WHERE.get(name, f"of {visible(name)}")


def day(time: str, year: str = "") -> str:
    """``3 March 2026``; without the year where it is this one."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return "an unknown date"
    return f"{moment.day} {moment:%B}" + ("" if f"{moment.year}" == year else f" {moment.year}")


def curve_name(key: CurveKey) -> str:
    """``blue TCP PingPong: latency at 0 B``."""
    return visible(f"{key.host_group} {key.placement} {key.label}: {key.metric}")


def number(value: float, key: CurveKey) -> str:
    """The value in the usual unit, without it."""
    return DEFAULT.number(value, dimension_of(key))


def change_text(change: ChangePoint, curve: Curve, year: str = "") -> str:
    """``3 March: +5.2 %, with kernel 5.14.0-427``."""
    ratio = change.ratio
    sign = "+" if ratio >= 1 else "−"
    size = f"{ratio:.3g} times" if ratio >= 2 else f"{sign}{100 * abs(ratio - 1):.2g} %"
    return f"{day(curve.points[change.index].time, year)}: {size}, {with_text(change.causes)}"


def not_judged_text(reason: str) -> str:
    """Why no change could be looked for."""
    return f"not judged: {WHY_NOT[reason]}" if reason else ""


def sparkline(curve: Curve, width: int = 16) -> str:
    """The curve as bars between its least and largest value: the median of each of equal stretches of it."""
    values = [point.value for point in curve.points]
    count = min(width, len(values))
    edges = [number * len(values) // count for number in range(count + 1)]
    medians = [median(values[a:b]) for a, b in pairwise(edges)]
    low, high = min(medians), max(medians)
    levels = ((value - low) / (high - low) if high > low else 0.0 for value in medians)
    return "".join(_BARS[round((len(_BARS) - 1) * level)] for level in levels)


def year_of(history: Overview) -> str:
    """The year of the last series: dates in it are shown without it."""
    return max((series.began for series in history.series), default="")[:4]


def history_document(history: Overview) -> list[Node]:
    """What changed, the curves, and the series."""
    return [
        Heading(f"History of {visible(history.campaign)}", 1),
        Heading("What changed"),
        *change_nodes(history),
        Heading("Curves"),
        curve_grid(history),
        Heading("Series"),
        series_grid(history.series),
        Paragraph(ticks_text(history)),
    ]


def change_nodes(history: Overview) -> list[Node]:
    """What changed, how surely that is known, and what could not be read."""
    event_texts = tuple(event_text(event, year_of(history)) for event in history.events)
    judged = [curve for curve in history.curves if not curve.not_judged]
    none = no_change_text(judged) or "No curve was tested for changes yet."
    changes: Node = Items(event_texts, label="Changes") if event_texts else Paragraph(none)
    title, lines = "Damaged files", tuple(map(visible, history.problems))
    damaged: list[Node] = [Heading(title, 3), Items(lines, label=title)] if lines else []
    return [changes, Paragraph(_tested_text(history), "legend"), *damaged]


def no_change_text(curves: Sequence[Curve]) -> str:
    """That none was found in those judged, and which would have been; empty where there are none."""
    if not curves:
        return ""
    outcome = "No change was found" + (f" in {len(curves)} curves" if len(curves) > 1 else "")
    known = [100 * curve.smallest for curve in curves if curve.smallest]
    if not known:  # no point differs from another, or few came since the last change
        return f"{outcome}; how small a change the points would show is not known."
    if min(known) >= _WHOLE:
        return "No change could be found: the values scatter too much."
    ends = dict.fromkeys(f"{float(f'{end:.1g}'):g}" for end in (min(known), max(known)) if end < _WHOLE)
    lasting = f"lasts {LASTING} points would be found in at least about 8 of 10 cases"
    scattered = sum(end >= _WHOLE for end in known)
    more = f"; in {counted(scattered, 'curve')} the values scatter too much" if scattered else ""
    return f"{outcome}: one of about {' to '.join(ends)} % or more that {lasting}{more}."


def _tested_text(history: Overview) -> str:
    """How many curves were tested, and why others were not."""
    tested = sum(not curve.not_judged for curve in history.curves)
    sentences = [f"Tested for changes: {tested} of {counted(len(history.curves), 'curve')}."]
    sentences += [_RATE] if tested else []
    reasons = [f"{count} ({WHY_NOT[reason]})" for reason, count in history.not_judged.items()]
    sentences += [f"Not tested: {', '.join(reasons)}."] if reasons else []
    return " ".join(
        [*sentences, *([_STATES] if any(" (" in curve.key.placement for curve in history.curves) else [])]
    )


def ticks_text(history: Overview) -> str:
    """``40 ticks began, 2 found another at work, 1 was missed.``"""
    began, busy, missed = history.ticks
    if not began:
        return "No tick has run this campaign: its schedule, or cron, has not started."
    return f"Ticks: {began} began, {busy} found another one running, {missed} missed."


def curve_grid(history: Overview) -> Grid:
    """A line for each curve; on a page its name leads to the place where it is drawn."""
    header = (
        "host group",
        "placement",
        "metric",
        "unit",
        "points",
        "first",
        "last",
        "over time",
        "last change",
    )
    year = year_of(history)
    several = len({curve.key.system for curve in history.curves}) > 1
    lines = tuple(_line(place, curve, year, several) for place, curve in enumerate(history.curves))
    return Grid("", 3, header, lines, remarks=2, label="Curves")


def _line(place: int, curve: Curve, year: str, several_systems: bool) -> tuple[Box, ...]:
    key, points = curve.key, curve.points
    group = f"{key.system}/{key.host_group}" if several_systems else key.host_group
    ends = [Box(number(point.value, key), value=point.value) for point in (points[0], points[-1])]
    return (
        Box(visible(group)),
        Box(visible(key.placement)),
        Box(Span(visible(f"{key.label}: {key.metric}"), link=f"#curve-{place}")),
        Box(DEFAULT.unit_of(dimension_of(key))),
        Box(str(len(points)), value=float(len(points))),
        *ends,
        Box(Span(sparkline(curve), "over-time")),
        Box(change_text(curve.changes[-1], curve, year) if curve.changes else ""),
    )


def series_grid(series: Sequence[SeriesEntry]) -> Grid:
    """The series, how many runs each has, and how many of them count."""
    header = ("series", "began (UTC)", "runs", "counted", "")
    lines = tuple(
        (
            *(entry.name, entry.began.replace("T", " ").removesuffix("Z"), entry.runs, entry.counted),
            ", ".join(["open"] * entry.is_open + ["the campaign file changed"] * entry.changed),
        )
        for entry in series
    )
    return Grid("", 1, header, lines, remarks=1)


def history_data(history: Overview) -> Grid:
    """One line for each point of each curve, in SI units."""
    lines = tuple(line for curve in history.curves for line in _lines(curve))
    return Grid("history", 7, tuple(_COLUMNS), lines, kinds=tuple(_COLUMNS.values()))


_COLUMNS: dict[str, Kind] = {
    **dict.fromkeys(("system", "host_group", "placement", "benchmark", "series", "metric", "unit"), str),
    **{"size": int, "ranks": int, "tick": str, "time": str, "n": int, "median": float},
    **{"change": bool, "change_ratio": float, "causes": str, "not_judged": str},
}


def _lines(curve: Curve) -> Iterable[tuple[Value, ...]]:
    key = curve.key
    names = (key.system, key.host_group, key.placement, key.benchmark, key.label, key.metric, key.unit)
    changes = {change.index: change for change in curve.changes}
    reason = not_judged_text(curve.not_judged)
    for number, point in enumerate(curve.points):
        change = changes.get(number)
        causes = "; ".join(f"{c.name} {c.before} → {c.after}" for c in change.causes) if change else None
        verdict = (change is not None, change.ratio if change else None, causes, reason or None)
        about = (key.size, key.ranks, point.tick, point.time, point.n, point.value)
        yield (*map(visible, names), *about, *verdict)
