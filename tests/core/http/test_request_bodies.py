"""Bodies of requests in the OpenAPI document: those that views read, and objects put back as they were read."""

from __future__ import annotations

import pytest

from netinv_core.http.versions import NEWEST, SUPPORTED
from netinv_testing import Case, Service
from netinv_testing.checks.describing import reads_body
from tests.support.action_requests import WRITES, sample
from tests.support.contract import every_resource

pytestmark = pytest.mark.any_database


@pytest.mark.parametrize("name", sorted(WRITES))
def test_a_body_that_an_action_reads_is_described(service: Service, name: str) -> None:
    path, body = WRITES[name](service)
    path = path[path.index("/api/") :]
    read = reads_body(service, "POST", path, body, status=(200, 201, 204))
    assert read == service.documented.describes_body(NEWEST, "POST", path)
    if read:
        for version in SUPPORTED:
            service.documented.takes(version, "POST", path, body)


@pytest.mark.parametrize("action", ["available-ips", "available-prefixes"])
def test_allocation_takes_the_members_of_the_new_object(service: Service, action: str) -> None:
    """Besides those that it sets itself; one object or a list."""
    prefix = service.api.post("/api/ipam/prefixes/", {"prefix": f"{service.unique.ipv6()}::/48", "status": "active"})
    tag = sample(service, "extras.tag", content_types=["ipam.ipaddress", "ipam.prefix"])
    item = {"status": "active", "description": "x", "tags": [tag["id"]]}
    item |= {"prefix_length": 64} if action == "available-prefixes" else {"role": "vip"}
    path = f"/api/ipam/prefixes/{prefix['id']}/{action}/"
    for body in (item, [item, item]):
        service.documented.takes(NEWEST, "POST", path, body)
        service.api.post(path, body)
    for wrong in ({**item, "prefix": "10.0.0.0/8"}, {**item, "address": "10.0.0.1/8"}, {**item, "vrf": None}, "x"):
        with pytest.raises(AssertionError, match="is not as version"):
            service.documented.takes(NEWEST, "POST", path, wrong)


@pytest.mark.parametrize("label", every_resource())
def test_an_object_that_was_read_can_be_put_back_as_the_document_says(service: Service, label: str) -> None:
    """With passwords, which are never read: choices have their labels, or are null where they are blank."""
    case = Case(service, label).for_reading()
    if "change" not in case.endpoint.resource.writes or not case.endpoint.writable:
        return
    shown = case.filled()
    secrets = {
        name: "Ab3$efgh" for name, field in case.endpoint.writable.items() if field.write_only and field.required
    }
    for version in (SUPPORTED[0], NEWEST):
        read = service.api.get(case.at(shown), version=version)
        written = {name: value for name, value in read.items() if name in case.endpoint.writable}
        service.documented.fits(version, f"{case.endpoint.schema_name}Request", written | secrets)
