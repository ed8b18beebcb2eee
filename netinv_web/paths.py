"""Paths of pages: those of the API without ``/api``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry


def page_path(endpoint: Endpoint) -> str:
    """The path of the page with a resource's list."""
    return endpoint.path.removeprefix("/api")


def object_path(endpoint: Endpoint, key: Any) -> str:
    """The path of an object's page."""
    return f"{endpoint.canonical_path.removeprefix('/api')}{key}/"


def path_of_url(url: str, base: str) -> str:
    """The path of the page for an object's URL in the API."""
    return url.removeprefix(base).removeprefix("/api")


def endpoint_at(registry: Registry, path: str) -> Endpoint | None:
    """The resource of the object whose page is at a path; ``None`` for other paths."""
    collection, _, _ = path.rstrip("/").rpartition("/")
    return _endpoints_by_path(registry).get(f"{collection}/")


def object_at(registry: Registry, path: str) -> tuple[str, Any] | None:
    """The label and the id of the object whose page is at a path; ``None`` for other paths."""
    endpoint = endpoint_at(registry, path)
    key = None if endpoint is None else endpoint.parse_key(path.rstrip("/").rpartition("/")[2])
    return None if endpoint is None or key is None else (endpoint.label, key)


@cached_in_registry
def _endpoints_by_path(registry: Registry) -> Mapping[str, Endpoint]:
    return {page_path(endpoint): endpoint for endpoint in registry.endpoints.values()}
