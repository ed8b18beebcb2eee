"""Component templates: what a device of a type has from the start. What becomes of them is said in :mod:`netinv_dcim.components.instantiation`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, MappedColumn

from netinv_core.db.engine import in_parameter
from netinv_core.models.associations import unique_set
from netinv_core.models.base import Base, Organizational, table_of
from netinv_core.models.columns import CASCADE, SET_NULL, Ref, boolean, choice, column_info, foreign_key, integer
from netinv_core.read import listing
from netinv_core.read.filters import Filter, has, one_of, related
from netinv_core.read.lookups import convert_flag
from netinv_core.resource import Resource
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import ALL, Draft
from netinv_dcim.choices import INTERFACE_TYPES
from netinv_dcim.components.base import Named, component_display_name
from netinv_dcim.components.connectors import CONSOLE_CONNECTORS, FEED_LEGS, PASS_THROUGH_CONNECTORS, POWER_PLUGS, POWER_SOCKETS
from netinv_dcim.components.pass_through import MOST
from netinv_dcim.components.power_ports import allocated_draw_is_within_the_maximum
from netinv_dcim.device_types import DeviceType, device_types
from netinv_dcim.rack_position import CHILD

PARENT = "parent"


def of_type(back: str) -> MappedColumn[Ref]:
    """The foreign key to the device type whose template it is; ``back`` is what the type calls its templates of the kind."""
    return foreign_key(DeviceType, on_delete=CASCADE, related_name=back, sort_order=-9)


class ConsolePortTemplate(Named, Organizational):
    """A console port that every new device of a type gets."""

    __tablename__ = "dcim_console_port_template"
    __table_args__ = (unique_set("device_type_id", "name"),)

    device_type_id: Mapped[Ref] = of_type("console_port_templates")
    type: Mapped[str] = choice(CONSOLE_CONNECTORS)


class ConsoleServerPortTemplate(Named, Organizational):
    """A console server port that every new device of a type gets."""

    __tablename__ = "dcim_console_server_port_template"
    __table_args__ = (unique_set("device_type_id", "name"),)

    device_type_id: Mapped[Ref] = of_type("console_server_port_templates")
    type: Mapped[str] = choice(CONSOLE_CONNECTORS)


class PowerPortTemplate(Named, Organizational):
    """A power port that every new device of a type gets, with its draw in watts."""

    __tablename__ = "dcim_power_port_template"
    __table_args__ = (unique_set("device_type_id", "name"),)

    device_type_id: Mapped[Ref] = of_type("power_port_templates")
    type: Mapped[str] = choice(POWER_PLUGS)
    maximum_draw: Mapped[int | None] = integer(1, 32767, "Maximum power draw (watts)")
    allocated_draw: Mapped[int | None] = integer(1, 32767, "Allocated power draw (watts)")


class PowerOutletTemplate(Named, Organizational):
    """A power outlet that every new device of a type gets."""

    __tablename__ = "dcim_power_outlet_template"
    __table_args__ = (unique_set("device_type_id", "name"),)

    device_type_id: Mapped[Ref] = of_type("power_outlet_templates")
    type: Mapped[str] = choice(POWER_SOCKETS)
    power_port_id: Mapped[Ref | None] = foreign_key(PowerPortTemplate, on_delete=SET_NULL, related_name="power_outlet_templates")
    feed_leg: Mapped[str] = choice(FEED_LEGS, help="Phase (for three-phase feeds)")


class InterfaceTemplate(Named, Organizational):
    """A network interface that every new device of a type gets."""

    __tablename__ = "dcim_interface_template"
    __table_args__ = (unique_set("device_type_id", "name"),)

    device_type_id: Mapped[Ref] = of_type("interface_templates")
    type: Mapped[str] = choice(INTERFACE_TYPES, default=None, required=True)
    mgmt_only: Mapped[bool] = boolean(False, label="Management only")


class RearPortTemplate(Named, Organizational):
    """A rear port that every new device of a type gets."""

    __tablename__ = "dcim_rear_port_template"
    __table_args__ = (unique_set("device_type_id", "name"),)

    device_type_id: Mapped[Ref] = of_type("rear_port_templates")
    type: Mapped[str] = choice(PASS_THROUGH_CONNECTORS, default=None, required=True)
    positions: Mapped[int] = integer(1, MOST, default=1)


class FrontPortTemplate(Named, Organizational):
    """A front port that every new device of a type gets, on a position of one of its rear ports."""

    __tablename__ = "dcim_front_port_template"
    __table_args__ = (unique_set("device_type_id", "name"), unique_set("rear_port_id", "rear_port_position"))

    device_type_id: Mapped[Ref] = of_type("front_port_templates")
    type: Mapped[str] = choice(PASS_THROUGH_CONNECTORS, default=None, required=True)
    rear_port_id: Mapped[Ref] = foreign_key(RearPortTemplate, on_delete=CASCADE, related_name="front_port_templates")
    rear_port_position: Mapped[int] = integer(1, MOST, default=1)


class DeviceBayTemplate(Named, Organizational):
    """A device bay that every new device of a type gets."""

    __tablename__ = "dcim_device_bay_template"
    __table_args__ = (unique_set("device_type_id", "name"),)

    device_type_id: Mapped[Ref] = of_type("device_bay_templates")


def template(model: type[Base], name: str, *filters: Filter, **options: Any) -> Resource:
    """The resource of a kind of template: what all of them have, and filters and further options of its own."""
    choices = {name: found for name, column in table_of(model).c.items() if (found := column_info(column).choices) is not None}
    return Resource(
        model,
        name,
        display=(component_display_name, "name", "label"),
        order=["device_type.manufacturer.name", "device_type.model", "name_key"],
        search=["name", "label", "description"],
        omit=["notes_url"],
        filters=[related("devicetype_id", "device_type", by=()), *[one_of(*item, multiple=False) for item in choices.items()], *filters],
        **options,
    )


console_port_templates = template(ConsolePortTemplate, "console-port-templates")
console_server_port_templates = template(ConsoleServerPortTemplate, "console-server-port-templates")
power_port_templates = template(PowerPortTemplate, "power-port-templates")
power_outlet_templates = template(PowerOutletTemplate, "power-outlet-templates", related("power_port_template", "power_port"))
interface_templates = template(InterfaceTemplate, "interface-templates")
rear_port_templates = template(
    RearPortTemplate,
    "rear-port-templates",
    related("front_port_templates", by=()),
    example={"positions": MOST},
)
front_port_templates = template(
    FrontPortTemplate,
    "front-port-templates",
    related("rear_port_template", "rear_port", by=()),
    example={"rear_port_position": lambda number: number % MOST + 1},
)
device_bay_templates = template(DeviceBayTemplate, "device-bay-templates")

_FILTERS = [
    has("console_ports", "console_port_templates"),
    has("console_server_ports", "console_server_port_templates"),
    has("power_ports", "power_port_templates"),
    has("power_outlets", "power_outlet_templates"),
    has("interfaces", "interface_templates"),
    has("device_bays", "device_bay_templates"),
    related("device_bay_templates", by=()),
]


def with_pass_through_ports(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
    """The types with front or rear ports, or those without."""
    found = [table.c.id.in_(sa.select(table_of(model).c.device_type_id)) for model in (FrontPortTemplate, RearPortTemplate)]
    return sa.or_(*found) if convert_flag(values[-1]) else ~sa.or_(*found)


power_port_templates.rule(allocated_draw_is_within_the_maximum)


@power_outlet_templates.rule
def outlets_are_fed_by_power_ports_of_their_type(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """An outlet and the power port that feeds it are on the same device."""
    fed = [draft for draft in drafts if draft["power_port_id"] is not None and draft.changed("device_type_id", "power_port_id")]
    inlets = listing.rows_of(uow, PowerPortTemplate, [draft["power_port_id"] for draft in fed])
    for draft in fed:
        inlet = inlets[draft["power_port_id"]]
        if inlet.device_type_id != draft["device_type_id"]:
            draft.reject(ALL, f"Parent power port ({component_display_name(inlet.name, inlet.label)}) must belong to the same device type")


@front_port_templates.rule
def front_ports_are_on_positions_of_rear_ports_of_their_type(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A front port and its rear port are on the same device, and the rear port has the position."""
    placed = [draft for draft in drafts if draft.changed("device_type_id", "rear_port_id", "rear_port_position")]
    rears = listing.rows_of(uow, RearPortTemplate, [draft["rear_port_id"] for draft in placed], locked=True)
    for draft in placed:
        rear, position = rears[draft["rear_port_id"]], draft["rear_port_position"]
        named = component_display_name(rear.name, rear.label)
        if rear.device_type_id != draft["device_type_id"]:
            draft.reject(ALL, f"Rear port ({named}) must belong to the same device type")
        elif position > rear.positions:
            draft.reject(ALL, f"Invalid rear port position ({position}); rear port {named} has only {rear.positions} positions")


