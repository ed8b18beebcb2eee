"""Remembered runs of taken addresses, and what happens to them outside of the change log."""

from __future__ import annotations

import datetime
import uuid
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.changelog import sequence
from netinv_core.changelog.models import ObjectChange
from netinv_core.models.base import now, table_of
from netinv_core.tasks.retention import delete_old
from netinv_ipam import full_ranges, taken_space
from netinv_testing import Api, Service

ADDRESSES, PREFIXES, VRFS = "/api/ipam/ip-addresses/", "/api/ipam/prefixes/", "/api/ipam/vrfs/"


def run_of_12(api: Api, length: int, name: str) -> tuple[Any, list[Any]]:
    """A pool of this prefix length in a VRF of its own, and its first addresses, which are taken."""
    vrf = api.post(VRFS, {"name": name})["id"]
    prefix = api.post(PREFIXES, {"prefix": f"192.0.2.0/{length}", "vrf": vrf, "status": "active", "is_pool": True})
    bodies = [{"address": f"192.0.2.{number}/{length}", "vrf": vrf, "status": "active"} for number in range(12)]
    return prefix, api.post(ADDRESSES, bodies)


def test_an_address_is_free_again_when_the_record_of_its_deletion_was_pruned(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taken_space, "PIECE", 3)
    api, change = service.api, table_of(ObjectChange)
    prefix, taken = run_of_12(api, 28, service.unique())
    path = f"{prefix['url']}available-ips/"
    assert api.get(path)[0]["address"] == "192.0.2.12/28"
    api.delete(taken[4]["url"])
    sequence.number_changes(service.engine, service.registry)
    with service.engine.begin() as connection:
        of_deleted = change.c.changed_object_id == uuid.UUID(taken[4]["id"])
        connection.execute(sa.update(change).where(of_deleted).values(time=now() - datetime.timedelta(days=4000)))
    with service.configured(changelog_retention=3650):
        assert delete_old(service.engine, service.registry, sequence.retention) == 2
    assert api.get(path)[0]["address"] == "192.0.2.4/28"


def test_new_addresses_do_not_make_a_run_forgotten(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bulk writes leave many change records, which wait for their numbers for up to a minute."""
    monkeypatch.setattr(taken_space, "PIECE", 3)
    monkeypatch.setattr(full_ranges, "MAX_CHANGES", 3)
    api = service.api
    prefix, _ = run_of_12(api, 27, service.unique())
    vrf = prefix["vrf"]["id"]
    path = f"{prefix['url']}available-ips/"
    assert api.get(path)[0]["address"] == "192.0.2.12/27"
    api.post(ADDRESSES, [{"address": f"192.0.2.{number}/27", "vrf": vrf, "status": "active"} for number in (12, 13)])
    with service.statements() as found:
        assert api.get(path)[0]["address"] == "192.0.2.14/27"
    assert sum("FROM ipam_ip_address" in text for text in found) == 1, "\n".join(found)


def test_each_deletion_without_a_number_is_looked_at_once(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taken_space, "PIECE", 3)
    read: list[Any] = []
    parse = full_ranges.before_and_after
    monkeypatch.setattr(full_ranges, "before_and_after", lambda *stored: (read.append(stored), parse(*stored))[1])
    api = service.api
    prefix, taken = run_of_12(api, 27, service.unique())
    path = f"{prefix['url']}available-ips/"
    assert api.get(path)[0]["address"] == "192.0.2.12/27"
    for number in (7, 5):
        api.delete(taken[number]["url"])
        api.patch(taken[number - 1]["url"], {"description": "beside"})
        assert api.get(path)[0]["address"] == f"192.0.2.{number}/27"
    seen = len(read)
    assert [item["address"] for item in api.get(path)[:3]] == [f"192.0.2.{number}/27" for number in (5, 7, 12)]
    assert len(read) == seen > 0
