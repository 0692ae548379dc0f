"""Layouts of paths to import: what in them names a case, what its benchmark, and what a job or repeat."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from os.path import commonpath

from mpicampaign.base.grouping import grouped
from mpicampaign.imports.facts import differ
from mpicampaign.imports.files import folder_of, name_of

Facts = Mapping[str, str]
Piece = str | tuple[str, str, str]

# In a path: a number that tells no case from another, a time, the benchmark's name.
NUMBER, TIME, BENCHMARK = "\0", "\1", "\2"
MARKERS = {NUMBER: "[0-9]+", TIME: "[0-9][-_:T0-9]*", BENCHMARK: ""}
# Facts that distinguish placements.
_LARGE = 10**7  # no size of a problem
_TELLING = ("nodes", "transport", "gpus", "nccl", "buffers", "threads", "array")
_REPEAT = "(?:runs?|iter(?:ation)?|rep(?:eat|etition)?|trial|try|attempt|sample|slurm|r)"
_JOB = re.compile(  # or when it ran, or which repeat it is
    r"(?P<time>(?<![0-9])(?:19|20)[0-9]{2}-?[01][0-9]-?[0-3][0-9]"
    r"(?:[-_T]?[0-9]{2}[-:]?[0-9]{2}(?:[-:]?[0-9]{2})?)?(?![0-9]))"
    rf"|(?<![A-Za-z0-9])(?P<number>[0-9]{{5,}})|(?i:(?<![a-z])(?P<word>{_REPEAT}[-_. ]?)[0-9]+)"
)
# Numbers that tell cases apart, by what is before or behind them: np4, node3, v2, 4-nodes, 8GPUs, 64KiB, 4.1
_CASE = "np?|ppn|p|ranks?|proc(?:esse)?s?|cores?|tasks?|gpus?|g|threads?|t|hosts?|[a-z]*nodes?"
_CASE_BEFORE = re.compile(
    rf"(?i:(?:.*[^a-z])?(?:{_CASE}|size|compute|cn|nid|v|mpi|c(?:on)?fi?g|case|o(?:pt)?|level)[-_]?|.*(?:[0-9][._]|__|--))"
)
_CASE_AFTER = re.compile(rf"(?i:[-_]?(?:{_CASE}|[kmg](?:i?b)?)(?![a-z])|[._][0-9])")
_ENDING = r"(?:\.(?:out|log|txt|dat|stdout|output|res|results?))"
_PIECE = re.compile(
    rf"(?is)((?:(?!{_ENDING}+\Z)[-_. ])*)(.*?)([-_. ]*(?:(?<![a-z])(?:{_REPEAT}|job))?[-_. ]*{_ENDING}*)"
)


@dataclass
class Case:
    """An output, by what a rule for its layout needs.

    ``parts``: of each folder below the common one, and of the file's name: markers, and texts between them as
    a name with what is before and behind it. ``telling``: facts that tell it from others of the same names.
    ``spelt``: the benchmark's names.
    ``heading``: a pattern of a line above it; ``words``: what that line has of this output alone.
    """

    facts: Facts
    parts: tuple[tuple[Piece, ...], ...]
    spelt: tuple[str, ...] = ()
    telling: tuple[str, ...] = ()
    heading: str = ""
    words: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(piece[1] for part in self.parts for piece in part if isinstance(piece, tuple))

    @property
    def layout(self) -> tuple[object, ...]:
        """What outputs of one rule have in common."""
        shapes = [[_shape(piece) for piece in part] for part in self.parts]
        return str(shapes), self.telling, self.heading, bool(self.benchmark)

    @property
    def benchmark(self) -> str:
        return self.facts.get("benchmark", "")


def columns(alike: Sequence[Case]) -> list[tuple[str, ...]]:
    """The names at one place of a layout's paths, for each of its places."""
    return [*zip(*(case.names for case in alike), strict=True)]


def _shape(piece: Piece) -> object:
    return piece if isinstance(piece, str) else (piece[0], bool(piece[1]), piece[2])


def cases_of(outputs: Sequence[Facts]) -> list[Case]:
    """The outputs, with what tells them from one another."""
    top = len(common_folder(outputs))
    paths, spelt = zip(*_without_benchmarks(outputs, top), strict=True) if outputs else ((), ())
    marked = _without_counts(outputs, [path[top:] for path in paths])
    cases = [Case(facts, _pieces(path), of) for facts, path, of in zip(outputs, marked, spelt, strict=True)]
    for alike in grouped(cases, lambda case: (case.facts["path"], case.benchmark)).values():
        if differ([case.facts.get("heading", "") for case in alike]):
            _tell_apart(alike)
    _add_telling(cases)
    return cases


def _add_telling(cases: Sequence[Case]) -> None:
    """Add facts that differ between outputs of the same names to all of their layout that have them."""
    for fact in _TELLING:
        alike = grouped(cases, lambda case: (case.parts, case.benchmark, case.words, case.telling)).values()
        differ = {of[0].layout for of in alike if len({case.facts.get(fact) for case in of}) > 1}
        for case in [case for case in cases if case.layout in differ and fact in case.facts]:
            case.telling += (fact,)


def common_folder(outputs: Sequence[Facts]) -> str:
    """The folder that has all of the outputs, with the slash behind it."""
    common = commonpath([folder_of(facts["path"]) for facts in outputs]) if outputs else ""
    return f"{common}/" if common else ""


