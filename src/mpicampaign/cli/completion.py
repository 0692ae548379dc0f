"""mpicampaign completion, and the answers to a shell that completes a command line (argcomplete)."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mpicampaign.cli.campaign_argument import CAMPAIGN
from mpicampaign.cli.exit_status import DONE

SHELLS = ("bash", "zsh", "fish")
_SECTIONS = {  # of the campaign file, by the options that take their names
    "--placement": "placements",
    "--again": "placements",
    "--benchmark": "benchmarks",
    "--host-group": "host_groups",
    "--system": "systems",
}
EXAMPLES = (
    ('eval "$(mpicampaign completion bash)"', "in ~/.bashrc; zsh in ~/.zshrc"),
    ("mpicampaign completion fish > ~/.config/fish/completions/mpicampaign.fish", "for fish"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The shell."""
    parser.add_argument("shell", choices=SHELLS, help="the script is for this shell")


def run(options: argparse.Namespace) -> int:
    from argcomplete.shell_integration import shellcode

    print(shellcode(["mpicampaign"], shell=options.shell))
    return DONE


def complete() -> None:
    """Answer the shell, and end this process."""
    from argcomplete import autocomplete
    from argcomplete.completers import FilesCompleter

    from mpicampaign.cli.parser import command_parser, subparsers

    parser = command_parser()
    words = os.environ["COMP_LINE"].split()
    if command := subparsers(parser).get(words[1] if len(words) > 1 else ""):
        command.load_arguments()
        for action in command._actions:
            for option in (*action.option_strings, action.dest):
                if option in _SECTIONS or (option, words[1]) == ("name", "bench"):
                    action.completer = _Names(option, words)  # type: ignore[attr-defined]
                elif option == "campaign":
                    action.completer = FilesCompleter((".yaml", ".yml"))  # type: ignore[attr-defined]
    autocomplete(parser, always_complete_options=False)


class _Names:
    """Completes names, the last one of several after a comma."""

    def __init__(self, option: str, words: Sequence[str]) -> None:
        self.option, self.words = option, words

    def __call__(self, prefix: str, **_: Any) -> list[str]:
        before, comma, _last = prefix.rpartition(",")
        names = _of_bench(self.option) if self.words[1] == "bench" else _of_file(self.option, self.words)
        return [f"{before}{comma}{name}" for name in names]


def _of_bench(option: str) -> list[str]:
    """What is built in: bench reads no campaign file."""
    from mpicampaign.campaign.file import built_in
    from mpicampaign.suites.room import names

    return names() if option == "name" else list(built_in().data[_SECTIONS[option]])


def _of_file(option: str, words: Sequence[str]) -> list[str]:
    """What the campaign file of the line defines."""
    from mpicampaign.campaign.file import read_with_includes

    files = [Path(word) for word in words if word.endswith((".yaml", ".yml"))]
    entries = read_with_includes(files[0] if files else CAMPAIGN).data.get(_SECTIONS[option])
    return list(entries) if isinstance(entries, dict) else []
