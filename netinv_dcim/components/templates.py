"""Component templates: the components that new devices of a device type get.

:mod:`netinv_dcim.components.instantiation` creates the components from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, MappedColumn

from netinv_core.db.expressions import in_parameter
from netinv_core.models.associations import unique_set
from netinv_core.models.base import Base, Organizational, table_of
from netinv_core.models.columns import CASCADE, SET_NULL, Ref, boolean, choice, column_info, foreign_key, integer
from netinv_core.presentation import Presentation
from netinv_core.read import listing
from netinv_core.read.filters import has, one_of, related
from netinv_core.resource import Resource
from netinv_core.sql.lookups import convert_flag
from netinv_core.write.draft import ALL
from netinv_core.write.referring_rules import through
from netinv_dcim.choices import INTERFACE_TYPES
from netinv_dcim.components.base import ComponentName, component_display_name
from netinv_dcim.components.connectors import (
    CONSOLE_CONNECTORS,
    FEED_LEGS,
    PASS_THROUGH_CONNECTORS,
    POWER_PLUGS,
    POWER_SOCKETS,
)
from netinv_dcim.components.pass_through import MAX, positions_in_turn
from netinv_dcim.components.power_ports import allocated_draw_is_within_the_maximum
from netinv_dcim.device_types import DeviceType, device_types
from netinv_dcim.rack_position import CHILD

if TYPE_CHECKING:
    from netinv_core.read.filters import Filter
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

PARENT = "parent"


def of_type(back: str) -> MappedColumn[Ref]:
    """Foreign key to the template's device type; ``back`` is the reverse relation (``interface_templates``)."""
    return foreign_key(DeviceType, on_delete=CASCADE, related_name=back, sort_order=-9)


class ConsolePortTemplate(ComponentName, Organizational):
    """A console port that every new device of a type gets."""

    __tablename__ = "dcim_console_port_template"
    __table_args__ = (unique_set("device_type_id", "name"),)

    device_type_id: Mapped[Ref] = of_type("console_port_templates")
    type: Mapped[str] = choice(CONSOLE_CONNECTORS)


class ConsoleServerPortTemplate(ComponentName, Organizational):
    """A console server port that every new device of a type gets."""

    __tablename__ = "dcim_console_server_port_template"
    __table_args__ = (unique_set("device_type_id", "name"),)

    device_type_id: Mapped[Ref] = of_type("console_server_port_templates")
    type: Mapped[str] = choice(CONSOLE_CONNECTORS)


class PowerPortTemplate(ComponentName, Organizational):
    """A power port that every new device of a type gets, with its draw in watts."""

    __tablename__ = "dcim_power_port_template"
    __table_args__ = (unique_set("device_type_id", "name"),)

    device_type_id: Mapped[Ref] = of_type("power_port_templates")
    type: Mapped[str] = choice(POWER_PLUGS)
    maximum_draw: Mapped[int | None] = integer(1, 32767, "Maximum power draw (watts)")
    allocated_draw: Mapped[int | None] = integer(1, 32767, "Allocated power draw (watts)")


class PowerOutletTemplate(ComponentName, Organizational):
    """A power outlet that every new device of a type gets."""

    __tablename__ = "dcim_power_outlet_template"
    __table_args__ = (unique_set("device_type_id", "name"),)

    device_type_id: Mapped[Ref] = of_type("power_outlet_templates")
    type: Mapped[str] = choice(POWER_SOCKETS)
    power_port_id: Mapped[Ref | None] = foreign_key(
        PowerPortTemplate, on_delete=SET_NULL, related_name="power_outlet_templates"
    )
    feed_leg: Mapped[str] = choice(FEED_LEGS, help="Phase (for three-phase feeds)")


class InterfaceTemplate(ComponentName, Organizational):
    """A network interface that every new device of a type gets."""

    __tablename__ = "dcim_interface_template"
    __table_args__ = (unique_set("device_type_id", "name"),)

    device_type_id: Mapped[Ref] = of_type("interface_templates")
    type: Mapped[str] = choice(INTERFACE_TYPES, default=None, required=True)
    mgmt_only: Mapped[bool] = boolean(False, label="Management only")


