"""Feature ``tags``: tags of objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from netinv_core.app import Feature
from netinv_core.hookspecs import hookimpl
from netinv_core.models.base import Primary
from netinv_core.presentation import MenuSection
from netinv_core.write.delete import GenericCascade
from netinv_extras import tags
from netinv_extras.config_contexts.scopes import ContextScope

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.resource import FieldFactory

feature = Feature(
    "tags",
    "Tags",
    [tags.tags],
    web=["netinv_extras.tags.web.parts"],
    menu=[MenuSection("Customization", ["tags"], icon="adjustments-horizontal", position=710)],
)


@hookimpl
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    """``tags`` on primary resources."""
    return [tags.field] if issubclass(endpoint.model, Primary) else []


@hookimpl
def netinv_relations(registry: Registry, endpoint: Endpoint) -> dict[str, Any]:
    """Relation of primary objects to their tags."""
    return {"tags": tags.relation(registry, endpoint)} if issubclass(endpoint.model, Primary) else {}


@hookimpl
def netinv_filters(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """``tag`` on primary resources."""
    return [tags.parameter] if issubclass(endpoint.model, Primary) else []


@hookimpl
def netinv_context_scopes(registry: Registry) -> Iterable[ContextScope]:
    """Tags as a scope of config contexts."""
    return [ContextScope("tags", "extras.tag", field="tags", by="slug", position=120)]


@hookimpl
def netinv_generic_cascades(registry: Registry) -> Iterable[GenericCascade]:
    """Deletes the assignments of an object."""
    return [tags.generic_cascade]
