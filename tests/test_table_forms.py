"""Tables in all formats, marks included."""

from __future__ import annotations

import re
from dataclasses import replace

import build_records as make
import pytest

from mpicampaign.base.errors import UserError
from mpicampaign.base.records import Case
from mpicampaign.compare.compare import compare
from mpicampaign.compare.tables import Comparison
from mpicampaign.report.make import tables
from mpicampaign.show.view import DEFAULT
from mpicampaign.show.writer import format_names
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


def test_a_note_stands_once_below_the_tables_of_a_benchmark(comparison: Comparison) -> None:
    """In LaTeX below each, since they float."""
    shown = {form: tables(comparison, form).decode() for form in ("markdown", "latex")}
    assert shown["markdown"].count("</sup> n/a: needs 2 sockets") == len(comparison.tables)
    assert shown["latex"].count(": needs 2 sockets") > len(comparison.tables)


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
