"""mpicampaign completion, and the answers to a shell that completes a command line (argcomplete)."""

from __future__ import annotations

import argparse
import os

from mpicampaign.cli.exit_status import DONE

SHELLS = ("bash", "zsh", "fish")
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
            if action.dest == "campaign":
                action.completer = FilesCompleter((".yaml", ".yml"))  # type: ignore[attr-defined]
    autocomplete(parser, always_complete_options=False)
