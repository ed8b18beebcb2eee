"""Inventory items: parts of a device other than ports, such as line cards, fans and transceivers. They form a tree."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.models.associations import unique_set
from netinv_core.models.base import Primary, Tree
from netinv_core.models.columns import CASCADE, PROTECT, SELF, Ref, boolean, foreign_key, optional_text, text
from netinv_core.read import listing
from netinv_core.read.filters import related, value
from netinv_core.write.referring_rules import through
from netinv_core.write.system_update import system_update
from netinv_core.write.trees import depth
from netinv_dcim.components.base import (
    COMPONENT_PRESENTATION,
    ComponentName,
    component,
    component_display_name,
    of_device,
)
from netinv_dcim.device_types import Manufacturer

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


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


@inventory_items.rule(reads=[through("parent", "device_id")])
def items_are_on_the_device_of_their_parent(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a parent on another device, with which the item would be deleted.

    Imports keep what they have.
    """
    changed = [draft for draft in drafts if draft.changed("device_id", "parent_id")]
    parents = listing.rows_of(uow, InventoryItem, [draft["parent_id"] for draft in changed])
    apart = [
        draft
        for draft in changed
        if draft["parent_id"] is not None and parents[draft["parent_id"]].device_id != draft["device_id"]
    ]
    for draft in apart if not uow.importing else ():
        name = component_display_name(parents[draft["parent_id"]].name, parents[draft["parent_id"]].label)
        draft.reject("parent", f"Parent inventory item ({name}) must belong to the same device")


@inventory_items.after_save
def parts_move_with_their_item(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Moves the parts of moved items, and the parts of these, to the same device."""
    moved = {draft.id: draft["device_id"] for draft in drafts if not draft.new and draft.changed("device_id")}
    table = InventoryItem.__table__
    while moved:
        parts = uow.execute(sa.select(table.c.id, table.c.parent_id).where(table.c.parent_id.in_(list(moved))))
        devices = {key: {"device_id": moved[parent]} for key, parent in parts}
        system_update(uow, uow.registry.of_model(InventoryItem), devices)
        moved = {key: values["device_id"] for key, values in devices.items()}
