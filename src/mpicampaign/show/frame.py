"""What a page has around its document: style, programs, and what a browser may load and run.

No other programs than these run, and without them everything is still there.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from typing import TYPE_CHECKING

from markupsafe import Markup

from mpicampaign.places import shipped
from mpicampaign.text import visible

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
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(
        title=visible(title),
        body=body,
        header=header,
        contents=contents or {},
        programs=programs,
        policy=Markup(" ".join(map(script_hash, programs)) or "'none'"),
    )


def program(name: str) -> Markup:
    """One of the page's own scripts."""
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def script_hash(text: str) -> str:
    """What a Content-Security-Policy calls an inline script, so that no other one runs."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
