"""HTTP methods of resources: the permission that each one needs, and values of the Allow header."""

from __future__ import annotations

from collections.abc import Sequence

from pyramid.request import Request

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
ITEM_METHODS = ("GET", "PUT", "PATCH", "DELETE")
UNSAFE_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# The permission on a resource that a method of its list or its objects needs.
PERMISSIONS = {"GET": "view", "HEAD": "view", "POST": "add", "PUT": "change", "PATCH": "change", "DELETE": "delete"}


def allow_header(methods: Sequence[str]) -> str:
    """The value of the Allow header: these methods, HEAD where there is GET, and OPTIONS."""
    return ", ".join((*methods, *(["HEAD"] if "GET" in methods else []), "OPTIONS"))


def collection_allow(request: Request) -> str:
    """The Allow header of a resource's list."""
    return _resource_allow(request, METHODS)


def item_allow(request: Request) -> str:
    """The Allow header of a resource's objects."""
    return _resource_allow(request, ITEM_METHODS)


def _resource_allow(request: Request, methods: Sequence[str]) -> str:
    writes = request.context.endpoint.resource.writes
    return allow_header([method for method in methods if method == "GET" or PERMISSIONS[method] in writes])
