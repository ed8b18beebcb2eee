"""Component templates: what a device of a type has from the start. A new device gets its components from its type's templates."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.context import Context
from netinv_core.database import among
from netinv_core.errors import Invalid, words
from netinv_core.fields import Value
from netinv_core.model import CASCADE, Base, Description, Organizational, Ref, choice, natural, required_text, switch, text, to, unique_set
from netinv_core.read.filters import has, key, one_of
from netinv_core.resource import Resource
from netinv_core.write import save
from netinv_core.write.draft import Draft
from netinv_dcim.choices import INTERFACE_TYPES
from netinv_dcim.device_types import DeviceType, device_types
from netinv_dcim.devices import devices
from netinv_dcim.interfaces import Interface, component_words


class InterfaceTemplate(Organizational):
    """A network interface that every new device of a type gets."""

    __tablename__ = "dcim_interface_template"
    __table_args__ = (unique_set("device_type_id", "name"),)

    device_type_id: Mapped[Ref] = to(DeviceType, on_delete=CASCADE, back="interface_templates")
    name: Mapped[str] = required_text(64)
    name_key: Mapped[str] = natural("name")
    label: Mapped[str] = text(64, "Physical label")
    type: Mapped[str] = choice(INTERFACE_TYPES, default=None, required=True)
    mgmt_only: Mapped[bool] = switch(False, label="Management only")
    description: Mapped[Description]


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of component: its templates, the model of what is made from them, and what of that no template says."""

    template: type[Base]
    component: type[Base]
    given: Mapping[str, Any] = dataclasses.field(default_factory=dict)


KINDS = [
    Kind(InterfaceTemplate, Interface, given={"status": "active"}),
]

interface_templates = Resource(
    InterfaceTemplate,
    "interface-templates",
    display=(component_words, "name", "label"),
    order=["device_type.manufacturer.name", "device_type.model", "name_key"],
    search=["name", "label", "description"],
    omit=["notes_url"],
    filters=[key("devicetype_id", "device_type", by=()), one_of("type", INTERFACE_TYPES, multiple=False)],
)

device_types.filters.append(has("interfaces", "interface_templates"))


@devices.effect
def new_devices_have_the_components_of_their_type(context: Context, drafts: Sequence[Draft]) -> None:
    """A new device gets what the templates of its type say, unless what is written is a copy, which says it itself."""
    new = [draft for draft in drafts if draft.new]
    if context.copying or not new:
        return
    for kind in KINDS:
        _make(context, kind, new)


def _make(context: Context, kind: Kind, owners: Sequence[Draft]) -> None:
    """The components of one kind: one query for the templates of all types, one batch for what is made from them."""
    template, component = context.registry.of_model(kind.template), context.registry.of_model(kind.component)
    copied = [name for name, field in template.writable.items() if isinstance(field, Value) and name in component.writable]
    table = template.table
    of_types = among(context.registry.dialect, table.c.device_type_id)
    statement = sa.select(table.c.device_type_id, *[table.c[name] for name in copied]).where(of_types).order_by(table.c.name_key, table.c.id)
    said: dict[Any, list[dict[str, Any]]] = {}
    for of_type, *values in context.execute(statement, {"keys": list({draft["device_type_id"] for draft in owners})}):
        said.setdefault(of_type, []).append(dict(zip(copied, values, strict=True)))
    bodies = [{**kind.given, **values, "device": draft.id} for draft in owners for values in said.get(draft["device_type_id"], ())]
    try:
        save.create(context.on_behalf(), component, bodies)
    except Invalid as error:
        raise Invalid.whole(f"The {component.plural} of the device type cannot be made: {words(error.body)}") from error
