"""Statements of single writes: what is cached is not asked for again, and unchanged members lead to no look-up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from netinv_testing import Service
from tests.support.action_requests import sample
from tests.support.databases import migrated_database

ADDRESSES, PREFIXES = "/api/ipam/ip-addresses/", "/api/ipam/prefixes/"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, database_template: str) -> Iterator[Service]:
    """A service without the relationships, webhooks and computed fields of other tests, which take statements too."""
    with migrated_database(tmp_path_factory.mktemp("budgets"), database_template) as engine:
        yield Service(engine)


def statements(service: Service, method: str, path: str, body: Any) -> list[str]:
    """The statements of a request that succeeds."""
    with service.statements() as found:
        service.api.send(method, path, body, status=(200, 201))
    return list(found)


def test_a_new_address_takes_six_statements(service: Service) -> None:
    """User, INSERT, the row, its lists, the change record."""
    bodies = [{"address": f"{service.unique.ipv6()}::1/64", "status": "active"} for _ in range(3)]
    counts = [len(statements(service, "POST", ADDRESSES, body)) for body in bodies]
    assert counts[-1] <= 6


@pytest.mark.night
def test_a_thousand_new_addresses_take_as_many(service: Service) -> None:
    network = service.unique.ipv6()
    bodies = [{"address": f"{network}::{number:x}/64", "status": "active"} for number in range(1, 2001)]
    statements(service, "POST", ADDRESSES, bodies[:1000])
    assert len(statements(service, "POST", ADDRESSES, bodies[1000:])) <= 6


def test_a_changed_text_of_a_mounted_device_takes_eight_statements(service: Service) -> None:
    """User, the locked row, row and lists before, UPDATE, row and lists after, the change record."""
    site = sample(service, "dcim.site")["id"]
    rack = sample(service, "dcim.rack", site=site)["id"]
    device = sample(service, "dcim.device", site=site, location=None, rack=rack, position=1, face="front")
    statements(service, "PATCH", device["url"], {"comments": "first"})
    assert len(statements(service, "PATCH", device["url"], {"comments": "second"})) <= 8


def test_a_new_cable_takes_fourteen_statements(service: Service) -> None:
    """User, cables of the ends, lock of cables and of the ends, INSERT, ends before with their lists, UPDATE, ends
    after with the names of their peers, the cable with names and tags, the change records.
    """
    device = sample(service, "dcim.device")["id"]
    bodies = [{"device": device, "name": service.unique(), "type": "1000base-t", "status": "active"} for _ in range(4)]
    ports = [port["id"] for port in service.api.post("/api/dcim/interfaces/", bodies)]
    cables = [
        {
            "termination_a_type": "dcim.interface",
            "termination_a_id": a,
            "termination_b_type": "dcim.interface",
            "termination_b_id": b,
            "status": "connected",
        }
        for a, b in zip(ports[::2], ports[1::2], strict=True)
    ]
    statements(service, "POST", "/api/dcim/cables/", cables[0])
    assert len(found := statements(service, "POST", "/api/dcim/cables/", cables[1])) <= 14, "\n".join(found)


@pytest.mark.parametrize("number", [1, 20])
def test_an_allocation_asks_for_no_status(service: Service, number: int) -> None:
    """User, lock of the prefix (MariaDB: of those around it before), changes and what is taken, INSERT, row, its lists,
    the change record.
    """
    prefix = service.api.post(PREFIXES, {"prefix": f"{service.unique.ipv6()}::/64", "status": "active"})
    path, bodies = f"{prefix['url']}available-ips/", [{"status": "active"}] * number
    statements(service, "POST", path, bodies)
    found = statements(service, "POST", path, bodies)
    assert not any("FROM extras_status " in text for text in found), "\n".join(found)
    locks = 2 if service.engine.dialect.name in ("mysql", "mariadb") else 1
    assert len(found) <= 6 + locks, "\n".join(found)
