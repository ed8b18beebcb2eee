"""Feature ``relationships``: relations between objects that users define."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from netinv_core.app import Feature
from netinv_core.hookspecs import hookimpl
from netinv_core.models.base import Organizational
from netinv_core.presentation import MenuSection
from netinv_core.write.delete import GenericCascade
from netinv_extras.relationships import associations, field, filters, models, required, validation
from netinv_undo.net_changes import NetChange

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter
    from netinv_core.registry import Registry
    from netinv_core.resource import FieldFactory, Rule
    from netinv_core.uow import UnitOfWork

feature = Feature(
    "relationships",
    "Relationships",
    [models.relationships, associations.relationship_associations],
    web=[
        "netinv_extras.relationships.web.panel",
        "netinv_extras.relationships.web.controls",
    ],
    menu=[
        MenuSection(
            "Customization",
            ["relationships", "relationship-associations"],
            icon="adjustments-horizontal",
            position=713,
        )
    ],
)
associations.register()
required.register()


@hookimpl
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    """``relationships`` on organizational resources."""
    return [field.field] if issubclass(endpoint.model, Organizational) else []


@hookimpl
def netinv_dynamic_filters(uow: UnitOfWork, endpoint: Endpoint) -> Mapping[str, Filter]:
    """``cr_…``."""
    return filters.parameters(uow, endpoint) if models.NAME in endpoint.fields else {}


@hookimpl
def netinv_rules(registry: Registry, endpoint: Endpoint) -> Iterable[Rule]:
    """Validation of associations that are written with an object."""
    return [validation.rule(endpoint)] if models.NAME in endpoint.fields else []


@hookimpl
def netinv_reverted(uow: UnitOfWork, changes: Sequence[NetChange]) -> None:
    """Refuses to restore objects without what is required of them."""
    required.restored_objects_have_theirs(uow, changes)


@hookimpl
def netinv_generic_cascades(registry: Registry) -> Iterable[GenericCascade]:
    """Deletes the associations of an object."""
    return associations.generic_cascades
