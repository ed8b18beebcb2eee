"""Tab with the groups of an interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyramid.request import Request

from netinv_core import Endpoint, hookimpl
from netinv_fhrp.members import LABEL, FHRPGroupAssignment, is_interface
from netinv_web.extensions import ListTab


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> list[ListTab]:
    """The tabs of a resource."""
    if not is_interface(endpoint):
        return []

    def within(request: Request, item: Mapping[str, Any]) -> list[Any]:
        table = FHRPGroupAssignment.__table__
        return [table.c.interface_type == endpoint.label, table.c.interface_id == item["id"]]

    def reference(item: Mapping[str, Any]) -> dict[str, str]:
        return {"interface_type": endpoint.label, "interface_id": str(item["id"])}

    return [ListTab("fhrp-groups", "FHRP groups", LABEL, within, reference, 300, filters=reference)]
