"""Inventory items: parts of a device other than ports, such as line cards, fans and transceivers. They form a tree."""

from __future__ import annotations

import dataclasses

from sqlalchemy.orm import Mapped

from netinv_core.models.associations import unique_set
from netinv_core.models.base import Primary, Tree
from netinv_core.models.columns import CASCADE, PROTECT, SELF, Ref, boolean, foreign_key, optional_text, text
from netinv_core.read.filters import related, value
from netinv_core.write.trees import depth
from netinv_dcim.components.base import COMPONENT_PRESENTATION, ComponentName, component, of_device
from netinv_dcim.device_types import Manufacturer


class InventoryItem(ComponentName, Tree, Primary):
    """A part of a device, or of another part of it."""

    __tablename__ = "dcim_inventory_item"
    __table_args__ = (unique_set("device_id", "parent_id", "name"),)

    device_id: Mapped[Ref] = of_device("inventory_items")
    parent_id: Mapped[Ref | None] = foreign_key(SELF, on_delete=CASCADE, related_name="child_items", plain=True)
    manufacturer_id: Mapped[Ref | None] = foreign_key(
        Manufacturer, on_delete=PROTECT, related_name="inventory_items", count_field="inventoryitem_count"
    )
    part_id: Mapped[str] = text(50, "Manufacturer-assigned part identifier", label="Part ID")
    serial: Mapped[str] = text(255, label="Serial number", index=True)
    asset_tag: Mapped[str | None] = optional_text(
        50, "A unique tag used to identify this item", unique=True, label="Asset tag"
    )
    discovered: Mapped[bool] = boolean(False, "This item was automatically discovered")


inventory_items = component(
    InventoryItem,
    "inventory-items",
    type_order="~2 ",
    brief=["_depth"],
    order=["device.name_key", "device_id", "tree_key"],
    search=["name", "part_id", "serial", "asset_tag", "description"],
    presentation=dataclasses.replace(
        COMPONENT_PRESENTATION, nested_below=["parent"], depends_on={"parent": {"device": "device_id"}}
    ),
    fields=[depth("_depth")],
    filters=[
        related("device", by="name", ids=False, multiple=False),
        related("device_id", "device", by=(), multiple=False),
        related("manufacturer", by="slug", ids=False),
        value("serial", lookup="iexact", lookup_names=(), multiple=False),
    ],
)
