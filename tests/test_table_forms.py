"""Tables in both layouts and all formats, marks included."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import build_records as make
import pytest

from mpicampaign.base.errors import UserError
from mpicampaign.base.records import Case
from mpicampaign.compare.compare import compare
from mpicampaign.compare.tables import Comparison
from mpicampaign.report.make import tables
from mpicampaign.show.view import DEFAULT, LAYOUTS, LONG, MATRIX, View
from mpicampaign.show.writer import TextWriter, format_names, names_of
from mpicampaign.show.writers.latex import latex_text

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


def text_of(comparison: Comparison, form: str, view: View = DEFAULT) -> str:
    return tables(comparison, form, view, "c").decode("utf-8")


def block(text: str, title: str) -> str:
    """The part of the text from a title to the next."""
    return text[text.index(title) :].split("PingPong, ")[1 if title.startswith("PingPong") else 0]


def test_wide_matrices_are_shown_in_parts_with_their_host_groups() -> None:
    records = [run for n in range(12) for run in make.case_runs(f"placement-{n:02}")]
    text = text_of(compare(records), "terminal", View(layout=MATRIX))
    found = block(text, "PingPong, latency at 0 B")
    heads = re.findall(r"^host group .*", found, re.MULTILINE)
    assert len(heads) == 2 and len(re.findall(r"^g ", found, re.MULTILINE)) == 2
    assert " ".join(heads).count("placement-") == 12


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


@pytest.mark.parametrize("layout", LAYOUTS)
def test_latex_is_well_formed(comparison: Comparison, hostile: Comparison, layout: str) -> None:
    for shown in (comparison, hostile):
        check_latex(tables(shown, "latex", View(layout=layout), "c").decode("utf-8"))


def test_latex_escapes_each_special() -> None:
    assert latex_text("a_b&c%d#e$f{g}") == r"a\_b\&c\%d\#e\$f\{g\}"
    assert latex_text(r"\input{/etc/passwd}") == r"\textbackslash{}input\{/etc/passwd\}"
    assert latex_text("[x] *") == "{[}x{]} {*}" and latex_text("a--b") == "a-{}-b"
    assert latex_text("Jülich e\u0301 µ × –") == r"Jülich é \textmu{} $\times$ \textendash{}"
    assert latex_text("宽\x1b") == r"U+5BBD\textbackslash{}x1b"


# Data


@pytest.mark.parametrize("layout", [LONG, MATRIX])
def test_a_note_stands_once_below_the_tables_of_a_benchmark(comparison: Comparison, layout: str) -> None:
    """In LaTeX below each, since they float."""
    shown = {form: tables(comparison, form, View(layout=layout)).decode() for form in ("markdown", "latex")}
    assert shown["markdown"].count("</sup> n/a: needs 2 sockets") == len(comparison.tables)
    assert shown["latex"].count(": needs 2 sockets") > len(comparison.tables)


def test_parquet_without_pyarrow_is_reported(comparison: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(UserError, match=r"Parquet: .*pyarrow[^\0]*pip install 'mpicampaign\[parquet\]'"):
        tables(comparison, "parquet")


def test_csv_is_not_a_formula_in_matrix_headings_either(hostile: Comparison) -> None:
    heads = next(csv.reader(io.StringIO(text_of(hostile, "csv", View(layout=MATRIX)))))
    assert "'=1+1 [unit]" in heads and not any(head.startswith("=") for head in heads)


@pytest.mark.parametrize("name", format_names())
@pytest.mark.parametrize("layout", LAYOUTS)
def test_nothing_and_no_values_at_all(name: str, layout: str) -> None:
    assert tables(compare([]), name, View(layout=layout), "c")
    absent = compare(make.not_available("IBV", "no InfiniBand device"))
    content = tables(absent, name, View(layout=layout), "c")
    if name in names_of(TextWriter) or (layout == LONG and name != "parquet"):
        assert b"no InfiniBand device" in content
