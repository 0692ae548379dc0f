"""mpicampaign try."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpicampaign.base.errors import Problem, UserError, did_you_mean
from mpicampaign.base.text import pad
from mpicampaign.cli.campaign_argument import check_there
from mpicampaign.cli.exit_status import DONE, FAILED
from mpicampaign.cli.output import print_lines

if TYPE_CHECKING:
    from mpicampaign.campaign.model import Benchmark, Campaign
    from mpicampaign.suites.own import Match

    Lines = Sequence[tuple[int, str]]

OWN = "own"
WIDTH = 60  # columns of a line of the output
EXAMPLES = (
    (
        "mpicampaign try mine.yaml --benchmark solver sample.out",
        "the lines that each pattern finds, their values, and what finds nothing",
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The campaign, its benchmark, and an output of its program."""
    parser.add_argument("campaign", type=Path, metavar="CAMPAIGN", help="campaign file")
    parser.add_argument("output", type=Path, metavar="FILE", help="an output of the program")
    parser.add_argument(
        "--benchmark", default="", metavar="NAME", help="whose patterns to try (default: the only one)"
    )


def run(options: argparse.Namespace) -> int:
    from mpicampaign.base.run_files import part_of, text_of
    from mpicampaign.campaign.file import load_campaign
    from mpicampaign.jobs.declaration import reading_of
    from mpicampaign.suites.own import lines_of
    from mpicampaign.suites.reading import OutputError

    check_there(options.campaign)
    reading = reading_of(_benchmark(load_campaign(options.campaign), options.benchmark))
    try:
        output = part_of(options.output, "output") or options.output.read_bytes()
        lines = lines_of(text_of(output))
    except OSError as error:
        raise UserError(Problem(f"cannot be read: {error.strerror}", str(options.output))) from None
    except OutputError as error:
        raise UserError(Problem(str(error), str(options.output))) from None
    matches, faults = _read(lines, reading)
    wholeness = list(_whole(output, reading))
    print_lines(*_matching(lines, reading, matches), *faults, *(line for line, _ in wholeness))
    return FAILED if faults or not all(good for _, good in wholeness) else DONE


def _benchmark(campaign: Campaign, wanted: str) -> Benchmark:
    own_benchmarks = {
        name: benchmark for name, benchmark in campaign.benchmarks.items() if benchmark.suite == OWN
    }
    if wanted in own_benchmarks or (len(own_benchmarks) == 1 and not wanted):
        return own_benchmarks[wanted or next(iter(own_benchmarks))]
    if not own_benchmarks:
        raise UserError(Problem("no benchmark of this campaign is of suite own", campaign.file))
    message = f"no benchmark of suite own is called {wanted!r}" if wanted else "it has several of suite own"
    hint = (
        did_you_mean(wanted, list(own_benchmarks)) if wanted else f"--benchmark {' or '.join(own_benchmarks)}"
    )
    raise UserError(Problem(message, campaign.file, key="--benchmark", hint=hint))


def _read(lines: Lines, reading: Mapping[str, Any]) -> tuple[dict[str, list[Match]], list[str]]:
    """As a run is read: the matches of each metric that count, and why a run would have no value."""
    from mpicampaign.suites import UnreadError
    from mpicampaign.suites.aborts import abort_in
    from mpicampaign.suites.own import matches_of, searched_in

    matches: dict[str, list[Match]] = {}
    abort = "" if reading["whole"] else abort_in("\n".join(line for _, line in lines))
    faults = [abort] if abort else []
    for title, about in searched_in(reading).items():
        try:
            matches[title] = matches_of(title, about, lines)
        except UnreadError as error:
            faults.append(str(error))
    return matches, faults


def _matching(
    lines: Lines, reading: Mapping[str, Any], counting: Mapping[str, Sequence[Match]]
) -> Iterator[str]:
    """Each line that a pattern matches, with its number, the metric and the value as tables show it."""
    from mpicampaign.base.yaml_lines import printable
    from mpicampaign.suites.own import searched_in

    for number, line in lines:
        for title, about in searched_in(reading).items():
            if value := _value(title, about, number, line):
                counts = title not in counting or number in {match.line for match in counting[title]}
                other = "" if counts else f", does not count (take: {about['take']})"
                yield f"{number:>6}  {pad(printable(line.strip()), WIDTH)}  {title}{value}{other}"


def _value(title: str, about: Mapping[str, str], number: int, line: str) -> str:
    """`` at 8 B: 0.44 µs``; empty where the pattern does not match."""
    from mpicampaign.base.dimension import own_dimension
    from mpicampaign.base.units import format_size
    from mpicampaign.show.view import quantity
    from mpicampaign.suites import UnreadError
    from mpicampaign.suites.own import match_in

    try:
        match = match_in(title, about, number, line)
    except UnreadError:
        return ": not a value"
    if not match:
        return ""
    size = "" if match.size is None else f" at {format_size(match.size)}"
    return f"{size}: {quantity(match.value, own_dimension(about['unit'], about['better']))}"


def _whole(output: bytes, reading: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """What ``whole`` and ``refused`` find, and whether that is as it should be."""
    from mpicampaign.collect.whole_output import first_line

    wanted = [("whole", pattern) for pattern in reading["whole"]]
    wanted += [("refused", reading["refused"])] if reading["refused"] else []
    for key, pattern in wanted:
        line = first_line(pattern, output)
        where = f"line {line.number} matches" if line else "no line matches"
        yield f"{key}: {where} {pattern!r}", bool(line) == (key == "whole")