def _without_benchmarks(outputs: Sequence[Facts], top: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The paths with `BENCHMARK` for the benchmark's name, where a folder or file has no other's outputs."""
    benchmarks: dict[str, set[str]] = {}
    for facts in outputs:
        for prefix in accumulate(facts["path"].split("/"), "{}/{}".format):
            benchmarks.setdefault(prefix, set()).add(facts.get("benchmark", ""))
    for facts in outputs:
        name = re.sub("^(?:osu|imb)_|_perf$|[-_]", "", facts.get("benchmark", "").lower())
        spelt = "[-_]?".join(map(re.escape, name)) or "(?!)"
        called = re.compile(rf"(?i)(?<![a-z0-9])(?:(?:osu|imb|nccl|rccl)[-_])?{spelt}(?:[-_]perf)?(?![a-z])")
        parts = facts["path"].split("/")
        prefixes = accumulate(parts, "{}/{}".format)
        alone = [len(prefix) > top and len(benchmarks[prefix]) == 1 for prefix in prefixes]
        names = [part if only else "" for part, only in zip(parts, alone, strict=True)]
        marked = (called.sub(BENCHMARK, name) or part for part, name in zip(parts, names, strict=True))
        yield "/".join(marked), tuple(called.findall("/".join(names)))


def _without_counts(outputs: Sequence[Facts], paths: Sequence[str]) -> list[str]:
    """The paths with `NUMBER` for numbers of jobs and repeats, and for times."""
    jobs = [facts.get("job", "").partition("_")[0] for facts in outputs]
    marked = [
        _JOB.sub(_mark, re.sub(rf"(?<![0-9]){re.escape(job)}(?![0-9])", NUMBER, path) if job[2:] else path)
        for job, path in zip(jobs, paths, strict=True)
    ]
    for depth in range(max((path.count("/") + 1 for path in marked), default=0)):
        places = [_last_number(path, depth) for path in marked]
        numbers: dict[tuple[str, str], set[str]] = {}
        for before, number, after in filter(None, places):
            numbers.setdefault((before, after), set()).add(number)
        marked = [
            f"{place[0]}{NUMBER}{place[2]}{path[len(''.join(place)) :]}"
            if place and _counts(place[0], place[2], numbers[place[0], place[2]])
            else path
            for place, path in zip(places, marked, strict=True)
        ]
    return marked


def _mark(match: re.Match[str]) -> str:
    """A marker for the number of a job or repeat; a round number may be a size."""
    if match["time"]:
        return TIME
    number = int(match["number"] or 3)
    is_size = (number % 1000 == 0 and number < _LARGE) or number & (number - 1) == 0
    return match[0] if is_size else f"{match['word'] or ''}{NUMBER}"


def _last_number(path: str, depth: int) -> tuple[str, str, str] | None:
    """The last number in a folder's or file's name, with the path before it and the rest of the name."""
    match = re.match(rf"((?:[^/]*/){{{depth}}}(?:[^/]*[^/0-9])?)([0-9]+)([^/0-9]*)(?=/|$)", path)
    return (match[1], match[2], match[3]) if match else None


def _counts(before: str, after: str, texts: Collection[str]) -> bool:
    """Whether numbers at one place count repeats from 0 or 1, or are those of jobs."""
    numbers = {int(text) for text in texts}
    if len(numbers) < 2 or _CASE_BEFORE.fullmatch(name_of(before)) or _CASE_AFTER.match(after):
        return False
    of_jobs = {len(text) for text in texts} == {4} and any(number % 8 and number % 10 for number in numbers)
    return of_jobs or (min(numbers) <= 1 and max(numbers) - min(numbers) + 1 == len(numbers))


def _pieces(path: str) -> tuple[tuple[Piece, ...], ...]:
    """Of each folder and of the file's name: markers, and names with what is before and behind them."""
    texts = ([text for text in re.split(f"([{''.join(MARKERS)}])", part) if text] for part in path.split("/"))
    return tuple(
        tuple(text if text in MARKERS else _PIECE.fullmatch(text).groups() for text in part)  # type: ignore
        for part in texts
    )


def _tell_apart(alike: Sequence[Case]) -> None:
    """Tell outputs of one file apart by a line above them that differs in some words, else by lines."""
    headings = [case.facts.get("heading", "").split("\n") for case in alike]
    for place in range(1, min(map(len, headings)) + 1) if [""] not in headings else ():
        words = [heading[-place].split() for heading in headings]
        if len({*map(len, words)}) > 1:
            words = [[heading[-place]] for heading in headings]
        columns_of = [*zip(*words, strict=True)]
        differing = [number for number, texts in enumerate(columns_of) if len({*texts}) > 1]
        if not differing:
            continue
        ends = {number: _common_domain(columns_of[number]) for number in differing}
        line = r"[ \t]+".join(
            rf"(?P<word{number}>\S.*?){re.escape(ends[number])}" if number in ends else re.escape(texts[0])
            for number, texts in enumerate(columns_of)
        )
        for case, of_line in zip(alike, words, strict=True):
            case.heading = rf"(?m:^){line}" + r"(?:\n.*)" * (place - 1) + r"\Z"
            case.words = tuple(of_line[number].removesuffix(ends[number]) for number in differing)
        return
    for case in alike:
        case.telling, case.words = ("lines",), (case.facts["lines"],)


def _common_domain(texts: Sequence[str]) -> str:
    """What follows the first dot of host names, where it is the same in all."""
    domains = {text.partition(".")[2] for text in texts}
    return f".{domains.pop()}" if len(domains) == 1 and "" not in domains else ""
