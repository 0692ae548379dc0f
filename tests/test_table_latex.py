"""Tables as LaTeX, typeset by a real one: no errors, nothing missing or cut off at the end of a page."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import build_records as make
import pytest

from mpicampaign.base.records import DISTURBED, UNVERIFIED
from mpicampaign.compare.compare import compare
from mpicampaign.report.make import tables

if TYPE_CHECKING:
    from pathlib import Path

    from mpicampaign.base.records import Record
    from mpicampaign.compare.tables import Comparison

PDFLATEX = shutil.which("pdflatex")
typeset = pytest.mark.skipif(PDFLATEX is None, reason="no pdflatex on this machine")
GROUPS = (
    "a_b & c%d",
    "#5 {x} $y$",
    "~ ^ \\textbf{x}",
    "<g> | \"q\" `t` ''p''",
    "µ é Jülich Łódź",
    "宽 幅 ελ",
)
PLACEMENTS = ("SHM_1", "TCP & %", "{x}~^\\", "[x] *y --z")
REASON = (
    "it was shm_1 & 50 % of /home/user_name/very/long/path/without_any_break/in_it/at_all/of/{node}/x “宽” ≥"
)
_PAGE = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{booktabs,longtable}
\begin{document}
\input{tables}
\end{document}
"""


def hostile() -> list[Record]:
    """Names and reasons with LaTeX markup; each case has its own reason."""
    records = []
    for group in GROUPS:
        for n, placement in enumerate(PLACEMENTS, 1):
            runs = make.case_runs(make.case(placement, group=group), n * 1e-6)
            reasons = (f"{REASON} {group}-{placement} {REASON}",)
            runs[1] = replace(runs[1], verdict=UNVERIFIED, verdict_reasons=reasons)
            records += runs
        records += make.not_available(make.case("SHM-2", group=group), f"{REASON}-{group}")
    return records


def printed(comparison: Comparison, folder: Path) -> tuple[str, str]:
    """The typeset document, and LaTeX's messages."""
    text = tables(comparison, "latex").decode("utf-8")
    (folder / "tables.tex").write_text(text, encoding="utf-8")
    (folder / "page.tex").write_text(_PAGE, encoding="utf-8")
    for _ in range(3):  # longtable has its widths from the call before
        call = [str(PDFLATEX), "-interaction=nonstopmode", "-no-shell-escape", "page.tex"]
        done = subprocess.run(call, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    assert (done.returncode, re.findall("^! .*", done.stdout, re.MULTILINE)) == (0, [])
    return text, done.stdout


def complaints(said: str) -> list[str]:
    return re.findall(r".*Float too large.*|.*Missing character.*", said)


@typeset
def test_hostile_names_are_typeset_and_nothing_is_cut_off(tmp_path: Path) -> None:
    text, said = printed(compare(hostile()), tmp_path)
    assert complaints(said) == []
    assert "longtable" in text, "its footnotes alone are longer than a page"


@typeset
def test_more_tables_than_latex_holds_at_a_time(tmp_path: Path) -> None:
    benchmarks = [f"Benchmark{n}" for n in range(16)]
    cases = [make.case("SHM", name, group) for name in benchmarks for group in ("g", "h")]
    records = [record for case in cases for record in make.case_runs(case)]
    text, said = printed(compare(records), tmp_path)
    assert complaints(said) == []
    assert text.count(r"\begin{table}") > 52


@typeset
def test_a_long_table_of_plain_names_goes_over_pages(tmp_path: Path) -> None:
    records = [r for n in range(15) for r in make.campaign("s", f"scarf{n}")]
    text, said = printed(compare(records), tmp_path)
    assert complaints(said) == [] and r"\endhead" in text


def test_short_marks_hang_beside_the_values() -> None:
    runs = [replace(run, condition=DISTURBED) for run in make.case_runs("SHM")]
    runs[1] = replace(runs[1], verdict=UNVERIFIED, verdict_reasons=("a",))
    text = tables(compare(runs), "latex").decode("utf-8")
    assert r"\rlap{\textsuperscript{\dag{}}}" in text
    assert r"\noindent\textsuperscript{a}~" in text and r"\raggedright" in text
