"""Objects whose lists lose a deleted object: changed, recorded and announced, like those whose references are emptied."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.changelog.models import UPDATE, ObjectChange
from netinv_core.changelog.states import record_columns
from netinv_core.db.engine import as_stored
from netinv_core.endpoint import Endpoint
from netinv_core.fields import ToMany
from netinv_core.models.base import table_of
from netinv_testing import Api, Case, Service, Unique
from tests.support.registry import REGISTRY

CHANGES, TAGS, TENANTS = "/api/extras/object-changes/", "/api/extras/tags/", "/api/tenancy/tenants/"
LISTS = sorted(
    (owner.label, field.name)
    for owner in REGISTRY.endpoints.values()
    for field in owner.writable.values()
    if isinstance(field, ToMany) and owner.resource.recorded
)
TARGETS = sorted({str(getattr(REGISTRY[label].fields[name], "to", "")) for label, name in LISTS})


def owners_of(endpoint: Endpoint) -> list[tuple[str, str]]:
    """The lists of other objects with objects of an endpoint."""
    return [(label, name) for label, name in LISTS if getattr(REGISTRY[label].fields[name], "to", "") == endpoint.label]


def updates_of(service: Service, key: str) -> list[Any]:
    """The recorded updates of an object, the latest first."""
    table = table_of(ObjectChange)
    of_object = table.c.changed_object_id == uuid.UUID(key), table.c.action == UPDATE
    latest_first = table.c.time.desc(), table.c.position.desc()
    return service.rows(sa.select(*record_columns()).where(*of_object).order_by(*latest_first))


def test_every_list_is_of_a_resource_that_is_walked() -> None:
    assert {"extras.tag", "ipam.vlan", "ipam.routetarget", "ipam.ipaddress", "tenancy.tenant"} <= set(TARGETS)


@pytest.mark.parametrize("label", TARGETS)
@pytest.mark.night
def test_a_deletion_changes_the_lists_that_the_object_was_in(label: str, service: Service) -> None:
    case, owners = Case(service, label), owners_of(REGISTRY[label])
    types = [owner for owner, name in owners if name == "tags" and owner != "extras.configcontext"]
    target = case.make(**({"content_types": types} if "content_types" in case.endpoint.writable else {}))
    listing: list[tuple[Case, dict[str, Any], str]] = []
    for owner_label, name in owners:
        owner = Case(service, owner_label)
        mode = {"mode": "tagged"} if name == "tagged_vlans" else {}
        item = owner.make()
        field = owner.endpoint.writable[name]
        assert isinstance(field, ToMany)
        owner.api.patch(owner.at(item), {name: [target[field.by or "id"]], **mode})
        listing.append((owner, owner.read(item), name))
    case.api.delete(case.at(target))
    for owner, before, name in listing:
        after, place = owner.read(before), f"{owner.path} {name}"
        assert len(before[name]) == 1 and after[name] == [], place
        assert after.get("last_updated", "2") > before.get("last_updated", "1"), place
        change = updates_of(service, before["id"])[0]
        assert as_stored(before[name]) == change.before[name] and change.after[name] == [], place
        assert change.after.get("last_updated", "2") > change.before.get("last_updated", "1"), place


def test_the_number_of_statements_does_not_grow_with_the_owners(api: Api, unique: Unique, service: Service) -> None:
    def cost(count: int) -> int:
        tag = api.post(TAGS, {"name": unique(), "slug": unique(), "content_types": ["tenancy.tenant"]})
        api.post(TENANTS, [{"name": unique(), "tags": [tag["id"]]} for _ in range(count)])
        with service.statements() as statements:
            api.delete(f"{TAGS}{tag['id']}/")
        return len(statements)

    cost(1)  # fills caches, such as that of the content types
    assert cost(2) == cost(40)


def test_an_undone_deletion_puts_the_object_into_the_lists_again(api: Api, unique: Unique) -> None:
    tag = api.post(TAGS, {"name": unique(), "slug": unique(), "content_types": ["tenancy.tenant"]})
    tenant = api.post(TENANTS, {"name": unique(), "tags": [tag["id"]]})
    for query in ({}, {"request": "true"}):
        api.delete(f"{TAGS}{tag['id']}/")
        assert api.get(f"{TENANTS}{tenant['id']}/")["tags"] == []
        (deletion,) = api.get(
            CHANGES, {"changed_object_id": tag["id"], "action": "delete", "ordering": "-time", "limit": 1}
        )["results"]
        api.post(f"{CHANGES}{deletion['id']}/revert/", query=query, status=200)
        assert [item["id"] for item in api.get(f"{TENANTS}{tenant['id']}/")["tags"]] == [tag["id"]]


def test_owners_that_were_deleted_before_are_not_changed(api: Api, unique: Unique, service: Service) -> None:
    tag = api.post(TAGS, {"name": unique(), "slug": unique(), "content_types": ["tenancy.tenant"]})
    tenant = api.post(TENANTS, {"name": unique(), "tags": [tag["id"]]})
    api.delete(f"{TENANTS}{tenant['id']}/")
    api.delete(f"{TAGS}{tag['id']}/")
    assert updates_of(service, tenant["id"]) == []
