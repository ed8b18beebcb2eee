"""Panel with the redundancy groups of an interface: their protocol, virtual address, and its priority there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.models.base import table_of
from netinv_core.sql.plans import plan_of
from netinv_dcim.interface_redundancy import (
    ASSOCIATION,
    GROUP,
    InterfaceRedundancyGroup,
    InterfaceRedundancyGroupAssociation,
)
from netinv_web.extensions import Panel
from netinv_web.menu import may
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

TEMPLATE = "netinv_dcim:web/templates/redundancy.jinja2"


def content(request: Request, endpoint: Endpoint, item: Mapping[str, Any]) -> dict[str, Any] | None:
    """The groups that the user may view, the highest priority first: two statements, one without groups."""
    uow = request.uow
    groups, associations = uow.registry[GROUP], uow.registry[ASSOCIATION]
    if not (may(uow, groups, "view") and may(uow, associations, "view")):
        return None
    table, group = table_of(InterfaceRedundancyGroupAssociation), table_of(InterfaceRedundancyGroup)
    statement = (
        sa.select(group.c.id, table.c.priority)
        .join_from(table, group, group.c.id == table.c.interface_redundancy_group_id)
        .where(
            table.c.interface_id == endpoint.parse_key(str(item["id"])),
            *permissions.visible(uow, associations, table),
            *permissions.visible(uow, groups, group),
        )
        .order_by(table.c.priority.desc(), group.c.name)
    )
    rows = uow.execute(statement).tuples().all()
    shown = dict(plan_of(groups).fetch(uow, [key for key, _ in rows])) if rows else {}
    entries = [(object_path(groups, key), shown[key], priority) for key, priority in rows if key in shown]
    return {"entries": entries} if entries else None


PANEL = Panel("redundancy", "Redundancy groups", content, side="main", lazy=True, template=TEMPLATE, position=70)
