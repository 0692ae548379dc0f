"""The room of suites: those of this folder and of other packages, their benchmarks and programs by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from typing import Any, NamedTuple

from mpicampaign.base.errors import Problem, UserError, did_you_mean
from mpicampaign.base.registry import Registry
from mpicampaign.suites.aborts import aborted, is_aborted
from mpicampaign.suites.reading import OutputError, ParsedOutput, looks_like_row
from mpicampaign.suites.suite import Sends, Suite

SUITES = Registry("mpicampaign.suites", "SUITE", Suite)
_MOST_NAMES = 5  # in a hint
_NEXT_COMMAND = re.compile(r"\+{1,9} \S")  # as a shell with -x prints it once the command above has ended


def sends(suite: str, benchmark: str) -> Sends | None:
    """Who sends to whom in a benchmark, by the name of its series; None where that is unknown.

    ``suite``: empty where evidence does not name it. Series of different suites have different names.
    """
    known = [SUITES[suite]] if suite in SUITES else SUITES.values()
    return next((suite.sends[benchmark] for suite in known if benchmark in suite.sends), None)


def is_baseline(suite: str, series: str) -> bool:
    """Whether other series of the same run are compared with this one."""
    known = SUITES.get(suite)
    sent = known.sends.values() if known else ()
    return any(sender.useful is not None and sender.useful.baseline == series for sender in sent)


def printed_resolution(suite: str, column: str) -> float:
    """The step between neighbouring printed values of a column (SI); 0 where all digits are printed."""
    known = SUITES.get(suite)
    return known.resolution.get(column, 0.0) if known else 0.0


def benchmarks(named: Iterable[str] = ()) -> dict[str, dict[str, object]]:
    """The benchmarks that a campaign file may use, override or add to, by name.

    Those of other packages are among them only where the file names (``named``) one that is not built in.
    """
    built_in = _benchmarks_of(SUITES.built_in())
    return built_in if built_in.keys() >= set(named) else _benchmarks_of(SUITES.values())


def _benchmarks_of(suites: Iterable[Suite]) -> dict[str, dict[str, object]]:
    return {
        name: {"suite": suite.name, **entry} for suite in suites for name, entry in suite.benchmarks.items()
    }


def program_of(token: str) -> str:
    """The program of a suite that a token of a command line names, by the last part of its path; or empty."""
    match = _programs().search(token)
    return match[1] if match else ""


def suite_of(program: str) -> str:
    """The suite of a program, by its name; empty where there is none."""
    of_name = (suite.name for suite in SUITES.values() if re.fullmatch(suite.programs, program))
    return next(of_name, "") if program else ""


def program_names() -> str:
    """The pattern of the names of all programs."""
    return "|".join(suite.programs for suite in SUITES.values() if suite.programs)


@cache
def _programs() -> re.Pattern[str]:
    return re.compile(rf"(?:^|/)({program_names()})$")


class NamedBenchmark(NamedTuple):
    """A benchmark: its name, its suite, and its keys in a campaign file."""

    name: str
    suite: Suite
    entry: Mapping[str, Any]

    @property
    def is_built_in(self) -> bool:
        """Whether a campaign file may name it without defining it."""
        return self.name in self.suite.benchmarks

    @property
    def program(self) -> str:
        return str(self.entry["program"])


def benchmark_named(name: str) -> NamedBenchmark:
    """The benchmark of a name.

    Raises
    ------
    UserError
        for an unknown name, with near ones.
    """
    for named in _all_named():
        if named.name == name:
            return named
    raise UserError(Problem(f"no benchmark {name!r}", hint=_near(name, names())))


def names() -> list[str]:
    """The names of all benchmarks, and of programs that hold several."""
    return list(dict.fromkeys(named.name for named in _all_named()))


def _all_named() -> Iterator[NamedBenchmark]:
    for suite in SUITES.values():
        for name, entry in suite.offers():
            yield NamedBenchmark(name, suite, entry)


def _near(name: str, known: Iterable[str]) -> str:
    """Names that hold this one, or are like it; how to run a program of one's own."""
    plain = {word.casefold(): word for word in sorted(known)}
    alike = get_close_matches(name.casefold(), plain, _MOST_NAMES)
    near = list(
        dict.fromkeys(plain[word] for word in [*alike, *plain] if word in alike or name.casefold() in word)
    )
    meant = f"near names: {', '.join(near[:_MOST_NAMES])}. " if near else ""
    return f"{meant}A program of your own: mpicampaign bench -- {name}"


