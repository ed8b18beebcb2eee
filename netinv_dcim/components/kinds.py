"""Kinds of components that device types have templates of, and the fields that a component takes from its template."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.fields import Reference, Value
from netinv_core.models.base import Base
from netinv_dcim.choices import VIRTUAL_TYPES
from netinv_dcim.components.console import ConsolePort, ConsoleServerPort
from netinv_dcim.components.device_bays import DeviceBay
from netinv_dcim.components.interfaces import Interface
from netinv_dcim.components.pass_through import FrontPort, RearPort
from netinv_dcim.components.power_ports import PowerOutlet, PowerPort
from netinv_dcim.components.templates import (
    ConsolePortTemplate,
    ConsoleServerPortTemplate,
    DeviceBayTemplate,
    FrontPortTemplate,
    InterfaceTemplate,
    PowerOutletTemplate,
    PowerPortTemplate,
    RearPortTemplate,
)

if TYPE_CHECKING:
    from netinv_core.registry import Registry

NEW_STATUS = "active"


@dataclasses.dataclass(frozen=True, eq=False)
class ComponentKind:
    """A kind of component: template model, component model, and ``fixed_values``, which templates do not have.

    Components whose ``type`` is one of ``configured`` are no hardware: a device may have more of them than its type.
    """

    template: type[Base]
    component: type[Base]
    fixed_values: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    configured: frozenset[str] = frozenset()


# In order of creation: components that others refer to come first.
KINDS = (
    ComponentKind(ConsolePortTemplate, ConsolePort),
    ComponentKind(ConsoleServerPortTemplate, ConsoleServerPort),
    ComponentKind(PowerPortTemplate, PowerPort),
    ComponentKind(PowerOutletTemplate, PowerOutlet),
    ComponentKind(InterfaceTemplate, Interface, fixed_values={"status": NEW_STATUS}, configured=VIRTUAL_TYPES),
    ComponentKind(RearPortTemplate, RearPort),
    ComponentKind(FrontPortTemplate, FrontPort),
    ComponentKind(DeviceBayTemplate, DeviceBay),
)


def copied_fields(registry: Registry, kind: ComponentKind) -> list[str]:
    """The names of the fields that are copied from template to component."""
    component = registry.of_model(kind.component).writable
    fields = registry.of_model(kind.template).writable.items()
    return [
        name for name, field in fields if isinstance(field, Value) and field.attribute == name and name in component
    ]


def references_of(registry: Registry, kind: ComponentKind) -> dict[str, ComponentKind]:
    """The references to another template, and its kind, by name: a component refers to the component made from that."""
    kinds = {kind.template: kind for kind in KINDS}
    fields = registry.of_model(kind.template).writable.items()
    return {
        name: kinds[field.target.model]
        for name, field in fields
        if isinstance(field, Reference) and field.target is not None and field.target.model in kinds
    }
