"""Feature ``config_contexts``: data merged for objects by their place, role and other scopes, and its schemas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy.engine import Engine

from netinv_core.app import Feature
from netinv_core.findings import Finding
from netinv_core.hookspecs import hookimpl
from netinv_core.presentation import MenuSection
from netinv_extras.config_contexts import limits, merge, models, schemas, scopes
from netinv_extras.git.sync import ContentKind

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.resource import FieldFactory

feature = Feature(
    "config_contexts",
    "Config contexts",
    [schemas.config_context_schemas, models.config_contexts],
    web=["netinv_extras.config_contexts.web.tab"],
    menu=[
        MenuSection(
            "Customization",
            ["config-contexts", "config-context-schemas"],
            icon="adjustments-horizontal",
            position=715,
        )
    ],
)
limits.register()


@hookimpl
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    """The merged context of objects, and the scopes of contexts."""
    of_context = scopes.scope_fields(registry) if endpoint.model is models.ConfigContext else []
    return [*merge.attach_field(registry, endpoint), *of_context]


@hookimpl
def netinv_relations(registry: Registry, endpoint: Endpoint) -> dict[str, Any]:
    """Relations of contexts to the objects of their scopes."""
    return dict(scopes.relations(registry)) if endpoint.model is models.ConfigContext else {}


@hookimpl
def netinv_filters(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """Contexts by their scopes."""
    return scopes.parameters(registry) if endpoint.model is models.ConfigContext else []


@hookimpl
def netinv_git_content_kinds(registry: Registry) -> Mapping[str, ContentKind]:
    """Schemas, and contexts, which may name them."""
    from netinv_extras.git import content_kinds

    return content_kinds.CONTEXTS


@hookimpl
def netinv_checks(engine: Engine, registry: Registry) -> Iterable[Finding]:
    """Contexts that apply to nothing, as the last object of one of their scopes was deleted."""
    return [limits.check(engine)]
