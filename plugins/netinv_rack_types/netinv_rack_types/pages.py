"""Tab of rack types with their racks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core import Endpoint, hookimpl
from netinv_dcim.racks import Rack
from netinv_rack_types.rack_types import FORM, LABEL, NAME, RACK, types_of_racks
from netinv_web.extensions import ListTab


def _of_type(request: Request, item: Mapping[str, Any]) -> list[Any]:
    racks = sa.select(types_of_racks.c.owner_id).where(types_of_racks.c.target_id == item["id"])
    return [Rack.__table__.c.id.in_(racks)]


def _form(item: Mapping[str, Any]) -> dict[str, Any]:
    """Initial values of the form of a new rack of the type."""
    values = {here: item[there] for there, here in FORM.items()}
    plain = {name: value["value"] if isinstance(value, dict) else value for name, value in values.items()}
    return {NAME: item["id"], **{name: value for name, value in plain.items() if value is not None}}


tab = ListTab("racks", "Racks", RACK, _of_type, _form, 300, filters=lambda item: {NAME: str(item["id"])})


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> list[ListTab]:
    """The tabs of a resource."""
    return [tab] if endpoint.label == LABEL else []