def parse(
    suite: str,
    text: str,
    expected_max: int | None = None,
    reading: Mapping[str, Any] | None = None,
    *,
    in_part: bool = False,
    ended: bool = False,
    reported: str = "",
) -> ParsedOutput:
    """Read the output of one program of a suite.

    ``reading``: how outputs of users' own programs are read. ``in_part``: of an output that lacks something,
    what proves itself is read.

    ``expected_max`` is the largest message size (B) that was asked for. Where a suite prints no closing
    line, only this shows a cut between two lines; for others it is one more check.

    What the output, or others (``reported``), tell of an abort is what it lacks, unless it is known to have
    ``ended`` or `proves_end`: then another command was aborted.

    Raises
    ------
    OutputError
        when the output is incomplete, contradicts itself, or is not an output of that suite.
    """
    known = SUITES.get(suite)
    if known is None:
        raise OutputError(f"no parser for suite {suite!r}; {did_you_mean(suite, list(SUITES))}")
    parsed = _read(known, text, reading)
    tables = () if isinstance(parsed, OutputError) or parsed.lacks else parsed.series
    if not ended and not known.proves_end(text, tables, expected_max):
        abort, above = _abort(known, text)
        if abort and not known.closing_line:  # launchers print what looks like rows
            parsed = _read(known, above, reading)
        parsed = _lacking(parsed, abort or reported)
    if isinstance(parsed, OutputError):
        raise parsed
    if parsed.lacks and not (in_part and parsed.series):
        raise OutputError(parsed.lacks)
    if expected_max is not None and not in_part:
        _check_largest_size(parsed, expected_max)
    return parsed


def _read(suite: Suite, text: str, reading: Mapping[str, Any] | None) -> ParsedOutput | OutputError:
    try:
        return suite.parse_by(text, reading) if reading else suite.parse(text)
    except OutputError as error:
        return error


def _lacking(parsed: ParsedOutput | OutputError, reason: str) -> ParsedOutput | OutputError:
    """The output, or why it is refused, with one more reason, if there is one."""
    if not reason:
        return parsed
    if isinstance(parsed, OutputError):
        return OutputError(f"{parsed}; {reason}")
    return replace(parsed, lacks="; ".join(filter(None, (parsed.lacks, reason))))


def _abort(suite: Suite, text: str) -> tuple[str, str]:
    """What is reported between an output's title and the next command of a shell's trace; the text above."""
    lines = text.split("\n")
    title = next((place for place, line in enumerate(lines) if suite.banner.line.match(line)), 0)
    rows = [place for place, line in enumerate(lines) if looks_like_row(line) and not is_aborted(line)]
    below = range(max([title, *rows]) + 1, len(lines))
    end = next((place for place in below if _NEXT_COMMAND.match(lines[place])), len(lines))
    place = next((place for place in range(title, end) if is_aborted(lines[place])), -1)
    return (aborted(lines[place], place + 1), "\n".join([*lines[:place], ""])) if place >= 0 else ("", text)


def _check_largest_size(parsed: ParsedOutput, expected: int) -> None:
    sized = [series for series in parsed.series if "size" in series.columns]
    for series in sized:
        largest = max((size for size in series.columns["size"] if size is not None), default=0)
        if largest != expected:
            raise OutputError(f"{series.label} ends at {largest:.0f} B; {expected} B was asked for")
