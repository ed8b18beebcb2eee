"""HTTP methods of resources: the permission that each one needs, and values of the Allow header."""

from __future__ import annotations

from collections.abc import Sequence

from netinv_core.caches import lru_cache

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
ITEM_METHODS = ("GET", "PUT", "PATCH", "DELETE")
UNSAFE_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# The permission on a resource that a method of its list or its objects needs.
PERMISSIONS = {"GET": "view", "HEAD": "view", "POST": "add", "PUT": "change", "PATCH": "change", "DELETE": "delete"}


def allow_header(methods: Sequence[str]) -> str:
    """The value of the Allow header: these methods, HEAD where there is GET, and OPTIONS."""
    return ", ".join((*methods, *(["HEAD"] if "GET" in methods else []), "OPTIONS"))


@lru_cache("constants", 2000)
def allowed_methods(methods: tuple[str, ...], writes: frozenset[str]) -> str:
    """The value of the Allow header of a path with these methods, where only these actions write."""
    return allow_header([method for method in methods if method == "GET" or PERMISSIONS[method] in writes])
