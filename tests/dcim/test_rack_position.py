"""Racks and what is in them: the units that devices take, and what moves along when a rack or its group moves."""

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


class Shelf:
    """A rack of 16 units, and device types by height and depth."""

    def __init__(self, api: Api, make: Any, unique: Any, site: Any) -> None:
        self._api, self._unique, self._types = api, unique, dict[tuple[int, bool], Any]()
        self._maker, self._role = make("/api/dcim/manufacturers/")["id"], make("/api/dcim/device-roles/")["id"]
        self._site, self.rack = site["id"], make(RACKS, site=site["id"], status="active", u_height=16)

    def type(self, height: int = 1, *, deep: bool = False) -> Any:
        """The device type of a height and a depth."""
        if (height, deep) not in self._types:
            body = {"manufacturer": self._maker, "model": self._unique(), "u_height": height, "is_full_depth": deep}
            self._types[height, deep] = self._api.post("/api/dcim/device-types/", body)
        return self._types[height, deep]

    def body(self, position: int | None, face: str | None, kind: Any = None, **fields: Any) -> dict[str, Any]:
        """A device in the rack."""
        place = {"site": self._site, "rack": self.rack["id"], "position": position, "face": face}
        device = {"name": self._unique(), "device_type": (kind or self.type())["id"], "device_role": self._role}
        return {**device, **place, "status": "active", **fields}

    def refused(self, *bodies: dict[str, Any]) -> Any:
        """The errors of the first device of a list that is refused; ``None`` if all are accepted."""
        answers = self._api.post(DEVICES, list(bodies), status=(201, 400))
        return next((answer for answer in answers if answer and "id" not in answer), None)

    def told(self, *bodies: dict[str, Any]) -> str:
        """The errors of the problem (RFC 9457) that answers devices which are refused."""
        sent = {"headers": {"Accept": "application/json, application/problem+json"}}
        return str(self._api.send("POST", DEVICES, list(bodies), status=400, **sent).json["errors"])


@pytest.fixture
def shelf(api: Api, make: Any, unique: Any, site: Any) -> Shelf:
    return Shelf(api, make, unique, site)


def test_devices_meet_on_each_face_that_one_of_them_takes(shelf: Shelf) -> None:
    """A deep device takes its units on both faces, whichever of the two comes first."""
    refused = set()
    pairs = [(first, second, face) for first in (False, True) for second in (False, True) for face in ("front", "rear")]
    for unit, (first, second, face) in zip(range(1, 16, 2), pairs, strict=True):
        assert shelf.refused(shelf.body(unit, "front", shelf.type(2, deep=first))) is None
        errors = shelf.refused(shelf.body(unit + 1, face, shelf.type(deep=second)))
        if errors is not None:
            assert f"U{unit + 1} is already occupied" in errors["position"][0]
            refused.add((first, second, face))
    assert refused == set(pairs) - {(False, False, "rear")}


def test_a_device_is_within_its_rack_and_apart_from_those_of_its_list(shelf: Shelf) -> None:
    tall = shelf.type(3)
    assert shelf.refused(shelf.body(15, "front", tall))["position"]
    assert shelf.refused(shelf.body(1, "front", tall), shelf.body(3, "front"))["position"]
    assert shelf.refused(shelf.body(1, "front", tall), shelf.body(4, "front"), shelf.body(6, "front", tall)) is None


def test_a_refusal_says_what_is_in_the_way(shelf: Shelf) -> None:
    """Clients of version 1 get the message as they know it; people the device, stored or of the same list."""
    tall, below, first = shelf.type(3), shelf.body(1, "front"), shelf.body(4, "front", shelf.type(2))
    assert f"The rack has {shelf.rack['u_height']} units." in shelf.told(
        shelf.body(shelf.rack["u_height"], "front", tall)
    )
    assert shelf.refused(below) is None
    assert f"Taken by {below['name']}." in shelf.told(shelf.body(1, "front"))
    told = shelf.told(first, shelf.body(1, "rear", shelf.type(5, deep=True)))
    assert f"U1 is taken by {below['name']}. U4 is taken by {first['name']}." in told
    (message,) = shelf.refused(first, shelf.body(1, "rear", shelf.type(5, deep=True)))["position"]
    assert message.endswith("(5U)")


def test_a_position_takes_a_rack_a_face_and_a_type_with_height(api: Api, shelf: Shelf, unique: Any) -> None:
    child = {"manufacturer": shelf.type()["manufacturer"]["id"], "u_height": 0, "subdevice_role": "child"}
    inner = api.post("/api/dcim/device-types/", {**child, "model": unique()})
    for body, field, message in (
        (shelf.body(None, "front", rack=None), "face", "Cannot select a rack face without assigning a rack."),
        (shelf.body(1, None, rack=None), "position", "Cannot select a rack position without assigning a rack."),
        (shelf.body(1, None), "face", "Must specify rack face when defining rack position."),
        (shelf.body(1, "front", shelf.type(0)), "position", "cannot be assigned to a rack position."),
        (shelf.body(None, "front", inner), "face", "Child device types cannot be assigned to a rack face."),
    ):
        (text,) = shelf.refused(body)[field]
        assert message in text


def test_racks_and_types_keep_room_for_what_is_mounted(api: Api, shelf: Shelf) -> None:
    shallow, tall = shelf.type(), shelf.type(2)
    bodies = [shelf.body(1, "front"), shelf.body(1, "rear", tall), shelf.body(3, "rear", tall)]
    assert shelf.refused(*bodies) is None
    for url, change, message in (
        (shelf.rack["url"], {"u_height": 3}, "Rack must be at least 4U tall"),
        (shallow["url"], {"u_height": 0}, "Unable to set 0U height: Found 1 instances already mounted"),
        (shallow["url"], {"is_full_depth": True}, "does not have sufficient space in full depth"),
        (tall["url"], {"u_height": 3}, "does not have sufficient space to accommodate a height of 3U"),
    ):
        errors = api.patch(url, change, status=400)
        assert list(errors) == [*change] and message in errors[next(iter(change))][0]
    assert api.patch(shelf.rack["url"], {"u_height": 4})["u_height"] == 4
    assert api.patch(shallow["url"], {"u_height": 4})["u_height"] == 4
