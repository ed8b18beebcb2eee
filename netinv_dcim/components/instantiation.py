"""The outfit of a new device: a component for each template of its type, joined to each other as the templates are."""

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
from netinv_core.registry import Registry
from netinv_core.uow import UnitOfWork
from netinv_core.write import save
from netinv_core.write.draft import Draft
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


@dataclasses.dataclass(frozen=True, eq=False)
class Kind:
    """A kind of component: its templates, what is made from them, and what of that no template says."""

    template: type[Base]
    component: type[Base]
    given: Mapping[str, Any] = dataclasses.field(default_factory=dict)


# Those first that others refer to.
KINDS = (
    Kind(ConsolePortTemplate, ConsolePort),
    Kind(ConsoleServerPortTemplate, ConsoleServerPort),
    Kind(PowerPortTemplate, PowerPort),
    Kind(PowerOutletTemplate, PowerOutlet),
    Kind(InterfaceTemplate, Interface, given={"status": "active"}),
    Kind(RearPortTemplate, RearPort),
    Kind(FrontPortTemplate, FrontPort),
    Kind(DeviceBayTemplate, DeviceBay),
)


def instantiate_components(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A new device gets what the templates of its type say, unless what is written is a copy, which says it itself."""
    new = [draft for draft in drafts if draft.new]
    if uow.importing or not new:
        return
    templates = _templates(uow, {draft["device_type_id"] for draft in new})
    service = uow.as_system()
    made: dict[tuple[Any, Any], uuid.UUID] = {}
    written = [_make(service, kind, said, new, made) for kind, said in zip(KINDS, templates, strict=True) if said]
    save.finish(service, written)


def _templates(uow: UnitOfWork, types: Iterable[Any]) -> list[dict[Any, list[Row]]]:
    """The templates of device types, by type and in order, for each kind: one statement."""
    found = []
    for rows in uow.registry.union(KINDS, lambda: _selects(uow.registry)).rows(uow, {"keys": list(types)}):
        said: dict[Any, list[Row]] = {}
        for of_type, _, *row in sorted(rows, key=lambda row: (row[1], row[2])):
            said.setdefault(of_type, []).append(row)
        found.append(said)
    return found


def _selects(registry: Registry) -> Iterator[tuple[list[Any], Any, Any]]:
    """For each kind: the templates' type, sort key and id, then what components take over, and the other templates they are joined to."""
    for kind in KINDS:
        table = table_of(kind.template)
        columns = ["device_type_id", "name_key", "id", *_copied(registry, kind), *[f"{name}_id" for name in _joined(registry, kind)]]
        yield [table.c[name] for name in columns], table, in_parameter(registry.dialect, table.c.device_type_id)


def _copied(registry: Registry, kind: Kind) -> list[str]:
    """The fields that a component takes over as they are."""
    component = registry.of_model(kind.component).writable
    fields = registry.of_model(kind.template).writable.items()
    return [name for name, field in fields if isinstance(field, Value) and field.attribute == name and name in component]


def _joined(registry: Registry, kind: Kind) -> list[str]:
    """The references to another template: a component refers to what was made from that."""
    models = {kind.template for kind in KINDS}
    fields = registry.of_model(kind.template).writable.items()
    return [name for name, field in fields if isinstance(field, Reference) and field.target is not None and field.target.model in models]


def _make(uow: UnitOfWork, kind: Kind, said: Mapping[Any, Sequence[Row]], owners: Sequence[Draft], made: dict[tuple[Any, Any], uuid.UUID]) -> save.PendingBatch:
    """The components of a kind; ``made`` holds the ids of all components, by device and template.

    :raises Invalid: for what cannot be made, which is a fault of the device as a whole
    """
    component = uow.registry.of_model(kind.component)
    copied, joined = _copied(uow.registry, kind), _joined(uow.registry, kind)
    bodies: dict[uuid.UUID, dict[str, Any]] = {}
    try:
        for owner in owners:
            for template, *values in said.get(owner["device_type_id"], ()):
                key = made[owner.id, template] = uuid.uuid4()
                body = bodies[key] = {**kind.given, **dict(zip(copied, values[: len(copied)], strict=True)), "device": owner.id}
                for name, other in zip(joined, values[len(copied) :], strict=True):
                    body[name] = _joint(made, owner, name, other)
        return save.insert(uow, component, list(bodies.values()), ids=list(bodies))
    except Invalid as error:
        raise Invalid.whole(f"The {component.plural} of the device type cannot be made: {error_text(error.body)}") from error


def _joint(made: Mapping[tuple[Any, Any], uuid.UUID], owner: Draft, name: str, template: Any) -> uuid.UUID | None:
    """What a device got for another template; templates can be moved to a type of which the device is not."""
    if template is not None and (owner.id, template) not in made:
        raise Invalid.field(name, "It belongs to another device type.")
    return made.get((owner.id, template))


def register() -> None:
    """Registers the functions of this module with resources of other modules: once, by the package."""
    devices.after_save(instantiate_components)
