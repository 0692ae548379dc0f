"""Rankings as sentences: which is best, by how much, and whether the repeats show it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from mpicampaign.base.expectation import FEW_CANDIDATES, WITHIN, WITHIN_MANY
from mpicampaign.base.grouping import grouped
from mpicampaign.base.records import DISTURBED
from mpicampaign.base.text import counted, listed
from mpicampaign.compare.metrics import Metric
from mpicampaign.compare.rows import Row
from mpicampaign.compare.tables import Comparison, Table
from mpicampaign.questions.answer import ALONE, NOT_SHOWN, SHOWN
from mpicampaign.questions.over_groups.find_settings import OverGroups
from mpicampaign.questions.over_groups.say import order_finding, order_sentences
from mpicampaign.questions.ranking.find import Contestant, Pair, Ranking, best_first
from mpicampaign.questions.ranking.say_pairs import (
    added_text,
    certainty_of_best,
    contrast,
    contrasts,
    fastest,
    superlative,
    valued,
)
from mpicampaign.show.cells import name_among
from mpicampaign.show.sentences import first_few
from mpicampaign.show.view import View, rough_amount
from mpicampaign.statistics.comparisons import FALSE_SHARE, FAMILY_WISE, FEWEST
from mpicampaign.verdicts.compare import APART_IN_TIME, FEW_REPEATS
from mpicampaign.verdicts.smallest import Sight

BUSY = "of disturbed runs, not tested"
ON = "On this busy machine"
ENOUGH_QUIET = "enough quiet runs"
MANY = 3  # names in a sentence; of more the count and the range
_PLACES = 2  # of who is the best in how many
_FAR_IS = 1.0  # a factor of 2, less 1
_NAMED = 4  # medians in a sentence; of more the ends
NOT_TESTED = "not tested"


# One ranking


def ranking_text(ranking: Ranking) -> str:
    """``latency at 0 B, placements of local: lowest: SHM``."""
    return f"{ranking.metric.name}, {ranking.kind} of {ranking.scope}: {verdict(ranking)}"


def untested_lines(rankings: Sequence[Ranking]) -> dict[str, list[Ranking]]:
    """``7 of 9 rankings of placements: measured one after the other: not tested``, with these.

    Those of one kind and reason are said together where they are many.
    """
    untested = [ranking for ranking in rankings if not ranking.judged]
    alike = grouped(untested, lambda one: (one.kind, one.why_not_judged))
    of_kind = Counter(ranking.kind for ranking in rankings)
    return {
        f"{len(several)} of {of_kind[kind]} rankings of {kind}: {not_judged(why, 'which is best')}": several
        for (kind, why), several in alike.items()
        if len(several) > MANY
    }


def verdict(ranking: Ranking) -> str:
    """Which is best: one, several of which each may be, or the only one; and who is not judged."""
    if len(ranking.contestants) == 1:
        kinds = {note.kind for one in ranking.absent for note in one.reasons}
        lacking = ENOUGH_QUIET if DISTURBED in kinds else "values"
        return f"only {ranking.contestants[0].name} has {lacking}: nothing to compare"
    if not ranking.judged:
        return not_judged(ranking.why_not_judged, "which is best")
    many = ranking.gap is None and len(ranking.leaders) > MANY
    best = f"any of {len(ranking.leaders)}" if many else listed(ranking.leaders, "or")
    few = [f"{one.name} ({why_left_out(one)})" for one in ranking.contestants if not one.judged]
    best_is = superlative(ranking.metric) + _of_those_judged(ranking)
    return "; ".join([f"{best_is}: {best}", *([f"not judged: {listed(few)}"] if few else [])])


def not_judged(why: str, what: str) -> str:
    """Why nobody can be said to be the best: ``too few repeats to say which is best``."""
    return f"{why} to say {what}" if why == FEW_REPEATS else f"{why}: not tested"


def why_left_out(one: Contestant) -> str:
    """``2 repeats``, or the reason why no test of one's runs with those of others is valid."""
    return counted(one.cell.n, "repeat") if one.why == FEW_REPEATS else one.why