@rear_port_templates.rule
def rear_ports_have_the_positions_of_their_front_ports(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A rear port does not lose a position that a front port is on."""
    fewer = {draft.id: draft for draft in drafts if not draft.new and draft.changed("positions")}
    if not fewer:
        return
    front = table_of(FrontPortTemplate)
    highest = sa.select(front.c.rear_port_id, sa.func.max(front.c.rear_port_position)).where(in_parameter(uow.registry.dialect, front.c.rear_port_id))
    for rear, position in uow.execute(highest.group_by(front.c.rear_port_id), {"keys": list(fewer)}):
        if fewer[rear]["positions"] < position:
            fewer[rear].reject("positions", f"A front port template is on position {position} of this rear port template.")


@device_bay_templates.rule
def device_bays_are_those_of_parents(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Only parents have device bays."""
    moved = [draft for draft in drafts if draft.changed("device_type_id")]
    types = listing.rows_of(uow, DeviceType, [draft["device_type_id"] for draft in moved], locked=True)
    for draft in moved:
        found = types[draft["device_type_id"]]
        if found.subdevice_role != PARENT:
            draft.reject(ALL, f'Subdevice role of device type ({found.model}) must be set to "parent" to allow device bays.')


def types_with_device_bays_stay_parents(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A type remains a parent as long as it has templates of device bays."""
    left = [draft for draft in drafts if not draft.new and draft.changed("subdevice_role") and draft["subdevice_role"] != PARENT]
    if not left:
        return
    bay = table_of(DeviceBayTemplate)
    with_bays = sa.select(bay.c.device_type_id).where(in_parameter(uow.registry.dialect, bay.c.device_type_id)).distinct()
    found = set(uow.execute(with_bays, {"keys": [draft.id for draft in left]}).scalars())
    for draft in left:
        if draft.id in found:
            words = "Must delete all device bay templates associated with this device before declassifying it as a parent device."
            draft.reject("subdevice_role", words)


def device_types_have_the_height_of_their_kind(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A device that is installed in another one takes no units of a rack."""
    for draft in drafts:
        if draft["subdevice_role"] == CHILD and draft["u_height"] != 0:
            draft.reject("u_height", "Child device types must be 0U.")


def register() -> None:
    """Registers the functions of this module with resources of other modules: once, by the package."""
    device_types.filters = (*device_types.filters, *_FILTERS)
    device_types.filter("pass_through_ports", multiple=False, kind="boolean")(with_pass_through_ports)
    device_types.rule(types_with_device_bays_stay_parents)
    device_types.rule(device_types_have_the_height_of_their_kind)