class RearPortTemplate(ComponentName, Organizational):
    """A rear port that every new device of a type gets."""

    __tablename__ = "dcim_rear_port_template"
    __table_args__ = (unique_set("device_type_id", "name"),)

    device_type_id: Mapped[Ref] = of_type("rear_port_templates")
    type: Mapped[str] = choice(PASS_THROUGH_CONNECTORS, default=None, required=True)
    positions: Mapped[int] = integer(1, MAX, default=1)


class FrontPortTemplate(ComponentName, Organizational):
    """A front port that every new device of a type gets, on a position of one of its rear ports."""

    __tablename__ = "dcim_front_port_template"
    __table_args__ = (unique_set("device_type_id", "name"), unique_set("rear_port_id", "rear_port_position"))

    device_type_id: Mapped[Ref] = of_type("front_port_templates")
    type: Mapped[str] = choice(PASS_THROUGH_CONNECTORS, default=None, required=True)
    rear_port_id: Mapped[Ref] = foreign_key(RearPortTemplate, on_delete=CASCADE, related_name="front_port_templates")
    rear_port_position: Mapped[int] = integer(1, MAX, default=1)


class DeviceBayTemplate(ComponentName, Organizational):
    """A device bay that every new device of a type gets."""

    __tablename__ = "dcim_device_bay_template"
    __table_args__ = (unique_set("device_type_id", "name"),)

    device_type_id: Mapped[Ref] = of_type("device_bay_templates")


def template(model: type[Base], name: str, *filters: Filter, **options: Any) -> Resource:
    """The resource of a template model: the settings that all templates share, and filters and options of its own.

    Columns with choices get a filter each.
    """
    infos = {name: column_info(column) for name, column in table_of(model).c.items()}
    choices = {name: info.choices for name, info in infos.items() if info.choices is not None}
    return Resource(
        model,
        name,
        display=(component_display_name, "name", "label"),
        order=["device_type.manufacturer.name", "device_type.model", "name_key"],
        search=["name", "label", "description"],
        omit=["notes_url"],
        presentation=Presentation(
            depends_on={name: {"device_type": "devicetype_id"} for name in ("rear_port", "power_port")}
        ),
        filters=[
            related("devicetype_id", "device_type", by=()),
            *[one_of(*item, multiple=False) for item in choices.items()],
            *filters,
        ],
        **options,
    )


