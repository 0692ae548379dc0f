"""The comparison in every format, typeset by a real LaTeX, and the command `mpicampaign tables`."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import build_records as make
import pytest
from conftest import completed
from pyarrow import parquet

from mpicampaign.base.errors import UserError
from mpicampaign.base.records import UNVERIFIED, Case, Header, Record, write_records
from mpicampaign.base.text import clip, display_width, pad, repeats_text, visible
from mpicampaign.cli import main
from mpicampaign.compare.compare import compare
from mpicampaign.compare.tables import Comparison
from mpicampaign.report.make import tables
from mpicampaign.show.view import DEFAULT
from mpicampaign.show.writer import format_names
from mpicampaign.show.writers.latex import latex_text


def test_widths_of_wide_and_combining_characters() -> None:
    assert display_width("宽a") == 3 and display_width("e\u0301") == 1
    assert clip("宽宽宽", 5) == "宽宽…" and pad("宽", 4) == "宽  " and pad("a", 3, right=True) == "  a"


def test_visible_text_is_one_line() -> None:
    assert visible("a\nb\x1b[0m\u202e\u200b é宽") == r"a\nb\x1b[0m\u202e\u200b é宽"
    assert visible("\ud800") == r"\ud800"


def test_repeats_as_text() -> None:
    assert repeats_text([2]) == "repeat 2" and repeats_text([5, 1, 2, 3]) == "repeats 1-3, 5"


# Texts that act in LaTeX, in a spreadsheet, in Markdown or on a terminal.
SPECIALS = "\\ { } $ & # ^ _ ~ % [x] *y < > | \" ` ' -- '' \u00e9 \u5bbd \u00b5 \x1b[2J \u202e"


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    """Two host groups; one has a network with a known rate, which the other lacks."""
    records = make.campaign("s", "g1") + make.campaign("s", "g2", 1.3)
    link = {"hosts": ("n1", "n2"), "line_rate": 1.25e8}
    return compare(records + make.case_runs(make.case("TCP", group="g2"), 1e-6, 1.2e8, **link))


@pytest.fixture(scope="module")
def hostile() -> Comparison:
    names = Case("s", SPECIALS, SPECIALS, "PingPong")
    records = make.case_runs(names)
    return compare(records + make.not_available(replace(names, placement="=1+1"), SPECIALS))


# LaTeX

_COMMANDS = {"begin", "end", "caption", "centering", "toprule", "midrule", "bottomrule", "par", "smallskip"}
_COMMANDS |= {"footnotesize", "textsuperscript", "textbackslash", "textasciitilde", "textasciicircum"}
_COMMANDS |= {"textless", "textgreater", "textbar", "textendash", "char", "textmu", "times", "ldots"}
_COMMANDS |= {
    "raggedright",
    "allowbreak",
    "noindent",
    "rlap",
    "setlength",
    "tabcolsep",
    "small",
    "scriptsize",
}
_COMMANDS |= {"tiny", "begingroup", "endgroup", "endfirsthead", "endhead", "endfoot", "clearpage"}


def check_latex(text: str) -> None:
    """A strict reader: known commands only, balanced groups, rows of equal cells, no stray specials."""
    assert re.match(r"% needs \\usepackage\{booktabs(,longtable)?\}\n", text)
    body = text.split("\n", 1)[1]
    assert set(re.findall(r"\\([A-Za-z]+)", body)) <= _COMMANDS
    plain = re.sub(r"\\[{}$&#%_]", "", body)  # escaped characters
    assert plain.count("{") == plain.count("}") and "%" not in plain and "#" not in plain
    depth = 0
    for character in plain:
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    plain = plain.replace(r"$\times$", "")
    assert not set(plain) & set('$^_"`|<>')
    assert all(ord(c) < 128 or c == "é" for c in plain)
    plain = plain.replace("p{10.8em}", "l")
    tables = re.findall(r"\\begin\{(tabular|longtable)\}\{([lr]+)\}(.*?)\\end\{\1\}", plain, re.DOTALL)
    for _, columns, inside in tables:
        rows = [line for line in inside.splitlines() if line.endswith(r"\\") and r"\caption" not in line]
        assert rows and {row.count("&") for row in rows} == {len(columns) - 1}
        assert not any(re.match(r"\s*[\[(*]", row) for row in rows)
    assert tables and body.count(r"\begin{table}") == body.count(r"\end{table}")


def test_latex_is_well_formed(comparison: Comparison, hostile: Comparison) -> None:
    for shown in (comparison, hostile):
        check_latex(tables(shown, "latex", DEFAULT, "c").decode("utf-8"))


def test_latex_escapes_each_special() -> None:
    assert latex_text("a_b&c%d#e$f{g}") == r"a\_b\&c\%d\#e\$f\{g\}"
    assert latex_text(r"\input{/etc/passwd}") == r"\textbackslash{}input\{/etc/passwd\}"
    assert latex_text("[x] *") == "{[}x{]} {*}" and latex_text("a--b") == "a-{}-b"
    assert latex_text("Jülich e\u0301 µ × –") == r"Jülich é \textmu{} $\times$ \textendash{}"
    assert latex_text("宽\x1b") == r"U+5BBD\textbackslash{}x1b"


# Data


def test_parquet_without_pyarrow_is_reported(comparison: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(UserError, match=r"Parquet: .*pyarrow[^\0]*pip install 'mpicampaign\[parquet\]'"):
        tables(comparison, "parquet")


@pytest.mark.parametrize("name", format_names())
def test_nothing_and_no_values_at_all(name: str) -> None:
    assert tables(compare([]), name, DEFAULT, "c")
    absent = compare(make.not_available("IBV", "no InfiniBand device"))
    content = tables(absent, name, DEFAULT, "c")
    if name != "parquet":
        assert b"no InfiniBand device" in content


SIZES = (1024, 8192)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("results")
    records = make.campaign("s", "g1") + make.campaign("s", "g2", 1.3)
    write_records(path / "records.jsonl", Header("c", "The title", SIZES), records)
    return path


def call(capsys: pytest.CaptureFixture[str], folder: Path, *options: str) -> tuple[int, str, str]:
    status = main(["tables", "--results", str(folder), *options])
    out, err = capsys.readouterr()
    return status, out, err


def chosen(capsys: pytest.CaptureFixture[str], folder: Path, *options: str) -> list[dict[str, object]]:
    status, out, _ = call(capsys, folder, "--format", "json", *options)
    assert status == 0
    return list(json.loads(out)["rows"])


def test_sizes_come_from_the_records_and_may_be_others(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    options = ("--benchmark", "PingPong", "--placement", "SHM-1", "--host-group", "g1")
    assert [row["size"] for row in chosen(capsys, folder, *options)] == [0, *SIZES, None]
    rows = chosen(capsys, folder, *options, "--sizes", "64,64KiB")
    assert [row["size"] for row in rows] == [0, 64, 65536, None]
    assert "'x' is not a size" in call(capsys, folder, "--sizes", "64,x")[2]
    status, out, err = call(capsys, folder, "--sizes", "64,3000,8MiB")
    assert (
        status == 2
        and out == ""
        and "--sizes: no run printed this size (found 3000 B)\n    known: 0 B, 1 B" in err
    )
    assert "(found 8 MiB)" in err


def test_all_errors_are_reported_with_the_nearest_names(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    wrong = ("--benchmark", "PingPng", "--metric", "latency", "--host-group", "g3\x1b[2J")
    status, out, err = call(capsys, folder, *wrong)
    assert status == 2 and out == "" and "3 errors" in err
    assert "--benchmark: unknown name (found PingPng)\n    did you mean 'PingPong'? known: PingPong, " in err
    assert "did you mean 'latency at 0 B'?" in err and "known: g1, g2" in err
    assert "Traceback" not in err and "\x1b" not in err


def test_a_choice_that_leaves_nothing_is_reported(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    status, _, err = call(capsys, folder, "--benchmark", "PingPong", "--metric", "maximum B_wire")
    assert status == 2 and "no case has all of what was chosen" in err


def test_files_are_written_and_parquet_is_not_text(
    capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "tables.parquet"
    assert call(capsys, folder, "--format", "parquet", "-o", str(file)) == (0, "", "")
    assert parquet.read_table(file).num_rows > 20
    missing = str(tmp_path / "no" / "such" / "folder")
    status, _, err = call(capsys, folder, "-o", missing)
    assert status == 2 and "No such file" in err


def test_missing_and_damaged_records_are_reported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, _, err = call(capsys, tmp_path)
    assert status == 2 and "no results yet" in err and "mpicampaign run FILE" in err
    head = {"format": "mpicampaign-records", "version": 1, "table_sizes": ["x"]}
    (tmp_path / "records.jsonl").write_text(json.dumps(head) + "\n")
    assert "records.jsonl:1: damaged header" in call(capsys, tmp_path)[2]


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


def hostile_text() -> list[Record]:
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
        done = completed(call, cwd=folder, errors="replace")
    assert (done.returncode, re.findall("^! .*", done.stdout, re.MULTILINE)) == (0, [])
    return text, done.stdout


def complaints(said: str) -> list[str]:
    return re.findall(r".*Float too large.*|.*Missing character.*", said)


@typeset
def test_hostile_names_are_typeset_and_nothing_is_cut_off(tmp_path: Path) -> None:
    text, said = printed(compare(hostile_text()), tmp_path)
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
