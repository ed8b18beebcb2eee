"""Markdown that users wrote, as markup: HTML in it stays text, and links lead to harmless schemes only.

The parser takes up to 20 µs for each character of a hostile text. So a page converts :data:`MAX_PAGE_LENGTH` characters
at most; texts beyond are shown as they were written. Converted ones are kept by digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from pyramid.request import Request

from netinv_core.caches import BoundedCache, lru_cache
from netinv_core.http.mount import url_of
from netinv_outgoing.urls import is_link_or_path
from netinv_web.markup import without_controls

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_PAGE_LENGTH = 30_000  # characters that are converted for one page, beside those that are kept
MAX_SHOWN_LENGTH = 100_000  # characters of a text that is shown as it was written
_CONVERTED = "netinv.converted_characters"  # of the request's environment
_kept: BoundedCache[Markup] = BoundedCache("markdown", 4_000_000, len)  # characters of markup
HEADING_OFFSET = 2  # a page has one h1, and its panels have h2
LOWEST_HEADING = 6


@lru_cache("constants", 1)
def _parser() -> MarkdownIt:
    """The parser: CommonMark with tables and strikethrough; pictures become links, because pages load no other
    hosts. Links with other schemes than the harmless ones stay text.
    """
    from markdown_it import MarkdownIt  # local import: only pages with a text in Markdown need it

    class Parser(MarkdownIt):
        """A parser that validates links by their scheme."""

        def validateLink(self, url: str) -> bool:
            """Returns true for an address that may become a link."""
            return is_link_or_path(url)

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


def render(request: Request, text: Any) -> Markup:
    """The markup of a text in Markdown; of one that is too long for the rest of the page, the text itself."""
    source = without_controls(str(text or ""))
    digest = hashlib.blake2b(source.encode("utf-8", "replace"), digest_size=16).digest()
    key = (url_of("/"), digest)
    markup = _kept.get(key)
    if markup is None:
        converted = request.environ.get(_CONVERTED, 0) + len(source)
        if converted > MAX_PAGE_LENGTH:
            return _as_written(source)
        request.environ[_CONVERTED] = converted
        markup = _convert(source)
        _kept.set(key, markup)
    return markup


def _convert(source: str) -> Markup:
    parser = _parser()
    environment: dict[str, Any] = {}
    tokens = parser.parse(source, environment)
    _adapt(tokens)
    text = parser.renderer.render(tokens, parser.options, environment)
    text = text.replace("<pre>", '<pre tabindex="0">')  # scrolls by keyboard; a "<" of the text is escaped
    return Markup('<div class="prose">{}</div>').format(Markup(text))  # noqa: S704 - escaped: the option "html" is off


def _as_written(source: str) -> Markup:
    note = "This text is too long to be shown as Markdown."
    if len(source) > MAX_SHOWN_LENGTH:
        note += f" These are the first {MAX_SHOWN_LENGTH:,} of its {len(source):,} characters."
    shown = source[:MAX_SHOWN_LENGTH]
    return Markup('<div class="prose"><p class="help">{}</p><pre tabindex="0">{}</pre></div>').format(note, shown)