def _of_those_judged(ranking: Ranking) -> str:
    """Behind a superlative."""
    return " of those judged" if ranking.unjudged_ahead else ""


_ERRORS = {
    FAMILY_WISE: "the chance that any pair is wrongly called different is at most 5 %",
    FALSE_SHARE: "of the pairs called different, at most about 5 % are expected to be wrong; no single pair "
    "is guaranteed. Nothing can be shown unless enough pairs are separated: 16 % with 5 repeats, 57 % with 4",
}
_WHERE = {
    FAMILY_WISE: "In a ranking of few groups",
    FALSE_SHARE: "In a ranking of many groups or of 4 repeats",
}
OF_OWN_REPEATS = (
    f"Intervals of groups {APART_IN_TIME} cover the scatter within each group, not what changed between them."
)
IN_ROWS = (
    "Compared are runs that stand together in time: a row holds each candidate once. From "
    f"{WITHIN} rows in even order ({WITHIN_MANY} of more than {FEW_CANDIDATES} candidates) an exact test "
    f"ranks values within rows, else all values are ranked; fewer than {FEWEST} rows are not tested."
)
SAME_ORDER = "Where {} always ran after {}, what the order does would look the same."


def errors_text(rankings: Iterable[Ranking]) -> str:
    """What can be wrong in the rankings: a sentence for each kind of answer."""
    several = [ranking for ranking in rankings if len(ranking.contestants) > 1]
    tested = [ranking for ranking in several if ranking.tested]
    same = [
        pair
        for ranking in tested
        for pair in ranking.pairs
        if pair.verdict.tested and pair.verdict.same_order
    ]
    said = [IN_ROWS] if several else []
    said += [SAME_ORDER.format(*_in_order(same[0]))] if same else []
    most = dict.fromkeys(ranking.error for ranking in tested)
    said += _added_lines(tested)
    where = {error: _WHERE[error] if len(most) > 1 else "In each ranking" for error in most}
    return " ".join([*said, *(f"{place} {_ERRORS[error]}." for error, place in where.items())])


def _in_order(pair: Pair) -> tuple[str, str]:
    """The one that always ran later, and the other."""
    both = [(min(run.started for run, _ in one.row.curves), one.name) for one in (pair.better, pair.worse)]
    (_, earlier), (_, later) = sorted(both)
    return later, earlier


def evidence(contestant: Contestant) -> str:
    """How many runs stand behind the median, and what is doubtful about them."""
    row = contestant.row
    parts = [f"{count} {state}" for state, count in (row.verdicts | row.conditions).items()]
    parts += ["in several modes"] if contestant.several_modes else []
    counts = f"{contestant.cell.n} of {row.planned} runs count"
    return f"{contestant.name}: {counts}: {', '.join(parts)}"


# The best placement, and the best host group


def outcome(rankings: Sequence[Ranking]) -> str:
    """Whether any ranking shows a difference, or why none does."""
    if any(ranking.gap for ranking in rankings):
        return SHOWN
    if any(ranking.untold for ranking in rankings):
        return FEW_REPEATS
    if any(ranking.pairs and ranking.judged for ranking in rankings):
        return NOT_SHOWN
    if not any(ranking.pairs for ranking in rankings):
        return ALONE
    return FEW_REPEATS if why_none(rankings) == FEW_REPEATS else NOT_TESTED


def why_none(rankings: Sequence[Ranking]) -> str:
    """Why none of the rankings is tested: that of most."""
    return Counter(ranking.why_not_judged for ranking in rankings if ranking.pairs).most_common(1)[0][0]


