"""Deliveries: which changes become one, in which transaction, and how they are looked at, sent again and forgotten."""

from __future__ import annotations

import datetime
import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import sqlalchemy as sa

from netinv_core import worker_tasks
from netinv_core.auth import identity
from netinv_core.changelog import recorder
from netinv_core.db.engine import session_factory
from netinv_core.driver.sessions import commit, rollback
from netinv_core.environment import Environment
from netinv_core.models.base import now
from netinv_core.tasks import queue as task_queue
from netinv_core.tasks.retention import delete_old
from netinv_core.uow import UnitOfWork
from netinv_core.write import save
from netinv_extras.webhooks import deliveries, models
from netinv_import.netbox import ImportReport, import_netbox
from netinv_testing import Api, Service, Unique
from tests.support.http_server import served
from tests.support.threads import at_once

WEBHOOKS, DELIVERIES = "/api/extras/webhooks/", "/api/extras/webhook-deliveries/"
REGIONS, SITES, DEVICES = "/api/dcim/regions/", "/api/dcim/sites/", "/api/dcim/devices/"
EVERY = {"type_create": True, "type_update": True, "type_delete": True}
Tell = Callable[..., Any]


@pytest.fixture
def tell(api: Api, unique: Unique) -> Iterator[Tell]:
    """``tell(label, …)``: a webhook that is told of every change of these models; gone after the test."""
    made: list[Any] = []

    def make(*labels: str, **given: Any) -> Any:
        name = unique()
        found = api.post(
            WEBHOOKS,
            {
                "name": name,
                "content_types": list(labels),
                "payload_url": f"http://{name}.example.com/",
                **EVERY,
                **given,
            },
        )
        made.append(found)
        return found

    yield make
    for webhook in made:
        api.delete(webhook["url"], status=(204, 404))


def told(api: Api, webhook: Any, **query: Any) -> list[tuple[str, str, str]]:
    """Event, model and name of what a webhook is to be told, the first first."""
    found = api.get(DELIVERIES, {"webhook": webhook["name"], "limit": 0, **query})["results"]
    return [(item["event"]["value"], item["changed_object_type"], item["object_repr"]) for item in reversed(found)]


def region(unique: Unique, **given: Any) -> dict[str, Any]:
    name = unique()
    return {"name": name, "slug": name, **given}


def fail(service: Service, *keys: int) -> None:
    """As if a worker had tried these deliveries in vain."""
    table = service.registry[deliveries.LABEL].table
    attempt: Any = deliveries.WebhookAttempt.__table__
    with service.unit_of_work() as uow:
        uow.execute(
            sa.update(table)
            .where(table.c.id.in_(keys))
            .values(state="failed", attempts=1, finished=uow.now, claimed_by=uuid.uuid4())
        )
        rows = [
            {"delivery_id": key, "number": 1, "time": uow.now, "duration_ms": 7, "status": 500, "answer": "no"}
            for key in keys
        ]
        uow.execute(sa.insert(attempt), rows)


def words(service: Service) -> list[str]:
    """What the queue holds: names of tasks."""
    task_queue.flush(10)
    queue = task_queue.queue(service.registry.settings["queue_url"])
    worker_tasks.add_tasks(queue, service.engine, service.registry)
    return [task.name for task in queue.pending()]


# -- emission


def test_a_change_is_told_once_to_each_webhook_that_wants_it(api: Api, tell: Tell, unique: Unique) -> None:
    every, made_only = tell("dcim.region", "dcim.site"), tell("dcim.region", type_update=False, type_delete=False)
    other, body = tell("dcim.manufacturer"), region(unique)
    made = api.post(REGIONS, body)
    api.patch(made["url"], {"description": "changed"})
    api.delete(made["url"])
    name = body["name"]
    assert told(api, every) == [
        ("create", "dcim.region", name),
        ("update", "dcim.region", name),
        ("delete", "dcim.region", name),
    ]
    assert told(api, made_only) == [("create", "dcim.region", name)]
    assert told(api, other) == []


