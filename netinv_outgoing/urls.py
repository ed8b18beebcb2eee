"""Addresses (RFC 3986) that users wrote, in parts. Text that is no address, such as ``http://[``, is no error."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

LINK_SCHEMES = frozenset({"http", "https", "ftp", "ssh", "mailto", "tel"})  # harmless ones, which pages make links of
MAX_LINK_LENGTH = 8000  # characters; browsers and servers take no longer addresses


def split_url(text: str) -> SplitResult | None:
    """Returns the parts of an address; ``None`` for text that is none: unbalanced brackets, characters of a host that
    are separators after normalisation (NFKC), a port that is no number.
    """
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return None
    return parts


def path_of(text: str) -> str:
    """The path of an address; empty for text that is none."""
    parts = split_url(text)
    return "" if parts is None else parts.path


def query_of(text: str) -> str:
    """The query of an address; empty for text that is none."""
    parts = split_url(text)
    return "" if parts is None else parts.query


def is_link(text: str) -> bool:
    """True for an address with a harmless scheme (:data:`LINK_SCHEMES`), which a page may link to."""
    parts = split_url(text) if len(text) <= MAX_LINK_LENGTH else None
    return parts is not None and parts.scheme.lower() in LINK_SCHEMES


def is_link_or_path(text: str) -> bool:
    """True for an address with a harmless scheme, and for one without: a path of this service, a fragment."""
    parts = split_url(text) if len(text) <= MAX_LINK_LENGTH else None
    return parts is not None and (not parts.scheme or parts.scheme.lower() in LINK_SCHEMES)
