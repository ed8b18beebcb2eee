"""Writes that the API answers 405, tried by plans, change requests and code of jobs; the contract tries the other ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_core.auth.identity import Identity
from netinv_core.errors import Denied, error_text
from netinv_core.resource import WRITES
from netinv_core.write import offered
from netinv_extras.jobs.api_client import Inventory, JobUnitOfWork
from netinv_testing import Service
from netinv_testing.cases import Case
from tests.support.contract import ENDPOINTS, every

pytestmark = pytest.mark.any_database
CLOSED = sorted(label for label, endpoint in ENDPOINTS.items() if endpoint.resource.writes != WRITES)
PLANS, REQUESTS = "/api/extras/plans/", "/api/extras/change-requests/"
Item = dict[str, Any]
DOCUMENTS: dict[str, Callable[[Item], Item]] = {
    "add": lambda item: {name: value for name, value in item.items() if name in ("name", "slug")},
    "change": lambda item: {"id": item["id"], "description": "changed"},
    "delete": lambda item: {"id": item["id"], "absent": True},
}
JOBS: dict[str, Callable[[Inventory, str, Item], Any]] = {
    "add": lambda inventory, label, item: inventory.create(label, {}),
    "change": lambda inventory, label, item: inventory.update(label, {"id": item["id"]}),
    "delete": lambda inventory, label, item: inventory.delete(label, item["id"]),
}


@pytest.mark.parametrize("label", every(CLOSED))
def test_a_document_and_a_change_request_write_what_the_api_writes(service: Service, label: str) -> None:
    case, api = Case(service, label), service.api
    item = case.make()
    key = api.post(REQUESTS, {"title": case.unique()})["id"]
    before = service.row_counts()
    for action in sorted(WRITES - case.endpoint.resource.writes):
        objects = {label: [DOCUMENTS[action](item)]}
        for path, body in (
            (PLANS, {}),
            (f"{REQUESTS}propose/", {"title": case.unique()}),
            (f"{REQUESTS}propose/", {"change_request": key}),
        ):
            assert label in api.post(path, {"objects": objects, **body}, status=400)["objects"]
        sent = {"add": "POST", "change": "PATCH", "delete": "DELETE"}[action]
        api.send(sent, case.path, [{"id": item["id"]}], headers={"X-Change-Request": key}, status=405)
    assert service.row_counts() == before
    assert case.read(item) == item


@pytest.mark.parametrize("label", every(CLOSED, 3))
def test_a_job_writes_what_the_api_writes(service: Service, label: str) -> None:
    case = Case(service, label)
    item, before = case.make(), service.row_counts()
    for action in sorted(WRITES - case.endpoint.resource.writes):
        with service.app.registry.netinv_sessions() as session:
            inventory = Inventory(JobUnitOfWork(service.registry, session, Identity(superuser=True)))
            with pytest.raises(Denied) as refused:
                JOBS[action](inventory, label, item)
        assert error_text(refused.value.body) == offered.refusal(case.endpoint, action)
    assert service.row_counts() == before
