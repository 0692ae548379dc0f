"""Findings as sentences; values have the unit and digits of the table around them."""

from __future__ import annotations

from collections.abc import Sequence

from mpicampaign.base.dimension import BANDWIDTH, RATIO, TIME
from mpicampaign.base.records import (
    CONTRADICTED,
    DECLARED,
    DISTURBED,
    FAILED,
    MISSING,
    NOT_AVAILABLE,
    UNVERIFIED,
)
from mpicampaign.base.text import counted, repeats_text, visible
from mpicampaign.base.units import format_size
from mpicampaign.compare import findings
from mpicampaign.show.view import DEFAULT, View, quantity, rough_amount, rough_percent, size_range
from mpicampaign.statistics.modes import LOW
from mpicampaign.statistics.outliers import Outlier

KIND_NAMES = {
    NOT_AVAILABLE: "n/a",
    FAILED: "failed",
    findings.STOPPED: "stopped while busy",
    findings.NOT_READ: "not read",
    CONTRADICTED: "contradicted",
    findings.EARLIER: "earlier program or library",
    MISSING: "missing",
    findings.NOT_PRINTED: "not printed",
    DISTURBED: DISTURBED,
    UNVERIFIED: "unverified",
    DECLARED: DECLARED,
    findings.NOT_CONVERGED: "not converged",
    findings.UNLIKE: "different setups",
    findings.UNREAD_SETTING: "not read by this library",
    findings.BY_FILES: "settings by files",
    findings.QUOTED: "quoted in a document",
    findings.SHORTENED: "shortened by its budget",
    findings.CHOSEN: "the library chose",
    findings.SHARING: "oversubscribed",
    findings.WITHOUT_LOCK: "perhaps beside another measurement",
    findings.OTHER_STATE: "other state of the machine",
    findings.SLOW_CLOCK: "slow clock",
    findings.SLOW_MEMORY: "slow memory",
    findings.SPREAD: "wide spread",
    findings.ELSEWHERE: "actual host group",
    findings.MODES: "several modes",
    findings.OFF: "whole run differs",
    findings.OUTLIER: "outlier",
    findings.NOT_MONOTONIC: "not monotonic",
    findings.TUNING_CLIFF: "tuning cliff",
    findings.OTHER_NODES: "on other nodes than the others",
    findings.OTHER_TIME: "at another time than the others",
    findings.NOT_COMPARABLE: "no balance",
    findings.AT_MOST: "at most",
    findings.NO_LARGE_SIZE: "no size from 1 MiB on",
    findings.NO_BOUND: "no bound known",
    findings.NOT_AT_SIZE: "not printed at this size",
    findings.GIVEN_UP: "given up: no value printed",
}


def kind_name(kind: str) -> str:
    """A kind of finding or state of a run as people read it."""
    return KIND_NAMES.get(kind, kind)


def note_text(found: findings.Note, view: View = DEFAULT) -> str:
    """A finding in full, with the repeats that it concerns."""
    text = brief(found, view)
    return f"{text} ({repeats_text(found.repeats)})" if found.repeats else text


def brief(found: findings.Note, view: View = DEFAULT) -> str:
    """A finding without its repeats."""
    why = reason(found, view)
    return KIND_NAMES[found.kind] + (f": {why}" if why else "")


def reason(found: findings.Note, view: View = DEFAULT) -> str:
    """What a finding says beyond its kind."""
    return visible(_reason(found, view))


def first_few(texts: Sequence[str], most: int, what: str) -> list[str]:
    """The first ones, and how many more there are: ``3 more reasons``."""
    return [*texts[:most], *([f"{len(texts) - most} more {what}".rstrip()] if len(texts) > most else [])]


def absence(reasons: findings.Absence) -> str:
    """Why there is no value; empty where there is one. These reasons hold no values."""
    return "; ".join(brief(found) if len(reasons) == 1 else note_text(found) for found in reasons)


def over_sizes(count: int) -> str:
    """Follows the name of a maximum that is over so many sizes alone; empty of one over all (0)."""
    return f" over the {counted(count, 'size')} of both" if count else ""


def _reason(found: findings.Note, view: View) -> str:
    match found:
        case findings.Recorded():
            return found.reason
        case findings.Shorter():
            return _shorter(found)
        case findings.Unsettled():
            off = "±" if found.width < 1 else "may be off by"  # below 0 is no time
            width = (rough_percent if found.width < 1 else rough_amount)(found.width)
            return f"samples at {format_size(found.size)}: {off} {width}"
        case findings.Tail():
            above = rough_percent(found.above)
            return (
                f"samples at {format_size(found.size)}: the slowest 1 % lie {above} or more above the median"
            )
        case findings.Unlike():
            return f"{found.what}: {'; '.join(map(_side, found.sides))}"
        case findings.Elsewhere():
            return f"the job requested {found.requested}"
        case findings.Modes():
            return _modes(found, view)
        case findings.FarOff():
            return _far_off(found)
        case findings.WholeRun():
            return _whole_run(found)
    return _of_values(found, view)


