"""Checks of the descriptions of plugins' views (``@documented``), when the service starts: the document of the whole
API is written with them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyramid.config import Configurator

from netinv_core.declaration_checks import DeclarationError, check_json
from netinv_core.http.actions import OWN_RESOURCE, BodyOf, schema_of
from netinv_core.nearest import hint

if TYPE_CHECKING:
    from netinv_core.app import App
    from netinv_core.registry import Registry


@contextlib.contextmanager
def check_views(config: Configurator, package: str) -> Iterator[None]:
    """Context manager that checks the actions and services which a plugin adds within it.

    :raises DeclarationError: for a description that cannot be used
    """
    registry: Registry = config.registry.netinv
    before = _views(config) if registry.is_plugin(package) else {}
    yield
    if registry.is_plugin(package):
        for name, view in _views(config).items():
            if before.get(name) is not view:
                _check(registry, name, view)


def check_roots(registry: Registry, app: App) -> None:
    """Checks the views that a plugin has in no module.

    :raises DeclarationError: for a description that cannot be used
    """
    if registry.is_plugin(registry.packages[app.name]):
        for path, view in app.views.items():
            _check(registry, path, view)


def _views(config: Configurator) -> dict[str, Any]:
    """The views of actions and services, by method and path."""
    actions = getattr(config.registry, "netinv_actions", ())
    found = {f"{method.upper()} {action.path}": view for action in actions for method, view in action.views.items()}
    for service in config.registry.netinv.services.values():
        operations = service.operations.items()
        found |= {f"{method.upper()} {service.path}": operation.view for method, operation in operations}
    return found


def _check(registry: Registry, name: str, view: Any) -> None:
    """Checks the models and the schemas in the description of a view. A model of an application that is not installed
    is left out of the document.

    :raises DeclarationError: for a model that its application does not have, or a schema that JSON cannot hold
    """
    schema, models = schema_of(view), {*registry.endpoints, *registry.unserved}
    for part in (schema.response, schema.request_body):
        label = part.label if isinstance(part, BodyOf) else part
        if not isinstance(label, str) or label == OWN_RESOURCE or label in models:
            continue
        if isinstance(part, BodyOf) or label.partition(".")[0] in registry.apps:
            message = f"the description of {name} names {label!r}, which is no model"
            raise DeclarationError(message + hint(label, registry.endpoints))
    for value in (schema.response, schema.request_body, schema.query):
        if not isinstance(value, BodyOf):
            check_json(f"the description of {name}", value)
