"""Virtual chassis: devices that act as one, with one of them as master."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.auth import permissions
from netinv_core.db.engine import lock_parents
from netinv_core.endpoint import Endpoint
from netinv_core.models.base import Primary
from netinv_core.models.columns import PROTECT, Ref, foreign_key, required_text, text
from netinv_core.read.filters import related, tree_pair
from netinv_core.resource import Resource
from netinv_core.uow import UnitOfWork
from netinv_core.write.delete import in_use
from netinv_core.write.draft import Draft
from netinv_core.write.references import NO_SUCH_ID
from netinv_core.write.system_update import system_update


class VirtualChassis(Primary):
    """A stack or cluster of devices that is managed as one."""

    __tablename__ = "dcim_virtual_chassis"

    name: Mapped[str] = required_text(64)
    domain: Mapped[str] = text(30)
    master_id: Mapped[Ref | None] = foreign_key("dcim.device", on_delete=PROTECT, unique=True)


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
)


def _devices(uow: UnitOfWork) -> Endpoint:
    """Devices refer to their chassis, so they are found by their label here."""
    return uow.registry["dcim.device"]


@virtual_chassis.rule
def masters_are_members(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """The master of a chassis that exists is one of its members; that of a new one becomes its first."""
    led = {draft["master_id"]: draft for draft in drafts if not draft.new and draft["master_id"] and draft.changed("master_id")}
    device = _devices(uow).table
    members = lock_parents(sa.select(device.c.id, device.c.virtual_chassis_id).where(device.c.id.in_(list(led))).order_by(device.c.id))
    rows = uow.execute(members).all() if led else []
    for gone in led.keys() - {row.id for row in rows}:  # deleted at the same time
        led[gone].reject("master", NO_SUCH_ID.format(gone))
    outsiders = [row.id for row in rows if row.virtual_chassis_id != led[row.id].id]
    for member, shown in _devices(uow).plan("nested").fetch(uow, outsiders):
        led[member].reject("master", f"The selected master ({shown['display']}) is not assigned to this virtual chassis.")


@virtual_chassis.after_save
def the_master_of_a_new_chassis_joins_it(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A new chassis has its master in position 1."""
    led = {draft["master_id"]: {"virtual_chassis_id": draft.id, "vc_position": 1} for draft in drafts if draft.new and draft["master_id"]}
    system_update(uow, _devices(uow), led)


@virtual_chassis.before_delete
def members_of_a_chassis_are_let_go(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> None:
    """Without a chassis there are no positions in it; LAGs across its members keep it.

    :raises Conflict: naming the members of such LAGs
    """
    names = {row["id"] for row in rows}
    interface = uow.registry["dcim.interface"]
    device, port = _devices(uow).table, interface.table
    visible = sa.and_(sa.true(), *permissions.visible(uow, interface, port))
    other, bundle = device.alias(), port.alias()
    across = sa.select(port.c.id, port.c.name, visible.label("visible")).join_from(device, port, port.c.device_id == device.c.id)
    across = across.join(bundle, bundle.c.id == port.c.lag_id).join(other, other.c.id == bundle.c.device_id).where(device.c.id != other.c.id)
    if crossing := uow.execute(across.where(device.c.virtual_chassis_id.in_(list(names)))).all():
        raise in_use([(row.id, row.name) for row in crossing if row.visible], len(crossing))
    members = uow.execute(sa.select(device.c.id).where(device.c.virtual_chassis_id.in_(list(names)))).scalars()
    system_update(uow, _devices(uow), {key: {"vc_position": None, "vc_priority": None} for key in members})