def _of_values(found: findings.Note, view: View) -> str:
    match found:
        case findings.NotMonotonic():
            return _not_monotonic(found, view)
        case findings.TuningCliff():
            return _tuning_cliff(found, view)
    return (
        "at some sizes the samples did not converge in the time allowed"
        if found.kind == findings.NOT_CONVERGED
        else ""
    )


def _shorter(found: findings.Shorter) -> str:
    why = "not measured" + (f" ({', '.join(found.given_up)})" if found.given_up else "")
    why = "it may be cut" if found.may_be_cut else why
    return f"sizes above {format_size(found.end)}: {why}, so it gives no maximum"


def _side(side: findings.AlikeRepeats) -> str:
    """``repeats 1-3 IMB 2019.6``."""
    more = f" and {side.more} more" if side.more else ""
    return f"{repeats_text(side.repeats)} {', '.join(side.parts) + more if side.parts else 'without'}"


def _modes(found: findings.Modes, view: View) -> str:
    bands = " and ".join(
        f"{view.quantity(band.median, found.dimension)} ({repeats_text(band.members)})"
        for band in (found.low, found.high)
    )
    parts = [
        f"two bands at {size_range(found.sizes)} ({len(found.sizes)} of {found.looked_at} sizes), "
        f"widest at {format_size(found.widest)}: {bands}"
    ]
    parts += [_course(course, found.dimension.lower_is_better) for course in found.courses]
    parts += ["the median may be a value that no run had"]
    jobs = ", ".join(f"repeat {job.repeat} {_job(job)}" for job in found.jobs)
    return "; ".join([*parts, *([f"jobs: {jobs}"] if jobs else [])])


def _course(course: findings.Course, lower_is_better: bool | None) -> str:
    """``repeat 3 in the faster band up to 64 KiB, in the slower from 128 KiB on``."""
    texts: list[str] = []
    for band, first, last in course.memberships:
        speed = "faster" if (band == LOW) is lower_is_better else "slower"
        texts.append(f"in the {speed}{'' if texts else ' band'} {_range(first, last)}")
    return f"{repeats_text(course.repeats)} {', '.join(texts)}"


def _range(first: int | None, last: int | None) -> str:
    if first is None and last is None:
        return "throughout"
    if first is None:
        return f"up to {format_size(last or 0)}"
    return f"from {format_size(first)} on" if last is None else f"at {size_range((first, last))}"


def _job(job: findings.RepeatJob) -> str:
    return " ".join(filter(None, [job.number, f"on {', '.join(job.hosts)}" if job.hosts else ""]))


def _far_off(found: findings.FarOff) -> str:
    """``its time at 2-8 KiB is up to 1.70 × the median of the repeats; job 7 on n1``."""
    distances = " and ".join(map(_distance, found.distances))
    whose = f"; job {_job(found.job)}" if found.job.number else ""
    return f"its {found.what} {distances} the median of the repeats{whose}"


def _whole_run(found: findings.WholeRun) -> str:
    """``its time is 1.31 × the median of the repeats on average over the sizes, 2.1 × at 64 KiB; job 7``."""
    whose = f"; job {_job(found.job)}" if found.job.number else ""
    average = f"{quantity(found.ratio, RATIO)} the median of the repeats on average over the sizes"
    furthest = f"{quantity(found.largest, RATIO)} at {format_size(found.size)}"
    if found.scatter is not None:
        furthest += f"; not judged: the other runs scatter by {rough_percent(found.scatter)}"
    return f"its {found.what} is {average}, {furthest}{whose}"


def _distance(distance: Outlier) -> str:
    where = f"at {size_range(distance.sizes)} " if distance.sizes else ""
    furthest = ("up to " if distance.ratio > 1 else "down to ") if len(distance.sizes) > 1 else ""
    return f"{where}is {furthest}{quantity(distance.ratio, RATIO)}"


def _not_monotonic(found: findings.NotMonotonic, view: View) -> str:
    more, fewer = (view.quantity(value, BANDWIDTH) for value in (found.b_eff, found.b_eff_of_fewer))
    compared = f"{found.ranks} ranks reach {more}, {found.fewer} ranks ({found.placement}) {fewer}"
    return f"{compared}: the drop exceeds the ring patterns' share of one rank"


def _tuning_cliff(found: findings.TuningCliff, view: View) -> str:
    """``Allgather takes 161 µs at 512 B and 96.7 µs at 1 KiB (1.66 times); in its one run: …``."""
    taken, instead = found.taken, found.instead
    names = " + ".join(one.operation for one in instead)
    times = [view.quantity(time, TIME) for time in (taken.time, sum(one.time for one in instead))]
    sizes = [format_size(one.size) for one in (taken, instead[0])]
    other = " and" if names == taken.operation else f", {names}"
    said = f"{taken.operation} takes {times[0]} at {sizes[0]}{other} {times[1]} at {sizes[1]}"
    said += f" ({found.factor:.2f} times)"
    said += f", so at {size_range(found.sizes)}" if len(found.sizes) > 1 else ""
    said += "; times of the slowest rank" if found.slowest else ""
    runs = f"medians of {found.fewest} runs, beyond their intervals"
    said += f"; {runs if found.fewest > 1 else 'in its one run'}"
    return said + (": more repeats would confirm it" if found.fewest < findings.ENOUGH else "")
