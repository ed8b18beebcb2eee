"""Undo of requests that link objects: what shows the links says nothing against it, unless others changed them later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_core.uow import UnitOfWork
from netinv_core.write import save
from netinv_core.write.delete import delete
from netinv_testing import Service

CHANGES, SITES = "/api/extras/object-changes/", "/api/dcim/sites/"
SITE, ASSOCIATION = "dcim.site", "extras.relationshipassociation"
TYPES = ("one-to-one", "one-to-many", "many-to-many", "symmetric-one-to-one", "symmetric-many-to-many")


class Request:
    """The writes of one request."""

    def __init__(self, uow: UnitOfWork) -> None:
        self.uow, self.id = uow, str(uow.request_id)

    def create(self, label: str, /, **body: Any) -> str:
        """The id of a new object."""
        (made,) = save.create(self.uow, self.uow.registry[label], [body])
        return str(made["id"])

    def update(self, label: str, key: str, /, **body: Any) -> None:
        """Changes an object."""
        save.update(self.uow, self.uow.registry[label], [{"id": key, **body}], partial=True)

    def delete(self, label: str, key: str) -> None:
        """Deletes an object."""
        delete(self.uow, self.uow.registry[label], [{"id": key}])


class Inventory:
    """Objects that are there before a request: three sites, the first two of which are associated."""

    def __init__(self, service: Service) -> None:
        self.service, self.api, self.unique = service, service.api, service.unique
        self.sites = [self.site() for _ in range(3)]
        self.tag = self.api.post("/api/extras/tags/", tag_body(self.unique()))["id"]
        self.slug = self.unique()
        self.relationship = self.relate("many-to-many", self.slug)
        self.associated = self.associate(*self.sites[:2])

    def site(self) -> str:
        """A site."""
        return str(self.api.post(SITES, {"name": self.unique(), "status": "active"})["id"])

    def relate(self, kind: str, slug: str) -> str:
        """A relationship of sites."""
        return str(self.api.post("/api/extras/relationships/", relationship(kind, slug))["id"])

    def associate(self, source: str, destination: str) -> str:
        """An association."""
        body = association(self.relationship, source, destination)
        return str(self.api.post("/api/extras/relationship-associations/", body)["id"])

    def body(self, **more: Any) -> dict[str, Any]:
        """The body of a new site."""
        return {"name": self.unique(), "status": "active", **more}

    def with_others(self, *keys: str, side: str = "destination") -> dict[str, Any]:
        """The field of a site that is associated with others."""
        return {"relationships": {self.slug: {side: {"objects": list(keys)}}}}

    def state(self) -> list[Any]:
        """The sites and the associations that there are."""
        sites = self.api.get(SITES, {"include": "relationships", "limit": 0})["results"]
        ends = self.api.get("/api/extras/relationship-associations/", {"limit": 0})["results"]
        return sorted((without_times(item) for item in (*sites, *ends)), key=lambda item: str(item["id"]))

    def undo(self, request: str, status: int = 200) -> Any:
        """Undoes all changes of a request."""
        change = self.api.get(CHANGES, {"request_id": request, "limit": 1})["results"][0]
        return self.api.post(f"{CHANGES}{change['id']}/revert/", status=status, query={"request": "true"})


def without_times(value: Any) -> Any:
    """A representation without the times of the last changes, those of nested objects included."""
    if isinstance(value, dict):
        return {name: without_times(item) for name, item in value.items() if name != "last_updated"}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def tag_body(name: str) -> dict[str, Any]:
    """A body of a tag of sites."""
    return {"name": name, "slug": name, "content_types": [SITE]}


def relationship(kind: str, slug: str) -> dict[str, Any]:
    """A body of a relationship of sites."""
    return {"name": slug, "slug": slug, "type": kind, "source_type": SITE, "destination_type": SITE}


def association(relationship: str, source: str, destination: str) -> dict[str, Any]:
    """A body of an association of sites."""
    ends = {"source_type": SITE, "source_id": source, "destination_type": SITE, "destination_id": destination}
    return {"relationship": relationship, **ends}


@pytest.fixture
def there(service: Service) -> Inventory:
    """Sites and associations of the service, and how they are made."""
    return Inventory(service)


Case = Callable[[Inventory, Request], None]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    """Adds a case to the table, by its name."""
    CASES[function.__name__] = function
    return function


def _of_type(kind: str) -> Case:
    def of_type(there: Inventory, request: Request) -> None:
        slug = there.unique()
        sites = [request.create(SITE, **there.body()) for _ in range(2)]
        made = request.create("extras.relationship", **relationship(kind, slug))
        request.create(ASSOCIATION, **association(made, *sites))

    return of_type


CASES |= {kind: _of_type(kind) for kind in TYPES}


@case
def of_a_new_and_an_old_object(there: Inventory, request: Request) -> None:
    new = request.create(SITE, **there.body())
    request.create(ASSOCIATION, **association(there.relationship, there.sites[0], new))
    request.create(ASSOCIATION, **association(there.relationship, new, there.sites[1]))


@case
def by_the_field_of_new_objects(there: Inventory, request: Request) -> None:
    first = request.create(SITE, **there.body(**there.with_others(there.sites[0])))
    second = request.create(SITE, **there.body())
    request.update(SITE, second, **there.with_others(first, there.sites[1]))


@case
def by_the_field_and_by_an_association(there: Inventory, request: Request) -> None:
    request.update(SITE, there.sites[0], description="x", **there.with_others(there.sites[1]))
    request.create(ASSOCIATION, **association(there.relationship, there.sites[0], there.sites[2]))


@case
def in_place_of_another(there: Inventory, request: Request) -> None:
    request.delete(ASSOCIATION, there.associated)
    request.update(SITE, there.sites[0], **there.with_others(there.sites[2]))


@case
def moved_by_the_field(there: Inventory, request: Request) -> None:
    request.update(SITE, there.sites[0], description="moved", **there.with_others(there.sites[2]))


@case
def moved_from_the_other_end(there: Inventory, request: Request) -> None:
    request.update(SITE, there.sites[1], **there.with_others(side="source"))
    request.update(SITE, there.sites[2], **there.with_others(there.sites[0], side="source"))


@case
def deleted_after_a_change_of_the_object(there: Inventory, request: Request) -> None:
    request.update(SITE, there.sites[0], **there.with_others(there.sites[1], there.sites[2]))
    request.delete(ASSOCIATION, there.associated)


@case
def made_and_deleted_after_the_object(there: Inventory, request: Request) -> None:
    new = request.create(SITE, **there.body(**there.with_others(there.sites[0])))
    request.update(SITE, there.sites[0], **there.with_others(side="source"))
    request.update(SITE, new, description="alone")


@case
def with_an_object_that_is_deleted(there: Inventory, request: Request) -> None:
    request.update(SITE, there.sites[0], description="x", **there.with_others(there.sites[2]))
    request.delete(SITE, there.sites[1])


@case
def tags(there: Inventory, request: Request) -> None:
    tag = request.create("extras.tag", **tag_body(there.unique()))
    first = request.create(SITE, **there.body(tags=[there.tag]))
    request.update(SITE, first, tags=[tag, there.tag])
    request.update(SITE, there.sites[0], tags=[tag])


@case
def deleted_tags(there: Inventory, request: Request) -> None:
    tag = request.create("extras.tag", **tag_body(there.unique()))
    new = request.create(SITE, **there.body(tags=[tag, there.tag]))
    request.update(SITE, there.sites[0], tags=[there.tag])
    request.delete("extras.tag", tag)
    request.update(SITE, new, description="x")


@case
def custom_fields(there: Inventory, request: Request) -> None:
    slug = there.unique().replace("-", "_")
    first = request.create(SITE, **there.body())
    request.create("extras.customfield", slug=slug, label=slug, type="text", content_types=[SITE], default="new")
    request.create(SITE, **there.body(custom_fields={slug: "b"}))
    for key in (first, there.sites[0]):
        request.update(SITE, key, custom_fields={slug: "a"})


@case
def children_and_parents(there: Inventory, request: Request) -> None:
    top = request.create("dcim.region", name=there.unique())
    low = request.create("dcim.region", name=there.unique(), parent=top)
    request.create("dcim.region", name=there.unique(), parent=low)
    other = request.create("dcim.region", name=there.unique())
    request.update("dcim.region", low, parent=other)
    request.update(SITE, there.sites[0], region=low)


@case
def addresses_cables_and_lists(there: Inventory, request: Request) -> None:
    name = there.unique
    maker = request.create("dcim.manufacturer", name=name())
    kind = request.create("dcim.devicetype", manufacturer=maker, model=name())
    role = request.create("dcim.devicerole", name=name())
    body = {"device_type": kind, "device_role": role, "site": there.sites[0], "status": "active"}
    devices = [request.create("dcim.device", name=name(), **body) for _ in range(2)]
    port = {"type": "1000base-t", "status": "active"}
    ports = [request.create("dcim.interface", device=device, name="e0", **port) for device in devices]
    lag = request.create("dcim.interface", device=devices[0], name="ae0", type="lag", status="active")
    vlan = request.create("ipam.vlan", name=name(), vid=7, status="active", site=there.sites[0])
    request.update("dcim.interface", ports[0], mode="tagged", tagged_vlans=[vlan], lag=lag)
    at = {"assigned_object_type": "dcim.interface", "assigned_object_id": ports[0]}
    address = request.create("ipam.ipaddress", address="192.0.2.77/32", status="active", **at)
    request.update("dcim.device", devices[0], primary_ip4=address)
    ends = {
        f"termination_{end}_{part}": value
        for end, key in zip("ab", ports, strict=True)
        for part, value in (("type", "dcim.interface"), ("id", key))
    }
    request.create("dcim.cable", status="connected", **ends)
    request.create("dcim.virtualchassis", name=name(), master=devices[0])
    request.create("dcim.inventoryitem", device=devices[0], name="module")
    targets = [request.create("ipam.routetarget", name=name()) for _ in range(2)]
    vrf = request.create("ipam.vrf", name=name(), import_targets=targets[:1])
    request.update("ipam.vrf", vrf, export_targets=targets)


@pytest.mark.parametrize("name", CASES)
def test_a_request_that_links_objects_is_undone_as_a_whole_and_made_again(there: Inventory, name: str) -> None:
    before = there.state()
    with there.service.unit_of_work() as uow:
        request = Request(uow)
        CASES[name](there, request)
    after = there.state()
    undone = there.undo(request.id)["request_id"]
    assert there.state() == before
    there.undo(undone)
    assert there.state() == after or name == "custom_fields"  # the log does not have values of a deleted field


@pytest.mark.parametrize("by_field", [True, False])
def test_an_association_of_a_later_request_stands_against_the_undo(there: Inventory, by_field: bool) -> None:
    with there.service.unit_of_work() as uow:
        request = Request(uow)
        first, second = (request.create(SITE, **there.body()) for _ in range(2))
        request.create(ASSOCIATION, **association(there.relationship, first, second))
    if by_field:
        there.api.patch(f"{SITES}{first}/", there.with_others(second, there.sites[0]))
    else:
        later = there.associate(first, there.sites[0])
    (refused,) = there.undo(request.id, status=409)["objects"]
    assert refused["changed_object_id"] == first
    assert [reason["field"] for reason in refused["reasons"]] == ["relationships"]
    if by_field:
        there.api.patch(f"{SITES}{first}/", there.with_others(second))
    else:
        there.api.delete(f"/api/extras/relationship-associations/{later}/")
    there.undo(request.id)


def test_an_association_that_was_deleted_later_stands_against_the_undo(there: Inventory) -> None:
    with there.service.unit_of_work() as uow:
        request = Request(uow)
        first, second = (request.create(SITE, **there.body()) for _ in range(2))
        made = request.create(ASSOCIATION, **association(there.relationship, first, second))
    there.api.delete(f"/api/extras/relationship-associations/{made}/")
    refused = there.undo(request.id, status=409)["objects"]
    assert made in [item["changed_object_id"] for item in refused]
