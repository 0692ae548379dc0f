"""The parser of the command line: subcommands by what people do, help with examples, short errors."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword
from types import ModuleType
from typing import Any, NoReturn

from mpicampaign import __version__
from mpicampaign.base.errors import Problem, UserError, suggestion
from mpicampaign.base.places import shipped, work_beside
from mpicampaign.cli.campaign_argument import CAMPAIGN, name_campaign
from mpicampaign.cli.exit_status import FAILED, INTERRUPTED, TERMINATED, USER_ERROR
from mpicampaign.cli.options import LIST

SUMMARY = """\
Finds out which MPI placement, fabric, library or cluster is faster, by how much,
and whether the difference is real."""
GROUPS = {
    "set up": {
        "init": "prepare this folder: campaign.yaml, and files for Snakemake",
        "doctor": "examine a cluster: scheduler, nodes, networks, MPI; write site.yaml",
        "check": "report all errors in a campaign file at once",
        "try": "show what the patterns of a program of your own find in an output",
        "plan": "show the matrix of cases, and the node-hours they may take",
    },
    "run": {
        "bench": "run one benchmark or program on this machine, without a campaign file",
        "prove": "run any command, and prove where its ranks ran and over what",
        "run": "make the runs that have no result, then tables and report",
        "render": "write the job scripts; submit nothing",
        "build": "build the bundled kernels",
        "status": "show which runs are queued, running, finished, failed, and why",
        "cancel": "cancel the campaign's jobs in the queue",
    },
    "look at results": {
        "report": "write records, tables, figures and report of the results so far",
        "tables": "print the results, or write them for other programs",
        "compare": "what changed: before and now, between dates, campaigns, bundles",
        "judge": "check the results against the campaign's limits",
        "history": "show series, changes over time, and their causes",
    },
    "share": {
        "import": "add outputs made elsewhere: IMB, OSU, HPL, nccl-tests, STREAM, …",
        "bundle": "pack a campaign's results into one checksummed file",
        "merge": "add bundles of other sites",
    },
    "automate": {
        "schedule": "repeat the campaign by cron or scrontab",
        "tick": "make the runs that the schedule asks for now (called by cron)",
        "completion": "print the shell's completion script: bash, zsh, fish",
    },
}
COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}
_FILE = "FILE is the campaign file (default: campaign.yaml)."
_STATUS = (
    f"exit status: {FAILED} something failed, {USER_ERROR} error in the call or a file, "
    f"{INTERRUPTED} Ctrl-C, {TERMINATED} SIGTERM"
)


def command_parser() -> argparse.ArgumentParser:
    """The parser; a subcommand's own arguments are added when it is called, or by `load_arguments`."""
    parser = _Parser(prog="mpicampaign", description=SUMMARY)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.add_argument("--snakefile", action=_PrintSnakefile, nargs=0)
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Subcommand)
    for name, summary in COMMANDS.items():
        commands.add_parser(name, help=summary).set_defaults(command=name)
    return parser


class _PrintSnakefile(argparse.Action):
    """Prints the path for ``snakemake -s``, whole: an action for versions would wrap it."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        print(shipped("Snakefile"))
        parser.exit()


def subparsers(parser: argparse.ArgumentParser) -> dict[str, _Subcommand]:
    """The parsers of all subcommands by name."""
    [action] = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(action.choices)


class _Parser(argparse.ArgumentParser):
    """The parser of ``mpicampaign`` itself."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        given = list(sys.argv[1:] if args is None else args) or ["--help"]
        first = given[0]
        if first and not first.startswith("-") and first not in COMMANDS:
            hint = suggestion(first, COMMANDS) or "mpicampaign --help lists them"
            raise UserError(Problem(f"no subcommand {first!r}", hint=hint))
        if first.startswith("-") and first not in self._option_string_actions:
            hint = suggestion(first, self._option_string_actions) or "options follow the subcommand"
            raise UserError(Problem(f"no option {first}", hint=hint))
        return super().parse_known_args(given, namespace)

    def format_help(self) -> str:
        lines = ["usage: mpicampaign COMMAND [FILE] [options]", "", f"{SUMMARY} {_FILE}"]
        for title, commands in GROUPS.items():
            lines += ["", f"{title}:", *(f"  {name:<11} {summary}" for name, summary in commands.items())]
        lines += ["", "mpicampaign COMMAND --help   options and examples      mpicampaign --version"]
        lines += ["mpicampaign --snakefile      the path for snakemake -s", _STATUS]
        return "\n".join(lines) + "\n"

    def error(self, message: str) -> NoReturn:
        raise UserError(Problem(message, hint="mpicampaign --help lists subcommands and options"))


