"""A client that repeats a request with its Idempotency-Key until it is answered, whatever is killed on the way."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests.support.crash.installation import Installation
from tests.support.databases import migrated_database, new_queue_url

pytestmark = pytest.mark.crash


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory, database_template: str) -> Iterator[Installation]:
    """An installation without processes."""
    folder = tmp_path_factory.mktemp("repeated")
    with (
        migrated_database(folder, database_template) as engine,
        Installation(engine, folder, new_queue_url(folder)) as found,
    ):
        yield found


@pytest.mark.parametrize("fault", ["before-store", "before-commit", "before-answer"])
def test_one_address_is_allocated(installation: Installation, fault: str) -> None:
    """Killed before the answer is stored, between that and the commit, and between the commit and the answer."""
    api = installation.inside.api
    prefix = api.post(
        "/api/ipam/prefixes/", {"prefix": f"{installation.inside.unique.ipv6()}::/120", "status": "active"}
    )
    path, headers = f"/api/ipam/prefixes/{prefix['id']}/available-ips/", {"Idempotency-Key": str(uuid.uuid4())}

    def ask() -> requests.Response:
        sent: dict[str, Any] = {"json": {"status": "active"}, "headers": installation.headers | headers}
        return requests.post(f"{installation.url}{path}", timeout=60, **sent)

    dying = installation.service(fault)
    with pytest.raises(requests.RequestException):
        ask()
    installation.gone(dying)
    healthy = installation.service()
    answers = [ask() for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201] * 3
    assert len({answer.content for answer in answers}) == 1
    assert answers[-1].headers["Idempotency-Replayed"] == "true"
    (address,) = api.get("/api/ipam/ip-addresses/", {"parent": prefix["prefix"]})["results"]
    assert address["address"] == answers[0].json()["address"]
    installation.kill(healthy)
