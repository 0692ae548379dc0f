"""mpicampaign bench."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpicampaign.base.errors import Problem, UserError
from mpicampaign.base.files import same_text, write_whole
from mpicampaign.cli.options import add_names, add_verbose
from mpicampaign.cli.output import print_lines, say

if TYPE_CHECKING:
    from mpicampaign.jobs.plan import Plan
    from mpicampaign.site.bench_file import Bench
    from mpicampaign.site.facts import Site, SiteLibrary
    from mpicampaign.suites.room import NamedBenchmark
    from mpicampaign.suites.suite import Suite

EXAMPLES = (
    ("mpicampaign bench PingPong", "the placements of this machine, 6 repeats of each"),
    ("mpicampaign bench PingPong --placement SHM-1,TCP-loopback --repeats 10", "these two"),
    ("mpicampaign bench osu_latency -- -m 4096", "what follows -- are the benchmark's own arguments"),
    ("mpicampaign bench -- ./my_program input", "any program: its time to solution on a full node"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The benchmark, and how it is run."""
    name = "a benchmark of any suite, or a bundled kernel; without one, a program follows --"
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help=name)
    add_names(parser, "--placement", "in these placements (default: those that this machine supports)")
    repeats = "repeats of each placement (default: %(default)s)"
    parser.add_argument("--repeats", type=_repeats, default=6, metavar="N", help=repeats)
    add_verbose(parser, "show what the compiler prints, too")
    parser.usage = (
        "mpicampaign bench NAME [options] [-- ARGUMENTS]\n"
        "       mpicampaign bench [options] -- PROGRAM [ARGUMENTS]"
    )
    parser.set_defaults(passed_on=[])


def _repeats(text: str) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= 1000):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of repeats, from 1 to 1000")
    return int(text)


def run(options: argparse.Namespace) -> int:
    from mpicampaign.cli import run as run_command
    from mpicampaign.cli.parser import command_parser

    file = _campaign_file(_bench(options))
    call = command_parser().parse_args(["run", str(file), *["--verbose"] * options.verbose])
    status = run_command.run(call)
    print_lines(f"next: edit {file}, then: mpicampaign run {file}")
    return status


# ---- what is asked for


def _bench(options: argparse.Namespace) -> Bench:
    """The benchmark of the command line."""
    from mpicampaign.site.bench_file import Bench

    if not options.name and not options.passed_on:
        hint = "mpicampaign bench PingPong, or mpicampaign bench -- PROGRAM"
        raise UserError(Problem("bench: give a benchmark, or a program after --", hint=hint))
    name, suite, entry = _of_name(options) if options.name else _of_program(*options.passed_on)
    call = ["mpicampaign", "bench", *([options.name] if options.name else [])]
    call += ["--placement", ",".join(options.placement)] if options.placement else []
    call += ["--repeats", str(options.repeats)] if options.repeats != 6 else []
    call += ["--", *options.passed_on] if options.passed_on else []
    return Bench(name, suite, entry, call, options.repeats, options.placement)


def _of_name(options: argparse.Namespace) -> tuple[str, str, dict[str, Any]]:
    """Name, suite and keys of a benchmark of a suite."""
    from mpicampaign.suites.room import benchmark_named

    benchmark = benchmark_named(options.name)
    suite, arguments = benchmark.suite, list(options.passed_on)
    if not any(each.startswith("-") for each in arguments):
        arguments = [*suite.quick(benchmark.program).split(), *arguments]
    named = str(benchmark.entry.get("arguments", ""))  # IMB's programs take the names of benchmarks
    if named and named.casefold() not in map(str.casefold, arguments):
        arguments.append(named)
    entry = {} if benchmark.is_built_in else {"suite": suite.name, **benchmark.entry}
    provider = _provider(benchmark)
    if not benchmark.is_built_in or provider != benchmark.entry["provider"]:
        entry["provider"] = provider
    return benchmark.name, suite.name, _with_arguments(entry, arguments) | _problem_size(suite)


def _provider(benchmark: NamedBenchmark) -> str | dict[str, str]:
    """Where the program of a benchmark is on this machine."""
    kind, program = str(benchmark.entry["provider"]), benchmark.program
    if kind == "bundled" or (kind == "wheel" and (Path(sys.prefix) / "bin" / program).is_file()):
        return kind
    if path := shutil.which(program):
        return {"kind": "path", "location": str(Path(path).absolute())}
    got = f"to get {benchmark.suite.called}: {benchmark.suite.sources}"
    raise UserError(Problem(f"{program} is not on this machine's PATH", hint=got))


def _of_program(command: str, *arguments: str) -> tuple[str, str, dict[str, Any]]:
    """Name, suite and keys of a program with its arguments; a suite's program is read as such."""
    from mpicampaign.site.bench_file import OWN, TIME, plain_name
    from mpicampaign.suites import SUITES, suite_of

    _refuse_launcher(command, arguments)
    path = _executable(command)
    suite = suite_of(path.name) or OWN
    provider = {"kind": "path", "location": str(path)}
    entry: dict[str, Any] = {"suite": suite, "program": path.name, "provider": provider}
    if suite != OWN:
        return plain_name(path.name), suite, _with_arguments(entry, arguments) | _problem_size(SUITES[suite])
    # It starts in a folder of its own, to which the files among its arguments are copied.
    files = [each for each in arguments if not Path(each).is_absolute() and Path(each).is_file()]
    entry |= {"inputs": list(dict.fromkeys(files))} if files else {}
    entry = _with_arguments(entry, [Path(each).name if each in files else each for each in arguments])
    return plain_name(path.name), OWN, entry | {"metrics": TIME}


