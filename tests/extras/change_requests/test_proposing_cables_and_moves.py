"""*Propose* in the planner of racks, the workbench and the pages that connect and move cables."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from netinv_testing import Api, Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from tests.support.cabling_fixtures import End, Plant
from tests.support.racks import Room

BENCH, MOVE, CONNECT = "/dcim/cabling/", "/dcim/cables/move/", "/dcim/cables/connect/"


@pytest.fixture
def author(service: Service) -> Browser:
    """A user without change requests."""
    return Browser(service, service.user(superuser=True, password=PASSWORD))


@pytest.fixture
def plant(api: Api, unique: Any) -> Plant:
    """Devices with ports."""
    return Plant(api, unique)


def proposed(api: Api, page: Any) -> tuple[Any, list[tuple[str, str]]]:
    """The change request whose page was led to, with the actions and types of its changes."""
    made = api.get(f"/api{page.request.path}")
    changes = api.get(f"/api{page.request.path}changes/")["changes"]
    return made, [(change["action"], change["object_type"]) for change in changes]


def merge(api: Api, change_request: Any) -> None:
    """Merges a change request."""
    api.post(f"{change_request['url']}merge/", {}, status=200)


def peer(api: Api, end: End) -> Any:
    """The id of the port that a port is connected to."""
    shown = api.get(end.path)["cable_peer"]
    return shown and shown["id"]


def ports(plant: Plant, count: int) -> tuple[str, list[End]]:
    """A new device with interfaces."""
    device = plant.device()
    body = {"device": device, "type": "1000base-t", "status": "active"}
    shown = plant.api.post("/api/dcim/interfaces/", [{**body, "name": f"p{number}"} for number in range(count)])
    return device, [End("dcim.interface", item["id"]) for item in shown]


@pytest.mark.night
def test_a_plan_of_moves(author: Browser, api: Api, make: Any, unique: Any) -> None:
    room = Room(api, make, unique)
    first, second = room.rack(), room.rack()
    device = room.device(first, 3)
    page = author.get(f"{room.path}&_move={device['id']}:{second['id']}:7:front")
    form = page.form(page.html.select_one(".plan form[method=post]")["action"])
    made, changes = proposed(api, form.submit("_propose").follow())
    assert changes == [("update", "dcim.device")]
    assert made["title"] == f"Change Device {device['name']}"
    assert api.get(f"/api/dcim/devices/{device['id']}/")["position"] == 3
    merge(api, made)
    assert api.get(f"/api/dcim/devices/{device['id']}/")["rack"]["id"] == second["id"]


def test_a_refused_plan_is_not_proposed(author: Browser, api: Api, make: Any, unique: Any) -> None:
    room = Room(api, make, unique)
    rack = room.rack()
    one, _ = room.device(rack, 1), room.device(rack, 2)
    page = author.get(f"{room.path}&_move={one['id']}:{rack['id']}:2:front")
    assert not page.html.select(".plan [name=_propose]")
    path = f"{room.path}&_move={one['id']}:{rack['id']}:2:front"
    assert "No device was moved" in author.post(path, {"_propose": "new"}).follow().words
    assert api.get("/api/extras/change-requests/", {"q": one["name"]})["count"] == 0


def test_a_plan_of_the_workbench(author: Browser, api: Api, plant: Plant) -> None:
    (left, a), (right, b) = ports(plant, 2), ports(plant, 2)
    pairs = [("pair", f"{UUID(one.id).hex}-{UUID(other.id).hex}") for one, other in zip(a, b, strict=True)]
    page = author.get(BENCH, [("left", f"dcim.device:{left}"), ("right", f"dcim.device:{right}"), *pairs])
    made, changes = proposed(api, page.form(BENCH).submit("_propose").follow())
    assert changes.count(("create", "dcim.cable")) == 2
    assert peer(api, a[0]) is None
    merge(api, made)
    assert [peer(api, end) for end in a] == [end.id for end in b]


@pytest.mark.night
def test_a_choice_between_change_requests_keeps_the_plan(author: Browser, api: Api, plant: Plant) -> None:
    (left, a), (right, b) = ports(plant, 2), ports(plant, 2)
    form = author.get("/dcim/sites/add/").form()
    form["name"] = plant.unique()
    form.submit("_propose")
    pairs = [("pair", f"{UUID(one.id).hex}-{UUID(other.id).hex}") for one, other in zip(a, b, strict=True)]
    page = author.get(BENCH, [("left", f"dcim.device:{left}"), ("right", f"dcim.device:{right}"), *pairs])
    choice = page.form(BENCH).submit("_propose", status=200)
    _, changes = proposed(api, choice.form().submit("_propose", value="new").follow())
    assert changes.count(("create", "dcim.cable")) == 2


def test_the_move_of_an_end(author: Browser, api: Api, plant: Plant) -> None:
    (_, (a,)), (_, (b,)), (device, (c,)) = (ports(plant, 1) for _ in "abc")
    cable = plant.cable(a, b)
    host = [("to_in", "dcim.device"), ("to_of", device), ("to", f"{c.label}:{c.id}"), ("end", f"{b.label}:{b.id}")]
    page = author.get(MOVE, [("pk", cable.split("/")[-2]), *host])
    made, changes = proposed(api, page.form().submit("_propose").follow())
    assert {("delete", "dcim.cable"), ("create", "dcim.cable")} <= set(changes)
    assert peer(api, a) == b.id
    merge(api, made)
    assert (peer(api, a), peer(api, b)) == (c.id, None)


def test_a_single_cable(author: Browser, api: Api, plant: Plant) -> None:
    (_, (a,)), (device, (b,)) = ports(plant, 1), ports(plant, 1)
    query = [("a", f"{a.label}:{a.id}"), ("b_in", "dcim.device"), ("b_of", device), ("b", f"{b.label}:{b.id}")]
    page = author.get(CONNECT, query)
    made, changes = proposed(api, page.form(CONNECT).submit("_propose").follow())
    assert ("create", "dcim.cable") in changes
    assert peer(api, a) is None
    merge(api, made)
    assert peer(api, a) == b.id
