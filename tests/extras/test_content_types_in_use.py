"""Content types of statuses, tags and location types, and the statuses that rules know, while objects use them."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_core.registry import Registry
from netinv_extras.statuses import known_slugs
from netinv_testing import Api, Service
from netinv_testing.samples import Samples

STATUSES = "/api/extras/statuses/"


def refusal(label: str) -> dict[str, list[str]]:
    """The error for the removal of a content type in use."""
    return {"content_types": [f"Unable to remove {label}. Dependent objects were found."]}


def with_status(registry: Registry) -> list[str]:
    """The labels of the models with a status."""
    return sorted(label for label, endpoint in registry.endpoints.items() if "status_id" in endpoint.table.c)


@pytest.mark.night
def test_a_status_keeps_the_types_of_its_objects(service: Service, api: Api, unique: Any) -> None:
    labels = with_status(service.registry)
    status = api.post(STATUSES, {"name": unique(), "content_types": labels})
    for label in labels:
        Samples(service).make(service.registry[label], status=status["slug"])
    for label in labels:
        others = [other for other in labels if other != label]
        assert api.patch(status["url"], {"content_types": others}, status=400) == refusal(label)
        assert api.patch(status["url"], {"content_types": {"remove": [label]}}, status=400) == refusal(label)
    assert api.patch(status["url"], {"content_types": labels, "description": "d"})["content_types"]


def test_a_type_without_objects_is_removed(api: Api, make: Any, unique: Any) -> None:
    status = api.post(STATUSES, {"name": unique(), "content_types": ["dcim.site", "dcim.rack"]})
    make("/api/dcim/sites/", status=status["slug"])
    assert api.patch(status["url"], {"content_types": ["dcim.site"]})["content_types"] == ["dcim.site"]


def test_location_types_keep_the_types_of_what_is_at_their_locations(
    service: Service, api: Api, make: Any, unique: Any
) -> None:
    site = make("/api/dcim/sites/", status="active")
    labels = ["dcim.rack", "dcim.powerpanel", "ipam.vlan", "ipam.prefix", "tenancy.tenant"]
    labels = [label for label in labels if "location" in service.registry[label].writable]
    kind = make("/api/dcim/location-types/", content_types=labels)
    location = make("/api/dcim/locations/", location_type=kind["id"], site=site["id"], status="active")
    for label in labels:
        members = {"site": site["id"]} if "site" in service.registry[label].writable else {}
        Samples(service).make(service.registry[label], location=location["id"], **members)
    for label in labels:
        others = [other for other in labels if other != label]
        assert api.patch(kind["url"], {"content_types": others}, status=400) == refusal(label)


@pytest.mark.night
def test_statuses_that_rules_know_keep_their_slug(service: Service, api: Api, unique: Any) -> None:
    known = known_slugs(service.registry)
    assert {"active", "connected", "container", "slaac"} <= known
    for slug in known:
        [status] = api.get(STATUSES, {"slug": slug})["results"]
        assert "slug" in api.patch(status["url"], {"slug": unique()}, status=400)
        assert "detail" in api.delete(status["url"], status=409)
        assert api.patch(status["url"], {"name": status["name"], "description": "d"})["slug"] == slug
