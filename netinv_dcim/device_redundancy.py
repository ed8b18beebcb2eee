"""Device redundancy groups: sets of devices of which one takes over when another fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.models.base import Primary
from netinv_core.models.columns import (
    SET_NULL,
    Choices,
    Comments,
    Description,
    Name,
    Ref,
    Slug,
    choice,
    foreign_key,
    required_text,
)
from netinv_core.read.filters import one_of
from netinv_core.resource import Resource
from netinv_core.write.system_update import system_update
from netinv_extras.secrets import SecretsGroup
from netinv_extras.statuses import status

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

STRATEGIES = Choices.of(("", "(unspecified)"), ("active-active", "Active/Active"), ("active-passive", "Active/Passive"))
UNGROUPED = "Must assign a redundancy group when defining a redundancy group priority."


class DeviceRedundancyGroup(Primary):
    """A set of devices of which one takes over when another fails, by their priorities in the group."""

    __tablename__ = "dcim_device_redundancy_group"

    name: Mapped[Name] = required_text(100, unique=True)
    slug: Mapped[Slug]
    description: Mapped[Description]
    failover_strategy: Mapped[str] = choice(STRATEGIES)
    secrets_group_id: Mapped[Ref | None] = foreign_key(SecretsGroup, on_delete=SET_NULL, plain=True)
    comments: Mapped[Comments]
    status_id: Mapped[Ref] = status(initial=["Active", "Decommissioning", "Planned", "Retired", "Staging"])


device_redundancy_groups = Resource(
    DeviceRedundancyGroup,
    "device-redundancy-groups",
    type_order="dcim.rack+",
    brief=["name", "slug", "failover_strategy"],
    search=["name", "slug", "description", "comments"],
    filters=[one_of("failover_strategy", STRATEGIES, multiple=False)],
)


GROUP_COLUMNS = ("device_redundancy_group_priority", "device_redundancy_group_id")


@device_redundancy_groups.before_delete
def priorities_end_with_their_group(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> None:
    """Clears the priorities of the devices of deleted groups."""
    devices = uow.registry["dcim.device"]  # by label: devices import this module
    table, keys = devices.table, [row["id"] for row in rows]
    members = uow.execute(sa.select(table.c.id).where(table.c.device_redundancy_group_id.in_(keys))).scalars()
    system_update(uow, devices, {key: {"device_redundancy_group_priority": None} for key in members})


def priorities_are_within_a_group(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a priority of a device without a redundancy group, when one of :data:`GROUP_COLUMNS` changes."""
    for draft in drafts:
        if draft["device_redundancy_group_priority"] is not None and draft["device_redundancy_group_id"] is None:
            draft.reject("device_redundancy_group_priority", UNGROUPED)
