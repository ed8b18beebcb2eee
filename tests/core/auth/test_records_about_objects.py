"""Records that have the name of an object, such as changes and deliveries: readers see them with the object alone."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Account, Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

REGIONS, WEBHOOKS = "/api/dcim/regions/", "/api/extras/webhooks/"
NAME = "object_repr"  # the column of records with the name of an object
CONSTRAINTS = {"no permission": None, "another object": {"description": "shown"}}


@pytest.fixture
def changed(api: Api, unique: Unique) -> Any:
    """A region, one that is shown to some, and one that was deleted, whose changes a webhook is told."""
    name = unique()
    events = dict.fromkeys(("type_create", "type_update", "type_delete"), True)
    address = {"name": name, "payload_url": f"http://{name}.example.com/", "content_types": ["dcim.region"]}
    webhook = api.post(WEBHOOKS, {**address, **events})
    hidden, shown, gone = (
        api.post(REGIONS, {"name": unique(), "description": text}) for text in ("hidden", "shown", "shown")
    )
    api.delete(gone["url"])
    yield {"hidden": hidden, "shown": shown, "gone": gone}
    api.delete(webhook["url"])


def labels(service: Service) -> list[str]:
    """The models of such records that are resources."""
    found = [label for label, endpoint in service.registry.endpoints.items() if NAME in endpoint.table.c]
    assert len(found) >= 2
    return found


def reader_of(service: Service, label: str, constraints: Any) -> Account:
    """A reader of all records of a model, and of some regions or none."""
    regions = [] if constraints is None else [("view", "dcim.region", constraints)]
    return service.user(("view", label), *regions, password=PASSWORD)


@pytest.mark.parametrize("limit", CONSTRAINTS)
def test_records_about_hidden_objects_are_hidden(service: Service, api: Api, changed: Any, limit: str) -> None:
    for label in labels(service):
        endpoint = service.registry[label]
        path = f"/api/{endpoint.app.name}/{endpoint.resource.name}/"
        account = reader_of(service, label, CONSTRAINTS[limit])
        page = Browser(service, account)
        for state, region in changed.items():
            records = api.get(path, {"changed_object_id": region["id"]})["results"]
            assert records, label
            visible = state == "shown" and CONSTRAINTS[limit] is not None
            for query in ({"changed_object_id": region["id"]}, {"q": region["name"]}, {NAME: region["name"]}):
                assert account.api.get(path, query)["count"] == (len(records) if visible else 0), (label, query)
            for record in records:
                account.api.get(f"{path}{record['id']}/", status=200 if visible else 404)
                page.get(f"/extras/{endpoint.resource.name}/{record['id']}/", status="*")
            assert (region["name"] in page.get(path.removeprefix("/api")).text) is visible, label
