"""Instantiation of component templates: a new device gets a component for each template of its type.

References between components follow those between their templates: a front port of the device refers to its rear port.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from netinv_core.db.engine import in_parameter
from netinv_core.errors import Invalid, error_text
from netinv_core.fields import Reference, Value
from netinv_core.models.base import Base, table_of
from netinv_core.read.plan import Row
from netinv_core.read.union import kept_union
from netinv_core.types import Draft, Registry, UnitOfWork
from netinv_core.write import save
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
from netinv_dcim.devices import devices

NEW_STATUS = "active"


@dataclasses.dataclass(frozen=True, eq=False)
class ComponentKind:
    """A kind of component: template model, component model, and ``fixed_values``, which templates do not have."""

    template: type[Base]
    component: type[Base]
    fixed_values: Mapping[str, Any] = dataclasses.field(default_factory=dict)


# In order of creation: components that others refer to come first.
KINDS = (
    ComponentKind(ConsolePortTemplate, ConsolePort),
    ComponentKind(ConsoleServerPortTemplate, ConsoleServerPort),
    ComponentKind(PowerPortTemplate, PowerPort),
    ComponentKind(PowerOutletTemplate, PowerOutlet),
    ComponentKind(InterfaceTemplate, Interface, fixed_values={"status": NEW_STATUS}),
    ComponentKind(RearPortTemplate, RearPort),
    ComponentKind(FrontPortTemplate, FrontPort),
    ComponentKind(DeviceBayTemplate, DeviceBay),
)


def instantiate_components(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """After new devices are saved: creates their components. An import does not: its data contains the components."""
    new = [draft for draft in drafts if draft.new]
    if uow.importing or not new:
        return
    templates = _templates(uow, {draft["device_type_id"] for draft in new})
    service = uow.as_system()
    component_ids: dict[tuple[Any, Any], uuid.UUID] = {}
    batches = [
        _create(service, kind, rows_by_type, new, component_ids)
        for kind, rows_by_type in zip(KINDS, templates, strict=True)
        if rows_by_type
    ]
    save.finish(service, batches)


def _templates(uow: UnitOfWork, types: Iterable[Any]) -> list[dict[Any, list[Row]]]:
    """The template rows of device types: for each kind a dictionary by type, in order; one UNION ALL statement.

    A row holds the template's id and then its values, in the order of :func:`_selects`.
    """
    templates = []
    for rows in kept_union(uow.registry, KINDS, lambda: _selects(uow.registry)).rows(uow, {"keys": list(types)}):
        rows_by_type: dict[Any, list[Row]] = {}
        for type_id, _, *row in sorted(rows, key=lambda row: (row[1], row[2])):
            rows_by_type.setdefault(type_id, []).append(row)
        templates.append(rows_by_type)
    return templates


def _selects(registry: Registry) -> Iterator[tuple[list[Any], Any, Any]]:
    """For each kind the columns, table and condition of its SELECT.

    The columns are the template's device type, sort key and id, then the copied fields, then the references to other
    templates.
    """
    for kind in KINDS:
        table = table_of(kind.template)
        references = [f"{name}_id" for name in _references(registry, kind)]
        columns = ["device_type_id", "name_key", "id", *_copied_fields(registry, kind), *references]
        yield [table.c[name] for name in columns], table, in_parameter(registry.dialect, table.c.device_type_id)


def _copied_fields(registry: Registry, kind: ComponentKind) -> list[str]:
    """The names of the fields that are copied from template to component."""
    component = registry.of_model(kind.component).writable
    fields = registry.of_model(kind.template).writable.items()
    return [
        name for name, field in fields if isinstance(field, Value) and field.attribute == name and name in component
    ]


def _references(registry: Registry, kind: ComponentKind) -> list[str]:
    """The names of the references to another template: a component refers to the component made from that one."""
    models = {kind.template for kind in KINDS}
    fields = registry.of_model(kind.template).writable.items()
    return [
        name
        for name, field in fields
        if isinstance(field, Reference) and field.target is not None and field.target.model in models
    ]


def _create(
    uow: UnitOfWork,
    kind: ComponentKind,
    template_rows: Mapping[Any, Sequence[Row]],
    owners: Sequence[Draft],
    component_ids: dict[tuple[Any, Any], uuid.UUID],
) -> save.PendingBatch:
    """Inserts the components of one kind for the devices ``owners``.

    ``template_rows`` holds the template rows by device type. ``component_ids`` collects the ids of all components by
    device and template.

    :raises Invalid: for the device as a whole, when a component is refused
    """
    component = uow.registry.of_model(kind.component)
    copied, references = _copied_fields(uow.registry, kind), _references(uow.registry, kind)
    bodies: dict[uuid.UUID, dict[str, Any]] = {}
    try:
        for owner in owners:
            for template, *values in template_rows.get(owner["device_type_id"], ()):
                key = component_ids[owner.id, template] = uuid.uuid4()
                copied_values = dict(zip(copied, values[: len(copied)], strict=True))
                body = bodies[key] = {**kind.fixed_values, **copied_values, "device": owner.id}
                for name, other in zip(references, values[len(copied) :], strict=True):
                    body[name] = _component_of(component_ids, owner, name, other)
        return save.insert(uow, component, list(bodies.values()), ids=list(bodies))
    except Invalid as error:
        raise Invalid.whole(
            f"The {component.plural} of the device type cannot be made: {error_text(error.body)}"
        ) from error


def _component_of(
    component_ids: Mapping[tuple[Any, Any], uuid.UUID], owner: Draft, name: str, template: Any
) -> uuid.UUID | None:
    """The id of the device's component for a template, or ``None`` without a template.

    :raises Invalid: when the template has been moved to another device type since the reference to it was set
    """
    if template is not None and (owner.id, template) not in component_ids:
        raise Invalid.field(name, "It belongs to another device type.")
    return component_ids.get((owner.id, template))


def register() -> None:
    """Registers the functions of this module with resources of other modules. The package calls it once."""
    devices.after_save(instantiate_components)
