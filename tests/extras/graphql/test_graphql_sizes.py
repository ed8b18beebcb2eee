"""GraphQL: answers that repeat objects are refused before they are written."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from netinv_testing import Api, Service, Unique
from tests.support.cabling_fixtures import Plant

GRAPHQL, QUERIES, INTERFACES = "/api/graphql/", "/api/extras/graphql-queries/", "/api/dcim/interfaces/"
PORTS = 10


@pytest.fixture
def device(api: Api, unique: Unique) -> Any:
    """A device with ten interfaces."""
    plant = Plant(api, unique)
    made = api.post("/api/dcim/devices/", {"name": unique(), **plant.hardware})
    ports = [
        {"device": made["id"], "name": f"eth{n}", "type": "1000base-t", "status": "active", "description": "d" * 100}
        for n in range(PORTS)
    ]
    api.post(INTERFACES, ports)
    return made


def nested(levels: int) -> str:
    """A query of the interfaces of the device of interfaces, so many times."""
    inner = "id"
    for _ in range(levels):
        inner = f"interfaces {{ device {{ {inner} }} }}"
    return of_devices(inner)


def of_devices(inner: str) -> str:
    """A query of members of devices."""
    return f"query ($n: [String]) {{ devices(name: $n) {{ {inner} }} }}"


ALIASES = of_devices(" ".join(f"a{n}: interfaces {{ device {{ interfaces {{ name }} }} }}" for n in range(20)))
FRAGMENTS = """query ($n: [String]) { devices(name: $n) { ...A } }
fragment A on DeviceType { interfaces { device { ...B } } b: interfaces { device { ...B } } }
fragment B on DeviceType { interfaces { device { ...C } } b: interfaces { device { ...C } } }
fragment C on DeviceType { interfaces { name } b: interfaces { name } }"""
ROOTS = (
    f"query ($n: [String]) {{ {' '.join(f'a{n}: devices(name: $n) {{ interfaces {{ name }} }}' for n in range(99))} }}"
)


@pytest.mark.parametrize("query", [nested(3), nested(5), nested(6), ALIASES, FRAGMENTS, ROOTS])
@pytest.mark.parametrize(
    ("setting", "limits"),
    [
        ("max_answer_objects", {"max_answer_objects": 1000, "max_answer_size": 0}),
        ("max_answer_size", {"max_answer_objects": 0, "max_answer_size": 10_000}),
    ],
)
def test_an_answer_that_repeats_objects_is_refused(
    api: Api, device: Any, service: Service, query: str, setting: str, limits: dict[str, int]
) -> None:
    saved = api.post(QUERIES, {"name": device["name"], "slug": device["name"].lower(), "query": query})
    body = {"query": query, "variables": {"n": [device["name"]]}}
    with service.configured(graphql_max_depth=20, graphql_max_relations=0, **limits):
        for path in (GRAPHQL, f"{QUERIES}{saved['id']}/run/"):
            answer = api.post(path, body, status=413)
            assert f"netinv.{setting}" in answer["detail"]


def test_the_objects_of_an_answer_are_counted_exactly(api: Api, device: Any, service: Service) -> None:
    body = {"query": nested(2), "variables": {"n": [device["name"]]}}
    objects = 1 + PORTS * (1 + 1 + PORTS * 2)
    with service.configured(max_answer_objects=objects - 1):
        api.post(GRAPHQL, body, status=413)
    with service.configured(max_answer_objects=objects):
        api.post(GRAPHQL, body, status=200)


@pytest.mark.parametrize("members", ["name description", "name a: description b: description", "name device { name }"])
def test_the_bytes_of_an_answer_are_estimated_well(api: Api, device: Any, service: Service, members: str) -> None:
    query = of_devices(f"interfaces {{ device {{ interfaces {{ {members} }} }} }}")
    body = {"query": query, "variables": {"n": [device["name"]]}}
    written = len(orjson.dumps(api.post(GRAPHQL, body, status=200)))
    with service.configured(max_answer_size=written * 3 // 4):
        api.post(GRAPHQL, body, status=413)
    with service.configured(max_answer_size=written * 3 // 2):
        api.post(GRAPHQL, body, status=200)
