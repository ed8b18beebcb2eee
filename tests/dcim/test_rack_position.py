"""Racks and what is in them: what moves along when a rack or its group moves."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api

DEVICES = "/api/dcim/devices/"
GROUPS = "/api/dcim/rack-groups/"
LOCATIONS = "/api/dcim/locations/"
RACKS = "/api/dcim/racks/"
SITES = "/api/dcim/sites/"


@pytest.fixture
def site(make: Any) -> Any:
    """A site."""
    return make(SITES, status="active")


@pytest.fixture
def make_place(make: Any, site: Any) -> Any:
    """``make_place(…)``: a location at the site, for what its type takes."""

    def post(*labels: str) -> Any:
        kind = make("/api/dcim/location-types/", content_types=list(labels))
        return make(LOCATIONS, location_type=kind["id"], site=site["id"], status="active")

    return post


@pytest.fixture
def make_device(make: Any, unique: Any, site: Any) -> Any:
    """``make_device(rack, …)``: a device in the rack."""
    kind = make("/api/dcim/device-types/", model=unique(), manufacturer=make("/api/dcim/manufacturers/")["id"])
    role = make("/api/dcim/device-roles/")

    def post(rack: Any, **fields: Any) -> Any:
        return make(
            DEVICES,
            device_type=kind["id"],
            device_role=role["id"],
            site=site["id"],
            rack=rack["id"],
            status="active",
            **fields,
        )

    return post


def test_devices_move_with_their_rack(api: Api, make: Any, make_place: Any, make_device: Any, site: Any) -> None:
    here, there = (make_place("dcim.rack", "dcim.device") for _ in range(2))
    rack = make(RACKS, site=site["id"], location=here["id"], status="active")
    placed, loose = make_device(rack, location=here["id"]), make_device(rack)
    api.patch(rack["url"], {"location": there["id"]})
    assert api.get(placed["url"])["location"]["id"] == there["id"]
    assert api.get(loose["url"])["location"] is None
    other = make(SITES, status="active")
    api.patch(rack["url"], {"site": other["id"], "location": None})
    moved = [api.get(device["url"]) for device in (placed, loose)]
    assert [(device["site"]["id"], device["location"]) for device in moved] == [(other["id"], None)] * 2


def test_what_a_location_does_not_take_is_at_none(
    api: Api, make: Any, make_place: Any, make_device: Any, site: Any
) -> None:
    here, there = make_place("dcim.rackgroup", "dcim.rack", "dcim.device"), make_place("dcim.rackgroup")
    group = make(GROUPS, site=site["id"], location=here["id"])
    rack = make(RACKS, site=site["id"], group=group["id"], location=here["id"], status="active")
    device = make_device(rack, location=here["id"])
    api.patch(group["url"], {"location": there["id"]})
    assert api.get(rack["url"])["location"] is None
    assert api.get(device["url"])["location"] is None


def test_a_device_may_not_take_the_units_of_another_in_its_list_that_stays(
    api: Api, make: Any, make_device: Any, site: Any
) -> None:
    rack = make(RACKS, site=site["id"], status="active")
    staying, moving = (make_device(rack, position=position, face="front") for position in (1, 5))
    bodies = [{"id": staying["id"], "comments": "as it is"}, {"id": moving["id"], "position": 1}]
    assert list(api.patch(DEVICES, bodies, status=400)) == ["position"]
    swapped = [{"id": staying["id"], "position": 5}, {"id": moving["id"], "position": 1}]
    assert [device["position"] for device in api.patch(DEVICES, swapped)] == [5, 1]
