"""A package with a hook that fails while the service is put together; the variable ``FAILING_HOOK`` names it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from netinv_core.app import App
from netinv_core.endpoint import Endpoint
from netinv_core.hookspecs import hookimpl
from netinv_core.registry import Registry
from netinv_core.resource import FieldFactory, computed

fails = os.environ["FAILING_HOOK"]


def failure(hook: str, result: Any = ()) -> Any:
    """The result of a hook.

    :raises ZeroDivisionError: when it is the one that fails
    """
    if hook == fails:
        raise ZeroDivisionError(f"{hook} fails")
    return result


def _unmakable(registry: Registry, endpoint: Endpoint) -> Any:
    return failure("make")


def _read(text: str) -> int:
    failure("reader")
    return int(text)


@hookimpl
def netinv_app() -> App:
    settings: dict[str, Any] = {"failing_pace": (_read, 1)}
    if fails == "settings":
        settings = {"failing_pace": int}
    elif fails == "claim":
        settings = {"paginate_count": (int, 1)}
    failure("netinv_app")
    return App("failing", "Failing", plugin=True, settings=settings, includes=["netinv_failing"])


def includeme(config: Any) -> None:
    """Adds a view that declares no permission, or one that another package has, or nothing."""
    failure("includes")
    if fails == "permission":
        config.add_route("failing things", "/api/plugins/failing/things/")
        config.add_view(_view, route_name="failing things")
    elif fails == "action":
        config.add_netinv_action("ipam/prefixes", "available-ips", get=_view, permission="view")
    elif fails == "security policy":
        config.set_security_policy(object())


def _view(request: Any) -> dict[str, Any]:
    return {}


@hookimpl
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    failure("netinv_fields")
    if endpoint.label != "tenancy.tenant":
        return []
    return [FieldFactory("unmakable", _unmakable)] if fails == "make" else [computed("lower", str.lower, "name")]


@hookimpl
def netinv_filters(registry: Registry, endpoint: Endpoint) -> Iterator[Any]:
    """A generator: it fails when its result is iterated."""
    failure("netinv_filters")
    yield from ()


@hookimpl
def netinv_relations(registry: Registry, endpoint: Endpoint) -> dict[str, Any]:
    return failure("netinv_relations", {})


@hookimpl
def netinv_rules(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    return failure("netinv_rules")


@hookimpl
def netinv_list_formats(registry: Registry) -> Iterable[Any]:
    return failure("netinv_list_formats")


@hookimpl
def netinv_context_scopes(registry: Registry) -> Iterable[Any]:
    """A hook of another package, which calls it from one of its own."""
    return failure("netinv_context_scopes")
