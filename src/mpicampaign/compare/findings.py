"""Findings on the runs and values of a row: typed data without sentences or units.

`mpicampaign.show.sentences` writes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mpicampaign.base.dimension import Dimension
from mpicampaign.base.records import (
    CONTRADICTED,
    DECLARED,
    DISTURBED,
    FAILED,
    MISSING,
    NOT_AVAILABLE,
    UNVERIFIED,
    Record,
)
from mpicampaign.statistics.modes import Band, Membership
from mpicampaign.statistics.outliers import Outlier

# Kinds of findings beside the statuses and verdicts of records.
NOT_PRINTED = "not_printed"
NOT_CONVERGED = "not_converged"
UNLIKE = "unlike"  # repeats that were run otherwise than others
QUOTED = "quoted"  # the output is that of a document
SHORTENED = "shortened"  # a budget did not allow all that the benchmark's definition asks for
SPREAD = "spread"  # samples within a run
CHOSEN = "chosen"  # what transport the library chose by itself
SHARING = "sharing"  # ranks shared cores
WITHOUT_LOCK = "without_lock"  # of the machine: others may have measured at the same time
OTHER_STATE = "other_state"  # of the machine than that of the answers
MODES = "modes"  # the repeats fall into bands
OUTLIER = "outlier"  # a repeat is far from all others
OFF = "off"  # a whole run differs from the others
SLOW_CLOCK = "slow_clock"  # of a rank's CPU, during the run or against other runs
SLOW_MEMORY = "slow_memory"  # others may have used it
ELSEWHERE = "elsewhere"  # imported runs that asked for another host group than they ran on
NOT_MONOTONIC = "not_monotonic"  # fewer ranks have a larger effective bandwidth
TUNING_CLIFF = "tuning_cliff"  # a performance guideline is violated
STOPPED = "stopped"  # by its time limit, on a busy machine
NOT_READ = "not_read"  # the patterns of the campaign file do not fit the output
EARLIER = "earlier"  # made with an earlier program or MPI library: not averaged with the present one
UNREAD_SETTING = "unread_setting"  # that tells a row from another
BY_FILES = "by_files"  # what files of settings set
NOT_COMPARABLE = "not_comparable"  # the parts of a balance
AT_MOST = "at_most"  # a balance whose HPL is too small
OTHER_NODES = "other_nodes"  # of a block: its candidates ran on different ones
OTHER_TIME = "other_time"  # of a block: they ran at different ones
# Of a single entry of a table.
NO_LARGE_SIZE = "no_large_size"
NO_BOUND = "no_bound"
NOT_AT_SIZE = "not_at_size"
GIVEN_UP = "given_up"  # the program went there, but printed no value

# In the order in which they are reported.
KINDS: tuple[str, ...] = (
    *(NOT_AVAILABLE, FAILED, STOPPED, NOT_READ, CONTRADICTED, EARLIER, MISSING, NOT_PRINTED, DISTURBED),
    *(UNVERIFIED, DECLARED, NOT_CONVERGED, SPREAD, UNLIKE, UNREAD_SETTING, BY_FILES, QUOTED, SHORTENED),
    *(CHOSEN, SHARING, OTHER_STATE),
    *(WITHOUT_LOCK, SLOW_CLOCK, SLOW_MEMORY, ELSEWHERE, MODES, OFF, OUTLIER, NOT_MONOTONIC, TUNING_CLIFF),
    *(NOT_COMPARABLE, AT_MOST),
)
OF_ONE_SERIES = (
    *(NOT_PRINTED, NOT_CONVERGED, SPREAD, MODES, OFF, OUTLIER, NOT_MONOTONIC, TUNING_CLIFF),
    *(NOT_COMPARABLE, AT_MOST),
)
WITHOUT_VALUE = (NOT_AVAILABLE, FAILED, STOPPED, NOT_READ, CONTRADICTED, EARLIER, MISSING, NOT_PRINTED)


def end_of(run: Record) -> str:
    """How a run without values ended: its status, or more."""
    return STOPPED if run.stopped else NOT_READ if run.unread else run.status


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Why runs are left out or doubted, or what is found in their values. The kind alone may be enough.

    ``repeats``: those that it concerns; empty if it concerns all.
    """

    kind: str
    repeats: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded(Note):
    """A reason that the run recorded: why it failed, is n/a, contradicted, unverified, earlier, shortened."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsettled(Note):
    """How far the median of the samples may be off, as a fraction of it, at the size (B) where most."""

    kind: str = NOT_CONVERGED
    size: int
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail(Note):
    """How far the slowest per cent of the samples is above their median, as a fraction, where most."""

    kind: str = SPREAD
    size: int
    above: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Shorter(Note):
    """The values end at a smaller message than those of other repeats, or than the sizes: no maximum.

    ``end``: the last size (B) with a value. ``given_up``: what the program printed instead of values.
    ``may_be_cut``: nothing shows whether the output is whole.
    """

    kind: str = NOT_PRINTED
    end: int
    given_up: tuple[str, ...]
    may_be_cut: bool


@dataclass(frozen=True, slots=True)
class AlikeRepeats:
    """Repeats that are like each other, and what only they have; ``more``: how many parts are left out."""

    repeats: tuple[int, ...]
    parts: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlike(Note):
    """Repeats that were run otherwise than others; ``what``: a key of `unlike.ALIKE`."""

    kind: str = UNLIKE
    what: str
    sides: tuple[AlikeRepeats, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere(Note):
    """The jobs asked for another host group than that of the hosts they ran on."""

    kind: str = ELSEWHERE
    requested: str


@dataclass(frozen=True, slots=True)
class RepeatJob:
    """A repeat with its job's number (empty if none is known) and its hosts."""

    repeat: int
    number: str
    hosts: tuple[str, ...]


