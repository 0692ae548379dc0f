"""mpicampaign init."""

from __future__ import annotations

import argparse
from pathlib import Path

from mpicampaign.base.files import write_whole
from mpicampaign.base.places import results_folder, schema_line, shipped, work_beside
from mpicampaign.cli.exit_status import DONE
from mpicampaign.cli.output import print_lines

_COPIED = ("campaign.yaml", "cluster/config.yaml", "profiles/default/config.yaml")
# For Snakemake in the current folder. It looks up the path at each call: installations move.
_SNAKEFILE = """\
# The workflow of the installed mpicampaign: snakemake --profile cluster --config campaign=FILE
from mpicampaign.base.places import shipped


include: shipped("Snakefile")


rule default:
    default_target: True
    localrule: True
    input:
        rules.all.input,
"""
_NEXT = """\
results: {results}
examples of campaign files: {examples}
next: mpicampaign plan    what would be run on this machine
      mpicampaign run     runs it, makes tables and report
      mpicampaign doctor  on a cluster: writes site.yaml for it"""

EXAMPLES = (("mkdir mine && cd mine && mpicampaign init", "then: mpicampaign plan; mpicampaign run"),)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No options."""


def run(_: argparse.Namespace) -> int:
    texts = {name: shipped(name).read_text(encoding="utf-8") for name in _COPIED}
    texts["campaign.yaml"] = schema_line() + texts["campaign.yaml"]
    for name, text in (texts | {"Snakefile": _SNAKEFILE}).items():
        print_lines(f"{name}: {'written' if _written(Path(name), text) else 'exists already, kept'}")
    work_beside(Path("campaign.yaml"))
    print_lines(_NEXT.format(results=results_folder(), examples=shipped("campaigns")))
    return DONE


def _written(path: Path, text: str) -> bool:
    """Write a new file; False if it exists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        return False
    write_whole(path, text)
    return True
