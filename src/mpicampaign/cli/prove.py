"""mpicampaign prove."""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpicampaign.base.errors import Problem, UserError, did_you_mean
from mpicampaign.base.records import CONTRADICTED
from mpicampaign.cli.campaign_argument import check_there
from mpicampaign.cli.exit_status import DONE, FAILED, UNDECIDED
from mpicampaign.cli.options import add_json
from mpicampaign.cli.output import print_lines, say

if TYPE_CHECKING:
    from mpicampaign.campaign.model import Placement
    from mpicampaign.evidence.evidence import Evidence
    from mpicampaign.questions.proof.say import Shown
    from mpicampaign.run.pass_through import Passed

EXAMPLES = (
    (
        "mpicampaign prove -- mpirun -n 2 ./program input",
        "what its ranks were, and what carried their messages",
    ),
    (
        "mpicampaign prove --placement SHM-1 -- mpirun -n 2 ./program",
        "exit status 0: proved, 1: contradicted, 3: not proved",
    ),
    (
        "mpicampaign prove --install ~/bin",
        "the same as a shell file for job scripts: ~/bin/prove --write FILE -- …",
    ),
    ("mpicampaign prove --read FILE --placement TCP", "what that file shows, on any machine"),
)
CALL = "mpicampaign prove -- mpirun -n 2 ./program"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The label, and what to do instead of running a command."""
    label = "check this label: SHM-1, TCP, … (see the exit status)"
    parser.add_argument("--placement", default="", metavar="NAME", help=label)
    file = "campaign file with placements of its own"
    parser.add_argument("--campaign", dest="placements", type=Path, metavar="FILE", help=file)
    add_json(parser)
    parser.add_argument("--quiet", action="store_true", help="print nothing; the exit status says it")
    parser.add_argument("--write", type=Path, metavar="FILE", help="keep the evidence in this file")
    other = parser.add_mutually_exclusive_group()
    other.add_argument(
        "--read", type=Path, metavar="FILE", help="run nothing: show the evidence in this file"
    )
    install = "put the shell file and its library into this folder"
    other.add_argument("--install", type=Path, metavar="FOLDER", help=install)
    parser.usage = "mpicampaign prove [options] -- COMMAND [ARGUMENTS]"
    parser.set_defaults(passed_on=[])


def run(options: argparse.Namespace) -> int:
    if options.install and not (options.passed_on or options.placement or options.write):
        from mpicampaign.run.prove import install

        install(options.install)
        print_lines(f"written: {options.install}/prove, {options.install}/evidence.so")
        return DONE
    status, shown = _proved(options, out=1)
    tell = print_lines if options.read else say
    tell(*([] if options.quiet else shown.lines))
    return status


def as_data(options: argparse.Namespace) -> tuple[int, dict[str, Any]]:
    """The exit status, and the data of ``--json``; the command's standard output goes to standard error."""
    status, shown = _proved(options, out=2)
    return status, shown.data


def _proved(options: argparse.Namespace, out: int) -> tuple[int, Shown]:
    """The exit status, and what there is to say. ``out``: where the command's standard output goes."""
    from mpicampaign.evidence.proof import PROVED, command_of
    from mpicampaign.questions.proof.say import shown

    claim = _checked(options)
    if options.read:
        status, command = DONE, command_of(_evidence(options.read), claim)
    else:
        ran, evidence = _ran(options, out)
        status, command = ran.status, command_of(evidence, claim, ran.out or "", ran.err or "")
    proof = shown(command, options.placement)
    if options.placement:
        status = {PROVED: DONE, CONTRADICTED: FAILED}.get(proof.outcome, UNDECIDED)
    return status, proof


# ---- the call


def _checked(options: argparse.Namespace) -> dict[str, str]:
    """The claims of the label; all that is wrong with the call is reported at once."""
    problems, claim = [*_of_command(options)], {}
    try:
        claim = _claim(options)
    except UserError as error:
        problems += error.problems
    if problems:
        raise UserError(problems)
    return claim


