"""Plain Snakefiles, as written by hand, that run the same job scripts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

ONE_RULE = """\
folders = open("folders.txt").read().split()


rule all:
    input:
        expand("{folder}/result/output.txt", folder=folders),


rule run:
    input:
        "{folder}/job.sh",
    output:
        "{folder}/result/output.txt",
    shell:
        "bash {input}"
"""

A_RULE_EACH = """\
folders = open("folders.txt").read().split()


rule all:
    input:
        expand("{folder}/result/output.txt", folder=folders),


for number, folder in enumerate(folders):

    rule:
        name:
            f"run{number}"
        input:
            f"{folder}/job.sh",
        output:
            f"{folder}/result/output.txt",
        shell:
            "bash {input}"
"""


def write_snakefile(folder: Path, text: str, scripts: Sequence[str]) -> Path:
    """A Snakefile for these job scripts."""
    folders = [str(Path(script).parent) for script in scripts]
    (folder / "folders.txt").write_text("\n".join(folders), encoding="utf-8")
    file = folder / "stock.smk"
    file.write_text(text, encoding="utf-8")
    return file
