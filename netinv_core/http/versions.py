"""API versions, and the conversion of bodies and representations between them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from netinv_core.caches import lru_cache

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.resource import Listing, VersionChange

SUPPORTED = ("1.2", "1.3", "1.4", "1.5", "1.6")
DEFAULT = "1.2"
NEWEST = SUPPORTED[-1]
JSON, HTML = "application/json", "text/html"
PROBLEM = "application/problem+json"  # of errors alone
CSV, TSV, YAML = "text/csv", "text/tab-separated-values", "application/yaml"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
TABLES = frozenset({CSV, TSV, XLSX})  # always of the newest version
# Release of the reference service whose API is spoken here, and its framework: clients read both from the status.
REFERENCE = {"nautobot-version": "1.6.32", "django-version": "3.2.25"}


@lru_cache("versions", 1000)
def older(version: str, than: str) -> bool:
    """True for a version before another."""
    return tuple(map(int, version.split("."))) < tuple(map(int, than.split(".")))


def absent(endpoint: Endpoint, version: str) -> frozenset[str]:
    """The fields of a resource that ``version`` does not have: added later, or removed earlier."""
    return frozenset(name for change in endpoint.resource.versions for name in _unknown(change, version))


def added_since(endpoint: Endpoint, version: str) -> frozenset[str]:
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