def _of_command(options: argparse.Namespace) -> Iterator[Problem]:
    command = options.passed_on
    if options.install:
        yield Problem("prove: --install runs nothing: give it alone")
    elif options.read and (command or options.write):
        yield Problem("prove: --read runs nothing: give it without a command and --write")
    elif not options.read and not command:
        yield Problem("prove: give a command after --", hint=CALL)
    elif command and not shutil.which(command[0]):
        path = Path(command[0])
        if "/" in command[0]:
            what = "is not executable" if path.exists() else "is not there"
            what = "is a folder" if path.is_dir() else what
            yield Problem(f"prove: the command {what}", value=command[0])
        else:
            hint = "load the module that brings it, or give its path"
            yield Problem(f"prove: no command {command[0]!r} is on the PATH", hint=hint)
    if options.write and not options.write.parent.is_dir():
        yield Problem("there is no such folder", key="prove: --write", value=str(options.write.parent))
    if options.placements and not options.placement:
        yield Problem("prove: --campaign names placements: give one of them as --placement")


def _claim(options: argparse.Namespace) -> dict[str, str]:
    """What the label claims; nothing without one."""
    if not options.placement:
        return {}
    from mpicampaign.jobs.claim import placement_claim

    known = placements(options.placements)
    placement = known.get(options.placement)
    if placement is None:
        file, name = str(options.placements or ""), options.placement
        hint = did_you_mean(name, known)
        raise UserError(Problem("no such placement", file, key="--placement", value=name, hint=hint))
    return placement_claim(placement)


def placements(file: Path | None) -> Mapping[str, Placement]:
    """The placements of a campaign file, or the built-in ones."""
    from mpicampaign.base.keys import Values
    from mpicampaign.base.yaml_lines import read_yaml
    from mpicampaign.campaign.file import BUILTIN, load_campaign
    from mpicampaign.campaign.model import Placement

    if file:
        check_there(file)
        return load_campaign(file).placements
    return Values(read_yaml(BUILTIN)).table(Placement, ("placements",))


# ---- the command and its evidence


def _ran(options: argparse.Namespace, out: int) -> tuple[Passed, Evidence]:
    """Run the command; its evidence is kept where the call says so."""
    from mpicampaign.run.pass_through import pass_through
    from mpicampaign.run.prove import installed

    script, here = installed(), Path.cwd()
    shared = here if os.access(here, os.W_OK) else script.parent  # with the ranks of other hosts
    with tempfile.TemporaryDirectory(prefix=".prove-", dir=shared) as folder:
        file = _unused(options.write) if options.write else Path(folder, "evidence.txt")
        call = [str(script), "--quiet", "--write", str(file), "--", *options.passed_on]
        passed = pass_through(call, out)
        if not file.exists():  # it has said why
            raise UserError(Problem("prove: no evidence, so nothing is known about the command"))
        if options.write and not options.quiet:
            say(f"evidence: {file}")
        return passed, _evidence(file)


def _unused(file: Path) -> Path:
    """The file, or the first of FILE.2, FILE.3 … that is not there: evidence is never replaced."""
    numbered = (file.with_name(f"{file.name}.{number}") for number in count(2))
    return next(each for each in chain([file], numbered) if not each.exists())


def _evidence(file: Path) -> Evidence:
    """The evidence in a file."""
    from mpicampaign.evidence.evidence import HEADER, read_evidence

    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UserError(Problem(f"cannot be read: {error.strerror}", str(file))) from None
    evidence = read_evidence(text)
    if text.partition("\n")[0] != HEADER:
        message = f"not a file of evidence: its first line is not {HEADER!r}"
        hint = "'prove --write FILE -- COMMAND' writes such a file"
        raise UserError(Problem(message, str(file), 1, hint=hint))
    if not evidence.complete:
        message = "cut: its last line is not 'end of evidence'"
        raise UserError(Problem(message, str(file), hint="copy it again"))
    return evidence
