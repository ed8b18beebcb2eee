"""Every path of the service, tried with credentials that do not suffice: read-only, expired, deleted, inactive."""

from __future__ import annotations

import base64
import datetime
import re
from collections.abc import Iterator
from typing import Any

import pytest

from netinv_core.http.versions import NEWEST
from netinv_openapi import documents
from netinv_testing import Api, Service
from netinv_testing.client import NOTHING

pytestmark = pytest.mark.any_database  # the check of credentials around every view

WRITES = ("POST", "PUT", "PATCH", "DELETE")
ONLY_READ = re.compile("/api/graphql/|/api/.*/query/")  # by POST, too
OPEN = ("/api/docs/", "/api/swagger.json", "/api/swagger.yaml", "/api/swagger/", "/api/redoc/")
NOBODY = "00000000-0000-4000-8000-000000000000"
_CHANGES = re.compile(r"\s*(WITH\b.*\b)?(INSERT|UPDATE|DELETE|REPLACE)\b", re.IGNORECASE | re.DOTALL)
NOT_THERE = (404, 405)  # before anybody is asked who they are
DENIED = {"detail": "You do not have permission to perform this action."}


@pytest.fixture(scope="session")
def paths(service: Service) -> list[str]:
    """Every documented path, its parameters filled in: with the id of an object where there is one."""
    ids: dict[str, str] = {}

    def key(path: str) -> str:
        whole = path.partition("{")[0]
        if whole not in ids:
            answer = service.api.send("GET", whole, query={"limit": 1}, status=(200, 400, 404)).json
            objects = answer.get("results") if isinstance(answer, dict) else None
            ids[whole] = str(objects[0]["id"]) if objects and "id" in objects[0] else NOBODY
        return ids[whole]

    documented = [f"/api{path}" for path in documents.document(service.registry, NEWEST)["paths"]]
    found = [re.sub(r"\{\w+\}", key(path) if "{" in path else "", path) for path in documented]
    pages = [path for app in service.registry.apps.values() for path in app.views]
    return [*dict.fromkeys([*found, *pages, "/api/", "/api/status/", "/metrics"])]


def bodies(service: Service, path: str) -> Iterator[Any]:
    """Bodies that would change something at a path."""
    yield {}
    if path == "/api/users/config/":
        yield {"a": 1}


@pytest.mark.night
def test_a_read_only_token_writes_nowhere(service: Service, make_user: Any, paths: list[str]) -> None:
    """Its user may do everything; no path takes a POST, PUT, PATCH or DELETE of it, and no statement changes a row."""
    reader = make_user(superuser=True, write_enabled=False).api
    assert len(paths) > 200
    with service.statements() as statements:
        for path in paths:
            if path.startswith(OPEN):
                continue
            for method in WRITES:
                for body in bodies(service, path):
                    answer = reader.send(method, path, body)
                    reads = method == "POST" and ONLY_READ.fullmatch(path)
                    expected = (200, 400) if reads else NOT_THERE if answer.json != DENIED else (403,)
                    assert answer.status_int in expected, f"{method} {path} → {answer.status}"
    assert statements and not [text for text in statements if _CHANGES.match(text)]


@pytest.mark.night
def test_a_read_only_token_reads(service: Service, make_user: Any) -> None:
    reader = make_user(superuser=True, write_enabled=False).api
    assert reader.send("POST", "/api/graphql/", {"query": "{ sites { id } }"}).status_int == 200
    for path in ("/api/users/config/", "/api/dcim/sites/", "/metrics"):
        assert reader.send("GET", path).status_int == 200


def _deleted(service: Service) -> Api:
    account = service.user(superuser=True)
    service.api.delete(f"/api/users/users/{account.id}/")
    return account.api


@pytest.mark.night
def test_no_path_takes_credentials_that_are_no_longer_good(service: Service, make_user: Any, paths: list[str]) -> None:
    past = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=1)
    clients = [
        (make_user(superuser=True, active=False).api, "User inactive"),
        (make_user(superuser=True, expires=past).api, "Token expired"),
        (_deleted(service), "Invalid token"),
    ]
    for number, path in enumerate(path for path in paths if not path.startswith(OPEN)):
        for client, words in clients:
            for method, body in (("GET", NOTHING), (("OPTIONS", *WRITES)[number % 5], {})):
                answer = client.send(method, path, body)
                refused = answer.json == {"detail": words}
                assert answer.status_int in ((403,) if refused else NOT_THERE), f"{method} {path} → {answer.status}"


def test_a_password_of_an_account_that_is_gone_or_inactive_opens_nothing(
    service: Service, anonymous: Api, make_user: Any
) -> None:
    inactive, gone = (
        make_user(superuser=True, active=False, password="right"),
        make_user(superuser=True, password="right"),
    )
    service.api.delete(f"/api/users/users/{gone.id}/")
    for account in (inactive, gone):
        header = {"Authorization": "Basic " + base64.b64encode(f"{account.username}:right".encode()).decode()}
        for method in ("GET", "POST"):
            assert anonymous.send(method, "/api/users/tokens/", headers=header, status=403).json == {
                "detail": "Invalid username/password."
            }