def best_placement(rankings: Sequence[Ranking], over: Sequence[OverGroups], view: View) -> tuple[str, ...]:
    """In one host group; over several their common order, or who is best where; then what is behind it."""
    compared = [ranking for ranking in rankings if ranking.pairs]
    if not compared:
        return ()
    if not any(ranking.judged for ranking in compared):
        return tuple(_of_none_judged(compared))
    if len(rankings) == 1:
        return tuple(_of_one_host_group(compared[0], view))
    orders = [sentence for one in over for sentence in order_sentences(one)]
    common = [text for one in over if (text := order_finding(one))]
    several = any(ranking.library for ranking in compared)
    best = common[0] if common else first_places(compared, "combination" if several else "host group")
    seen = [f"Where no difference is shown, {text}." for text in _could_be_seen(compared, here="")]
    return (f"{best}.", *orders, *_leads(compared), *seen, *_added_lines(compared))


def _of_none_judged(rankings: Sequence[Ranking]) -> Iterator[str]:
    """Why, and what would help."""
    why = why_none(rankings)
    if why == FEW_REPEATS:
        yield "Too few repeats to say which is best. Ask for more repeats."
        return
    yield f"{upper(why)}: not tested."
    own = not any(one.row.imported for ranking in rankings for one in ranking.contestants)
    names = dict.fromkeys(one.name for ranking in rankings for one in ranking.contestants)
    command = f": run --again {shlex.quote(','.join(names))}" if own and len(names) <= MANY else ""
    yield f"New runs of each, side by side in rows, would decide{command}."


def upper(text: str) -> str:
    """The text with its first letter a capital; the rest may be a name, and stays."""
    return text[:1].upper() + text[1:]


def _of_one_host_group(ranking: Ranking, view: View) -> Iterable[str]:
    """The best with its equals, then what it gains."""
    behind = ranking.behind
    text, contrast = leaders_text(ranking, view), contrasts(behind[0], behind[-1]) if behind else ""
    text = f"{text}; {contrast}" if contrast and not ranking.untold else text
    yield f"{upper(text) if text.startswith('no clear') else text}."  # names keep their case
    yield from [f"{contrast}."] if contrast and ranking.untold else []
    yield from [certainty_of_best(behind)] if behind else _added_lines([ranking])
    yield from (f"{text}." for text in _could_be_seen([ranking]))


def _added_lines(rankings: Iterable[Ranking]) -> Iterator[str]:
    """Lines on all pairs with repeats that were added after a report."""
    if added := added_text(pair for ranking in rankings for pair in ranking.pairs):
        yield f"{added}."


def leaders_text(ranking: Ranking, view: View) -> str:
    """``SHM (0.17 µs) is fastest``, ``SHM (0.17 µs) or SHM-1 (0.19 µs) is fastest``; of many the range.

    Behind one that is not judged: ``SHM (0.17 µs) is fastest of those judged, behind TCP (2 repeats)``.
    """
    if ranking.untold:
        return _too_few_to_tell(ranking, view)
    said = _who_leads(ranking, view)
    if not (ahead := ranking.unjudged_ahead):
        return said
    named = listed([f"{one.name} ({why_left_out(one)})" for one in ahead])
    return f"{said}, behind {named if len(ahead) <= MANY else f'{len(ahead)} that are not judged'}"


_MOST_REPEATS = 100  # beyond it the estimate of the spread carries no number


def _too_few_to_tell(ranking: Ranking, view: View) -> str:
    """``4 repeats are too few to tell SHM-1 (0.14 µs) from TCP-loopback (5.09 µs): 8 would tell``."""
    sight, far = ranking.sight, first_few([valued(one, view) for one in ranking.untold], MANY, "others")
    repeats = sight.repeats if sight else min(one.cell.n for one in (ranking.best, *ranking.untold))
    text = f"{repeats} repeats are too few to tell {valued(ranking.best, view)} from {listed(far)}"
    needed = sight.repeats_for(_FAR_IS) if sight else None
    enough = max(needed or 0, WITHIN if len(ranking.contestants) <= FEW_CANDIDATES else WITHIN_MANY)
    count = f"over {_MOST_REPEATS}" if enough > _MOST_REPEATS else str(enough)
    return f"{text}: {count} would tell" if needed and enough > repeats else text


