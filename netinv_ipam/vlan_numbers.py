"""Free numbers of a VLAN group: the action ``available-vlans``."""

from __future__ import annotations

import itertools
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.errors import NotFound
from netinv_core.http import allocating, views
from netinv_core.http.actions import documented
from netinv_core.models.base import table_of
from netinv_core.read import listing
from netinv_ipam.utilization import VLAN_IDS
from netinv_ipam.vlans import VLAN

_FREE = {"type": "object", "properties": {"vid": {"type": "integer"}}}


@documented(_FREE, form="list", query=[allocating.LIMIT])
def list_numbers(request: Request) -> list[dict[str, Any]]:
    """The numbers of a VLAN group that no VLAN has, as many as a page holds."""
    uow, endpoint, key = request.uow, request.context.endpoint, views.key_of(request)
    if not listing.rows(uow, endpoint, [key], "view"):
        raise NotFound()
    table = table_of(VLAN)
    used = set(uow.execute(sa.select(table.c.vid).where(table.c.group_id == key)).scalars())
    free = (number for number in range(1, VLAN_IDS + 1) if number not in used)
    return [{"vid": number} for number in itertools.islice(free, allocating.most_listed(uow))]


def includeme(config: Any) -> None:
    """Adds the action below VLAN groups."""
    config.add_netinv_action("ipam/vlan-groups", "available-vlans", get=list_numbers, permission="view")