def _refuse_launcher(command: str, arguments: Sequence[str]) -> None:
    """Refuse ``mpirun -n 2 ./program``: each placement has a launch of its own."""
    from mpicampaign.mpis import launch_commands
    from mpicampaign.schedulers import batch_schedulers

    launchers = (*launch_commands(), *(scheduler.launcher for scheduler in batch_schedulers()))
    if Path(command).name not in launchers:
        return
    starts = (at for at, word in enumerate(arguments) if not word.startswith("-") and shutil.which(word))
    program = shlex.join(arguments[at:]) if (at := next(starts, None)) is not None else "PROGRAM"
    message = f"bench starts the ranks itself, as each placement says: give the program without {command}"
    hint = f"mpicampaign bench -- {program}"
    hint += f"; to see what this command does: mpicampaign prove -- {shlex.join([command, *arguments])}"
    raise UserError(Problem(message, hint=hint))


def _executable(command: str) -> Path:
    """The path of a program that is given by name or path."""
    path = shutil.which(os.path.expanduser(command))  # noqa: PTH111 - a Path would lose the ./
    if path:
        return Path(path).absolute()
    if Path(command).is_file():
        raise UserError(Problem("this file is not executable", command, hint=f"chmod +x {command}"))
    raise UserError(Problem(f"no program {command!r} is here or on the PATH"))


def _with_arguments(entry: dict[str, Any], arguments: Sequence[str]) -> dict[str, Any]:
    """With the arguments as one text, or as a list where one of them needs quotes."""
    plain = all(shlex.quote(each) == each for each in arguments)
    return entry | ({"arguments": " ".join(arguments) if plain else [*arguments]} if arguments else {})


def _problem_size(suite: Suite) -> dict[str, Any]:
    """The linear system of HPL and HPCC: that of the input file here, or a small one."""
    if "N" not in suite.parameters:
        return {}
    name = str(getattr(suite, "input_name", ""))
    return {"inputs": [name]} if Path(name).is_file() else {"parameters": {"N": 4000, "NB": 128}}


# ---- its campaign file


def _campaign_file(bench: Bench) -> Path:
    """Write the campaign file, unless it is there already; it never takes the place of another one."""
    from mpicampaign.base.places import results_folder, schema_line, work_beside
    from mpicampaign.site.bench_file import bench_text

    work_beside(Path(f"{bench.stem}.yaml"))
    site = _site_for(bench)
    for number in count(1):
        name = bench.stem if number == 1 else f"{bench.stem}-{number}"
        path, text = Path(f"{name}.yaml"), bench_text(bench, site, name)
        named = schema_line() + text
        if same_text(path, named) or same_text(path, text):  # of an earlier version
            say(f"{path}: unchanged")
            return path
        if not (path.exists() or (results_folder() / name).exists()):
            write_whole(path, named)
            say(f"{path}: written")
            return path
    raise AssertionError


def _site_for(bench: Bench) -> Site:
    """This machine, with the first MPI library that can start the program."""
    from mpicampaign.jobs.plan_text import no_runs_text, sources_text
    from mpicampaign.site.examine import examine_here

    site = examine_here()
    for other in _schedulers():
        say(f"warning: this measures {site.host} itself; for nodes of {other}: mpicampaign doctor")
    refused = None
    for library in _libraries(site):
        others = tuple(each for each in site.libraries if each != library)
        chosen = replace(site, libraries=(library, *others))
        plan = _planned(bench, chosen)
        if plan.runs:
            return chosen
        refused = refused or plan
    assert refused is not None
    raise UserError(Problem(no_runs_text(refused, site.host), hint="; ".join(sources_text(refused))))


def _libraries(site: Site) -> list[SiteLibrary]:
    """Those that the doctor finds, then any other on the PATH, then those of `make mpis`."""
    from mpicampaign.base.places import wheel_folder
    from mpicampaign.mpis import MPIS
    from mpicampaign.site.facts import SiteLibrary

    wheels = [each for each in MPIS.built_in() if each.wheel and wheel_folder(each.wheel).is_dir()]
    beside = [SiteLibrary(each.name, prefix="wheel") for each in wheels]
    known = [each for each in site.libraries if each.mpi]
    return [*known, *(SiteLibrary(each.name) for each in MPIS.built_in()), *beside]


def _planned(bench: Bench, site: Site) -> Plan:
    """The plan of the campaign file, from a trial copy; errors do not name the copy."""
    from mpicampaign.jobs.prepare import prepare
    from mpicampaign.site.bench_file import bench_text

    name = f"{bench.stem}-{os.getpid()}"
    trial = Path(f".{name}.yaml")
    try:
        write_whole(trial, bench_text(bench, site, name))
        return prepare(trial).plan
    except UserError as error:
        problems = [replace(each, file="", line=None) for each in error.problems]
        raise UserError(problems) from error
    finally:
        trial.unlink(missing_ok=True)


def _schedulers() -> list[str]:
    """The schedulers whose commands are here, outside of their allocations."""
    from mpicampaign.base.this_machine import allocation
    from mpicampaign.schedulers import batch_schedulers

    return [] if allocation() else [s.title for s in batch_schedulers() if shutil.which(s.submit[0])]
