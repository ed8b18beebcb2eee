"""Module bays of devices, and the templates of device types that they are made from."""

from __future__ import annotations

from sqlalchemy.orm import Mapped

from netinv_core import (
    CASCADE,
    Description,
    Organizational,
    Presentation,
    Primary,
    Ref,
    Resource,
    foreign_key,
    natural_sort_key,
    required_text,
    text,
    unique_set,
)
from netinv_dcim.device_types import DeviceType
from netinv_dcim.devices import Device

POSITION = "Identifier to reference when renaming installed components"


class ModuleBayTemplate(Organizational):
    """A bay that new devices of a type have."""

    __tablename__ = "modules_module_bay_template"
    __table_args__ = (unique_set("device_type_id", "name"),)

    device_type_id: Mapped[Ref] = foreign_key(
        DeviceType, on_delete=CASCADE, related_name="module_bay_templates", index=False
    )
    name: Mapped[str] = required_text(64)
    name_key: Mapped[str] = natural_sort_key("name")
    label: Mapped[str] = text(64, "Physical label")
    position: Mapped[str] = text(30, POSITION)
    description: Mapped[Description]


class ModuleBay(Primary):
    """A place of a device for a module."""

    __tablename__ = "modules_module_bay"
    __table_args__ = (unique_set("device_id", "name"),)

    device_id: Mapped[Ref] = foreign_key(Device, on_delete=CASCADE, related_name="module_bays", index=False)
    name: Mapped[str] = required_text(64)
    name_key: Mapped[str] = natural_sort_key("name")
    label: Mapped[str] = text(64, "Physical label")
    position: Mapped[str] = text(30, POSITION)
    description: Mapped[Description]


module_bay_templates = Resource(
    ModuleBayTemplate,
    "module-bay-templates",
    order=["device_type_id", "name_key"],
    orderings={"name": ["name_key"]},
    search=["name", "label", "description"],
    presentation=Presentation(icon="squares-plus", columns=["device_type", "label", "position", "description"]),
)

module_bays = Resource(
    ModuleBay,
    "module-bays",
    brief=["device", "name"],
    order=["device_id", "name_key"],
    orderings={"name": ["name_key"]},
    search=["name", "label", "description"],
    presentation=Presentation(icon="squares-plus", columns=["device", "label", "position", "description"]),
)