def test_the_deliveries_of_many_changes_and_webhooks_are_written_in_pieces(
    service: Service, tell: Tell, unique: Unique, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No statement writes more than a bounded number, so that none meets the statement timeout."""
    monkeypatch.setattr(recorder, "ROWS_PER_STATEMENT", 4)
    webhooks, bodies = [tell("dcim.region") for _ in range(2)], [region(unique) for _ in range(5)]
    tell("dcim.region", type_create=False)
    with service.statements() as found:
        service.api.post(REGIONS, bodies)
    assert sum("INSERT INTO extras_webhook_delivery" in text for text in map(str, found)) == 3
    for webhook in webhooks:
        assert told(service.api, webhook) == [("create", "dcim.region", body["name"]) for body in bodies]


def test_a_delivery_says_what_it_is_about(service: Service, tell: Tell, unique: Unique) -> None:
    webhook, body = tell("dcim.region"), region(unique)
    made = service.api.post(REGIONS, body)
    (shown,) = service.api.get(DELIVERIES, {"webhook_id": webhook["id"]})["results"]
    (change,) = service.api.get("/api/extras/object-changes/", {"changed_object_id": made["id"]})["results"]
    assert shown["display"] == f"{webhook['name']} create: {body['name']}"
    assert shown["webhook"] == {name: webhook[name] for name in ("display", "id", "url", "name")}
    assert shown["event"] == {"value": "create", "label": "Created"}
    assert shown["state"] == {"value": "queued", "label": "Queued"}
    assert (shown["change_id"], shown["request_id"], shown["time"]) == (
        change["id"],
        change["request_id"],
        change["time"],
    )
    assert (shown["changed_object_type"], shown["changed_object_id"]) == ("dcim.region", made["id"])
    assert (shown["user_name"], shown["attempts"], shown["finished"], shown["history"]) == (
        service.admin.username,
        0,
        None,
        [],
    )
    assert service.api.get(shown["url"]) == shown


def test_an_update_that_changes_nothing_is_not_told(api: Api, tell: Tell, unique: Unique) -> None:
    made = api.post(REGIONS, region(unique))
    webhook = tell("dcim.region")
    api.patch(made["url"], {"description": ""})
    api.patch(made["url"], {})
    assert told(api, webhook) == []


def test_what_is_refused_is_not_told(api: Api, tell: Tell, unique: Unique) -> None:
    webhook, body = tell("dcim.region"), region(unique)
    api.post(REGIONS, [body, {}], status=400)
    api.post(REGIONS, [body, body], status=400)
    assert told(api, webhook) == []


def test_a_thousand_changes_are_told_in_the_statements_of_one(service: Service, tell: Tell, unique: Unique) -> None:
    webhooks = [tell("dcim.manufacturer"), tell("dcim.manufacturer")]
    service.api.post("/api/dcim/manufacturers/", region(unique))
    with service.statements() as found:
        service.api.post("/api/dcim/manufacturers/", [region(unique) for _ in range(1000)])
    assert len([statement for statement in found if "INSERT INTO extras_webhook_delivery" in statement]) == 1
    assert [service.api.get(DELIVERIES, {"webhook": webhook["name"]})["count"] for webhook in webhooks] == [1001, 1001]


def test_a_change_of_which_nobody_is_told_takes_no_statement_more(service: Service, tell: Tell, unique: Unique) -> None:
    tell("dcim.manufacturer")
    service.api.post(REGIONS, region(unique))
    with service.statements() as found:
        service.api.post(REGIONS, region(unique))
    assert not any("extras_webhook" in statement for statement in found)


def test_cascades_and_effects_are_told(api: Api, tell: Tell, unique: Unique) -> None:
    webhook = tell("dcim.interface", "dcim.device", "dcim.rackgroup")
    site = api.post(SITES, {"name": unique(), "status": "active"})
    manufacturer = api.post("/api/dcim/manufacturers/", region(unique))
    model = api.post("/api/dcim/device-types/", {"model": unique(), "manufacturer": manufacturer["id"]})
    api.post("/api/dcim/interface-templates/", {"name": "eth0", "type": "virtual", "device_type": model["id"]})
    role = api.post("/api/dcim/device-roles/", {**region(unique), "color": "ffffff"})
    group = api.post("/api/dcim/rack-groups/", {"name": unique(), "site": site["id"]})
    name = unique()
    device = api.post(
        DEVICES,
        {"name": name, "device_type": model["id"], "device_role": role["id"], "site": site["id"], "status": "active"},
    )
    told_first = told(api, webhook)
    assert told_first[0] == ("create", "dcim.rackgroup", group["name"])
    assert sorted(told_first[1:]) == [("create", "dcim.device", name), ("create", "dcim.interface", "eth0")]
    api.delete(device["url"])
    api.delete(site["url"])
    ended = told(api, webhook)[3:]
    assert sorted(ended) == [
        ("delete", "dcim.device", name),
        ("delete", "dcim.interface", "eth0"),
        ("delete", "dcim.rackgroup", group["name"]),
    ]


def test_several_changes_of_one_object_in_a_unit_of_work_are_told_as_one(
    service: Service, tell: Tell, unique: Unique
) -> None:
    webhook, body, endpoint = tell("dcim.region"), region(unique), service.registry["dcim.region"]
    with service.unit_of_work() as uow:
        (made,) = save.create(uow, endpoint, [body], single=True)
        save.update(uow, endpoint, [{"id": made["id"], "description": "1"}], partial=True)
        save.update(uow, endpoint, [{"id": made["id"], "description": "2"}], partial=True)
    assert told(service.api, webhook) == [("create", "dcim.region", body["name"])]


def test_what_is_rolled_back_is_not_told_and_wakes_nobody(
    service: Service, tell: Tell, unique: Unique, tmp_path: Path
) -> None:
    webhook = tell("dcim.region")
    with (
        service.configured(queue_url=f"sqlite:///{tmp_path / 'queue.sqlite'}"),
        session_factory(service.engine)() as session,
    ):
        uow = UnitOfWork(service.registry, session, identity.Identity(superuser=True), writing=True)
        save.create(uow, service.registry["dcim.region"], [region(unique)])
        rollback(session)
        assert words(service) == []
    assert told(service.api, webhook) == []


def test_a_webhook_counts_as_it_is_when_the_change_is_written(service: Service, tell: Tell, unique: Unique) -> None:
    api, webhook = service.api, tell("dcim.region", "extras.webhook")
    api.patch(webhook["url"], {"enabled": False})
    api.post(REGIONS, region(unique))
    assert told(api, webhook) == [("create", "extras.webhook", webhook["name"])]
    api.patch(webhook["url"], {"enabled": True})
    assert told(api, webhook)[1:] == [("update", "extras.webhook", webhook["name"])]
    api.patch(webhook["url"], {"type_update": False})
    api.patch(webhook["url"], {"content_types": ["dcim.region"]})
    api.delete(api.post(REGIONS, region(unique))["url"])
    assert [event for event, *_ in told(api, webhook)] == ["create", "update", "create", "delete"]


def test_what_changes_beside_a_webhook_in_one_transaction_sees_it_changed(
    service: Service, tell: Tell, unique: Unique
) -> None:
    """Made, switched off and deleted in the transaction of the change itself, in a process that had cached another
    state.
    """
    webhook, registry = tell("dcim.region"), service.registry
    service.api.post(REGIONS, region(unique))
    with service.unit_of_work() as uow:
        uow.identity = identity.by_token(uow, f"Token {service.admin.token}", "127.0.0.1")
        save.update(uow, registry["extras.webhook"], [{"id": webhook["id"], "type_create": False}], partial=True)
        save.create(uow, registry["dcim.region"], [region(unique)])
    assert len(told(service.api, webhook)) == 1


def test_changes_succeed_while_the_webhooks_they_are_told_to_come_and_go(
    service: Service, tell: Tell, unique: Unique
) -> None:
    """Whoever writes a delivery holds its webhook, or finds it gone: nobody is refused because of it."""
    webhooks = [tell("dcim.manufacturer") for _ in range(4)]
    service.api.post("/api/dcim/manufacturers/", region(unique))
    headers, bodies = (
        {"Authorization": f"Token {service.api.token}"},
        [[region(unique) for _ in range(20)] for _ in range(20)],
    )

    def ask(number: int) -> int:
        if number % 5 == 4:
            return requests.delete(
                f"{address}{WEBHOOKS}{webhooks[number // 5]['id']}/", headers=headers, timeout=120
            ).status_code
        return requests.post(
            f"{address}/api/dcim/manufacturers/", json=bodies[number], headers=headers, timeout=120
        ).status_code

    with served(service.app) as address:
        assert sorted(at_once(ask, 20)) == [201] * 16 + [204] * 4
    table = service.registry[deliveries.LABEL].table
    assert (
        service.rows(
            sa.select(table.c.id).where(table.c.webhook_id.in_([uuid.UUID(webhook["id"]) for webhook in webhooks]))
        )
        == []
    )


# -- beside requests


def test_an_import_is_told_and_wakes_the_worker_once(
    service: Service, tell: Tell, unique: Unique, tmp_path: Path
) -> None:
    webhook, names, dump = tell("dcim.region", "dcim.site"), [unique() for _ in range(3)], tmp_path / "dump.json"
    fields = [{"name": name, "slug": name} for name in names]
    items = [("dcim.region", fields[0]), ("dcim.region", fields[1]), ("dcim.site", {**fields[2], "status": "active"})]
    dump.write_text(
        json.dumps([{"model": model, "pk": place, "fields": given} for place, (model, given) in enumerate(items)])
    )
    with (
        service.configured(queue_url=f"sqlite:///{tmp_path / 'queue.sqlite'}"),
        session_factory(service.engine)() as session,
    ):
        uow = UnitOfWork(service.registry, session, identity.ANONYMOUS, writing=True)
        uow.identity = identity.by_username(uow, service.admin.username)
        import_netbox(uow, dump, ImportReport(), origin=unique())
        assert words(service) == []
        commit(session)
        assert words(service) == [models.DELIVER]
    assert [name for *_, name in told(service.api, webhook)] == names
    assert {item["user_name"] for item in service.api.get(DELIVERIES, {"webhook": webhook["name"]})["results"]} == {
        service.admin.username
    }


def test_a_command_is_told(service: Service, tell: Tell, unique: Unique, tmp_path: Path) -> None:
    webhook, body = tell("dcim.region"), region(unique)
    (tmp_path / "netinv.ini").write_text("[app:main]\nuse = egg:netinv-core\n")
    environment = Environment(str(tmp_path / "netinv.ini"))
    environment.__dict__ |= {"settings": service.settings, "engine": service.engine, "registry": service.registry}
    with environment.unit_of_work() as uow:
        save.create(uow, service.registry["dcim.region"], [body], single=True)
    assert told(service.api, webhook) == [("create", "dcim.region", body["name"])]


def test_a_request_wakes_the_worker_once_after_its_commit(
    service: Service, tell: Tell, unique: Unique, tmp_path: Path
) -> None:
    tell("dcim.region")
    with service.configured(queue_url=f"sqlite:///{tmp_path / 'queue.sqlite'}"):
        service.api.post(REGIONS, [region(unique) for _ in range(3)])
        assert words(service) == [models.DELIVER]
        service.api.post(REGIONS, [{}], status=400)
        service.api.post("/api/dcim/manufacturers/", region(unique))
        assert words(service) == [models.DELIVER]


# -- looking at them


def test_deliveries_are_found_by_what_they_are_about(service: Service, tell: Tell, unique: Unique) -> None:
    api, webhook = service.api, tell("dcim.region")
    first, second = (api.post(REGIONS, region(unique)) for _ in range(2))
    api.patch(first["url"], {"description": "changed"})
    keys = [item["id"] for item in reversed(api.get(DELIVERIES, {"webhook_id": webhook["id"]})["results"])]
    fail(service, keys[0])
    shown = api.get(f"{DELIVERIES}{keys[0]}/")
    ours = [
        ({"state": "failed"}, {0}),
        ({"state": "queued"}, {1, 2}),
        ({"state": ["queued", "failed"]}, {0, 1, 2}),
        ({"event": "update"}, {2}),
        ({"changed_object_type": "dcim.region"}, {0, 1, 2}),
        ({"changed_object_type__n": "dcim.region"}, set()),
        ({"changed_object_id": first["id"]}, {0, 2}),
        ({"object_repr": second["name"]}, {1}),
        ({"object_repr__ic": second["name"][2:]}, {1}),
        ({"request_id": shown["request_id"]}, {0}),
        ({"user_name": service.admin.username}, {0, 1, 2}),
        ({"user_name": "nobody"}, set()),
        ({"time__gte": shown["time"]}, {0, 1, 2}),
        ({"time__gt": shown["time"]}, {1, 2}),
        ({"time__lt": shown["time"]}, set()),
        ({"time__lte": shown["time"]}, {0}),
        ({"due__gt": shown["due"]}, {1, 2}),
        ({"attempts": 1}, {0}),
        ({"attempts__lt": 1}, {1, 2}),
        ({"finished__gte": shown["finished"]}, {0}),
        ({"q": second["name"]}, {1}),
        ({"q": webhook["name"]}, {0, 1, 2}),
        ({"id": keys[2]}, {2}),
    ]
    for query, places in ours:
        found = api.get(DELIVERIES, {"webhook": webhook["name"], **query})["results"]
        assert {item["id"] for item in found} == {keys[place] for place in places}, query
    assert shown["history"] == [
        {**shown["history"][0], "number": 1, "duration_ms": 7, "status": 500, "error": "", "answer": "no"}
    ]
    assert "history" not in api.get(f"{DELIVERIES}{keys[0]}/", {"exclude": "history"})


def test_nobody_writes_deliveries(service: Service, tell: Tell, unique: Unique) -> None:
    api, webhook = service.api, tell("dcim.region")
    api.post(REGIONS, region(unique))
    (shown,) = api.get(DELIVERIES, {"webhook": webhook["name"]})["results"]
    for method in (api.post, api.put, api.patch, api.delete):
        method(DELIVERIES, status=405)
        method(shown["url"], status=405)
    assert api.send("GET", DELIVERIES).headers["Allow"] == "GET, HEAD, OPTIONS"
    viewer = service.user(("view", deliveries.LABEL, {"webhook__name": webhook["name"]}), ("view", "dcim.region"))
    assert [item["id"] for item in viewer.api.get(DELIVERIES)["results"]] == [shown["id"]]
    api.get(f"{DELIVERIES}{'9' * 30}/", status=404)


# -- again


def test_a_failed_delivery_is_queued_again(service: Service, tell: Tell, unique: Unique, tmp_path: Path) -> None:
    api, webhook = service.api, tell("dcim.region")
    api.post(REGIONS, region(unique))
    (made,) = api.get(DELIVERIES, {"webhook": webhook["name"]})["results"]
    at = f"{made['url']}retry/"
    assert api.post(at, status=409) == {"detail": "Only a failed delivery is sent again; this one is queued."}
    fail(service, made["id"])
    viewer, changer = (
        service.user((actions, deliveries.LABEL), ("view", "dcim.region")) for actions in ("view", "view change")
    )
    viewer.api.post(at, status=403)
    with service.configured(queue_url=f"sqlite:///{tmp_path / 'queue.sqlite'}"):
        again = changer.api.post(at, status=200)
        assert words(service) == [models.DELIVER]
    assert (again["state"]["value"], again["attempts"], again["finished"], len(again["history"])) == (
        "queued",
        1,
        None,
        1,
    )
    assert again["due"] > made["due"] and again["time"] == made["time"]
    api.post(f"{DELIVERIES}{2**31 - 1}/retry/", status=404)
    api.get(at, status=405)


def test_those_that_filters_select_are_queued_again_in_one_statement(
    service: Service, tell: Tell, unique: Unique
) -> None:
    api, webhook, other = service.api, tell("dcim.region"), tell("dcim.region")
    api.post(REGIONS, [region(unique) for _ in range(4)])
    keys = [item["id"] for item in api.get(DELIVERIES, {"webhook": [webhook["name"], other["name"]]})["results"]]
    fail(service, *keys)
    at = f"{DELIVERIES}retry/"
    with service.statements() as found:
        assert api.send("POST", at, query={"webhook": webhook["name"]}).json == {"retried": 4}
    assert len([statement for statement in found if "extras_webhook_delivery" in statement]) == 1
    assert api.send("POST", at, query={"webhook": webhook["name"]}).json == {"retried": 0}
    assert (len(told(api, webhook, state="queued")), len(told(api, other, state="failed"))) == (4, 4)
    one = api.get(DELIVERIES, {"webhook": other["name"], "limit": 1})["results"][0]
    narrow = service.user(
        ("change", deliveries.LABEL, {"object_repr": one["object_repr"]}), ("view", ["extras.webhook", "dcim.region"])
    )
    assert narrow.api.send("POST", at, query={"webhook": other["name"]}).json == {"retried": 1}
    assert api.send("POST", at, query={"nothing": "1"}, status=400).json == {"nothing": ["Unknown filter field"]}
    service.user(("view", deliveries.LABEL)).api.post(at, status=403)
    api.get(at, status=405)


# -- gone


def test_a_deleted_webhook_takes_its_deliveries_along_without_reading_them(
    service: Service, tell: Tell, unique: Unique
) -> None:
    api, webhook = service.api, tell("dcim.region")
    api.post(REGIONS, [region(unique) for _ in range(3)])
    keys = [item["id"] for item in api.get(DELIVERIES, {"webhook": webhook["name"]})["results"]]
    fail(service, *keys)
    with service.statements() as found:
        api.delete(webhook["url"])
    (only,) = [statement for statement in found if "extras_webhook_delivery" in statement]
    assert "DELETE FROM extras_webhook_delivery" in only
    assert api.get(DELIVERIES, {"id": keys})["count"] == 0
    attempt: Any = deliveries.WebhookAttempt.__table__
    assert service.rows(sa.select(attempt.c.id).where(attempt.c.delivery_id.in_(keys))) == []


def test_a_delivery_outlives_its_change_record(service: Service, tell: Tell, unique: Unique) -> None:
    api, webhook = service.api, tell("dcim.region")
    made = api.post(REGIONS, region(unique))
    table = service.registry["extras.objectchange"].table
    with service.unit_of_work() as uow:
        uow.execute(sa.delete(table).where(table.c.changed_object_id == uuid.UUID(made["id"])))
    (shown,) = api.get(DELIVERIES, {"webhook": webhook["name"]})["results"]
    assert api.get(shown["url"])["object_repr"] == made["name"]


def test_old_deliveries_are_deleted_unless_they_wait(service: Service, tell: Tell, unique: Unique) -> None:
    api, webhook = service.api, tell("dcim.region")
    api.post(REGIONS, [region(unique) for _ in range(3)])
    keys = [item["id"] for item in api.get(DELIVERIES, {"webhook": webhook["name"]})["results"]]
    fail(service, keys[0], keys[1])
    table = service.registry[deliveries.LABEL].table
    with service.unit_of_work() as uow:
        uow.execute(
            sa.update(table).where(table.c.id.in_([keys[0], keys[2]])).values(time=now() - datetime.timedelta(days=400))
        )
    with service.configured(webhook_delivery_retention=0):
        assert delete_old(service.engine, service.registry, deliveries.retention) == 0
    with service.configured(webhook_delivery_retention=365):
        assert delete_old(service.engine, service.registry, deliveries.retention) >= 1
    assert [item["id"] for item in api.get(DELIVERIES, {"webhook": webhook["name"]})["results"]] == [keys[1], keys[2]]
