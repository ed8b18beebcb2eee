"""Markdown that users wrote, as markup: HTML in it stays text, and links lead to harmless schemes only."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from markupsafe import Markup

from netinv_core.http.mount import url_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LINK_SCHEMES = ("", "http", "https", "ftp", "ssh", "mailto", "tel")
HEADING_OFFSET = 2  # a page has one h1, and its panels have h2
LOWEST_HEADING = 6


def _is_harmless(url: str) -> bool:
    """True for addresses of known schemes, and for paths of this service."""
    try:
        return urlsplit(url).scheme.lower() in LINK_SCHEMES
    except ValueError:
        return False


@functools.cache
def _parser() -> MarkdownIt:
    """The parser: CommonMark with tables and strikethrough; pictures become links, because pages load no other
    hosts. Links with other schemes than the harmless ones stay text.
    """
    from markdown_it import MarkdownIt  # local import: only pages with a text in Markdown need it

    class Parser(MarkdownIt):
        """A parser that validates links by their scheme."""

        def validateLink(self, url: str) -> bool:
            """Returns true for an address that may become a link."""
            return _is_harmless(url)

    return Parser("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")


def _adapt(tokens: Sequence[Token]) -> None:
    """Lowers headings below those of the page; adds the mount point to links, and marks those to other hosts."""
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(LOWEST_HEADING, int(token.tag[1:]) + HEADING_OFFSET)}"
        elif token.type == "link_open":
            token.attrSet("rel", "noopener noreferrer")
            token.attrSet("href", url_of(token.attrGet("href")))
        _adapt(token.children or ())


def render(text: Any) -> Markup:
    """The markup of a text in Markdown."""
    parser = _parser()
    environment: dict[str, Any] = {}
    tokens = parser.parse(str(text or ""), environment)
    _adapt(tokens)
    return Markup('<div class="prose">{}</div>').format(
        Markup(parser.renderer.render(tokens, parser.options, environment))
    )
