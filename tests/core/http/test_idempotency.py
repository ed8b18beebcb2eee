"""Idempotency-Key over HTTP: what is sent again is answered again, and done once."""

from __future__ import annotations

import base64
import datetime
import uuid
from typing import Any

import pytest
import requests
import sqlalchemy as sa

from netinv_core import stored_answers
from netinv_core.models.base import now, table_of
from netinv_core.stored_answers import StoredAnswer
from netinv_core.tasks.retention import delete_old
from netinv_testing import Api, Samples, Service
from tests.support.http_server import served
from tests.support.threads import at_once

TENANTS, PREFIXES = "/api/tenancy/tenants/", "/api/ipam/prefixes/"
KEY, REPLAYED = "Idempotency-Key", "Idempotency-Replayed"
CLIENTS = 32
_table = table_of(StoredAnswer)


def keyed(key: str = "") -> dict[str, str]:
    """The header with a key, by default a new one."""
    return {KEY: key or str(uuid.uuid4())}


def twice(api: Api, method: str, path: str, body: Any, status: int) -> Any:
    """The answer to a request that is sent twice, and answered the second time as the first, byte for byte."""
    headers = keyed()
    first = api.send(method, path, body, headers=headers, status=status)
    again = api.send(method, path, body, headers=headers, status=status)
    assert first.body == again.body and REPLAYED not in first.headers and again.headers[REPLAYED] == "true"
    own = {name: value for name, value in first.headers.items() if name != "X-Request-ID"}
    assert own == {name: value for name, value in again.headers.items() if name not in ("X-Request-ID", REPLAYED)}
    return first.json if first.body else None


def stored(service: Service) -> int:
    """The number of stored answers."""
    return int(service.rows(sa.select(sa.func.count()).select_from(_table))[0][0])


def new_prefix(service: Service) -> dict[str, Any]:
    """A prefix with 256 addresses."""
    prefix: dict[str, Any] = service.api.post(
        PREFIXES, {"prefix": f"{service.unique.ipv6()}::/120", "status": "active"}
    )
    return prefix


def test_every_method_is_carried_out_once(service: Service) -> None:
    """Objects, lists, actions and deletions; what was changed since is not shown."""
    name = service.unique()
    tenant = twice(service.api, "POST", TENANTS, {"name": name}, 201)
    path = f"{TENANTS}{tenant['id']}/"
    headers = keyed()
    first = service.api.send("PATCH", path, {"description": "a"}, headers=headers, status=200)
    service.api.patch(path, {"description": "b"})
    assert service.api.patch(path, {"description": "a"}, headers=headers) == first.json
    assert service.api.get(path)["description"] == "b"
    twice(service.api, "PUT", TENANTS, [{"id": tenant["id"], "name": name}], 200)
    twice(service.api, "DELETE", path, {}, 204)
    prefix = new_prefix(service)
    addresses = [
        twice(service.api, "POST", f"{PREFIXES}{prefix['id']}/available-ips/", {"status": "active"}, 201)["address"]
        for _ in range(2)
    ]
    assert len(set(addresses)) == 2
    assert service.api.get("/api/ipam/ip-addresses/", {"parent": prefix["prefix"]})["count"] == 2


def test_a_key_is_that_of_one_request_of_one_user(service: Service) -> None:
    """Another method, path, query, version or body with it is 422; the key of another user is another key."""
    name, headers = service.unique(), keyed()
    tenant = service.api.post(TENANTS, {"name": name}, headers=headers)
    for method, path, body in (
        ("POST", TENANTS, {"name": f"{name} "}),
        ("POST", f"{TENANTS}?include=etag", {"name": name}),
        ("POST", "/api/tenancy/tenant-groups/", {"name": name}),
        ("PATCH", f"{TENANTS}{tenant['id']}/", {"name": name}),
    ):
        service.api.send(method, path, body, headers=headers, status=422)
    service.api.send("POST", TENANTS, {"name": name}, headers=headers, version="1.2", status=422)
    other = service.user(("add view", "tenancy.tenant"))
    assert list(other.api.post(TENANTS, {"name": name}, headers=headers, status=400)) == ["name"]
    for text in ("", "a b", "x" * 256, "é"):
        refused = service.api.send("POST", TENANTS, {"name": name}, headers={KEY: text}, status=400)
        assert list(refused.json) == [KEY]
    service.api.get(TENANTS, headers={KEY: "a b"})


def test_only_what_was_committed_is_stored(service: Service) -> None:
    """Errors and dry runs leave nothing: the request is carried out anew."""
    headers, name, before = keyed(), service.unique(), stored(service)
    service.api.post(TENANTS, {"name": ""}, headers=headers, status=400)
    service.api.post(TENANTS, {"name": name}, headers=headers, query={"dry_run": "true"}, status=200)
    assert stored(service) == before
    service.api.post(TENANTS, {"name": name}, headers=headers)
    preview = service.api.post(
        TENANTS, {"name": service.unique()}, headers=headers, query={"dry_run": "true"}, status=200
    )
    assert preview["dry_run"] and stored(service) == before + 1


