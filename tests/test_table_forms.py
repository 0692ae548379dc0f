"""Tables in both layouts and all formats, marks included."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import pytest
import synthetic
from pyarrow import parquet

from mpicampaign.compare.changes import changes_since
from mpicampaign.compare.compare import compare
from mpicampaign.compare.tables import Comparison
from mpicampaign.errors import UserError
from mpicampaign.records import Case
from mpicampaign.show.data import long_data
from mpicampaign.show.footnotes import Footnotes
from mpicampaign.show.make import tables
from mpicampaign.show.view import DEFAULT, LAYOUTS, LONG, MATRIX, View
from mpicampaign.show.writer import TextWriter, format_names, names_of
from mpicampaign.show.writers.latex import latex_text
from mpicampaign.text import display_width
from mpicampaign.units import rounded

# Texts that act in LaTeX, in a spreadsheet, in Markdown or on a terminal.
SPECIALS = "\\ { } $ & # ^ _ ~ % [x] *y < > | \" ` ' -- '' \u00e9 \u5bbd \u00b5 \x1b[2J \u202e"


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    """Two host groups; one has a network with a known rate, which the other lacks."""
    records = synthetic.campaign("s", "g1") + synthetic.campaign("s", "g2", 1.3)
    tcp = synthetic.case_runs(Case("s", "g2", "TCP", "PingPong"), 1e-6, 1.2e8)
    return compare(records + [replace(run, hosts=("n1", "n2"), line_rate=1.25e8) for run in tcp])


@pytest.fixture(scope="module")
def hostile() -> Comparison:
    names = Case("s", SPECIALS, SPECIALS, "PingPong")
    records = synthetic.case_runs(names, 1e-6, 1e9)
    return compare(records + synthetic.not_available(replace(names, placement="=1+1"), SPECIALS))


def text_of(comparison: Comparison, form: str, view: View = DEFAULT) -> str:
    return tables(comparison, form, view, "c").decode("utf-8")


def block(text: str, title: str) -> str:
    """The part of the text from a title to the next."""
    return text[text.index(title) :].split("PingPong, ")[1 if title.startswith("PingPong") else 0]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["terminal", "markdown", "html", "csv"])
def test_decimals_reach_the_numbers_in_notes(name: str, layout: str) -> None:
    """The line rate, of which more was measured."""
    case = Case("s", "g", "TCP", "PingPong")
    runs = [synthetic.run(case, n, synthetic.pingpong(1e-6 * n, 2e8 / n)) for n in (1, 2)]
    comparison = compare([replace(run, hosts=("n1", "n2"), line_rate=1.25e8) for run in runs])
    for decimals, said in (
        (None, "125.0 MB/s that the fabric"),
        (0, "125 MB/s that the fabric"),
    ):
        view = View(decimals=decimals, si=decimals is None, layout=layout)
        text = " ".join(text_of(comparison, name, view).split())
        assert said in text, (decimals, text)


def test_rounding_is_that_of_decimal_numbers() -> None:
    assert (rounded(2.675, 2), rounded(0.125, 2), rounded(-0.125, 2)) == ("2.68", "0.13", "-0.13")
    assert rounded(0.1 + 0.2, 2) == "0.30" and rounded(1e15 / 7, 0) == "142857142857000"


def test_matrix_in_the_statistic_unit_and_decimals_that_are_asked_for(comparison: Comparison) -> None:
    text = text_of(comparison, "terminal", View("MiB/s", "mean", 2, layout=MATRIX))
    row = comparison.tables[0].rows[0]
    mean = row.cells[-2].summary.mean  # type: ignore[union-attr]
    found = block(text, "PingPong, maximum bandwidth, 2 ranks: mean (MiB/s)")
    assert re.search(rf"^g1 +{mean / 2**20:.2f} ", found, re.MULTILINE)
    assert re.search(r"^host group +SHM-1 +SHM-2 +SHM +TCP-loopback +TCP$", found, re.MULTILINE)
    median = text_of(comparison, "terminal", View(layout=MATRIX))
    assert "PingPong, maximum bandwidth, 2 ranks: median (MB/s)" in median


def test_matrix_says_what_is_missing_and_what_is_in_doubt(comparison: Comparison) -> None:
    found = block(text_of(comparison, "terminal", View(layout=MATRIX)), "PingPong, latency at 0 B, 2 ranks")
    assert re.search(r"^g1 +0\.247 +n/a a +0\.406 b,c +3\.24 d,e,f +– g$", found, re.MULTILINE)
    for line in (
        "a n/a: needs 2 sockets, node1 has 1",
        "b unverified: memory: no kernel support",
        "e contradicted: MPI library's report: it used shm, claimed: tcp",
        "g not in this campaign",
    ):
        assert f"\n{line}\n" in found


def test_bounds_are_beside_the_fractions_of_them(comparison: Comparison) -> None:
    text = text_of(comparison, "terminal", View(layout=MATRIX))
    found = block(text, "PingPong, fraction of line rate, 2 ranks: median (%)")
    assert re.search(r"^g2 .* 95\.\d d$", found, re.MULTILINE) and "\nd of 125.0 MB/s\n" in found
    assert "no bound known" in found
    long = block(text_of(comparison, "terminal"), "PingPong, fraction of line rate (%)")
    assert re.search(r"^g2 +TCP +6/6 +95\.\d .* 4 MiB +125\.0 MB/s$", long, re.MULTILINE)


def test_equal_texts_share_a_mark_and_letters_do_not_run_out() -> None:
    notes = Footnotes()
    assert [notes.mark(words) for words in ("one", "two", "one")] == ["a", "b", "a"]
    assert notes.lines == (("a", "one"), ("b", "two"))
    assert [notes.mark(f"w{i}") for i in range(27)][23:] == ["z", "aa", "ab", "ac"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", names_of(TextWriter))
def test_texts_for_people_have_every_group_and_reason(comparison: Comparison, name: str, layout: str) -> None:
    text = text_of(comparison, name, View(layout=layout))
    for words in ("g1", "g2", "needs 2 sockets, node1 has 1", "unverified", "contradicted", "several modes"):
        assert words in text


@pytest.mark.parametrize("layout", LAYOUTS)
def test_terminal_is_narrow_and_has_no_control_characters(
    comparison: Comparison, hostile: Comparison, layout: str
) -> None:
    wide = compare([r for n in range(12) for r in synthetic.campaign("s", f"group-{n}-{'x' * 40}")])
    for shown in (comparison, hostile, wide):
        text = text_of(shown, "terminal", View(layout=layout))
        assert max(display_width(line) for line in text.splitlines()) <= 100
        assert "\x1b" not in text and "\u202e" not in text


def test_long_names_are_cut_before_values_and_marks() -> None:
    records = synthetic.campaign("s", "g" * 90)
    renamed = [
        replace(run, case=replace(run.case, placement=run.case.placement + "p" * 90)) for run in records
    ]
    text = text_of(compare(renamed), "terminal")
    assert re.search(r"^g+… +SHMp+… b,c +6/6 +0\.400 +\[.*\]( +0\.\d{3}){3}$", text, re.MULTILINE)


def test_wide_matrices_are_shown_in_parts_with_their_host_groups() -> None:
    cases = [Case("s", "g", f"placement-{n:02}", "PingPong") for n in range(12)]
    records = [run for case in cases for run in synthetic.case_runs(case, 1e-6, 1e9)]
    text = text_of(compare(records), "terminal", View(layout=MATRIX))
    found = block(text, "PingPong, latency at 0 B")
    heads = re.findall(r"^host group .*", found, re.MULTILINE)
    assert len(heads) == 2 and len(re.findall(r"^g ", found, re.MULTILINE)) == 2
    assert " ".join(heads).count("placement-") == 12


def test_columns_are_those_chosen_in_their_order(comparison: Comparison) -> None:
    text = text_of(comparison, "markdown", View(columns=("mean", "n")))
    assert "| host group | placement | mean | n |" in text
    first = text_of(comparison, "markdown", View(columns=("mean", "bound"))).split("###")[1]
    assert "| host group | placement | mean | bound |" in first  # though no latency has a bound
    assert long_data(comparison, View(columns=("n", "median"))).header[8:] == ("unit", "n", "median [unit]")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_markdown_tables_are_rectangular(comparison: Comparison, hostile: Comparison, layout: str) -> None:
    for shown in (comparison, hostile):
        for part in text_of(shown, "markdown", View(layout=layout)).split("\n\n"):
            lines = [line for line in part.splitlines() if line.startswith("|")]
            assert len({line.replace("\\|", "").count("|") for line in lines}) <= 1, part


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
    changes = changes_since(comparison)
    for shown in (comparison, hostile):
        check_latex(tables(shown, "latex", View(layout=layout), "c", changes).decode("utf-8"))


def test_latex_escapes_each_special() -> None:
    assert latex_text("a_b&c%d#e$f{g}") == r"a\_b\&c\%d\#e\$f\{g\}"
    assert latex_text(r"\input{/etc/passwd}") == r"\textbackslash{}input\{/etc/passwd\}"
    assert latex_text("[x] *") == "{[}x{]} {*}" and latex_text("a--b") == "a-{}-b"
    assert latex_text("Jülich e\u0301 µ × –") == r"Jülich é \textmu{} $\times$ \textendash{}"
    assert latex_text("宽\x1b") == r"U+5BBD\textbackslash{}x1b"


# Data


def as_rows(comparison: Comparison, name: str, layout: str) -> list[dict[str, object]]:
    content = tables(comparison, name, View(layout=layout), "c")
    if name == "parquet":
        return list(parquet.read_table(io.BytesIO(content)).to_pylist())
    if name == "json":
        return list(json.loads(content)["rows"])
    return list(csv.DictReader(io.StringIO(content.decode("utf-8"))))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_json_and_parquet_hold_the_same_in_full_precision(comparison: Comparison, layout: str) -> None:
    rows = as_rows(comparison, "parquet", layout)
    assert rows == as_rows(comparison, "json", layout) and len(rows) > 20
    texts = as_rows(comparison, "csv", layout)
    for row, text in zip(rows, texts, strict=True):
        for name, value in row.items():
            if isinstance(value, bool):
                assert text[name] == str(value).lower()
            elif isinstance(value, str) or value is None:
                assert text[name] == (value or "")
            else:
                assert float(str(text[name])) == value  # not one digit less


def test_missing_values_are_null_and_values_are_the_medians_themselves(comparison: Comparison) -> None:
    rows = as_rows(comparison, "parquet", LONG)
    absent = next(row for row in rows if row["placement"] == "SHM-2")
    assert absent["median [unit]"] is None and absent["ranks"] is None and absent["n"] == 0
    assert absent["missing_because"] == "n/a: needs 2 sockets, node1 has 1"
    summary = comparison.tables[0].rows[0].cells[0].summary
    assert summary is not None and rows[0]["median [unit]"] == summary.median and rows[0]["unit"] == "s"
    matrix = as_rows(comparison, "parquet", MATRIX)[0]
    assert matrix["SHM-1 [unit]"] == summary.median and matrix["SHM-2 [unit]"] is None
    assert (matrix["TCP [unit]"], matrix["TCP notes"]) == (None, "not in this campaign")
    assert "unverified" in str(matrix["SHM notes"]) and (matrix["system"], matrix["host_group"]) == (
        "s",
        "g1",
    )


def test_parquet_has_types_also_where_all_is_missing() -> None:
    absent = compare(synthetic.not_available(Case("s", "g", "IBV", "PingPong"), "no device"))
    schema = parquet.read_schema(io.BytesIO(tables(absent, "parquet", campaign="the campaign")))
    assert str(schema.field("median [unit]").type) == "double" and str(schema.field("ranks").type) == "int64"
    assert schema.metadata[b"campaign"] == b"the campaign"


def test_parquet_without_pyarrow_is_reported(comparison: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(UserError, match=r"Parquet needs .* pyarrow[^\0]*pip install pyarrow, or choose csv"):
        tables(comparison, "parquet")


def test_csv_is_not_a_formula_in_matrix_headings_either(hostile: Comparison) -> None:
    heads = next(csv.reader(io.StringIO(text_of(hostile, "csv", View(layout=MATRIX)))))
    assert "'=1+1 [unit]" in heads and not any(head.startswith("=") for head in heads)


@pytest.mark.parametrize("name", format_names())
@pytest.mark.parametrize("layout", LAYOUTS)
def test_nothing_and_no_values_at_all(name: str, layout: str) -> None:
    assert tables(compare([]), name, View(layout=layout), "c")
    absent = compare(synthetic.not_available(Case("s", "g", "IBV", "PingPong"), "no InfiniBand device"))
    content = tables(absent, name, View(layout=layout), "c")
    if name in names_of(TextWriter) or (layout == LONG and name != "parquet"):
        assert b"no InfiniBand device" in content
