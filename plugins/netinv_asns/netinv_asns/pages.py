"""Tabs with AS numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_asns.asns import ASN, asn_providers, asn_sites
from netinv_core import Endpoint, hookimpl
from netinv_web.extensions import ListTab

ASN_LABEL, RANGE = "asns.asn", "asns.asnrange"
OWNERS = {"dcim.site": ("sites", asn_sites), "circuits.provider": ("providers", asn_providers)}


def _used_by(endpoint: Endpoint) -> ListTab:
    """The tab with the AS numbers of a site or provider."""
    field, association = OWNERS[endpoint.label]

    def within(request: Request, item: Mapping[str, Any]) -> list[Any]:
        numbers = sa.select(association.c.owner_id).where(association.c.target_id == item["id"])
        return [ASN.__table__.c.id.in_(numbers)]

    return ListTab(
        "asns",
        "ASNs",
        ASN_LABEL,
        within,
        lambda item: {field: item["id"]},
        300,
        filters=lambda item: {field: str(item["id"])},
    )


def _in_range(request: Request, item: Mapping[str, Any]) -> list[Any]:
    return [ASN.__table__.c.asn.between(item["start"], item["end"])]


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> list[ListTab]:
    """The tabs of a resource."""
    if endpoint.label in OWNERS:
        return [_used_by(endpoint)]
    if endpoint.label == RANGE:
        return [
            ListTab(
                "asns",
                "ASNs",
                ASN_LABEL,
                _in_range,
                lambda item: {"rir": item["rir"]["id"]},
                100,
                filters=lambda item: {"asn__gte": str(item["start"]), "asn__lte": str(item["end"])},
            )
        ]
    return []
