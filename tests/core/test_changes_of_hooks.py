"""Changes that the hook `netinv_changes_recorded` makes: each has one record, in the request that led to it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy.engine import Engine

from netinv_core.changelog.change_set import MAX_ROUNDS
from netinv_core.packages import FILE_PREFIX
from netinv_testing import Service

CODE = '''
from netinv_core import hookimpl, save


@hookimpl
def netinv_changes_recorded(uow, changes):
    """Counts the number in the description of tenants down; one that is endless is written again each time."""
    bodies = []
    for change in changes:
        word, _, number = ((change.after or {}).get("description") or "").partition(" ")
        if change.endpoint.label == "tenancy.tenant" and word == "endless":
            bodies.append({"id": str(change.key), "description": f"endless {len(number) * 'x'}x"})
        elif change.endpoint.label == "tenancy.tenant" and word == "count" and number != "0":
            bodies.append({"id": str(change.key), "description": f"count {int(number) - 1}"})
    if bodies:
        save.update(uow.as_system(), uow.registry["tenancy.tenant"], bodies, partial=True)
'''
TENANTS, LOG = "/api/tenancy/tenants/", "/api/extras/object-changes/"


@pytest.fixture(scope="module")
def counting_service(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with a plugin whose hook changes what was changed."""
    folder = tmp_path_factory.mktemp("plugins")
    (folder / "counting.py").write_text(CODE)
    yield Service(engine, {"netinv.plugins_dir": str(folder)})
    del sys.modules[f"{FILE_PREFIX}counting"]


def records_of(service: Service, tenant: Any) -> list[Any]:
    """The records of a tenant, the first one first."""
    found: list[Any] = service.api.get(LOG, {"changed_object_id": tenant["id"], "limit": 100})["results"]
    return found[::-1]


def test_each_change_of_a_hook_has_a_record_in_the_same_request(counting_service: Service) -> None:
    name = counting_service.unique()
    tenant = counting_service.api.post(TENANTS, {"name": name, "description": "count 2"})
    records = records_of(counting_service, tenant)
    assert [(record["action"]["value"], record["object_data"]["description"]) for record in records] == [
        ("create", "count 2"),
        ("update", "count 1"),
        ("update", "count 0"),
    ]
    assert len({record["request_id"] for record in records}) == 1
    assert {record["user_name"] for record in records} == {counting_service.admin.username}
    assert counting_service.api.get(tenant["url"])["description"] == "count 0"
    assert counting_service.api.get(LOG, {"request_id": records[0]["request_id"]})["count"] == len(records)


def test_an_undo_of_the_request_undoes_what_hooks_changed(counting_service: Service) -> None:
    api, name = counting_service.api, counting_service.unique()
    tenant = api.post(TENANTS, {"name": name})
    api.patch(tenant["url"], {"description": "count 2"})
    changed = records_of(counting_service, tenant)[-1]
    api.post(f"{LOG}{changed['id']}/revert/?request=true", {}, status=200)
    assert api.get(tenant["url"])["description"] == ""


def test_a_dry_run_shows_what_hooks_would_change(counting_service: Service) -> None:
    name = counting_service.unique()
    shown = counting_service.api.post(f"{TENANTS}?dry_run=true", {"name": name, "description": "count 2"}, status=200)
    assert [change["action"] for change in shown["changes"]] == ["create", "update", "update"]
    assert shown["count"]["changes"] == 3
    assert counting_service.api.get(TENANTS, {"name": name})["count"] == 0


def test_the_statements_do_not_depend_on_the_number_of_objects(counting_service: Service, statements: Any) -> None:
    name = counting_service.unique()
    bodies = [{"name": f"{name} {number}", "description": "count 1"} for number in range(7)]
    counting_service.api.post(TENANTS, bodies[:1])
    with statements() as one:
        counting_service.api.post(TENANTS, bodies[1:2])
    with statements() as many:
        counting_service.api.post(TENANTS, bodies[2:])
    assert len(one) == len(many)


def test_a_hook_that_never_ends_is_stopped_and_its_package_named(
    counting_service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    api, name = counting_service.api, counting_service.unique()
    answer = api.send("POST", TENANTS, {"name": name, "description": "endless "}, status=503)
    assert answer.json["detail"].startswith("The package counting failed")
    assert f"changes objects again and again: {MAX_ROUNDS} times" in caplog.text
    assert api.get(TENANTS, {"name": name})["count"] == 0
    assert api.get(LOG, {"request_id": answer.headers["X-Request-ID"]})["count"] == 0
