"""Additional headers of webhooks: parsed on saving a webhook and on building a message, masked in the change log."""

from __future__ import annotations

import re
from typing import Any

from netinv_core.masking import MASK, credential_name

MAX_HEADERS = 100  # of one message
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2: a token
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
# Headers that the client sets, headers of one connection (RFC 9110, 7.6.1), and Host, which would bypass the URL check.
_RESERVED = re.compile(
    r"host$|x-netinv-|x-hook-signature$|webhook-id$|webhook-timestamp$|webhook-signature$|content-length$|transfer-encoding$|connection$|keep-alive$|upgrade$|http2-settings$|te$|trailer$|expect$|proxy-",
    re.IGNORECASE,
)
# An unclosed construct matches to the end of the text, which keeps the time linear.
_COMMENT = re.compile(r"\{#.*?(?:#\}|\Z)", re.DOTALL)
_EXPRESSION = re.compile(r"\{\{.*?(?:\}\}|\Z)", re.DOTALL)
_TAG = re.compile(r"\{%.*?(?:%\}|\Z)", re.DOTALL)


class HeaderError(ValueError):
    """Error in additional headers; the text is the reason."""


def parse(text: str) -> dict[str, str]:
    """Parses one ``Name: Value`` for each line into values by name; skips blank lines.

    :raises HeaderError: for a line of another form, a reserved name, or too many headers
    """
    headers: dict[str, str] = {}
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if not line.strip():
            continue
        name, colon, value = line.partition(":")
        name, value = name.strip(), value.strip()
        if not colon or not _NAME.fullmatch(name) or _CONTROL.search(value):
            raise HeaderError(f"Line {number} of the additional headers is not of the form Name: Value.")
        _check_reserved(name)
        headers[name] = value
        if len(headers) > MAX_HEADERS:
            raise HeaderError(f"There are more than {MAX_HEADERS} additional headers.")
    return headers


def _check_reserved(name: str) -> None:
    if _RESERVED.match(name):
        raise HeaderError(f"The header {name} cannot be among the additional headers.")


def check_template(source: str) -> None:
    """Checks a template of headers before it is rendered, with a placeholder for each expression.

    :raises HeaderError: as :func:`parse`; for a template with tags, only for reserved names
    """
    plain = _EXPRESSION.sub("x", _COMMENT.sub("", source))
    if "{%" not in plain:
        parse(plain)
        return
    for line in _TAG.sub("\n", plain).splitlines():
        name, colon, _ = line.partition(":")
        if colon:
            _check_reserved(name.strip())


def mask(source: Any) -> Any:
    """Masks the values of headers that carry credentials or have a name with a template expression."""
    if not isinstance(source, str):
        return source
    return "\n".join(map(_masked_line, source.split("\n")))


def _masked_line(line: str) -> str:
    name, colon, _ = line.partition(":")
    return f"{name}: {MASK}" if colon and (credential_name(name) or "{" in name) else line
