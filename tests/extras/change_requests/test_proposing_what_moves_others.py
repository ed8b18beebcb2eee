"""Proposed changes that take other objects along: these come along in the change request, and in its merge."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from tests.support.moves import MOVES, Places

REQUESTS = "/api/extras/change-requests/"
OWN = ("view add change", "extras.changerequest")
RACKS = ("view change", ["dcim.rack", "dcim.site"])


@pytest.fixture
def places(api: Api, unique: Unique) -> Places:
    """Two sites, and what can be at them."""
    return Places(api, unique)


def opened(api: Api, unique: Unique) -> tuple[str, dict[str, str]]:
    """The path of a new change request, and the header that enters it."""
    key = api.post(REQUESTS, {"title": unique()})["id"]
    return f"{REQUESTS}{key}/", {"X-Change-Request": key}


def states(api: Api, paths: Any, headers: Any = None) -> list[Any]:
    """The representations of objects, without the times of their changes."""
    shown = [api.get(path, headers=headers) for path in paths]
    return [{name: value for name, value in item.items() if name != "last_updated"} for item in shown]


@pytest.mark.parametrize("kind", MOVES)
def test_a_move_is_read_continued_previewed_and_merged(api: Api, places: Places, unique: Unique, kind: str) -> None:
    move, (path, headers) = MOVES[kind](places), opened(api, unique)
    before = states(api, move.objects)
    api.patch(move.path, move.body, headers=headers)
    inside = states(api, move.objects, headers)
    assert all(old != new for old, new in zip(before, inside, strict=True))
    assert states(api, move.objects) == before
    api.patch(f"/api/dcim/sites/{places.there}/", {"facility": "B1"}, headers=headers)
    assert api.get(f"{path}conflicts/") == {"count": 0, "objects": []}
    preview = api.post(f"{path}merge/", {}, status=200, query={"dry_run": "true"})
    assert preview["count"]["changes"] == len(move.objects) + 2  # the site, and the change request
    api.post(f"{path}merge/", {}, status=200)
    assert states(api, move.objects) == inside
    api.post(f"{path}revert/", {}, status=200)
    assert states(api, move.objects) == before


def test_a_later_change_inside_follows_what_was_taken_along(api: Api, places: Places, unique: Unique) -> None:
    (rack, device, *_), (path, headers) = places.rack(), opened(api, unique)
    api.patch(rack["url"], {"site": places.there, "u_height": 50}, headers=headers)
    api.patch(device["url"], {"position": 45, "serial": "S1"}, headers=headers)
    api.post(f"{path}merge/", {}, status=200)
    now = api.get(device["url"])
    assert (now["site"]["id"], now["position"], now["serial"]) == (places.there, 45, "S1")


@pytest.fixture
def limited(service: Service) -> Api:
    """A user who may change racks, and sees no device."""
    return service.user(OWN, RACKS, ("view", "dcim.device", {"name": "none"})).api


def test_hidden_objects_are_taken_along_as_by_a_direct_write(
    api: Api, places: Places, unique: Unique, limited: Api
) -> None:
    (rack, *others), (path, headers) = places.rack(), opened(limited, unique)
    limited.patch(rack["url"], {"site": places.there}, headers=headers)
    assert [item["object_id"] for item in limited.get(f"{path}changes/")["changes"]] == [rack["id"]]
    assert limited.get(f"{path}conflicts/")["count"] == 0
    preview = limited.post(f"{path}merge/", {}, status=200, query={"dry_run": "true"})
    assert {item["object_type"] for item in preview["changes"]} == {"dcim.rack", "extras.changerequest"}
    limited.post(f"{path}merge/", {}, status=200)
    assert {api.get(item["url"])["site"]["id"] for item in (rack, *others)} == {places.there}


def test_conflicts_of_hidden_objects_are_counted_by_a_merge(
    api: Api, places: Places, unique: Unique, limited: Api
) -> None:
    (rack, hidden, *_), (path, headers) = places.rack(), opened(limited, unique)
    limited.patch(rack["url"], {"site": places.there}, headers=headers)
    api.delete(hidden["url"])
    known = limited.get(f"{path}conflicts/")
    assert known == {"count": 1, "objects": []}
    for query in ({}, {"dry_run": "true"}):
        refused = limited.post(f"{path}merge/", {}, status=409, query=query)
        assert (refused["count"], refused["objects"]) == (1, [])
    (named,) = api.post(f"{path}merge/", {}, status=409)["objects"]
    assert named["changed_object_id"] == hidden["id"]


def test_a_hidden_object_that_would_come_along_since_is_counted(
    api: Api, places: Places, unique: Unique, limited: Api
) -> None:
    (rack, *_), (path, headers) = places.rack(), opened(limited, unique)
    limited.patch(rack["url"], {"site": places.there}, headers=headers)
    later = places.device(rack=rack["id"])
    refused = limited.post(f"{path}merge/", {}, status=409)
    assert (refused["count"], refused["objects"]) == (1, [])
    (named,) = api.post(f"{path}merge/", {}, status=409)["objects"]
    assert named["changed_object_id"] == later["id"]


def test_a_hidden_object_that_others_propose_to_change_is_not_changed_by_who_may_not(
    api: Api, places: Places, unique: Unique, limited: Api
) -> None:
    (rack, hidden, *_), (path, headers) = places.rack(), opened(limited, unique)
    limited.patch(rack["url"], {"site": places.there}, headers=headers)
    api.patch(hidden["url"], {"serial": "S1"}, headers=headers)
    limited.post(f"{path}merge/", {}, status=403)
    assert api.get(rack["url"])["site"]["id"] == places.here
    api.post(f"{path}merge/", {}, status=200)
    assert api.get(hidden["url"])["serial"] == "S1"
