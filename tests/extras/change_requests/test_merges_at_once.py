"""Change requests: merges and writes at the same time."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Unique
from tests.support.threads import at_once

REQUESTS, SITES = "/api/extras/change-requests/", "/api/dcim/sites/"


@pytest.fixture
def change_request(api: Api, unique: Unique) -> Any:
    """An open change request, with its headers."""
    made = api.post(REQUESTS, {"title": unique()})
    return {**made, "headers": {"X-Change-Request": made["id"]}, "path": f"{REQUESTS}{made['id']}/"}


def test_one_of_several_merges_at_once_makes_the_changes(api: Api, change_request: Any, unique: Unique) -> None:
    site = api.post(SITES, {"name": unique(), "status": "active"}, headers=change_request["headers"])
    path = f"{change_request['path']}merge/"
    statuses = at_once(lambda _: api.send("POST", path, {}, status=(200, 409)).status_int, 4)
    assert sorted(statuses) == [200, 409, 409, 409]
    assert api.get("/api/extras/object-changes/", {"changed_object_id": site["id"]})["count"] == 1


def test_writes_in_a_change_request_at_once_lose_nothing(api: Api, change_request: Any, unique: Unique) -> None:
    names = [unique() for _ in range(6)]
    at_once(
        lambda number: api.post(
            SITES, {"name": names[number], "status": "active"}, headers=change_request["headers"], status=201
        ),
        len(names),
    )
    found = api.get(f"{change_request['path']}changes/")
    assert sorted(item["display"] for item in found["changes"]) == sorted(names)
    assert api.get(change_request["path"])["creates"] == len(names)


def test_readers_in_change_requests_hold_no_writer_up(api: Api, unique: Unique) -> None:
    """Each reader has the changes of its own change request, and each writer's change is there afterwards."""
    sites = api.post(SITES, [{"name": unique(), "status": "active"} for _ in range(4)])
    inside = []
    for number in range(4):
        headers = {"X-Change-Request": api.post(REQUESTS, {"title": unique()})["id"]}
        for site in sites:
            api.patch(f"{SITES}{site['id']}/", {"asn": 64512 + number}, headers=headers)
        inside.append(headers)

    def call(number: int) -> Any:
        path = f"{SITES}{sites[number % 4]['id']}/"
        if number % 2:
            return api.patch(path, {"facility": f"F{number}"})["facility"]
        return api.get(path, headers=inside[number // 2 % 4])["asn"]

    answers = at_once(call, 16)
    assert [answers[number] for number in range(1, 16, 2)] == [f"F{number}" for number in range(1, 16, 2)]
    assert [answers[number] for number in range(0, 16, 2)] == [64512 + number // 2 % 4 for number in range(0, 16, 2)]
