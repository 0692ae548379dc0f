"""The campaign file of a call, with suggestions for paths that are not one."""

from __future__ import annotations

import argparse
import os
from argparse import SUPPRESS
from pathlib import Path

from mpicampaign.base.errors import Problem, UserError, nearest

CAMPAIGN = Path("campaign.yaml")
_YAML = (".yaml", ".yml")


def add_campaign(parser: argparse.ArgumentParser, *, system: bool = True) -> None:
    """The campaign file, and its system; see `name_campaign`."""
    parser.add_argument(
        "campaign", nargs="?", type=Path, metavar="FILE", help=f"campaign file (default: {CAMPAIGN})"
    )
    parser.add_argument("--campaign", dest="campaign_option", type=Path, help=SUPPRESS)
    if system:
        parser.add_argument(
            "--system", default="", metavar="NAME", help="plan for this system, on any machine"
        )


def add_results(parser: argparse._ActionsContainer) -> None:
    """A folder of results, which takes the place of the campaign file; see `results_of`."""
    parser.add_argument("--results", type=Path, help="a folder results/CAMPAIGN, instead of a campaign file")


def name_campaign(options: argparse.Namespace, hint: str = "") -> None:
    """Make ``options.campaign`` the campaign file, given as argument or by ``--campaign``, or the default.

    Parameters
    ----------
    hint : for a path that is not a campaign file

    Raises
    ------
    UserError
        for two files, a file beside an option that takes its place, and a file that is not there.
    """
    if not hasattr(options, "campaign_option"):
        return
    given = [file for file in (options.campaign, options.campaign_option) if file is not None]
    instead = next((name for name in ("results", "map") if getattr(options, name, None)), "")
    if len({str(file) for file in given}) > 1:
        raise UserError(Problem(f"two campaign files: {given[0]} and {given[1]}", hint=hint or "give one"))
    if given and instead:
        message = f"give the campaign file {str(given[0])!r} or --{instead}, not both"
        raise UserError(Problem(message, hint=hint))
    if given:
        _check_file(given[0], hint)
    options.campaign = given[0] if given else CAMPAIGN


def _check_file(path: Path, hint: str) -> None:
    """Refuse a folder, and a file that is not there, with the files that may be meant."""
    if path.is_dir():
        meant = hint or _hint_of_results(path) or _files_in(path)
        raise UserError(Problem("this is a folder, not a campaign file", _printable(path), hint=meant))
    check_there(path, hint)


def check_there(path: Path, hint: str = "") -> None:
    """Refuse a YAML file that is not there, with the one that may be meant.

    Raises
    ------
    UserError
        with ``hint``, or with the nearest name in its folder.
    """
    if path.exists() or not path.parent.is_dir():
        return
    files = {sibling.stem: sibling for sibling in path.parent.iterdir() if sibling.suffix in _YAML}
    near = nearest(path.stem, files)
    meant = f"did you mean {str(files[near])!r}?" if near else _files_in(path.parent)
    raise UserError(Problem("no such file", _printable(path), hint=hint or meant))


def _hint_of_results(folder: Path) -> str:
    file = file_of_results(folder)
    return f"its results are of {file}: give that file" if file else ""


def file_of_results(folder: Path) -> str:
    """The campaign file that a folder of results is of, seen from here; empty where its plan names none."""
    from mpicampaign.base.plan_file import FILE, campaign_file_in

    name = campaign_file_in(folder / FILE)
    return _printable(Path(os.path.relpath(folder / name))) if name else ""


def _files_in(folder: Path) -> str:
    files = [_printable(path) for path in sorted(folder.iterdir()) if path.suffix in _YAML]
    if not files:
        return "mpicampaign init writes campaign.yaml; on a cluster, mpicampaign doctor writes site.yaml"
    return f"there: {', '.join(files[:3])}" + (f" and {len(files) - 3} more" if len(files) > 3 else "")


def results_of(options: argparse.Namespace) -> Path:
    """The folder or file of ``--results``, or the campaign's folder."""
    if options.results is not None:
        check_results(options.results, "--results")
        return Path(options.results)
    return _results_of_file(options.campaign)


def _results_of_file(path: Path) -> Path:
    """The results of a campaign file; refused where they are of another one of this name."""
    from mpicampaign.base.places import results_folder
    from mpicampaign.campaign.file import load_campaign
    from mpicampaign.jobs.prepare import check_campaign_file

    campaign = load_campaign(path)
    folder = results_folder() / campaign.name
    check_campaign_file(campaign, folder)
    return folder


def is_campaign_file(text: str) -> bool:
    """Whether an argument is to name a campaign file."""
    return Path(text).suffix in _YAML


def results_named(text: str) -> Path | None:
    """The folder or file of results that a campaign file, a campaign's name or a path names.

    ``None`` where there is none of the name.

    Raises
    ------
    UserError
        for a campaign file that is not there, or has errors.
    """
    from mpicampaign.base.places import results_folder, work_beside

    path = Path(text)
    if is_campaign_file(text):
        check_there(path)
        work_beside(path)
        return _results_of_file(path)
    named = results_folder() / text
    return path if path.exists() else named if named.is_dir() else None


def check_results(path: Path, option: str) -> None:
    """Refuse what is not there, and a campaign file where an option takes a folder of results.

    Raises
    ------
    UserError
        saying how to give the file.
    """
    if not path.exists():
        hint = "give a folder results/CAMPAIGN"
        raise UserError(Problem("no such folder", key=option, value=_printable(path), hint=hint))
    if path.suffix in _YAML and path.is_file():
        hint = f"give a folder such as results/CAMPAIGN, or the campaign file without {option}"
        raise UserError(Problem(f"{option} takes a folder of results", _printable(path), hint=hint))


def check_bundle(path: Path) -> None:
    """Refuse a campaign file where a bundle is wanted.

    Raises
    ------
    UserError
        saying how to make one.
    """
    if path.suffix in _YAML and path.is_file():
        hint = f"'mpicampaign bundle {path}' packs its results into one"
        raise UserError(Problem("this is a YAML file, not a bundle", _printable(path), hint=hint))


def _printable(path: Path) -> str:
    from mpicampaign.base.yaml_lines import printable  # loads PyYAML, which the help does not need

    return printable(str(path))
