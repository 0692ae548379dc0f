"""What a page has around its document: style, programs, and what a browser may load and run.

No other programs than these run, and without them everything is still there.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from typing import TYPE_CHECKING, Any

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
    data: Markup | None = None,
) -> str:
    """The whole page.

    Parameters
    ----------
    contents : titles of parts by anchor, the table of contents
    programs : scripts, which alone may run
    data : what the programs draw, as JSON
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
        data=data,
    )


def program(name: str) -> Markup:
    """One of the page's own scripts."""
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def inline_json(data: Any) -> Markup:
    """JSON for a script element: no character is markup or ends a line of a script."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # ASCII: no U+2028 either
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def script_hash(text: str) -> str:
    """What a Content-Security-Policy calls an inline script, so that no other one runs."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
