"""Additional headers of webhooks: parsed the same way when a webhook is saved and when a message is made, and masked in the change log."""

from __future__ import annotations

import re
from typing import Any

from netinv_core.changelog.masking import MASK, credential_name

MOST = 100  # headers of one message
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2: a token
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# Headers that the sender sets itself, that belong to one connection (RFC 9110, 7.6.1), or that lead to another host than the URL's.
_RESERVED = re.compile(
    r"host$|x-netinv-|x-hook-signature$|content-length$|transfer-encoding$|connection$|keep-alive$|upgrade$|http2-settings$|te$|trailer$|expect$|proxy-",
    re.IGNORECASE,
)
# What is not closed reaches to the end, so that the time grows with the length alone.
_COMMENT = re.compile(r"\{#.*?(?:#\}|\Z)", re.DOTALL)
_EXPRESSION = re.compile(r"\{\{.*?(?:\}\}|\Z)", re.DOTALL)
_TAG = re.compile(r"\{%.*?(?:%\}|\Z)", re.DOTALL)


class HeaderError(ValueError):
    """Additional headers that cannot be sent, and why."""


def parse(text: str) -> dict[str, str]:
    """Headers by name, from one ``Name: Value`` a line; blank lines are left out.

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
        if len(headers) > MOST:
            raise HeaderError(f"There are more than {MOST} additional headers.")
    return headers


def _check_reserved(name: str) -> None:
    if _RESERVED.match(name):
        raise HeaderError(f"The header {name} cannot be among the additional headers.")


def check_template(source: str) -> None:
    """Checks what can be known of a template of headers before it is rendered: an expression stands for some text of a line.

    :raises HeaderError: as :func:`parse`; where tags decide which lines there are, for reserved names alone
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
    """The source of additional headers without the values of those that carry credentials, or whose names a template makes."""
    if not isinstance(source, str):
        return source
    return "\n".join(map(_masked_line, source.split("\n")))


def _masked_line(line: str) -> str:
    name, colon, _ = line.partition(":")
    return f"{name}: {MASK}" if colon and (credential_name(name) or "{" in name) else line
