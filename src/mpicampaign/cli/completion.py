"""mpicampaign completion, and the answers to a shell that completes a command line (argcomplete)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpicampaign.cli.campaign_argument import CAMPAIGN
from mpicampaign.cli.exit_status import DONE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

SHELLS = ("bash", "zsh", "fish")
_SECTIONS = {  # of the campaign file, by the options that take their names
    "--placement": "placements",
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
                if option in _SECTIONS:
                    action.completer = _Names(_SECTIONS[option], words)  # type: ignore[attr-defined]
                elif option == "campaign":
                    action.completer = FilesCompleter((".yaml", ".yml"))  # type: ignore[attr-defined]
    autocomplete(parser, always_complete_options=False)


class _Names:
    """Completes names that the campaign file of the line defines, the last one of several after a comma."""

    def __init__(self, section: str, words: Sequence[str]) -> None:
        files = [Path(word) for word in words if word.endswith((".yaml", ".yml"))]
        self.section, self.file = section, files[0] if files else CAMPAIGN

    def __call__(self, prefix: str, **_: Any) -> list[str]:
        from mpicampaign.campaign.file import read_with_includes

        before, comma, _last = prefix.rpartition(",")
        entries = read_with_includes(self.file).data.get(self.section)
        return [f"{before}{comma}{name}" for name in entries] if isinstance(entries, dict) else []
