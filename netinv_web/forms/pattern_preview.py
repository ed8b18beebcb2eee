"""The texts that a pattern of names stands for, for scripts that show them while it is typed: ``/expand/?text=``."""

from __future__ import annotations

from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Invalid
from netinv_web.forms.patterns import expand
from netinv_web.pages import fragment, query_text

PATH, TEMPLATE = "/expand/", "netinv_web:templates/expanded.jinja2"
TEXT = "text"  # parameter
MAX_LENGTH = 1000  # characters
SHOWN = 3  # texts at the begin


def show(request: Request) -> Response:
    """The number of the texts, with the first ones and the last; or the reason why the pattern stands for none.

    :raises Invalid: for a text that no name could be
    """
    text = query_text(request, TEXT)
    if len(text) > MAX_LENGTH:
        raise Invalid({TEXT: [f"Ensure this field has no more than {MAX_LENGTH} characters."]})
    try:
        texts, error = expand(text), ""
    except ValueError as reason:
        texts, error = [], str(reason)
    first = texts[: SHOWN if len(texts) > SHOWN + 1 else len(texts)]
    last = texts[-1] if len(first) < len(texts) else ""
    return fragment(request, TEMPLATE, {"count": len(texts), "first": first, "last": last, "error": error})


def includeme(config: Any) -> None:
    """Adds the page."""
    config.add_netinv_page(PATH, show)