def test_a_key_takes_one_statement(service: Service) -> None:
    """One statement stores the answer; a repetition takes only that of the authentication."""
    headers = keyed()
    bodies = [{"name": service.unique()} for _ in range(3)]
    service.api.post(TENANTS, bodies[0])
    with service.statements() as plain:
        service.api.post(TENANTS, bodies[1])
    with service.statements() as with_key:
        service.api.post(TENANTS, bodies[2], headers=headers)
    with service.statements() as repeated:
        service.api.post(TENANTS, bodies[2], headers=headers)
    assert (len(with_key) - len(plain), len(repeated)) == (1, 1)


def test_a_key_with_a_password_takes_one_statement(service: Service) -> None:
    account = service.user(superuser=True, password="x" * 12)
    credentials = base64.b64encode(f"{account.username}:{'x' * 12}".encode()).decode()
    anonymous, path, basic = Api(service.app, None), "/api/users/tokens/", {"Authorization": f"Basic {credentials}"}
    headers, counts = {**basic, **keyed()}, []
    anonymous.post(path, {}, headers=basic)
    for sent in (basic, headers, headers):
        with service.statements() as found:
            answer = anonymous.send("POST", path, {}, headers=sent, status=201)
        counts.append(len(found))
    assert answer.headers[REPLAYED] == "true" and counts[1] - counts[0] == 1 and counts[2] < counts[0]


def test_secrets_are_stored_encrypted(service: Service) -> None:
    """The key of a new token is shown again, and is not to be read in the database."""
    for api in (service.api, service.user(superuser=True, password="x" * 12).api):
        token = twice(api, "POST", "/api/users/tokens/", {"description": service.unique()}, 201)
        contents = [row.content for row in service.rows(sa.select(_table.c.content))]
        assert token["key"] and not any(token["key"].encode() in content for content in contents)


def test_an_answer_that_is_not_kept(service: Service) -> None:
    """Larger than the setting, or stored under another secret: the request is not repeated, and the client is told."""
    headers, name = keyed(), service.unique()
    with service.configured(max_stored_answer_size=10):
        service.api.post(TENANTS, {"name": name}, headers=headers)
    assert "not kept" in service.api.post(TENANTS, {"name": name}, headers=headers, status=409)["detail"]
    headers, name = keyed(), service.unique()
    service.api.post(TENANTS, {"name": name}, headers=headers)
    with service.configured(secret="another one, of 32 characters too"):
        service.api.post(TENANTS, {"name": name}, headers=headers, status=409)


def test_old_answers_are_deleted(service: Service) -> None:
    """After ``netinv.idempotency_retention`` hours."""
    headers, name = keyed(), service.unique()
    service.api.post(TENANTS, {"name": name}, headers=headers)
    digest = stored_answers.digest_of_key(headers[KEY])
    with service.unit_of_work() as uow:
        old = now() - datetime.timedelta(hours=25)
        uow.execute(sa.update(_table).where(_table.c.key_digest == digest).values(created=old))
    before = stored(service)
    assert delete_old(service.engine, service.registry, stored_answers.retention) == 1
    assert stored(service) == before - 1
    service.api.post(TENANTS, {"name": name}, headers=headers, status=400)


@pytest.mark.slow
def test_of_many_with_one_key_one_is_carried_out(service: Service) -> None:
    """32 clients send the same allocation, the same new object, and the same conditional change."""
    prefix, tenant = new_prefix(service), Samples(service).make(service.registry["tenancy.tenant"])
    tag = service.api.send("GET", tenant["url"], status=200).headers["ETag"]
    version = {"Accept": "application/json; version=1.6"}
    with served(service.app) as address:
        for method, path, body in (
            ("POST", f"{PREFIXES}{prefix['id']}/available-ips/", {"status": "active"}),
            ("POST", TENANTS, {"name": service.unique()}),
            ("PATCH", f"{TENANTS}{tenant['id']}/", {"description": "x"}),
        ):
            headers = {"Authorization": f"Token {service.api.token}", **keyed(), **version}
            if method == "PATCH":
                headers["If-Match"] = tag

            def ask(
                number: int, method: str = method, path: str = path, body: Any = body, headers: Any = headers
            ) -> requests.Response:
                return requests.request(method, f"{address}{path}", json=body, headers=headers, timeout=120)

            answers = at_once(ask, CLIENTS)
            answered = [answer for answer in answers if answer.status_code != 409]
            assert all(answer.headers["Retry-After"] for answer in answers if answer.status_code == 409)
            assert {answer.status_code for answer in answered} == {200 if method == "PATCH" else 201}
            assert len({answer.content for answer in answered}) == 1
            assert sum(REPLAYED not in answer.headers for answer in answered) == 1
    assert service.api.get("/api/ipam/ip-addresses/", {"parent": prefix["prefix"]})["count"] == 1
