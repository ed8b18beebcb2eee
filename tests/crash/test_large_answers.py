"""A service with little memory that is asked for answers whose size is a product: it refuses them and lives on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.cabling_fixtures import Plant
from tests.support.crash.installation import Installation
from tests.support.databases import migrated_database, new_queue_url

pytestmark = [pytest.mark.crash, pytest.mark.night]
MEMORY = 1 << 30  # bytes of address space beyond what the service has when it starts
PORTS, DEVICES, CONTEXT = 58, 400, 4_000_000
CHANGES, TEXT = 80, 8_000_000  # their states are stored compressed


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory, database_template: str) -> Iterator[Installation]:
    """An installation with a device of many interfaces, and devices that share a large config context."""
    folder = tmp_path_factory.mktemp("large")
    with (
        migrated_database(folder, database_template) as engine,
        Installation(engine, folder, new_queue_url(folder)) as found,
    ):
        api, unique = found.inside.api, found.inside.unique
        plant = Plant(api, unique)
        one = api.post("/api/dcim/devices/", {"name": "one", **plant.hardware})
        ports = [
            {"device": one["id"], "name": f"eth{n}", "type": "1000base-t", "status": "active"} for n in range(PORTS)
        ]
        api.post("/api/dcim/interfaces/", ports)
        api.post("/api/dcim/devices/", [{"name": unique(), **plant.hardware} for _ in range(DEVICES)])
        api.post("/api/extras/config-contexts/", {"name": unique(), "data": {"text": "x" * CONTEXT}})
        site = api.post("/api/dcim/sites/", {"name": "changed", "status": "active"})
        for number in range(CHANGES):
            api.patch(site["url"], {"comments": f"{number} {'x' * TEXT}"})
        yield found


def nested(levels: int, inner: str = "id") -> str:
    """A query of the interfaces of the device of interfaces, so many times."""
    for _ in range(levels):
        inner = f"interfaces {{ device {{ {inner} }} }}"
    return f'{{ devices(name: "one") {{ {inner} }} }}'


ALIASES = nested(3, " ".join(f"a{n}: interfaces {{ name }}" for n in range(50)))
FRAGMENTS = """{ devices(name: "one") { ...A } }
fragment A on DeviceType { interfaces { device { ...B } } b: interfaces { device { ...B } } }
fragment B on DeviceType { interfaces { device { ...C } } b: interfaces { device { ...C } } }
fragment C on DeviceType { interfaces { device { name } } b: interfaces { device { name } } }"""


def test_a_service_with_little_memory_refuses_large_answers(installation: Installation) -> None:
    service = installation.service(memory=MEMORY)
    queries = [*(nested(levels) for levels in (4, 5)), ALIASES, FRAGMENTS]
    contexts = " ".join(f"a{n}: config_context" for n in range(50))
    requests: list[tuple[str, str, Any]] = [
        *(("POST", "/api/graphql/", {"query": query}) for query in [*queries, f"{{ devices {{ {contexts} }} }}"]),
        ("GET", "/api/dcim/devices/?limit=1000", None),
        ("GET", "/api/dcim/devices/?format=yaml", None),
        ("GET", "/api/dcim/devices/?format=csv&columns=name,config_context", None),
        ("POST", "/api/dcim/devices/query/", {"limit": 1000}),
    ]
    for method, path, body in requests:
        answer = installation.ask(method, path, body, status=413)
        assert "netinv.max_answer_" in answer["detail"], (path, body)
    assert service.poll() is None
    assert installation.ask("GET", "/api/dcim/interfaces/?limit=1", status=200)["count"] == PORTS
    installation.kill(service)


def test_a_service_with_little_memory_refuses_large_histories(installation: Installation) -> None:
    """Change records are compressed: those of large texts take thousands of times their space when they are read."""
    service = installation.service(memory=MEMORY)
    changes = "/api/extras/object-changes/"
    (site,) = installation.ask("GET", "/api/dcim/sites/?name=changed&fields=id", status=200)["results"]
    paths = [f"/api/dcim/sites/{site['id']}/history/", changes, f"{changes}feed/"]
    for path in paths:  # one time after the other, as nothing of a refused answer stays in memory
        answer = installation.ask("GET", f"{path}?limit=1000", status=413)
        assert "netinv.max_answer_size" in answer["detail"], path
    assert service.poll() is None
    assert installation.ask("GET", "/api/dcim/interfaces/?limit=1", status=200)["count"] == PORTS
    installation.kill(service)
