"""API versions: content negotiation, and conversion of bodies and representations between versions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.caches import lru_cache
from netinv_core.errors import BadRequest, NotAcceptable, NotFound

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.resource import Listing, VersionChange

SUPPORTED = ("1.2", "1.3", "1.4", "1.5", "1.6")
DEFAULT = "1.2"
NEWEST = SUPPORTED[-1]
JSON, HTML = "application/json", "text/html"
PROBLEM = "application/problem+json"  # of errors alone
CSV, TSV, YAML = "text/csv", "text/tab-separated-values", "application/yaml"
TABLES = frozenset({CSV, TSV})  # always of the newest version
_FORMATS = {"": None, "json": JSON, "csv": CSV, "tsv": TSV, "yaml": YAML}  # values of the parameter ``format``
_QUALITY = re.compile(r"[01](?:\.[0-9]{0,10})?")
# Release of the reference service whose API is spoken here, and its framework: clients read both from the status.
REFERENCE = {"nautobot-version": "1.6.32", "django-version": "3.2.25"}
_LISTED = f"Supported versions are {', '.join(SUPPORTED)}"


def negotiate(accept: str | None, query: Mapping[str, list[str]], offers: Sequence[str] = ()) -> tuple[str, str]:
    """The media type to answer with and the API version, from the Accept header and the query.

    ``offers`` are media types of the path beside JSON and HTML.

    :raises NotAcceptable: for a media type or Accept version that is not offered
    :raises NotFound: for an ``api_version`` that is not supported, or an unknown ``format``
    :raises BadRequest: when header and query ask for different versions
    """
    media, header_version = _accepted(accept, tuple(offers))
    chosen = query.get("format", [""])[-1]
    if chosen == "api":
        raise NotAcceptable()
    if chosen not in _FORMATS or _FORMATS[chosen] not in (None, JSON, *offers):
        raise NotFound()
    media, version = _FORMATS[chosen] or media, chosen_version(header_version, query)
    return media, NEWEST if media in TABLES else version


def chosen_version(header_version: str | None, query: Mapping[str, list[str]]) -> str:
    """The API version that header and query agree on; raises as :func:`negotiate` does."""
    if header_version is not None and header_version not in SUPPORTED:
        raise NotAcceptable(f'Invalid version in "Accept" header. {_LISTED}')
    if "api_version" not in query:
        return header_version or DEFAULT
    query_version = query["api_version"][-1]
    if query_version not in SUPPORTED:
        raise NotFound(f"Invalid version in query parameter. {_LISTED}")
    if header_version is not None and header_version != query_version:
        raise BadRequest('Version mismatch between "Accept" header and query parameter.')
    return query_version


@lru_cache("accepted media types", 200)
def _accepted(accept: str | None, offers: tuple[str, ...]) -> tuple[str, str | None]:
    """The best media range that is offered, and its ``version`` parameter."""
    if not accept or not accept.strip():
        return JSON, None
    ranges = sorted(media_ranges(accept), key=lambda item: -item[0])
    for quality, media, version in ranges:
        if not quality:  # q=0: not acceptable (RFC 9110, 12.4.2)
            break
        if media in (JSON, "*/*", "application/*"):
            return JSON, version
        if media in (HTML, "text/*"):
            return HTML, version
        if media in offers:
            return media, version
    if any(quality and media == PROBLEM for quality, media, _ in ranges):
        return JSON, None
    raise NotAcceptable()


def media_ranges(accept: str) -> list[tuple[float, str, str | None]]:
    """The media ranges of an Accept header in its order: quality, media type, ``version`` parameter; in one pass over
    the header.

    Malformed ranges are read as far as possible. ``webob.acceptparse`` rejects the whole header for one of them
    (``version = 1.4``, ``q=1.5``), and takes 20 ms for a header of 4,000 characters.
    """
    ranges = []
    for part in accept.split(","):
        media, *parameters = part.split(";")
        pairs = (item.partition("=") for item in parameters)
        values = {name.strip().lower(): _unquoted(value.strip()) for name, equals, value in pairs if equals}
        ranges.append((_quality(values.get("q", "")), media.strip().lower(), values.get("version")))
    return ranges


def _quality(text: str) -> float:
    """The value of a ``q`` parameter; 1 if it is malformed."""
    return float(text) if _QUALITY.fullmatch(text) else 1.0


def _unquoted(value: str) -> str:
    """A parameter's value without the quotes it may stand in (RFC 9110, 5.6.4)."""
    return value[1:-1].replace("\\", "") if len(value) > 1 and value[0] == value[-1] == '"' else value


@lru_cache("versions", 1000)
def older(version: str, than: str) -> bool:
    """True for a version before another."""
    return tuple(map(int, version.split("."))) < tuple(map(int, than.split(".")))


def absent(endpoint: Endpoint, version: str) -> frozenset[str]:
    """The fields of a resource that ``version`` does not have: added later, or removed earlier."""
    return frozenset(name for change in endpoint.resource.versions for name in _unknown(change, version))


def coming(endpoint: Endpoint, version: str) -> frozenset[str]:
    """The fields of a resource that were added after ``version``; filters of removed fields still work."""
    return frozenset(
        name for change in endpoint.resource.versions if older(version, change.since) for name in change.absent
    )


def _unknown(change: VersionChange, version: str) -> tuple[str, ...]:
    return change.absent if older(version, change.since) else change.former


def read_for(endpoint: Endpoint, version: str, names: Iterable[str]) -> set[str]:
    """The fields to read for members of a representation of ``version``: all, where it cannot be told."""
    read = set(names)
    for change in endpoint.resource.versions:
        if older(version, change.since) and (change.downgrade is not dict or change.listing is not None):
            if not change.changed:
                return set(endpoint.fields)
            read |= set(change.changed) if read & set(change.changed) else set()
    return read


def as_version(endpoint: Endpoint, version: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The OpenAPI schema of an object, converted to ``version``. Brief and nested forms are alike in every version."""
    for change in reversed(endpoint.resource.versions):
        if older(version, change.since):
            schema = change.schema(schema)
    return schema


def former_listing(endpoint: Endpoint, version: str) -> Listing | None:
    """The function for the objects of a list in ``version``; ``None`` where a list has the representations of
    details.
    """
    listings = (change.listing for change in endpoint.resource.versions if older(version, change.since))
    return next((listing for listing in listings if listing is not None), None)


def downgrade(endpoint: Endpoint, version: str, representation: dict[str, Any]) -> dict[str, Any]:
    """A representation, converted from the newest version to ``version``."""
    return downgrade_all(endpoint, version, [representation])[0]


def downgrade_all(endpoint: Endpoint, version: str, representations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Representations, converted from the newest version to ``version``."""
    for change in reversed(endpoint.resource.versions):
        unknown, changed = frozenset(_unknown(change, version)), frozenset(change.changed)
        if unknown:
            representations = [
                {name: value for name, value in item.items() if name not in unknown} for item in representations
            ]
        if older(version, change.since):
            representations = [
                change.downgrade(dict(item)) if changed <= item.keys() else item for item in representations
            ]
    return representations


def upgrade(endpoint: Endpoint, version: str, body: Any, *, new: bool) -> Any:
    """A body, converted from ``version`` to the newest version (``new``: for an object to be created)."""
    if not isinstance(body, dict):
        return body
    for change in endpoint.resource.versions:
        before = older(version, change.since)
        # fields of older versions can be set in every version on creation; older versions would lack them otherwise
        ignored = change.absent if before else () if new else change.former
        body = {name: value for name, value in body.items() if name not in ignored}
        if before and new:
            body = change.upgrade(body)
    return body