console_port_templates = template(ConsolePortTemplate, "console-port-templates")
console_server_port_templates = template(ConsoleServerPortTemplate, "console-server-port-templates")
power_port_templates = template(PowerPortTemplate, "power-port-templates")
power_outlet_templates = template(
    PowerOutletTemplate, "power-outlet-templates", related("power_port_template", "power_port")
)
interface_templates = template(InterfaceTemplate, "interface-templates")
rear_port_templates = template(
    RearPortTemplate,
    "rear-port-templates",
    related("front_port_templates", by=()),
    example={"positions": MAX},
)
front_port_templates = template(
    FrontPortTemplate,
    "front-port-templates",
    related("rear_port_template", "rear_port", by=()),
    example={"rear_port_position": positions_in_turn()},
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
    """Filter for device types that have front or rear port templates, or for those that have none."""
    models = (FrontPortTemplate, RearPortTemplate)
    conditions = [table.c.id.in_(sa.select(table_of(model).c.device_type_id)) for model in models]
    return sa.or_(*conditions) if convert_flag(values[-1]) else ~sa.or_(*conditions)


power_port_templates.rule(allocated_draw_is_within_the_maximum)


@power_outlet_templates.rule(reads=[through("power_port", "device_type_id")])
def outlets_are_fed_by_power_ports_of_their_type(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects an outlet template whose power port belongs to another device type."""
    changed = [draft for draft in drafts if draft.changed("device_type_id", "power_port_id")]
    fed = [draft for draft in changed if draft["power_port_id"] is not None]
    inlets = listing.rows_of(uow, PowerPortTemplate, [draft["power_port_id"] for draft in fed])
    for draft in fed:
        inlet = inlets[draft["power_port_id"]]
        if inlet.device_type_id != draft["device_type_id"]:
            name = component_display_name(inlet.name, inlet.label)
            draft.reject(ALL, f"Parent power port ({name}) must belong to the same device type")


@front_port_templates.rule(reads=[through("rear_port", "device_type_id", "positions")])
def front_ports_are_on_positions_of_rear_ports_of_their_type(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a front port template whose rear port belongs to another device type or lacks the position."""
    placed = [draft for draft in drafts if draft.changed("device_type_id", "rear_port_id", "rear_port_position")]
    rears = listing.rows_of(uow, RearPortTemplate, [draft["rear_port_id"] for draft in placed])
    for draft in placed:
        rear, position = rears[draft["rear_port_id"]], draft["rear_port_position"]
        rear_name = component_display_name(rear.name, rear.label)
        if rear.device_type_id != draft["device_type_id"]:
            draft.reject(ALL, f"Rear port ({rear_name}) must belong to the same device type")
        elif position > rear.positions:
            reason = f"rear port {rear_name} has only {rear.positions} positions"
            draft.reject(ALL, f"Invalid rear port position ({position}); {reason}")


@rear_port_templates.rule
def rear_ports_have_the_positions_of_their_front_ports(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects fewer positions than the highest one that a front port template uses."""
    fewer = {draft.id: draft for draft in drafts if not draft.new and draft.changed("positions")}
    if not fewer:
        return
    front = table_of(FrontPortTemplate)
    highest = sa.select(front.c.rear_port_id, sa.func.max(front.c.rear_port_position))
    highest = highest.where(in_parameter(front.c.rear_port_id))
    for rear, position in uow.execute(highest.group_by(front.c.rear_port_id), {"keys": list(fewer)}):
        if fewer[rear]["positions"] < position:
            message = f"A front port template is on position {position} of this rear port template."
            fewer[rear].reject("positions", message)


@device_bay_templates.rule
def device_bays_are_those_of_parents(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a device bay template of a device type that is not a parent."""
    moved = [draft for draft in drafts if draft.changed("device_type_id")]
    types = listing.rows_of(uow, DeviceType, [draft["device_type_id"] for draft in moved], locked=True)
    for draft in moved:
        device_type = types[draft["device_type_id"]]
        if device_type.subdevice_role != PARENT:
            role = 'must be set to "parent" to allow device bays.'
            draft.reject(ALL, f"Subdevice role of device type ({device_type.model}) {role}")


def types_with_device_bays_stay_parents(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects another subdevice role for a parent that has device bay templates."""
    changed = [draft for draft in drafts if not draft.new and draft.changed("subdevice_role")]
    no_parents = [draft for draft in changed if draft["subdevice_role"] != PARENT]
    if not no_parents:
        return
    bay = table_of(DeviceBayTemplate)
    with_bays = sa.select(bay.c.device_type_id).where(in_parameter(bay.c.device_type_id))
    ids_with_bays = set(uow.execute(with_bays.distinct(), {"keys": [draft.id for draft in no_parents]}).scalars())
    for draft in no_parents:
        if draft.id in ids_with_bays:
            message = (
                "Must delete all device bay templates associated with this device "
                "before declassifying it as a parent device."
            )
            draft.reject("subdevice_role", message)


def device_types_have_the_height_of_their_kind(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a height of a child device type: a device installed in another one takes no rack units."""
    for draft in drafts:
        if draft["subdevice_role"] == CHILD and draft["u_height"] != 0:
            draft.reject("u_height", "Child device types must be 0U.")


def register() -> None:
    """Registers the functions of this module with resources of other modules. The package calls it once."""
    device_types.filters = (*device_types.filters, *_FILTERS)
    device_types.filter("pass_through_ports", multiple=False, kind="boolean")(with_pass_through_ports)
    device_types.rule(types_with_device_bays_stay_parents)
    device_types.rule(device_types_have_the_height_of_their_kind)