def _could_be_seen(rankings: Iterable[Ranking], here: str = " here") -> Iterator[str]:
    """``6 repeats find 2 to 8 % here in 8 of 10 cases``: of rankings in which several may be the best."""
    sights = [one.sight for one in rankings if one.sight and len(one.leaders) > 1 and not one.few]
    if sights:
        yield f"{sight_text(sights)}{here} in 8 of 10 cases"


def sight_text(sights: Sequence[Sight]) -> str:
    """``6 repeats find 2 to 8 %``: the smallest differences that are seen."""
    repeats = sorted({sight.repeats for sight in sights})
    smallest = sorted(sight.difference or 0.0 for sight in sights)
    counts = dict.fromkeys(str(end) for end in (repeats[0], repeats[-1]))
    low, high = (rough_amount(end) for end in (smallest[0], smallest[-1]))
    low = low.removesuffix(" %") if high.endswith(" %") else low
    ends = high if high in (low, f"{low} %") else f"{low} to {high}"
    what = "blocks" if all(sight.blocks for sight in sights) else "repeats"
    return f"{' to '.join(counts)} {what} find {ends}"


def _who_leads(ranking: Ranking, view: View) -> str:
    best_is = fastest(ranking.metric) + _of_those_judged(ranking)
    named = [valued(one, view) for one in ranking.contestants if one.name in ranking.leaders]
    ends, many = f"{len(named)} {ranking.kind}, {named[0]} to {named[-1]}", len(named) > MANY
    if len(named) == 1:
        return f"{named[0]} is {best_is}"
    if ranking.tied:
        return f"{ends + ',' if many else listed(named)} tie" + (f" as {best_is}" if ranking.gap else "")
    if ranking.gap is None:
        return f"no clear difference between {ends if many else listed(named)}"
    return f"any of {ends}, may be {best_is}" if many else f"{listed(named, 'or')} is {best_is}"


def first_places(rankings: Sequence[Ranking], what: str, *, brief: bool = False) -> str:
    """``SHM-1 is the fastest placement in 9 of 39 comparisons, SHM or SHM-1 in 3``; adds up to all.

    Of several that lead, any may be the best. ``brief``: the most common alone.
    """
    best, kind, count = best_of(rankings), rankings[0].one, len(rankings)
    clear = [one for one in rankings if one.gap and not one.few and len(one.leaders) <= MANY]
    leads = Counter(listed(sorted(one.leaders), "or") for one in clear).most_common()
    few = sum(one.few for one in rankings)
    others = [*leads[1:_PLACES], ("others", sum(times for _, times in leads[_PLACES:]))]
    none = count - len(clear) - few
    if leads:
        name, most = leads[0]
        every = f"both {what}s" if count == 2 else f"all {count} {what}s"
        where = every if most == count else f"{most} of {count} {what}s"
        first = f"{name} is the {best} {kind}"
        others.append(("no clear lead", none))
    else:
        where, first = f"any of {count} {what}s", f"No {kind} has a clear lead"
    rest = [f"{who} in {times}" for who, times in (*others, (open_text(rankings), few)) if times]
    return ", ".join([f"{first} in {where}" if count > 1 else first, *([] if brief else rest)])


def best_of(rankings: Iterable[Ranking]) -> str:
    """``fastest``, if all metrics are speeds."""
    words = {fastest(ranking.metric) for ranking in rankings}
    return words.pop() if len(words) == 1 else "best"


def open_text(rankings: Sequence[Ranking]) -> str:
    """What further runs are needed for: ``too few repeats``, or rankings that are not tested."""
    why = {one.why for ranking in rankings if ranking.few for one in ranking.contestants if one.why}
    return FEW_REPEATS if why <= {FEW_REPEATS} else NOT_TESTED


