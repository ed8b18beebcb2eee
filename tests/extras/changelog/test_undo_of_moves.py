"""Undo of changes that took other objects along: all of them are afterwards where they were."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from tests.support.moves import MOVES, STILL, Places
from tests.support.registry import REGISTRY

CHANGES = "/api/extras/object-changes/"


@pytest.fixture
def places(api: Api, unique: Unique) -> Places:
    """Two sites, and what can be at them."""
    return Places(api, unique)


def undo(api: Api, path: str, action: str = "update", status: int = 200) -> Any:
    """Undoes the request of the latest change of an object."""
    found = api.get(CHANGES, {"changed_object_id": path.split("/")[-2], "action": action, "limit": 1})["results"]
    return api.post(f"{CHANGES}{found[0]['id']}/revert/", status=status, query={"request": "true"})


def states(api: Api, paths: Any) -> list[Any]:
    """The representations of objects, without the times of their changes."""
    shown = [api.get(path) for path in paths]
    return [{name: value for name, value in item.items() if name != "last_updated"} for item in shown]


def test_every_function_that_moves_others_has_a_move() -> None:
    functions = {
        function.__name__
        for endpoint in REGISTRY.endpoints.values()
        if not endpoint.resource.configuration and endpoint.label.split(".")[0] not in ("extras", "users")
        for function in endpoint.resource.after_save_functions
    }
    assert functions == {*MOVES, *STILL, "the_master_of_a_new_chassis_joins_it"}


@pytest.mark.parametrize("kind", MOVES)
def test_a_move_is_undone_with_all_that_it_took_along_and_can_be_made_again(
    api: Api, places: Places, kind: str
) -> None:
    move = MOVES[kind](places)
    before = states(api, move.objects)
    api.patch(move.path, move.body)
    after = states(api, move.objects)
    assert all(old != new for old, new in zip(before, after, strict=True))
    undo(api, move.path)
    assert states(api, move.objects) == before
    undo(api, move.path)
    assert states(api, move.objects) == after


def test_what_followed_and_was_changed_since_stands_against_the_undo(api: Api, places: Places) -> None:
    rack, device, *_ = places.rack()
    third = places.made("dcim/sites", status="active")["id"]
    api.patch(rack["url"], {"site": places.there})
    api.patch(device["url"], {"site": third, "rack": None, "position": None, "face": None})
    refused = undo(api, rack["url"], status=409)
    assert api.get(rack["url"])["site"]["id"] == places.there
    assert "The change cannot be undone." in refused["detail"]


def test_who_may_change_a_rack_alone_takes_its_devices_back(
    api: Api, places: Places, unique: Unique, service: Service
) -> None:
    log = ("view", ["extras.objectchange", "dcim.site", "dcim.device"])
    user = service.user(("view change", "dcim.rack"), log).api
    rack, device, *_ = places.rack()
    user.patch(rack["url"], {"site": places.there})
    answer = undo(user, rack["url"])
    assert api.get(device["url"])["site"]["id"] == places.here
    shown = {item["changed_object_id"]: item["object"] for item in answer["objects"]}
    assert shown[rack["id"]]["site"]["id"] == places.here and shown[device["id"]] is None
    api.patch(device["url"], {"serial": unique()})
    undo(user, device["url"], status=403)


@pytest.mark.night
def test_the_number_of_statements_does_not_grow_with_what_follows(api: Api, places: Places, service: Service) -> None:
    counts = []
    for count in (1, 8):
        rack = places.rack()[0]
        for _ in range(count):
            places.device(rack=rack["id"])
        api.patch(rack["url"], {"site": places.there})
        with service.statements() as statements:
            undo(api, rack["url"])
        counts.append(len(statements))
    assert counts[0] == counts[1]
