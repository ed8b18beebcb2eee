"""Modules in the bays of devices, and the types of modules."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Mapped

from netinv_core import (
    CASCADE,
    PROTECT,
    Comments,
    Description,
    Draft,
    Presentation,
    Primary,
    Ref,
    Resource,
    UnitOfWork,
    foreign_key,
    listing,
    optional_text,
    required_text,
    text,
    through,
    unique_set,
)
from netinv_dcim.device_types import Manufacturer
from netinv_dcim.devices import Device
from netinv_extras.statuses import status
from netinv_modules.bays import ModuleBay


class ModuleType(Primary):
    """A product that is put into bays of devices."""

    __tablename__ = "modules_module_type"
    __table_args__ = (unique_set("manufacturer_id", "model"),)

    manufacturer_id: Mapped[Ref] = foreign_key(
        Manufacturer, on_delete=PROTECT, related_name="module_types", index=False
    )
    model: Mapped[str] = required_text(100)
    part_number: Mapped[str] = text(50, "Discrete part number")
    description: Mapped[Description]
    comments: Mapped[Comments]


class Module(Primary):
    """A module in a bay of a device."""

    __tablename__ = "modules_module"

    device_id: Mapped[Ref] = foreign_key(Device, on_delete=CASCADE, related_name="modules")
    module_bay_id: Mapped[Ref] = foreign_key(ModuleBay, on_delete=CASCADE, unique=True, related_name="installed_module")
    module_type_id: Mapped[Ref] = foreign_key(ModuleType, on_delete=PROTECT, related_name="instances")
    status_id: Mapped[Ref] = status(initial=["Active", "Decommissioning", "Failed", "Offline", "Planned", "Staged"])
    serial: Mapped[str] = text(255, label="Serial number")
    asset_tag: Mapped[str | None] = optional_text(
        100, "A unique tag used to identify this module", unique=True, label="Asset tag"
    )
    description: Mapped[Description]
    comments: Mapped[Comments]


def module_display(bay: str, model: str) -> str:
    """The display name: ``Slot 1: WS-X6708``."""
    return f"{bay}: {model}"


module_types = Resource(
    ModuleType,
    "module-types",
    display="model",
    brief=["manufacturer", "model"],
    order=["manufacturer.name", "model"],
    search=["model", "part_number", "description", "comments"],
    presentation=Presentation(
        icon="squares-plus",
        columns=["manufacturer", "part_number", "description"],
        facets=["manufacturer"],
    ),
)

modules = Resource(
    Module,
    "modules",
    display=(module_display, "module_bay.name", "module_type.model"),
    brief=["device", "module_bay", "module_type"],
    order=["device.name_key", "module_bay.name_key"],
    search=["serial", "asset_tag", "description", "comments", "module_type.model"],
    presentation=Presentation(
        icon="squares-plus",
        columns=["device", "module_type", "status", "serial", "asset_tag", "description"],
        facets=["status", "module_type"],
        depends_on={"module_bay": {"device": "device_id"}},
        fieldsets=[
            ("Module", ["device", "module_bay", "module_type", "status", "description"]),
            ("Inventory", ["serial", "asset_tag"]),
        ],
    ),
)


@modules.rule(changing=["device_id", "module_bay_id"], reads=[through("module_bay", "device_id")])
def bays_are_of_the_device(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a module whose bay belongs to another device; one statement."""
    bays = listing.rows_of(uow, ModuleBay, [draft["module_bay_id"] for draft in drafts])
    for draft in drafts:
        if bays[draft["module_bay_id"]].device_id != draft["device_id"]:
            draft.reject("module_bay", "The module bay must belong to the device.")