class _Subcommand(argparse.ArgumentParser):
    """Takes its arguments from the subcommand's module when it is called."""

    _module: ModuleType | None = None

    def load_arguments(self) -> ModuleType:
        """Add the arguments of the subcommand's module, once."""
        if self._module is None:
            name = self.get_default("command")
            package = __name__.rpartition(".")[0]
            self._module = module = import_module(f"{package}.{name}{'_' * iskeyword(name)}")
            self.formatter_class = argparse.RawDescriptionHelpFormatter
            self.description = f"{COMMANDS[name][0].upper()}{COMMANDS[name][1:]}."
            examples = (f"  {command}\n      {effect}" for command, effect in module.EXAMPLES)
            self.epilog = "\n".join(["examples:", *examples])
            module.add_arguments(self)
            self.set_defaults(action=module.run, as_data=getattr(module, "as_data", None))
        return self._module

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self.load_arguments()
        given, passed_on = list(args), []
        if self.get_default("passed_on") is not None and "--" in given:
            at = given.index("--")
            given, passed_on = given[:at], given[at + 1 :]
        options, unknown = super().parse_known_args(given, namespace)
        hint = _lists(self, given)
        if unknown:
            self._refuse(unknown, hint)
        if passed_on:
            options.passed_on = passed_on
        name_campaign(options, hint)
        # what takes no file has its results as a file in the current folder
        work_beside(getattr(options, "map", None) or getattr(options, "campaign", None) or CAMPAIGN)
        return options, []

    def error(self, message: str) -> NoReturn:
        name = self.get_default("command")
        raise UserError(Problem(f"{name}: {message}", hint=f"mpicampaign {name} --help"))

    def _refuse(self, unknown: Sequence[str], hint: str) -> NoReturn:
        """Report the options that are not known, or else the arguments: one may be the value of the other."""
        name = self.get_default("command")
        known = [text for action in self._actions for text in action.option_strings if text != "--campaign"]
        wrong = [text.partition("=")[0] for text in unknown if text.startswith("-")]
        if name == "prove":  # a command without -- before it has options, too
            wrong = wrong if unknown[0].startswith("-") else []
            rest = "the command with its options follows --: mpicampaign prove -- mpirun -n 2 ./program"
            unknown = unknown[:1]
        elif wrong and name == "bench":
            rest = f"its arguments follow --: mpicampaign bench NAME -- {shlex.join(wrong)}"
        else:
            rest = f"mpicampaign {name} --help"
        hints = {text: suggestion(text, known) or rest for text in wrong}
        raise UserError(
            [Problem(f"{name}: no option {text}", hint=text_hint) for text, text_hint in hints.items()]
            or [Problem(f"{name}: unexpected argument {text!r}", hint=hint or rest) for text in unknown]
        )


def _lists(parser: argparse.ArgumentParser, given: Sequence[str]) -> str:
    """A hint for names that are separated by spaces, where options with lists of names are given."""
    lists = [text for action in parser._actions if action.metavar == LIST for text in action.option_strings]
    for option, *names in (given[at : at + 3] for at in range(len(given))):
        if option in lists and len(names) == 2 and not names[1].startswith("-"):
            return f"separate names by commas: {option} {shlex.quote(','.join(names))}"
    return ""
