"""Tabs of circuits, virtual circuits and circuit groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyramid.request import Request

from netinv_circuit_groups.groups import LABEL, CircuitGroupAssignment, is_member
from netinv_core import Endpoint, hookimpl
from netinv_web.extensions import ListTab

GROUP = "circuit_groups.circuitgroup"
columns = CircuitGroupAssignment.__table__.c


def _of_group(request: Request, item: Mapping[str, Any]) -> list[Any]:
    return [columns.group_id == item["id"]]


def _group(item: Mapping[str, Any]) -> dict[str, str]:
    return {"group": str(item["id"])}


def _of_member(endpoint: Endpoint) -> ListTab:
    def within(request: Request, item: Mapping[str, Any]) -> list[Any]:
        return [columns.member_type == endpoint.label, columns.member_id == item["id"]]

    def values(item: Mapping[str, Any]) -> dict[str, str]:
        return {"member_type": endpoint.label, "member_id": str(item["id"])}

    return ListTab("circuit-groups", "Circuit groups", LABEL, within, values, 300, filters=values)


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> list[ListTab]:
    """The tabs of a resource."""
    if is_member(endpoint):
        return [_of_member(endpoint)]
    return [ListTab("circuits", "Circuits", LABEL, _of_group, _group, 300, filters=_group)] * (endpoint.label == GROUP)
