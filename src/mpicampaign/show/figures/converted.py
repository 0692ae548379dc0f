"""SVG turned into PNG and PDF by the packages of the extra ``figures``.

The font comes with this package: clusters have none, and a figure looks the same wherever it is made.
"""

from __future__ import annotations

import io
from functools import cache
from importlib import import_module
from typing import Any

from mpicampaign.base.extras import imports_of
from mpicampaign.show.figures.text_width import FOLDER, FONT

FONTS = {"normal": str(FOLDER / "DejaVuSans.ttf"), "bold": str(FOLDER / "DejaVuSans-Bold.ttf")}
_ZOOM = 1.667  # 160 dots to the inch in place of 96


def load_converters() -> None:
    """Load what the others here use.

    Raises
    ------
    UserError
        where it is not installed.
    """
    with imports_of("figures", "PNG and PDF"):
        for name in ("resvg_py", "svglib.svglib", "reportlab.graphics.renderPDF"):
            import_module(name)


def to_png(svg: str) -> bytes:
    """The picture on white."""
    from resvg_py import svg_to_bytes

    png: bytes = svg_to_bytes(
        svg_string=svg,
        background="white",
        dpi=96,
        zoom=_ZOOM,
        font_files=list(FONTS.values()),
        skip_system_fonts=True,
    )
    return png


def to_pdf(svg: str, title: str) -> bytes:
    """A page as large as the picture: text is text, and all fonts are in the file, as publishers want.

    The same bytes for the same picture, without the date.
    """
    from reportlab.graphics import renderPDF
    from reportlab.pdfgen.canvas import Canvas
    from svglib.svglib import svg2rlg

    _register_font()
    pdf = io.BytesIO()
    drawing: Any = svg2rlg(io.StringIO(svg))
    drawing.initialFontName = FONT  # else the file names Helvetica
    page = Canvas(pdf, (drawing.width, drawing.height), invariant=1, initialFontName=FONT)
    page.setTitle(title)
    renderPDF.draw(drawing, page, 0, 0)
    page.save()
    return pdf.getvalue()


@cache
def _register_font() -> None:
    from svglib.svglib import register_font

    for weight, file in FONTS.items():
        register_font(FONT, file, weight)
