"""Requests generated from the OpenAPI document, valid and invalid ones: none is an error of the service, each answer is
as documented.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.core import NOT_SET

from netinv_core.http.versions import NEWEST
from netinv_testing import Case, Service
from tests.support.databases import migrated_database
from tests.support.jobs import JOBS
from tests.support.seed import seed_deliveries, seed_job_results

pytestmark = [pytest.mark.slow, pytest.mark.any_database, pytest.mark.night]
APPS = ("circuits", "dcim", "extras", "ipam", "tenancy", "users", "virtualization")
PARAMETERS = 10  # of an operation: lists have hundreds, and data for all of them takes seconds
JSON = "application/json"
OUTSIDE = re.compile("/run/|/sync/|/feed/")  # start jobs, fetch repositories, wait


@pytest.fixture(scope="module")
def alone(database_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service on a database of its own: what is created there concerns no other test."""
    with migrated_database(tmp_path_factory.mktemp("generated"), database_template) as engine:
        service = Service(engine, {**JOBS, "netinv.media_root": str(tmp_path_factory.mktemp("media"))})
        seed_deliveries(service)
        seed_job_results(service)
        service.examples["dcim.rackreservation"] = {"user": service.admin.id}
        yield service


def reduced(document: dict[str, Any]) -> dict[str, Any]:
    """The document with some of the parameters of each operation, and with JSON bodies alone."""
    choose = random.Random(1)
    for methods in document["paths"].values():
        for operation in methods.values():
            inside = [item for item in operation.get("parameters", ()) if item["in"] == "path"]
            others = [item for item in operation.get("parameters", ()) if item["in"] != "path"]
            operation["parameters"] = inside + choose.sample(others, min(PARAMETERS, len(others)))
            content = operation.get("requestBody", {}).get("content", {})
            for media in content.keys() - {JSON}:
                del content[media]
    return document


@pytest.fixture(scope="module")
def operations(alone: Service) -> dict[str, list[Any]]:
    """The operations of each application, as Schemathesis knows them."""
    document = alone.anonymous.get("/api/swagger.json", {"api_version": NEWEST}, version=None)
    schema = schemathesis.openapi.from_dict(reduced(document))
    found: dict[str, list[Any]] = {}
    for result in schema.get_all_operations():
        operation = result.ok()
        if not OUTSIDE.search(operation.path):
            found.setdefault(operation.path.split("/")[1], []).append(operation)
    return found


class Objects:
    """An object of each resource, created when a path is first drawn, for half of the requests to one object."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.labels = {endpoint.path: label for label, endpoint in service.registry.endpoints.items()}
        self.known: dict[str, str] = {}

    def at(self, path: str) -> str | None:
        """The id of an object of the resource that a path is below."""
        listed = f"/api{path.partition('{')[0]}"
        if listed in self.labels and listed not in self.known:
            self.known[listed] = str(Case(self.service, self.labels[listed]).make()["id"])
        return self.known.get(listed)


@pytest.fixture(scope="module")
def objects(alone: Service) -> Objects:
    """Objects to name in paths."""
    return Objects(alone)


_BOUNDED = settings(max_examples=120, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("app", APPS)
@_BOUNDED
@given(data=st.data())
def test_generated_requests_are_answered_as_documented(
    alone: Service, operations: dict[str, list[Any]], objects: Objects, app: str, data: st.DataObject
) -> None:
    operation = data.draw(st.sampled_from(operations[app]))
    mode = data.draw(st.sampled_from([GenerationMode.POSITIVE, GenerationMode.NEGATIVE]))
    case = data.draw(operation.as_strategy(generation_mode=mode))
    existing = objects.at(operation.path) if data.draw(st.booleans()) else None
    if existing is not None and operation.method != "delete":
        case.path_parameters = {**case.path_parameters, "id": existing}
    sent = (
        case.body if isinstance(case.body, bytes) else json.dumps(None if case.body is NOT_SET else case.body).encode()
    )
    body = {} if case.body is NOT_SET else {"body": sent}
    answer = alone.api.send(operation.method.upper(), f"/api{case.formatted_path}", query=case.query or (), **body)
    event(f"{mode.value}: {answer.status_int}")
