"""Undo of requests that delete, create and change: each object finds the place that it had before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from tests.support.cabling_fixtures import CABLES, PATHS, Plant

CHANGES, PLANS, DEVICES = "/api/extras/object-changes/", "/api/extras/plans/", "/api/dcim/devices/"
FRONTS, ROLES = PATHS["dcim.frontport"], "/api/dcim/device-roles/"
Document = dict[str, list[dict[str, Any]]]


@pytest.fixture
def plant(api: Api, unique: Unique) -> Plant:
    """Devices and cables."""
    return Plant(api, unique)


@pytest.fixture
def apply(api: Api) -> Callable[..., str]:
    """``apply(objects)``: writes a document in one request; returns the request's id."""

    def write(objects: Document) -> str:
        made = api.post(PLANS, {"objects": objects, "match": {"dcim.cable": ["label"]}})
        return str(api.post(f"{made['url']}apply/", {}, status=200)["request_id"])

    return write


@pytest.fixture
def undo(api: Api) -> Callable[..., str]:
    """``undo(request_id)``: undoes all changes of a request; returns the id of the request that did."""

    def revert(request_id: str) -> str:
        change = api.get(CHANGES, {"request_id": request_id, "limit": 1})["results"][0]
        return str(api.post(f"{CHANGES}{change['id']}/revert/", status=200, query={"request": "true"})["request_id"])

    return revert


def gone(path: str) -> dict[str, Any]:
    """The entry of a document that deletes an object."""
    return {"id": path.rstrip("/").rpartition("/")[2], "absent": True}


def replaced(plant: Plant, count: int = 1) -> tuple[list[str], Document]:
    """Cables, and a document that puts a panel into each of them."""
    ends = [(plant.end(), plant.end()) for _ in range(count)]
    old = plant.cables(*ends)
    panel = [plant.panel() for _ in range(count)]
    new = [
        plant.body(*pair, label=plant.unique())
        for (a, b), middle in zip(ends, panel, strict=True)
        for pair in ((a, middle.fronts[0]), (middle.rear, b))
    ]
    return old, {"dcim.cable": [*map(gone, old), *new]}


def test_a_cable_that_two_others_replaced_comes_back_and_goes_again(
    api: Api, plant: Plant, apply: Any, undo: Any
) -> None:
    a, b = plant.end(), plant.end()
    panel, old = plant.panel(), plant.cable(a, b, label="A-1")
    new = [plant.body(a, panel.fronts[0], label="A-2"), plant.body(panel.rear, b, label="A-3")]
    request = apply({"dcim.cable": [gone(old), *new]})
    assert [step[1] == old.split("/")[-2] for step in plant.trace(a)] == [False, False]
    undone = undo(request)
    assert api.get(old)["label"] == "A-1" and plant.leads_to(a) == (b, True)
    assert [step[1] for step in plant.trace(a)] == [old.split("/")[-2]]
    undo(undone)
    api.get(old, status=404)
    assert len(plant.trace(a)) == 2 and plant.leads_to(a) == (b, True)


def test_a_device_returns_to_the_rack_units_that_a_new_one_took(
    api: Api, plant: Plant, unique: Unique, apply: Any, undo: Any
) -> None:
    rack = api.post("/api/dcim/racks/", {"name": unique(), "site": plant.site, "status": "active"})["id"]
    place = {**plant.hardware, "rack": rack, "position": 10, "face": "front"}
    old, name = api.post(DEVICES, {**place, "name": unique()}), unique()
    request = apply({"dcim.device": [gone(old["url"]), {**place, "name": name}]})
    undo(request)
    assert api.get(old["url"])["position"] == 10 and api.get(DEVICES, {"name": name})["count"] == 0


def test_an_update_that_gave_room_is_undone_before_what_needs_it(api: Api, plant: Plant, apply: Any, undo: Any) -> None:
    """The positions of a rear port come back before the front ports that have them."""
    panel = plant.panel(4)
    fronts = [f"{FRONTS}{end.id}/" for end in panel.fronts]
    request = apply(
        {
            "dcim.frontport": [gone(path) for path in fronts[2:]],
            "dcim.rearport": [{"id": panel.rear.id, "positions": 2}],
        }
    )
    undo(request)
    assert api.get(panel.rear.path)["positions"] == 4
    assert [api.get(path)["rear_port_position"] for path in fronts] == [1, 2, 3, 4]


