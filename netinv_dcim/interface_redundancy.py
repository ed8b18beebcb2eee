"""Interface redundancy groups: interfaces that share a virtual address by a first-hop protocol (HSRP, VRRP, …).

An association puts an interface into a group, with a priority.
"""

from __future__ import annotations

import dataclasses
import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy.orm import Mapped

from netinv_core import fields
from netinv_core.fields import schema
from netinv_core.models.associations import unique_set
from netinv_core.models.base import Organizational, Primary, now
from netinv_core.models.columns import (
    CASCADE,
    SET_NULL,
    Choices,
    ColumnInfo,
    Description,
    Name,
    Ref,
    choice,
    column,
    foreign_key,
    integer,
    required_text,
    text,
)
from netinv_core.models.types import Timestamp
from netinv_core.presentation import Presentation
from netinv_core.read.filters import one_of, related
from netinv_core.resource import FieldFactory, Resource, reverse_fk
from netinv_core.sql.relations import across
from netinv_dcim.components.base import component_display_name
from netinv_dcim.components.interfaces import Interface, interfaces
from netinv_extras.secrets import SecretsGroup
from netinv_extras.statuses import status
from netinv_extras.tags import Tags, tagged

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.sql.relations import Relation
    from netinv_core.write.draft import Draft

PROTOCOLS = Choices.of(hsrp="HSRP", vrrp="VRRP", glbp="GLBP", carp="CARP")
GROUP, ASSOCIATION, INTERFACE = (
    "dcim.interfaceredundancygroup",
    "dcim.interfaceredundancygroupassociation",
    "dcim.interface",
)


class InterfaceRedundancyGroup(Primary):
    """A set of interfaces of which the one with the best priority answers for the virtual address."""

    __tablename__ = "dcim_interface_redundancy_group"

    name: Mapped[Name] = required_text(100, unique=True)
    status_id: Mapped[Ref] = status(initial=["Active", "Decommissioning", "Planned", "Retired", "Staging"])
    description: Mapped[Description]
    protocol: Mapped[str] = choice(PROTOCOLS, default=None, required=True)
    protocol_group_id: Mapped[str] = text(50)
    virtual_ip_id: Mapped[Ref | None] = foreign_key("ipam.ipaddress", on_delete=CASCADE)
    secrets_group_id: Mapped[Ref | None] = foreign_key(SecretsGroup, on_delete=SET_NULL)
    created: Mapped[datetime.datetime] = column(Timestamp(), default=now, read_only=True, restored=True, sort_order=90)


class InterfaceRedundancyGroupAssociation(Organizational):
    """An interface in a group, and its priority there."""

    __tablename__ = "dcim_interface_redundancy_group_association"
    __table_args__ = (unique_set("interface_redundancy_group_id", "interface_id"),)

    interface_redundancy_group_id: Mapped[Ref] = foreign_key(InterfaceRedundancyGroup, on_delete=CASCADE)
    interface_id: Mapped[Ref] = foreign_key(Interface, on_delete=CASCADE)
    priority: Mapped[int] = integer(0, 32767)


@dataclasses.dataclass(eq=False, kw_only=True)
class NoTags(fields.Field):
    """Write-only field ``tags`` of a model without tags. It accepts only an empty list, after the usual validation."""

    tags: Tags
    write_only: bool = True

    def accept(self, draft: Draft, value: Any) -> None:
        self.tags.accept(draft, value)

    def schema(self) -> dict[str, Any]:
        return self._described(self.tags.written_schema())


class Untaggable(Tags):
    """Tags field that allows no tag."""

    def allowed(self, context: Any, ids: set[Any]) -> set[Any] | None:
        return set()


def _no_tags(registry: Registry, endpoint: Endpoint) -> Field:
    return NoTags(
        name="tags",
        tags=Untaggable(name="tags", table=tagged, to="extras.tag", registry=registry, endpoint=endpoint),
    )


def _json_object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("Value must be a JSON object.")
    return value


def _custom_field_data(registry: Registry, endpoint: Endpoint) -> Field:
    """Returns the field with the stored values of custom fields. It exists beside ``custom_fields``."""
    info = ColumnInfo(kind="json", parse=_json_object)
    node = schema.node("_custom_field_data", dict, info, length=None, digits=None)
    return fields.Value(
        name="_custom_field_data",
        attribute="custom_field_data",
        info=info,
        node=node,
        openapi={"type": "object"},
    )


def association_display_name(group: str, device: str, name: str, label: str, priority: int) -> str:
    """Returns the ``display`` of an association: the group, the device and its interface, the priority."""
    return f"{group}: {device} {component_display_name(name, label)}: {priority}"


interface_redundancy_groups = Resource(
    InterfaceRedundancyGroup,
    "interface-redundancy-groups",
    type_order="dcim.rack+",
    brief=["name", "protocol"],
    search=["name", "description"],
    fields=[
        reverse_fk("interfaces", ASSOCIATION, "interface_redundancy_group_id"),
        FieldFactory("_custom_field_data", _custom_field_data),
    ],
    filters=[one_of("protocol", PROTOCOLS, multiple=False)],
)

interface_redundancy_group_associations = Resource(
    InterfaceRedundancyGroupAssociation,
    "interface-redundancy-group-associations",
    display=(
        association_display_name,
        "interface_redundancy_group.name",
        "interface.device.display",
        "interface.name",
        "interface.label",
        "priority",
    ),
    brief=["priority"],
    order=["interface_redundancy_group.name", "-priority"],
    search=["interface_redundancy_group.name", "interface.name", "interface.label"],
    fields=[FieldFactory("tags", _no_tags)],
    omit=["custom_fields", "computed_fields", "relationships", "notes_url"],
    presentation=Presentation(
        name_in_context=(
            association_display_name,
            "interface_redundancy_group.name",
            "interface.device.name_in_context",
            "interface.name",
            "interface.label",
            "priority",
        )
    ),
)


def relations(registry: Registry, endpoint: Endpoint) -> dict[str, Relation]:
    """Returns the relations between groups and their interfaces, by name. They lead across the associations."""
    table, group, interface = (
        InterfaceRedundancyGroupAssociation.__table__,
        "interface_redundancy_group_id",
        "interface_id",
    )
    if endpoint.label == GROUP:
        return {"interfaces": across(registry, INTERFACE, table, group, interface)}
    return (
        {"interface_redundancy_groups": across(registry, GROUP, table, interface, group)}
        if endpoint.label == INTERFACE
        else {}
    )


def register() -> None:
    """Registers the functions of this module with resources of other modules. The package calls it once."""
    interfaces.filters = (*interfaces.filters, related("interface_redundancy_groups"))
