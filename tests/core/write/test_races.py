"""What happens when many ask at once, over real sockets and connections."""

from __future__ import annotations

import concurrent.futures
import contextlib
import uuid

import pytest
import requests
import sqlalchemy as sa

from netinv_core.db.engine import lock_rows
from netinv_testing import Service, Unique
from netinv_testing.lock_waits import until_it_waits
from tests.support.cabling_fixtures import CABLES, Plant
from tests.support.http_server import served
from tests.support.threads import CLIENTS, at_once


def test_everyone_gets_an_address_of_their_own(service: Service, unique: Unique) -> None:
    """64 clients ask one prefix for an address; then it is exhausted, and says so without a body."""
    vrf = service.api.post("/api/ipam/vrfs/", {"name": unique()})
    prefix = service.api.post(
        "/api/ipam/prefixes/", {"prefix": "192.0.2.0/26", "status": "active", "vrf": vrf["id"], "is_pool": True}
    )
    headers = {"Authorization": f"Token {service.api.token}"}
    with served(service.app) as address:
        url = f"{address}/api/ipam/prefixes/{prefix['id']}/available-ips/"
        answers = at_once(lambda number: requests.post(url, json={"status": "active"}, headers=headers, timeout=120))
        assert {answer.status_code for answer in answers} == {201}
        assert len({answer.json()["address"] for answer in answers}) == CLIENTS
        refused = requests.post(url, json={"status": "active"}, headers=headers, timeout=30)
        assert (refused.status_code, refused.content) == (204, b"")


def test_changes_of_different_fields_both_stay(service: Service, unique: Unique) -> None:
    """PATCH writes what was sent and nothing else."""
    site = service.api.post("/api/dcim/sites/", {"name": unique(), "status": "active"})
    fields = ["facility", "description", "physical_address", "shipping_address", "contact_name", "comments"]
    headers = {"Authorization": f"Token {service.api.token}"}
    with served(service.app) as address:
        url = f"{address}/api/dcim/sites/{site['id']}/"
        at_once(
            lambda number: requests.patch(url, json={fields[number]: f"by {number}"}, headers=headers, timeout=60),
            len(fields),
        )
    found = service.api.get(f"/api/dcim/sites/{site['id']}/")
    assert [found[name] for name in fields] == [f"by {number}" for number in range(len(fields))]


def test_one_name_is_given_once(service: Service, unique: Unique) -> None:
    """Of many who create the same name at once, one succeeds and the others are told why not."""
    name, headers = unique(), {"Authorization": f"Token {service.api.token}"}
    with served(service.app) as address:
        url = f"{address}/api/tenancy/tenants/"
        answers = at_once(
            lambda number: requests.post(url, json={"name": name, "slug": name.lower()}, headers=headers, timeout=60),
            16,
        )
    assert sorted(answer.status_code for answer in answers) == [201] + [400] * 15
    assert all("already exists" in answer.text for answer in answers if answer.status_code == 400)


@pytest.mark.night
def test_one_object_gets_values_that_a_validation_rule_wants_unique(service: Service, unique: Unique) -> None:
    """Of many who write the same values at once, by creations and by changes, one succeeds."""
    api, word = service.api, unique()
    rule = {"content_type": "dcim.site", "applies_to": {"name__isw": word}, "unique_together": ["facility", "asn"]}
    rule = api.post("/api/extras/validation-rules/", {"name": word, **rule})
    made = [api.post("/api/dcim/sites/", {"name": f"{word} {number}", "status": "active"}) for number in range(8)]
    headers, values = {"Authorization": f"Token {api.token}"}, {"facility": word, "asn": 1}
    with served(service.app) as address:
        url = f"{address}/api/dcim/sites/"

        def write(number: int) -> requests.Response:
            if number < len(made):
                return requests.patch(f"{url}{made[number]['id']}/", json=values, headers=headers, timeout=60)
            body = {"name": f"{word} {number}", "status": "active", **values}
            return requests.post(url, json=body, headers=headers, timeout=60)

        answers = at_once(write, 16)
    api.delete(rule["url"])
    refused = [answer for answer in answers if answer.status_code == 400]
    assert (len(answers) - len(refused), len(refused)) == (1, 15), [answer.status_code for answer in answers]
    assert {word in str(answer.json()["facility"]) for answer in refused} == {True}
    assert api.get("/api/dcim/sites/", {"facility": word})["count"] == 1


def test_paths_see_cables_that_are_laid_at_the_same_time(service: Service, unique: Unique) -> None:
    """Both sides of panels are connected at once: whoever comes last finds the whole path."""
    plant = Plant(service.api, unique)
    panels, near, far = (
        [plant.panel() for _ in range(8)],
        plant.ends("dcim.interface", 8),
        plant.ends("dcim.interface", 8),
    )
    pairs = [
        pair for a, panel, b in zip(near, panels, far, strict=True) for pair in ((a, panel.fronts[0]), (panel.rear, b))
    ]
    headers = {"Authorization": f"Token {service.api.token}"}
    with served(service.app) as address:
        url = f"{address}{CABLES}"
        answers = at_once(
            lambda number: requests.post(url, json=plant.body(*pairs[number]), headers=headers, timeout=60), len(pairs)
        )
    assert {answer.status_code for answer in answers} == {201}
    assert [plant.leads_to(end) for end in (*near, *far)] == [(end, True) for end in (*far, *near)]


def test_a_request_that_meets_another_in_a_deadlock_is_tried_again(service: Service, unique: Unique) -> None:
    """Somebody holds the second of two objects and wants the first, while a request holds the first and wants the
    second.
    """
    made = [service.api.post("/api/dcim/sites/", {"name": unique(), "status": "active"}) for _ in range(2)]
    first, second = sorted(made, key=lambda site: site["id"])
    table = service.registry["dcim.site"].table
    with concurrent.futures.ThreadPoolExecutor(1) as pool, service.engine.connect() as other:
        other.execute(lock_rows(sa.select(table.c.id).where(table.c.id == uuid.UUID(second["id"]))))
        answer = pool.submit(
            service.api.patch, "/api/dcim/sites/", [{"id": site["id"], "comments": "x"} for site in (first, second)]
        )
        until_it_waits(service.engine, answer)
        with contextlib.suppress(sa.exc.OperationalError):  # it may be the one that is given up
            other.execute(lock_rows(sa.select(table.c.id).where(table.c.id == uuid.UUID(first["id"]))))
        other.rollback()
        assert [site["comments"] for site in answer.result(timeout=60)] == ["x", "x"]


def test_an_end_gets_one_cable(service: Service, unique: Unique) -> None:
    """Of many who plug a cable into the same port at once, at either end of theirs, one succeeds and the others are
    told why not.
    """
    plant = Plant(service.api, unique)
    port, others = plant.end(), plant.ends("dcim.interface", 16)
    bodies = [plant.body(port, other) if number % 2 else plant.body(other, port) for number, other in enumerate(others)]
    headers = {"Authorization": f"Token {service.api.token}"}
    with served(service.app) as address:
        answers = at_once(
            lambda number: requests.post(f"{address}{CABLES}", json=bodies[number], headers=headers, timeout=60),
            len(others),
        )
    assert sorted(answer.status_code for answer in answers) == [201] + [400] * 15, [answer.text for answer in answers]
    (cable,) = [answer.json() for answer in answers if answer.status_code == 201]
    assert [other.id for other in others if plant.leads_to(other) == (port, True)] == [plant.leads_to(port)[0].id]  # type: ignore[union-attr]
    assert service.api.get(port.path)["cable"]["id"] == cable["id"]
