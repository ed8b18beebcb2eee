"""Virtual chassis: sets of devices that act as one device, with one of them as master."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.db.engine import lock_parents
from netinv_core.models.base import Primary
from netinv_core.models.columns import PROTECT, Ref, foreign_key, required_text, text
from netinv_core.presentation import Presentation
from netinv_core.read.filters import related, tree_pair
from netinv_core.resource import Resource
from netinv_core.sql.plans import plan_of
from netinv_core.write.reference_messages import NO_SUCH_ID
from netinv_core.write.system_update import system_update

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


class VirtualChassis(Primary):
    """A stack or cluster of devices that is managed as one."""

    __tablename__ = "dcim_virtual_chassis"

    name: Mapped[str] = required_text(64)
    domain: Mapped[str] = text(30)
    master_id: Mapped[Ref | None] = foreign_key("dcim.device", on_delete=PROTECT, unique=True, one_name="vc_master_for")


virtual_chassis = Resource(
    VirtualChassis,
    "virtual-chassis",
    title="virtual chassis",
    plural="virtual chassis",
    brief=["name", "master", "member_count"],
    search=["name", "members.name", "domain"],
    filters=[
        *tree_pair("region", "master.site.region"),
        related("master", by="name", ids=False),
        related("site_id", "master.site", by=()),
        related("site", "master.site", by="slug", ids=False),
        related("tenant_id", "master.tenant", by=()),
        related("tenant", "master.tenant", by="slug", ids=False),
    ],
    presentation=Presentation(
        columns=["domain", "master", "member_count"],
        limits={"master": {"virtual_chassis_id": "{id}"}},
    ),
)


def _devices(uow: UnitOfWork) -> Endpoint:
    """Returns the endpoint of devices. The label avoids a circular import: devices import virtual chassis."""
    return uow.registry["dcim.device"]


@virtual_chassis.rule
def masters_are_members(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a master that is not a member of an existing virtual chassis. Locks the masters."""
    by_master = {
        draft["master_id"]: draft
        for draft in drafts
        if not draft.new and draft["master_id"] and draft.changed("master_id")
    }
    device = _devices(uow).table
    masters = lock_parents(
        sa.select(device.c.id, device.c.virtual_chassis_id)
        .where(device.c.id.in_(list(by_master)))
        .order_by(device.c.id)
    )
    rows = uow.execute(masters).all() if by_master else []
    for key in by_master.keys() - {row.id for row in rows}:  # deleted by a concurrent transaction
        by_master[key].reject("master", NO_SUCH_ID.format(key))
    outsiders = [row.id for row in rows if row.virtual_chassis_id != by_master[row.id].id]
    for master, nested in plan_of(_devices(uow), "nested").fetch(uow, outsiders):
        by_master[master].reject(
            "master", f"The selected master ({nested['display']}) is not assigned to this virtual chassis."
        )


@virtual_chassis.after_save
def the_master_of_a_new_chassis_joins_it(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Adds the master of a new virtual chassis to it, in position 1."""
    updates = {
        draft["master_id"]: {"virtual_chassis_id": draft.id, "vc_position": 1}
        for draft in drafts
        if draft.new and draft["master_id"]
    }
    system_update(uow, _devices(uow), updates)


@virtual_chassis.before_delete
def members_of_a_chassis_are_let_go(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> None:
    """Clears position and priority of the members of a deleted virtual chassis."""
    device = _devices(uow).table
    keys = [row["id"] for row in rows]
    members = uow.execute(sa.select(device.c.id).where(device.c.virtual_chassis_id.in_(keys))).scalars()
    system_update(uow, _devices(uow), {key: {"vc_position": None, "vc_priority": None} for key in members})