def _leads(rankings: Sequence[Ranking]) -> tuple[str, ...]:
    """The smallest and the largest clear lead, with their host groups."""
    gaps = [(ranking.gap, ranking.scope) for ranking in rankings if not ranking.few]
    found = [(pair.factor, pair, scope) for pair, scope in gaps if pair is not None and pair.factor]
    if not found:
        return ()
    low, high = min(found, key=itemgetter(0)), max(found, key=itemgetter(0))
    if len(found) == 1:
        return (f"{low[2]}: {contrast(low[1])}.",)
    if contrast(low[1]) == contrast(high[1]):
        return (f"Clear lead: {contrast(low[1])}.",)
    return (f"Smallest clear lead: {contrast(low[1])} ({low[2]}); largest: {contrast(high[1])} ({high[2]}).",)


def best_in_placement(ranking: Ranking, view: View) -> str:
    """Which host group or MPI library may be best, its gain over the nearest that is not, and the last."""
    behind = ranking.behind
    of_others = [contrasts(behind[0], behind[-1])] if behind else [*_could_be_seen([ranking])]
    left = [one for one in ranking.contestants if not one.judged and one not in ranking.unjudged_ahead]
    left_out = f"{counted(len(left), 'other')} not judged" if left else ""
    said = f"{ranking.scope}: {leaders_text(ranking, view)}"
    return "; ".join(filter(None, [said, *of_others, added_text(ranking.pairs), left_out]))


# Values of disturbed runs: told in sentences of their own, and never tested


def is_told(row: Row) -> bool:
    """Whether nothing but disturbed runs keeps the row from being compared."""
    return row.disturbed and not (row.apart or row.at_most or row.in_blocks)


def disturbed_metrics(table: Table) -> Iterator[tuple[Metric, int | None]]:
    """The headline metrics and numbers of ranks of which a row has values of a busy machine."""
    for metric in (metric for metric in table.metrics if metric.headline):
        rows = (row for row in table.rows if is_told(row) and row.cell(metric).summary)
        yield from dict.fromkeys((metric, row.ranks) for row in rows)


def disturbed_contestants(
    comparison: Comparison, table: Table, metric: Metric, ranks: int | None
) -> tuple[Contestant, ...]:
    """These rows, the best median first, by names that tell them from the ranked ones, too."""
    shown = [row for row in table.rows if row.ranks == ranks and (row.ranked or is_told(row))]
    rows = [row for row in shown if row.cell(metric).summary and is_told(row)]
    return best_first(
        [Contestant(name_among(comparison, table, row, shown), row, row.cell(metric)) for row in rows]
    )


def disturbed_sentences(found: Sequence[Contestant], view: View) -> Iterator[str]:
    """Disturbed contestants: their medians with the ranges of the repeats.

    A single run has no range.
    """
    if not found:
        return
    first, *others = found
    if len(found) <= _NAMED:
        medians = listed([f"{_with_range(one, view)} for {one.name}" for one in found])
        yield f"{ON} the median (and range of repeats) is {medians}."
    else:
        ends = " to ".join(f"{_with_range(one, view)} for {one.name}" for one in (first, others[-1]))
        yield f"{ON} the {len(found)} medians (and ranges of repeats) go from {ends}."


def _with_range(one: Contestant, view: View) -> str:
    """``0.17 µs (0.16 to 0.21)``; of a single run ``0.17 µs (1 run)``."""
    found, dimension = one.cell.summary, one.cell.metric.dimension
    text = view.quantity(one.median, dimension)
    if found is None or found.n == 1:
        return f"{text} (1 run)"
    return f"{text} ({view.number(found.minimum, dimension)} to {view.number(found.maximum, dimension)})"


def disturbed_lines(comparison: Comparison, table: Table, view: View) -> tuple[str, ...]:
    """All of the table's, each metric in a line."""
    found = {key: disturbed_contestants(comparison, table, *key) for key in disturbed_metrics(table)}
    return tuple(
        f"{metric.name}: {' '.join(disturbed_sentences(of, view))}" for (metric, _), of in found.items()
    )
