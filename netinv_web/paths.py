"""Paths of pages: those of the API without ``/api``."""

from __future__ import annotations

from typing import Any

from netinv_core.endpoint import Endpoint


def page_path(endpoint: Endpoint) -> str:
    """The path of the page with a resource's list."""
    return endpoint.path.removeprefix("/api")


def object_path(endpoint: Endpoint, key: Any) -> str:
    """The path of an object's page."""
    return f"{endpoint.canonical_path.removeprefix('/api')}{key}/"


def path_of_url(url: str, base: str) -> str:
    """The path of the page for an object's URL in the API."""
    return url.removeprefix(base).removeprefix("/api")
