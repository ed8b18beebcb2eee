"""The change log: what its flat form holds of an object."""

from __future__ import annotations

import time
import uuid
from typing import Any

import pytest

from netinv_core.auth.account import Identity
from netinv_core.changelog.change_set import new_record_ids
from netinv_core.driver.sessions import commit, rollback
from netinv_core.uow import UnitOfWork
from netinv_core.write import save
from netinv_testing import Api, Service

CHANGES = "/api/extras/object-changes/"


def flat(api: Api, made: Any) -> Any:
    """The flat form of a new object."""
    (change,) = api.get(CHANGES, {"changed_object_id": made["id"]})["results"]
    return change["object_data"]


def test_it_holds_what_is_written_and_nothing_that_is_only_worked_out(api: Api, unique: Any) -> None:
    made = api.post("/api/tenancy/tenants/", {"name": unique()})
    words = {"name": made["name"], "slug": made["slug"], "group": None, "description": "", "comments": ""}
    found = flat(api, made)
    assert {name: found.pop(name) for name in words} == words
    assert set(found) == {"tags", "custom_fields", "created", "last_updated"}


def test_changes_of_a_list_share_times_and_keep_their_order(service: Service, api: Api, unique: Any) -> None:
    """Indexes of PostgreSQL store a time once for all changes that have it."""
    made = api.post("/api/tenancy/tenants/", [{"name": unique()} for _ in range(250)])
    (first,) = api.get(CHANGES, {"changed_object_id": made[0]["id"]})["results"]
    found = api.get(CHANGES, {"request_id": first["request_id"], "limit": 1000})["results"]
    assert [change["changed_object_id"] for change in reversed(found)] == [item["id"] for item in made]
    assert len({change["time"] for change in found}) <= (3 if service.registry.dialect == "postgresql" else 250)
    assert found[0]["id"] > found[-1]["id"], "the index of the primary key grows at its end"


def test_it_holds_numbers_in_a_list_as_text(api: Api, unique: Any) -> None:
    site = api.post("/api/dcim/sites/", {"name": unique(), "status": "active"})
    rack = api.post("/api/dcim/racks/", {"name": unique(), "site": site["id"], "status": "active"})
    user = api.get("/api/users/users/", {"limit": 1})["results"][0]["id"]
    reserved = api.post(
        "/api/dcim/rack-reservations/", {"rack": rack["id"], "units": [12, 11], "user": user, "description": "d"}
    )
    assert flat(api, reserved)["units"] == '["12", "11"]'


def test_a_note_is_named_after_what_the_log_calls_its_object(api: Api, unique: Any) -> None:
    provider = api.post("/api/circuits/providers/", {"name": unique()})
    network = api.post("/api/circuits/provider-networks/", {"name": unique(), "provider": provider["id"]})
    note = api.post(f"{network['url']}notes/", {"note": "n"})
    assert network["display"] == f"{provider['name']} {network['name']}"
    assert note["slug"].startswith(f"{network['name']}-2")


def test_what_has_no_nested_form_is_shown_by_its_name(api: Api, unique: Any) -> None:
    field = api.post(
        "/api/extras/custom-fields/",
        {"label": unique(), "slug": unique(), "type": "select", "content_types": ["dcim.site"]},
    )
    made = api.post("/api/extras/custom-field-choices/", {"field": field["id"], "value": "silver"})
    (change,) = api.get(CHANGES, {"changed_object_id": made["id"]})["results"]
    assert change["changed_object"] == "silver"
    api.delete(made["url"])
    assert [change["changed_object"] for change in api.get(CHANGES, {"changed_object_id": made["id"]})["results"]] == [
        None,
        None,
    ]


def _make_tenant(service: Any, session: Any, name: str) -> UnitOfWork:
    """Writes a tenant in a unit of work of its own, by a caller who does nothing about change records."""
    uow = UnitOfWork(service.registry, session, Identity(superuser=True), writing=True)
    save.create(uow, service.registry["tenancy.tenant"], [{"name": name}])
    return uow


def test_the_commit_writes_the_records(service: Any, api: Api, unique: Any) -> None:
    """Callers have nothing to remember; savepoints make no difference."""
    name = unique()
    with service.app.registry.netinv_sessions() as session:
        uow = _make_tenant(service, session, name)
        with session.begin_nested():
            save.create(uow, service.registry["tenancy.tenant"], [{"name": f"{name} 2"}])
        commit(session)
    for display in (name, f"{name} 2"):
        (tenant,) = api.get("/api/tenancy/tenants/", {"name": display})["results"]
        (change,) = api.get(CHANGES, {"changed_object_id": tenant["id"]})["results"]
        assert change["action"]["value"] == "create"


def test_nothing_is_recorded_of_what_was_rolled_back(service: Any, api: Api, unique: Any) -> None:
    """The changes of an earlier transaction are not written by a later one on the same session."""
    name, request_ids = unique(), []
    with service.app.registry.netinv_sessions() as session:
        for number in range(2):
            request_ids.append(_make_tenant(service, session, f"{name} {number}").request_id)
            commit(session) if number else rollback(session)
    counts = [api.get(CHANGES, {"request_id": str(request_id)})["count"] for request_id in request_ids]
    assert counts == [0, 1]


def test_a_commit_that_would_lose_records_fails(service: Any, api: Api, unique: Any) -> None:
    """Changes that are collected apart, and were neither added to the others nor dropped, do not go unrecorded."""
    name = unique()
    with service.app.registry.netinv_sessions() as session:
        uow = UnitOfWork(service.registry, session, Identity(superuser=True), writing=True)
        with uow.collecting():
            save.create(uow, service.registry["tenancy.tenant"], [{"name": name}])
            with pytest.raises(RuntimeError, match="unrecorded"):
                commit(session)
    assert api.get("/api/tenancy/tenants/", {"name": name})["count"] == 0


def test_ids_of_records_are_in_order_and_begin_with_the_time() -> None:
    began = time.time_ns() // 1_000_000
    ids = [*new_record_ids(5_000), *new_record_ids(1)]
    assert len({*ids}) == len(ids)
    assert ids[:5_000] == sorted(ids[:5_000])
    assert {key.version for key in ids} == {7}
    assert {key.variant for key in ids} == {uuid.RFC_4122}
    assert all(began <= key.int >> 80 <= began + 60_000 for key in ids)