class Course(NamedTuple):
    """The bands that some repeats are in, from the smallest size to the largest."""

    repeats: tuple[int, ...]
    memberships: tuple[Membership, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Modes(Note):
    """The repeats fall into two bands at some sizes (B) of so many; ``low``, ``high``: at the widest."""

    kind: str = MODES
    dimension: Dimension
    sizes: tuple[int, ...]
    looked_at: int
    widest: int
    low: Band
    high: Band
    courses: tuple[Course, ...]
    jobs: tuple[RepeatJob, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FarOff(Note):
    """One repeat is far from all others; ``what``: the column, or the metric if there are no sizes."""

    kind: str = OUTLIER
    what: str
    distances: tuple[Outlier, ...]
    job: RepeatJob


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeRun(Note):
    """A run differs from the others over its sweep.

    ``ratio``: its values divided by the medians of all, on average; ``largest``: where it is furthest,
    ``size`` (B). ``scatter``: that of the other runs, as a fraction, where it is too large to judge.
    """

    kind: str = OFF
    what: str
    ratio: float
    largest: float
    size: int
    scatter: float | None
    job: RepeatJob


@dataclass(frozen=True, slots=True, kw_only=True)
class NotMonotonic(Note):
    """Fewer ranks, in a placement, have a larger effective bandwidth (B/s)."""

    kind: str = NOT_MONOTONIC
    ranks: int
    b_eff: float
    fewer: int
    placement: str
    b_eff_of_fewer: float


class Timed(NamedTuple):
    """An MPI operation, a size (B) and its time (s)."""

    operation: str
    size: int
    time: float


ENOUGH = 5  # runs of which the intervals alone decide on a cliff


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningCliff(Note):
    """An operation takes longer than on more bytes, or than others that do the same, one after the other.

    At ``sizes`` (B); the rest is where ``factor`` is largest. ``fewest``: runs behind a median. ``slowest``:
    times are those of the slowest rank.
    """

    kind: str = TUNING_CLIFF
    taken: Timed
    instead: tuple[Timed, ...]
    factor: float
    sizes: tuple[int, ...]
    fewest: int
    slowest: bool


Absence = tuple[Note, ...]  # why there is no value; empty if there is one