def test_a_created_object_that_an_update_refers_to_goes_after_it(
    api: Api, plant: Plant, unique: Unique, apply: Any, undo: Any
) -> None:
    """The role of a device is protected; one of a request with deletions is new when the device gets it."""
    device, role = plant.device(), unique()
    deleted, old = plant.cable(plant.end(), plant.end()), plant.cable(a := plant.end(), b := plant.end())
    request = apply(
        {
            "dcim.cable": [gone(deleted), gone(old), plant.body(a, plant.panel().fronts[0], label="B-2")],
            "dcim.devicerole": [{"name": role, "slug": role}],
            "dcim.device": [{"id": device, "device_role": {"slug": role}}],
        }
    )
    undo(request)
    assert api.get(f"{DEVICES}{device}/")["device_role"]["id"] == plant.hardware["device_role"]
    assert api.get(ROLES, {"slug": role})["count"] == 0 and plant.leads_to(a) == (b, True)
    api.get(deleted)


def test_what_moves_from_a_deleted_object_to_a_new_one_moves_back(
    api: Api, plant: Plant, unique: Unique, apply: Any, undo: Any
) -> None:
    """References both ways: the old role comes back before the device has it again, the new one goes after that."""
    roles = [api.post(ROLES, {"name": name, "slug": name}) for name in (unique(), unique())]
    new, device = unique(), plant.device()
    api.patch(f"{DEVICES}{device}/", {"device_role": roles[0]["id"]})
    request = apply(
        {
            "dcim.devicerole": [*(gone(role["url"]) for role in roles), {"name": new, "slug": new}],
            "dcim.device": [{"id": device, "device_role": {"slug": new}}],
        }
    )
    undone = undo(request)
    assert api.get(f"{DEVICES}{device}/")["device_role"]["id"] == roles[0]["id"]
    assert api.get(ROLES, {"slug": new})["count"] == 0
    undo(undone)
    assert api.get(f"{DEVICES}{device}/")["device_role"]["slug"] == new


def test_a_reference_that_deletion_empties_has_its_former_value(
    api: Api, plant: Plant, unique: Unique, apply: Any, undo: Any
) -> None:
    """The new tenant may go first: the device gets its former one anyway."""
    former = api.post("/api/tenancy/tenants/", {"name": unique()})["id"]
    device, new = plant.device(), unique()
    api.patch(f"{DEVICES}{device}/", {"tenant": former})
    deleted = plant.cable(plant.end(), plant.end())
    request = apply(
        {
            "dcim.cable": [gone(deleted)],
            "tenancy.tenant": [{"name": new, "slug": new}],
            "dcim.device": [{"id": device, "tenant": {"name": new}}],
        }
    )
    undo(request)
    assert api.get(f"{DEVICES}{device}/")["tenant"]["id"] == former
    assert api.get("/api/tenancy/tenants/", {"name": new})["count"] == 0


@pytest.mark.night
def test_the_number_of_statements_does_not_grow_with_what_is_replaced(
    plant: Plant, service: Service, apply: Any, undo: Any
) -> None:
    counts = []
    for count in (2, 6):
        old, document = replaced(plant, count)
        request = apply(document)
        with service.statements() as statements:
            undo(request)
        counts.append(len(statements))
        assert service.api.get(CABLES, {"id": [path.split("/")[-2] for path in old]})["count"] == count
    assert counts[0] == counts[1]


def test_a_chassis_that_was_created_with_its_master_is_undone(
    api: Api, plant: Plant, unique: Unique, undo: Callable[..., str]
) -> None:
    """Its master cannot leave it while it is there; the undo of the undo brings both back."""
    device = plant.device()
    made = api.post("/api/dcim/virtual-chassis/", {"name": unique(), "master": device})
    assert api.get(f"{DEVICES}{device}/")["vc_position"] == 1
    (change,) = api.get(CHANGES, {"changed_object_id": made["id"]})["results"]
    undone = undo(change["request_id"])
    api.get(made["url"], status=404)
    now = api.get(f"{DEVICES}{device}/")
    assert (now["virtual_chassis"], now["vc_position"]) == (None, None)
    undo(undone)
    now = api.get(f"{DEVICES}{device}/")
    assert (now["virtual_chassis"]["id"], now["vc_position"]) == (made["id"], 1)
    assert api.get(made["url"])["master"]["id"] == device


def test_a_chassis_that_was_created_with_its_members_is_undone(
    api: Api, plant: Plant, unique: Unique, undo: Callable[..., str], apply: Callable[..., str]
) -> None:
    """A member that was in none leaves it as well; another change of the same request is undone beside it."""
    master, member = plant.device(), plant.device()
    name = unique()
    request = apply(
        {
            "dcim.virtualchassis": [{"name": name, "master": master}],
            "dcim.device": [
                {"id": member, "virtual_chassis": {"name": name}, "vc_position": 2, "comments": "second"},
                {"id": master, "comments": "first"},
            ],
        }
    )
    (made,) = api.get("/api/dcim/virtual-chassis/", {"name": name})["results"]
    assert made["member_count"] == 2
    undo(request)
    api.get(made["url"], status=404)
    for device in (master, member):
        now = api.get(f"{DEVICES}{device}/")
        assert (now["virtual_chassis"], now["vc_position"], now["comments"]) == (None, None, "")
