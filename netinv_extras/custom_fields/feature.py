"""Feature ``custom_fields``: fields that users define, and their choices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from netinv_core.app import Feature
from netinv_core.hookspecs import hookimpl
from netinv_core.models.base import Customizable, Organizational
from netinv_core.presentation import MenuSection
from netinv_extras.custom_fields import constraints, field, filters, models, value_updates

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter
    from netinv_core.registry import Registry
    from netinv_core.resource import FieldFactory, Rule
    from netinv_core.uow import UnitOfWork

feature = Feature(
    "custom_fields",
    "Custom fields",
    [models.custom_fields, models.custom_field_choices],
    web=[
        "netinv_extras.custom_fields.web.panel",
        "netinv_extras.custom_fields.web.controls",
    ],
    menu=[
        MenuSection(
            "Customization",
            ["custom-fields", "custom-field-choices"],
            icon="adjustments-horizontal",
            position=711,
        )
    ],
)
value_updates.register()


@hookimpl
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    """``custom_fields`` on customizable resources."""
    return [field.field] if issubclass(endpoint.model, Organizational | Customizable) else []


@hookimpl
def netinv_dynamic_filters(uow: UnitOfWork, endpoint: Endpoint) -> Mapping[str, Filter]:
    """``cf_…``."""
    return filters.parameters(uow, endpoint) if field.NAME in endpoint.fields else {}


@hookimpl
def netinv_document_members(uow: UnitOfWork, endpoint: Endpoint) -> Mapping[str, Callable[..., None]]:
    """Custom fields, for the constraints of permissions."""
    return constraints.members(uow, endpoint) if field.NAME in endpoint.fields else {}


@hookimpl
def netinv_rules(registry: Registry, endpoint: Endpoint) -> Iterable[Rule]:
    """Validation of values."""
    return [field.rule(endpoint)] if field.NAME in endpoint.fields else []
