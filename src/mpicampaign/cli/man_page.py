"""The manual page, made from the parser. ``python -m mpicampaign.cli.man_page`` prints it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from mpicampaign import __version__
from mpicampaign.cli.exit_status import MEANINGS
from mpicampaign.cli.parser import COMMANDS, GROUPS, SUMMARY, _Subcommand, command_parser, subparsers

_SPECIAL = {  # characters that roff would act on, or print as others
    "\\": r"\e",
    "-": r"\-",
    "'": r"\(aq",
    '"': r"\(dq",
    "`": r"\(ga",
    "^": r"\(ha",
    "~": r"\(ti",
}
_DESCRIPTION = (
    "A campaign file names systems, host groups, placements of ranks, and benchmarks. mpicampaign turns it "
    "into job scripts for a scheduler or this machine, runs them, and makes tables, figures and a report. "
    "FILE is campaign.yaml by default. Separate names by commas."
)
_FILES = {
    "campaign.yaml": "the default campaign file",
    "results/CAMPAIGN/report.html": "the report; selected/report.html: that of the last selection of runs",
    "results/CAMPAIGN/runs/": "job scripts, raw outputs and evidence of each run",
}


def man_page() -> str:
    """The page as roff for man(7), in ASCII."""
    parsers = subparsers(command_parser())
    lines = [
        f'.TH MPICAMPAIGN 1 "" "mpicampaign {__version__}" "User Commands"',
        *(".SH NAME", f"mpicampaign \\- {_roff('compare MPI placements, fabrics, libraries and clusters')}"),
        *(".SH SYNOPSIS", ".B mpicampaign", r"\fICOMMAND\fR [\fIFILE\fR] [\fIoptions\fR]"),
        *(".SH DESCRIPTION", _roff(" ".join(SUMMARY.split())), _roff(_DESCRIPTION)),
    ]
    for title, commands in GROUPS.items():
        lines.append(f".SH {_roff(title.upper())}")
        for name in commands:
            lines += _command(name, parsers[name])
    lines.append(".SH EXIT STATUS")
    for status, meaning in MEANINGS.items():
        lines += [".TP", f".B {status}", _roff(meaning)]
    lines.append(".SH FILES")
    for path, about in _FILES.items():
        lines += [".TP", f".I {_roff(path)}", _roff(about)]
    return "\n".join(lines) + "\n"


def _command(name: str, parser: _Subcommand) -> Iterator[str]:
    """One subcommand: what it does, its arguments, and examples."""
    module = parser.load_arguments()
    yield f".SS {name}"
    yield _roff(f"{COMMANDS[name]}.")
    for action in parser._actions:
        if action.help and action.help != argparse.SUPPRESS and not isinstance(action, argparse._HelpAction):
            text = action.help % {"default": action.default, "prog": "mpicampaign"}
            yield from (".TP", _argument(action), _roff(text))
    for command, effect in module.EXAMPLES:
        yield from (".PP", rf"\fB{_roff(command)}\fR", ".br", _roff(effect))


def _argument(action: argparse.Action) -> str:
    r"""``\fB--option\fR \fINAME\fR``."""
    value = action.metavar or (action.dest.upper() if action.nargs != 0 else "")
    if action.choices and not action.metavar:
        value = "|".join(map(str, action.choices))
    values = " ".join(value) if isinstance(value, tuple) else value
    names = ", ".join(rf"\fB{_roff(name)}\fR" for name in action.option_strings)
    return " ".join(part for part in (names, rf"\fI{_roff(values)}\fR" if values else "") if part)


def _roff(text: str) -> str:
    """Text with nothing in it that roff would act on."""
    safe = "".join(map(_character, text))
    return rf"\&{safe}" if safe.startswith(".") else safe


def _character(character: str) -> str:
    return _SPECIAL.get(character) or (character if character.isascii() else f"\\[u{ord(character):04X}]")


if __name__ == "__main__":
    sys.stdout.write(man_page())
