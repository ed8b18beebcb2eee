"""Media types that users chose for files (RFC 9110, 8.3.1): how they are spelled, and what is sent for them.

A file is sent as an attachment with ``nosniff``, which keeps browsers from showing it. Scripts, style sheets and the
like are loaded by another page whatever the disposition is, so these are sent as plain text.
"""

from __future__ import annotations

import re

PLAIN = "text/plain"
FAULT = "Enter a media type such as text/csv or text/csv; header=present, in one line."
_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_QUOTED = r'"[ !#-\[\]-~]*"'
_PARAMETER = rf"{_WORD}=(?:{_WORD}|{_QUOTED})"
_MEDIA_TYPE = re.compile(rf"({_WORD}/{_WORD})((?: *; *{_PARAMETER})*)")
# What a page loads as a script (RFC 9239), style sheet, module, manifest or plug-in, whatever the disposition says.
_LOADED = re.compile(
    r"text/css|text/xsl|text/vbscript|text/event-stream|text/cache-manifest|text/x-component|"
    r"(?:text|application)/(?:x-)?(?:java|ecma|live|j)script[\w.]*|multipart/.*|message/.*|"
    r"application/(?:wasm|manifest\+json|xslt\+xml|x-shockwave-flash|java-archive|x-java.*|importmap\+json|"
    r"speculationrules\+json|x-javascript-config|x-ns-proxy-autoconfig)"
)


def fault(text: str) -> str | None:
    """Returns the error text for what is no media type; ``None`` for a media type, and for blank text."""
    return None if not text or _MEDIA_TYPE.fullmatch(text) else FAULT


def safe_media_type(text: str) -> str:
    """Returns the value of ``Content-Type`` for a file of a media type that a user chose.

    It is ``text/plain`` for what is no media type, and for what other pages load and run.
    """
    match = _MEDIA_TYPE.fullmatch(text)
    if match is None or _LOADED.fullmatch(match[1].lower()):
        return f"{PLAIN}; charset=utf-8"
    is_text = match[1].lower().startswith("text/")
    return f"{text}; charset=utf-8" if is_text and "charset=" not in match[2].lower() else text
