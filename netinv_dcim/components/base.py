"""Base of the components of devices: the shared columns, the display name and the resource."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy.orm import Mapped, MappedColumn

from netinv_core.models.base import Base
from netinv_core.models.columns import CASCADE, Description, foreign_key, natural_sort_key, required_text, text
from netinv_core.presentation import Presentation
from netinv_core.read.filters import related, tree_pair
from netinv_core.resource import Resource
from netinv_dcim.cabling.models import (
    Cabled,
    PathEnd,
    cable_fields,
    cable_filters,
    cable_key,
    path_fields,
    path_filters,
)
from netinv_dcim.devices import Device

if TYPE_CHECKING:
    from netinv_core.read.filters import Filter
    from netinv_core.resource import FieldFactory


class ComponentName:
    """Mixin with the columns that name a component or a component template."""

    name: Mapped[str] = required_text(64, sort_order=-8)
    name_key: Mapped[str] = natural_sort_key("name")
    label: Mapped[str] = text(64, "Physical label", sort_order=-7)
    description: Mapped[Description]


def of_device(back: str) -> MappedColumn[Any]:
    """Foreign key to the component's device; ``back`` is the name of the reverse relation (``interfaces``)."""
    return foreign_key(Device, on_delete=CASCADE, related_name=back, sort_order=-9)


# Of components that state no other; columns that a component does not have are left out.
COMPONENT_PRESENTATION = Presentation(
    columns=[
        "device",
        "label",
        "type",
        "positions",
        "rear_port",
        "rear_port_position",
        "power_port",
        "far_end",
        "cable",
        "description",
    ],
    facets=["type"],
    depends_on={name: {"device": "device_id"} for name in ("rear_port", "power_port")},
)


def component_display_name(name: str, label: str) -> str:
    """The display name of a component: its name, followed by its label if it has one."""
    return f"{name} ({label})" if label else name


def component(
    model: type[Base],
    name: str,
    *,
    brief: Sequence[str] = (),
    fields: Sequence[FieldFactory] = (),
    filters: Sequence[Filter] = (),
    order: Sequence[str] = ("device.name_key", "device_id", "name_key"),
    search: Sequence[str] = ("name", "label", "description"),
    presentation: Presentation = COMPONENT_PRESENTATION,
    **options: Any,
) -> Resource:
    """The resource of a component model: the fields and filters of all components, and those of cables if it takes one.

    ``brief`` names the fields of the brief form besides device, name and cable. The other parameters are those of
    :class:`Resource`.
    """
    cabled, path_end = issubclass(model, Cabled), issubclass(model, PathEnd)
    if cabled and not presentation.leading:
        presentation = dataclasses.replace(presentation, leading=["trace"])
    if path_end:  # the drawing says it
        presentation = dataclasses.replace(presentation, hidden=[*presentation.hidden, "connected_endpoint_reachable"])
    return Resource(
        model,
        name,
        display=(component_display_name, "name", "label"),
        brief=["device", "name", *["cable"] * cabled, *brief],
        brief_fields=[cable_key] * cabled,
        order=order,
        search=search,
        presentation=presentation,
        fields=[*fields, *(path_fields if path_end else cable_fields if cabled else ())],
        filters=[
            *tree_pair("region", "device.site.region"),
            related("site", "device.site", by="slug", ids=False),
            related("site_id", "device.site", by=()),
            related("device", by="name", ids=False),
            *(path_filters if path_end else cable_filters if cabled else ()),
            *filters,
        ],
        **options,
    )
