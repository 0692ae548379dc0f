"""The manual page, made from the parser. ``python -m mpicampaign.cli.man_page`` prints it."""

from __future__ import annotations

import sys
from argparse import RawDescriptionHelpFormatter
from functools import partial

from mpicampaign import __version__
from mpicampaign.cli.exit_status import MEANINGS
from mpicampaign.cli.parser import GROUPS, SUMMARY, command_parser, subparsers

_SPECIAL = {  # characters that roff would act on, or print as others
    "\\": r"\e",
    "-": r"\-",
    "'": r"\(aq",
    '"': r"\(dq",
    "`": r"\(ga",
    "^": r"\(ha",
    "~": r"\(ti",
}
_WIDTH = 76  # columns of the help of a command
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
    """The page as roff for man(7), in ASCII: the help of each command, as it is printed."""
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
            parser = parsers[name]
            parser.load_arguments()
            parser.formatter_class = partial(RawDescriptionHelpFormatter, width=_WIDTH)
            lines += [f".SS {name}", ".nf", *map(_roff, parser.format_help().splitlines()), ".fi"]
    lines.append(".SH EXIT STATUS")
    for status, meaning in MEANINGS.items():
        lines += [".TP", f".B {status}", _roff(meaning)]
    lines.append(".SH FILES")
    for path, about in _FILES.items():
        lines += [".TP", f".I {_roff(path)}", _roff(about)]
    return "\n".join(lines) + "\n"


def _roff(text: str) -> str:
    """Text with nothing in it that roff would act on."""
    safe = "".join(map(_character, text))
    return rf"\&{safe}" if safe.startswith(".") else safe


def _character(character: str) -> str:
    return _SPECIAL.get(character) or (character if character.isascii() else f"\\[u{ord(character):04X}]")


if __name__ == "__main__":
    sys.stdout.write(man_page())
