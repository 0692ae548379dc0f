"""What is known of a suite: how to recognise, read and judge its outputs, and how to get its programs.

A `Request` is what a campaign asks of a suite, a `Refusal` why that would fail.

No I/O: texts come in, and facts go out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, NamedTuple

from mpicampaign.base.dimension import Dimension
from mpicampaign.base.records import Series
from mpicampaign.suites.reading import ParsedOutput


class Banner(NamedTuple):
    """The line by which a program announces itself; ``needle`` finds it fast, ``line`` is how it looks.

    Several needles are of several formats. ``above``: lines directly above it that belong to it.
    """

    needle: str | tuple[str, ...]
    line: re.Pattern[str]
    above: re.Pattern[str] | None = None


class Active(Enum):
    """Which ranks of a benchmark send."""

    FIRST_TWO = "ranks 0 and 1, to each other"
    HALVES = "each rank i of the first half with rank i + ranks / 2"
    SOME = "some pairs of ranks, others in each run"
    ALL = "each rank (in a gather, each but the root, which receives)"


ROOTED = frozenset({"Bcast", "Gather", "Gatherv", "Reduce", "Scatter", "Scatterv"})
"""Operations in which some ranks do not wait for all others."""


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

    The fields are what most suites have. The rest has defaults: a suite that differs derives a class from
    this one, which sets the attributes and overrides the methods below.

    Parameters
    ----------
    name : what campaign files call it
    title : what people call it; its name where they call it the same
    banner : the line by which its programs announce themselves
    parse : reads an output, says what it lacks, or raises `OutputError`
    programs : pattern of the names of its programs
    whole : patterns (``grep -E``) of lines without which an output is not whole, whatever the exit status
    end : how the line begins that closes an output; without it nothing shows where another one may begin
    sources : how to get its programs
    benchmarks : built in, as in a campaign file, by name
    sends : who sends to whom, by the names of its series
    metrics : its own, by column, in the order in which they are shown. The columns that
        `mpicampaign.base.records.Series` gives a meaning are metrics without being named here
    published : published benchmarks of the same definition, by the names of its series
    """

    name: str
    banner: Banner
    parse: Callable[[str], ParsedOutput]
    title: str = ""
    programs: str = ""
    whole: tuple[str, ...] = ()
    end: str = ""
    sources: Sources = Sources()
    benchmarks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sends: Mapping[str, Sends] = field(default_factory=dict)
    metrics: Mapping[str, ColumnMetric] = field(default_factory=dict)
    published: Mapping[str, str] = field(default_factory=dict)

    @property
    def called(self) -> str:
        """What people call it."""
        return self.title or self.name

    measurement: ClassVar[int] = 1
    """Raised by hand when it is run in another way, with a line of history in docs/formats.md."""
    versions: ClassVar[Mapping[str, int]] = {}
    """The measurement number of a single bundled program, by its name."""

    # ---- before a run

    parameters: ClassVar[Collection[str]] = ()
    """What ``parameters`` of a benchmark may hold, by name."""
    declares: ClassVar[tuple[str, ...]] = ()
    """Keys of a benchmark that say how to read its outputs, which only such suites have."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Keys of `declares` that must be given."""

    def refuses(self, request: Request) -> Iterable[Refusal]:
        """Why a request would fail; the campaign is refused."""
        return ()

    def warns(self, request: Request) -> Iterable[str]:
        """What a request may suffer from; shown with the plan."""
        return ()

    def lacks(self, request: Request) -> str:
        """Why a request cannot be run where it would be placed; its case is not available."""
        return ""

    def inputs(self, request: Request) -> Mapping[str, str]:
        """Files that the program reads from its folder, by name; the campaign's own files take precedence."""
        return {}

    def largest_size(self, program: str, arguments: Sequence[str], ranks: int) -> int | None:
        """The last size (B) that a program prints with its arguments and ranks; None if unknown."""
        return None

    def offers(self) -> Iterable[tuple[str, Mapping[str, Any]]]:
        """All its benchmarks that people may name, each as in a campaign file, the built-in ones first.

        A name may come several times, with several programs.
        """
        return self.benchmarks.items()

    def quick(self, program: str) -> str:
        """Arguments by which a benchmark takes some seconds, for a first look at a machine."""
        return ""

    # ---- a run and its output

    private_folder: ClassVar[bool] = False
    """Whether its programs start in a folder of their own, even without input files."""
    result_file: ClassVar[str] = ""
    """The file that the program writes its results to, there."""
    refused: ClassVar[str] = ""
    """Pattern of a line by which it reports, with exit status 0, that it did not run as asked."""
    closing_line: ClassVar[bool] = True
    """Whether its outputs prove that they are whole."""
    ends_early: ClassVar[bool] = False
    """Whether an output that ends at a smaller message than others may still hold metrics."""
    holds: ClassVar[tuple[str, ...]] = ()
    """Suites whose banners appear inside its outputs, up to the line `end`."""
    given_up: ClassVar[tuple[str, ...]] = ()
    """What the metadata has under ``not_measured`` where time or memory did not allow a size."""

    def parse_by(self, text: str, reading: Mapping[str, Any]) -> ParsedOutput:
        """Read an output by the keys `declares` of the campaign file."""
        return self.parse(text)

    def least_time(self, tables: Iterable[Series]) -> float:
        """The time (s) for which its tables account at least, between MPI_Init and MPI_Finalize."""
        return 0.0

    row: ClassVar[str] = ""
    """How a line begins that is flushed once its size, a group of this pattern, was measured."""

    def counts(self, table: Series, arguments: Sequence[str]) -> Iterable[float | None]:
        """How often the time of each row passed while it was measured; none where that is not known."""
        return table.columns.get("repetitions", ()) if "group" not in table.qualifiers else ()

    def printed_times(self, output: str, offset: int) -> Iterable[float]:
        """Moments (Unix time) at which it ran, by its output and the offset (s) of local time."""
        return ()

    def proves_end(self, text: str, tables: Sequence[Series], largest: int | None) -> bool:
        """Whether its program ended by itself, by its output alone; else a report of an abort counts.

        ``tables``: none where some are missing; ``largest``: the last size (B), where it is known.
        """
        closed = bool(self.end) and f"\n{self.end}" in text
        return closed or (self.closing_line and bool(tables))

    # ---- outputs of others

    silent: ClassVar[Mapping[str, str]] = {}
    """Programs that measure nothing, each with what measures instead."""
    labels: ClassVar[Mapping[str, str]] = {}
    """The facts by which a drafted map labels its outputs."""
    only_imported: ClassVar[bool] = False
    """Whether no campaign runs its programs."""

    def facts(self, text: str) -> Mapping[str, str]:
        """What an output itself says of its job, as facts for the rules of a map."""
        return {}

    def names(self, text: str, program: str) -> tuple[str, str]:
        """Benchmark and program of an output, by its text and the program that its job script starts."""
        return program, program

    def doubt_of_end(
        self, facts: Mapping[str, str], arguments: Sequence[str] | None, tables: Iterable[Series]
    ) -> str:
        """Why an output may be cut; ``arguments``: None where they are unknown."""
        return ""

    def no_output(self, text: str) -> str:
        """What a text without a banner shows instead of an output; empty if it is not of this suite."""
        return ""

    # ---- what is compared

    latencies: ClassVar[str] = ""
    """Pattern of the names of series whose time is a latency, ranked from the smallest size on."""
    gathers: ClassVar[Mapping[str, str]] = {}
    """What readers call its gathers of equal blocks, by the names of their series."""
    peak: ClassVar[tuple[str, str] | None] = None
    """The column of a rate per process, and that of its fraction of the peak of a core."""
    options: ClassVar[tuple[str, ...]] = ()
    """Keys of an output's metadata that must be alike in all repeats of a case."""
    resolution: ClassVar[Mapping[str, float]] = {}
    """The step between neighbouring printed values of a column (SI); none: all digits are printed."""

    def operation(self, series: str, metadata: Mapping[str, str]) -> str:
        """The blocking MPI operation that a series times, such as ``Allgather``; empty if it is none.

        Sizes must be as `questions.guidelines.find` has them, and ``time_max`` that of the slowest rank.
        """
        return ""


class Request(NamedTuple):
    """One case as its suite sees it.

    ``parameters``: as in the campaign file, by name. ``files``: names of the input files that the campaign
    brings itself. ``memory``: of one node (B); None where it is unknown.
    ``cores``: physical ones of a node; likewise. ``time_limit``: of one run (s); 0 where it does not matter.
    ``gpus``: those of a node that its ranks share; 0 where the placement claims none.
    """

    program: str
    arguments: tuple[str, ...]
    parameters: Mapping[str, str]
    files: tuple[str, ...]
    nodes: int
    ranks_per_node: int
    memory: int | None = None
    cores: int | None = None
    time_limit: int = 0
    gpus: int = 0

    @property
    def ranks(self) -> int:
        """The number of ranks on all nodes."""
        return self.nodes * self.ranks_per_node


class Refusal(NamedTuple):
    """Why a request would fail; ``parameter``: the one at fault, else its arguments are."""

    message: str
    parameter: str = ""
    value: str = ""
    hint: str = ""
