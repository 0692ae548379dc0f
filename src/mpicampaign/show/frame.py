"""What a page has around its document: style, programs, and what a browser may load and run.

No other programs than these run, and without them everything is still there.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from string import Template
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from mpicampaign.base.places import shipped
from mpicampaign.base.text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TEMPLATES = shipped("templates/report")


def framed(
    title: str,
    body: Markup,
    *,
    header: Markup | None = None,
    contents: Mapping[str, str] | None = None,
    programs: Sequence[Markup] = (),
) -> str:
    """The whole page.

    Parameters
    ----------
    contents : titles of parts by anchor, the table of contents
    programs : scripts, which alone may run
    """
    return Template(_shipped("page.html").rstrip()).substitute(
        policy=" ".join(map(script_hash, programs)) or "'none'",
        title=escape(visible(title)),
        style=_shipped("style.css").rstrip(),
        top=_header(header, contents or {}) + _contents(contents or {}),
        body=body,
        programs="".join(f"<script>{program}</script>\n" for program in programs),
    )


def _header(header: Markup | None, contents: Mapping[str, str]) -> str:
    skip = f'<a class="skip" href="#{escape(next(iter(contents), ""))}">Skip to the answers</a>'
    return f"{skip}\n<header>\n{header}\n</header>\n" if header else ""


def _contents(contents: Mapping[str, str]) -> str:
    links = [f'<a href="#{escape(anchor)}">{escape(name)}</a>' for anchor, name in contents.items()]
    return Template(_shipped("contents.html")).substitute(links="\n".join(links)) if links else ""


def program(name: str) -> Markup:
    """One of the page's own scripts."""
    return Markup(_shipped(name))


def _shipped(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def script_hash(text: str) -> str:
    """What a Content-Security-Policy calls an inline script, so that no other one runs."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
