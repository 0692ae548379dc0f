"""What is known of a suite: how to recognise, read and judge its outputs, and how to get its programs.

No I/O: texts come in, and facts go out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mpicampaign.dimension import Dimension
    from mpicampaign.records import Series
    from mpicampaign.suites.reading import ParsedOutput
    from mpicampaign.suites.request import Refusal, Request


class Banner(NamedTuple):
    """The line by which a program announces itself; ``needle`` finds it fast, ``line`` is how it looks."""

    needle: str
    line: re.Pattern[str]


class Active(Enum):
    """Which ranks of a benchmark send."""

    FIRST_TWO = "ranks 0 and 1, to each other"
    HALVES = "each rank of the first half, with one of the second half: rank i with i + ranks / 2"
    SOME = "some pairs of ranks, others in each run"
    ALL = "each rank, or in a gather each but the root, which receives"


class UsefulBandwidth(NamedTuple):
    """A bandwidth that counts each delivered block once, however often it crosses a link.

    ``per``: whose size the message size is: a ``rank`` (its block) or a ``message``. ``wire``: the column
    ``bandwidth_wire`` counts all that crosses links. ``baseline``: the series of the same run with which it
    is compared.
    """

    per: str
    wire: bool = False
    baseline: str = ""


class Sends(NamedTuple):
    """Who sends to whom in a benchmark, and what its metrics count of that.

    ``directions``: of a link, as its bandwidth counts them: of the one link between pairs, of each rank's own
    link where all ranks send. ``least``: each active rank sends, or the root receives, at least size ×
    repetitions in one direction. ``windows``: a repetition is a window of messages, so that far more may be
    sent than that. ``one_way``: its time is that of one message. ``useful``: its bandwidth counts delivered
    blocks.
    """

    active: Active
    directions: int = 1
    least: bool = True
    windows: bool = False
    one_way: bool = False
    useful: UsefulBandwidth | None = None

    @property
    def of_pairs(self) -> bool:
        """Whether its bandwidth is that of pairs, not of each rank."""
        return self.active is not Active.ALL


class ColumnMetric(NamedTuple):
    """A column of a suite's own as a metric.

    Over message sizes it is shown at those of the tables. ``headline``: it is ranked, over sizes at its
    maximum or, where lower is better, at the smallest and the largest size. ``share``: the column that,
    divided by the number of ranks, is what one rank adds: fewer ranks should not have more by over that.
    """

    title: str
    dimension: Dimension
    headline: bool = False
    share: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What offers the programs of a suite, by what installs or loads it; empty where nothing is known.

    ``wheel``: the Python package, which not every machine has. ``modules``: names that sites give their
    modules, those of EasyBuild. ``address``: where the source is. ``folders``: below the prefix of an
    installation, beside ``bin``, where the programs lie.
    """

    wheel: str = ""
    spack: str = ""
    modules: str = ""
    debian: str = ""
    address: str = ""
    folders: tuple[str, ...] = ()

    def __str__(self) -> str:
        """``Spack package hpl, module HPL, source at https://…``."""
        offers = {
            "Python package": self.wheel,
            "Spack package": self.spack,
            "module": self.modules,
            "Debian package": self.debian,
            "source at": self.address,
        }
        return ", ".join(f"{what} {name}" for what, name in offers.items() if name)


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A family of benchmarks with one format of outputs.

    Parameters
    ----------
    name : what campaign files call it
    title : what people call it; its name where they call it the same
    banner : the line by which its programs announce themselves
    parse : reads a whole output, or raises `OutputError`
    programs : pattern of the names of its programs
    whole : patterns (``grep -E``) of lines without which an output is not whole, whatever the exit status
    refused : pattern of a line by which it reports, with exit status 0, that it did not run as asked
    closing_line : whether its outputs prove that they are whole
    ends_early : whether an output that ends at a smaller message than others may still hold metrics
    holds : suites whose banners appear inside its outputs, up to the line ``end``
    end : how the line begins that closes an output; without it nothing shows where another one may begin
    sources : how to get its programs
    parameters : what ``parameters`` of a benchmark may hold, by name, with its meaning
    arguments : what is wrong with the name and the arguments of a program, in any placement
    refuses : why a request would fail; the campaign is refused
    warns : what a request may suffer from; shown with the plan
    lacks : why a request cannot be run where it would be placed; its case is not available
    inputs : files that the program reads from its folder, by name; the campaign's own files take precedence
    parse_declared : reads an output by what its run declares; where that is needed, ``parse`` refuses
    declares : keys of a benchmark in a campaign file that only such suites have
    needs : those of them that must be given
    private_folder : whether its programs start in a folder of their own, even without input files
    result_file : the file that the program writes its results to, there
    benchmarks : built in, as in a campaign file, by name
    sends : who sends to whom, by the names of its series
    metrics : its own, by column, in the order in which they are shown. The columns that
        `mpicampaign.records.Series` gives a meaning are metrics without being named here
    latencies : pattern of the names of its series whose time is a latency, ranked from the smallest size on
    published : published benchmarks of the same definition, by the names of its series
    peak : column of a rate per process, and column of its fraction of the peak of a core
    published_plain : those of them whose publications give no parameters, such as the order of a matrix
    gathers : what readers call its gathers of equal blocks, by the names of their series
    options : keys of an output's metadata that must be alike in all repeats of a case
    given_up : what the metadata has under ``not_measured`` where time or memory did not allow a size
    resolution : the step between neighbouring printed values of a column (SI); none: all digits are printed
    measurement : raised by hand when it is run in another way, with a line of history in docs/formats.md
    versions : the same of a single bundled program, by its name
    largest_size : the last size (B) that a program prints with its arguments and ranks; None if unknown
    names : benchmark and program of a foreign output, by its text and the program that its job script starts
    doubt_of_end : why a foreign output may be cut; by its facts, the arguments of its program (None where
        they are unknown) and its tables
    least_time : the time (s) for which its tables account at least, between MPI_Init and MPI_Finalize
    printed_times : moments (Unix time) at which it ran, by its output and the offset (s) of local time
    no_output : what a text without a banner shows instead of an output; empty if it is not of this suite
    """

    name: str
    banner: Banner
    parse: Callable[[str], ParsedOutput]
    title: str = ""
    programs: str = ""
    whole: tuple[str, ...] = ()
    refused: str = ""
    closing_line: bool = True
    ends_early: bool = False
    holds: tuple[str, ...] = ()
    end: str = ""
    sources: Sources = Sources()
    parameters: Mapping[str, str] = field(default_factory=dict)
    arguments: Callable[[str, Sequence[str]], Iterable[Refusal]] = lambda program, arguments: ()
    refuses: Callable[[Request], Iterable[Refusal]] = lambda request: ()
    warns: Callable[[Request], Iterable[str]] = lambda request: ()
    lacks: Callable[[Request], str] = lambda request: ""
    inputs: Callable[[Request], Mapping[str, str]] = lambda request: {}
    parse_declared: Callable[[str, Mapping[str, Any]], ParsedOutput] | None = None
    declares: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    private_folder: bool = False
    result_file: str = ""
    benchmarks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sends: Mapping[str, Sends] = field(default_factory=dict)
    metrics: Mapping[str, ColumnMetric] = field(default_factory=dict)
    latencies: str = ""
    published: Mapping[str, str] = field(default_factory=dict)
    peak: tuple[str, str] | None = None
    published_plain: tuple[str, ...] = ()
    gathers: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    given_up: tuple[str, ...] = ()
    resolution: Mapping[str, float] = field(default_factory=dict)
    measurement: int = 1
    versions: Mapping[str, int] = field(default_factory=dict)
    largest_size: Callable[[str, Sequence[str], int], int | None] = lambda program, arguments, ranks: None
    names: Callable[[str, str], tuple[str, str]] = lambda text, program: (program, program)
    doubt_of_end: Callable[[Mapping[str, str], Sequence[str] | None, Iterable[Series]], str] = (
        lambda facts, arguments, tables: ""
    )
    least_time: Callable[[Iterable[Series]], float] = lambda tables: 0.0
    printed_times: Callable[[str, int], Iterable[float]] = lambda output, offset: ()
    no_output: Callable[[str], str] = lambda text: ""

    @property
    def called(self) -> str:
        """What people call it."""
        return self.title or self.name
