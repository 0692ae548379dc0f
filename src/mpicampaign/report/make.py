"""The tables of a comparison in every form: two layouts, and the formats of `mpicampaign.show.writers`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.questions.machine.say_tables import machine_nodes
from mpicampaign.report.comparison_document import comparison_document, long_legend
from mpicampaign.report.data import data_grid
from mpicampaign.report.questions import tables_of_questions
from mpicampaign.report.summary import summary
from mpicampaign.show.document import Paragraph
from mpicampaign.show.runs import condition_note, ranked_state
from mpicampaign.show.tables import grids
from mpicampaign.show.view import DEFAULT, LONG, Filter
from mpicampaign.show.writer import DataWriter, writer
from mpicampaign.show.writers.markdown import markdown
from mpicampaign.show.writers.terminal import WIDTH, terminal_text

if TYPE_CHECKING:
    from mpicampaign.compare.tables import Comparison
    from mpicampaign.questions.two_sides.find_changes import Changes
    from mpicampaign.show.view import View


def tables(
    comparison: Comparison,
    form: str,
    view: View = DEFAULT,
    campaign: str = "",
    changes: Changes | None = None,
    width: int = WIDTH,
) -> bytes:
    """All tables of a comparison in one format.

    Parameters
    ----------
    comparison : holds just what is to be shown
    campaign : its name, for JSON and Parquet
    changes : the earlier series that medians are compared with
    width : columns of the terminal
    """
    chosen = writer(form)
    if isinstance(chosen, DataWriter):
        return chosen.write(data_grid(comparison, view, changes), campaign)
    once = form != "latex"  # where a table floats by itself
    whole = form == "terminal" and view.only == Filter()  # of a part the rankings are not those of all
    answer = [Paragraph(f"{summary(comparison, view).lead}.")] if whole else []
    legend = [long_legend(comparison, view)] if view.layout == LONG and comparison.tables else []
    legend += [ranked_state(comparison.states)]
    legend += [condition_note(comparison.records)] if once else []
    meaning = [Paragraph(text) for text in legend if text]
    beside = tables_of_questions(comparison, view) if view.layout == LONG else []
    of_machines = machine_nodes(comparison.machines) if view.layout == LONG else []
    found = grids(comparison, view, changes, notes_once=once)
    document = [*answer, *of_machines, *found, *beside, *meaning]
    text = terminal_text(document, width) if form == "terminal" else chosen.write(document)
    return text.encode("utf-8")


def to_csv(comparison: Comparison, view: View = DEFAULT) -> str:
    """One line for each row and metric, in SI units."""
    return tables(comparison, "csv", view).decode("utf-8")


def to_terminal(comparison: Comparison, view: View = DEFAULT, width: int = WIDTH) -> str:
    """The comparison in brief as aligned text of at most ``width`` columns."""
    return terminal_text(comparison_document(comparison, view, brief=True), width)


def to_markdown(comparison: Comparison, view: View = DEFAULT) -> str:
    """The comparison in full as Markdown."""
    return markdown(comparison_document(comparison, view, brief=False))
