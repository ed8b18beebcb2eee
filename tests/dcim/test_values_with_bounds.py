"""Values with natural bounds, positions in a virtual chassis, and GraphQL's names of the one object that refers."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Case, Service


@pytest.mark.parametrize(("name", "value"), [("latitude", 91), ("latitude", "-90.000001"), ("longitude", 181)])
def test_coordinates_are_on_earth(service: Service, name: str, value: Any) -> None:
    """The poles and the antimeridian are."""
    site = {"name": service.unique(), "status": "active"}
    assert list(service.api.post("/api/dcim/sites/", {**site, name: value}, status=400)) == [name]
    service.api.post("/api/dcim/sites/", {**site, "latitude": "-90", "longitude": 180})


def test_the_minimum_of_a_custom_field_is_not_above_its_maximum(service: Service) -> None:
    """Of a new one, and when either changes."""
    path, name = "/api/extras/custom-fields/", service.unique()
    body = {"name": name, "label": name, "slug": name, "type": "integer", "content_types": ["dcim.site"]}
    bounds = {"validation_minimum": 5, "validation_maximum": 4}
    assert list(service.api.post(path, {**body, **bounds}, status=400)) == ["validation_minimum"]
    made = service.api.post(path, {**body, "validation_minimum": 4, "validation_maximum": 4})
    assert list(service.api.patch(made["url"], {"validation_maximum": 3}, status=400)) == ["validation_minimum"]
    service.api.delete(made["url"])


def test_leaving_a_virtual_chassis_clears_the_position(service: Service) -> None:
    """And the priority; the name of the chassis' master leads to it, and a bay's device to the bay."""
    chassis = service.api.post("/api/dcim/virtual-chassis/", {"name": service.unique()})
    device = Case(service, "dcim.device").make()
    path = f"/api/dcim/devices/{device['id']}/"
    service.api.patch(path, {"virtual_chassis": chassis["id"], "vc_position": 3, "vc_priority": 7})
    left = service.api.patch(path, {"virtual_chassis": None})
    assert (left["vc_position"], left["vc_priority"]) == (None, None)


def test_graphql_names_the_one_object_that_refers(service: Service) -> None:
    """``vc_master_for`` and ``parent_bay`` of devices, null without one; ``_custom_field_data`` as in version 1."""
    device = Case(service, "dcim.device").make()
    chassis = service.api.post("/api/dcim/virtual-chassis/", {"name": service.unique()})
    path = f"/api/dcim/devices/{device['id']}/"
    query = f'{{ device(id: "{device["id"]}") {{ _custom_field_data vc_master_for {{ id }} parent_bay {{ id }} }} }}'

    def read() -> Any:
        return service.api.post("/api/graphql/", {"query": query}, status=200)["data"]["device"]

    assert (read()["vc_master_for"], read()["parent_bay"]) == (None, None)
    service.api.patch(path, {"virtual_chassis": chassis["id"], "vc_position": 1})
    service.api.patch(f"/api/dcim/virtual-chassis/{chassis['id']}/", {"master": device["id"]})
    assert read()["vc_master_for"] == {"id": chassis["id"]}
    assert isinstance(read()["_custom_field_data"], dict)


def test_a_token_expires_in_the_future(service: Service) -> None:
    """One that would be expired is refused by name."""
    for moment in ("2001-01-01T00:00:00Z", "2001-01-01T00:00:00"):
        assert list(service.api.post("/api/users/tokens/", {"expires": moment}, status=400)) == ["expires"]
    made = service.api.post("/api/users/tokens/", {"expires": "2099-01-01T00:00:00Z"})
    assert list(service.api.patch(made["url"], {"expires": "2001-01-01T00:00:00Z"}, status=400)) == ["expires"]
