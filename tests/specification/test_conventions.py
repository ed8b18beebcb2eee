"""The specification's section "Conventions common to all objects", one test for each sentence and row."""

from __future__ import annotations

import datetime
import uuid
from typing import Any

import pytest

from netinv_testing import Api, Case, Service, Unique

MODELS = ("dcim.site", "dcim.rack", "dcim.device", "ipam.prefix", "ipam.ipaddress", "ipam.vlan", "tenancy.tenant")
SITES, RACKS, TENANTS = "/api/dcim/sites/", "/api/dcim/racks/", "/api/tenancy/tenants/"
VLANS, PREFIXES, ADDRESSES = "/api/ipam/vlans/", "/api/ipam/prefixes/", "/api/ipam/ip-addresses/"


@pytest.fixture
def site(make: Any) -> Any:
    """A site of the test's own."""
    return make(SITES, status="active")


# -- Rows of the table


@pytest.mark.parametrize("label", MODELS)
def test_id_is_a_unique_uuid_that_addresses_the_object(service: Service, label: str) -> None:
    """`id`: UUID string; primary key, unique; objects are addressed by it."""
    case = Case(service, label)
    made = case.make_many(2)
    assert len({str(uuid.UUID(item["id"])) for item in made}) == 2
    assert [service.api.get(f"{case.path}{item['id']}/")["display"] for item in made] == [
        item["display"] for item in made
    ]


@pytest.mark.parametrize("label", MODELS)
def test_url_is_the_absolute_detail_address(service: Service, label: str) -> None:
    """`url`: string, absolute URL; detail address of the object."""
    case = Case(service, label)
    made = case.make()
    assert made["url"] == f"http://localhost{case.path}{made['id']}/"
    assert service.api.get(made["url"])["id"] == made["id"]


@pytest.mark.parametrize("label", MODELS)
def test_display_is_a_human_readable_label(service: Service, label: str) -> None:
    """`display`: string; human-readable label."""
    case = Case(service, label)
    display = case.make()["display"]
    assert isinstance(display, str) and display.strip()


def test_display_says_the_name_of_the_object(make: Any) -> None:
    """`display`: human-readable label: of a named object it is the name."""
    tenant = make(TENANTS)
    assert tenant["display"] == tenant["name"]


@pytest.mark.parametrize("label", MODELS)
def test_created_is_a_date(service: Service, label: str) -> None:
    """`created`: date, YYYY-MM-DD."""
    before = datetime.datetime.now(datetime.UTC).date()
    created = Case(service, label).make()["created"]
    assert before <= datetime.date.fromisoformat(created) <= datetime.datetime.now(datetime.UTC).date()
    assert len(created) == len("YYYY-MM-DD")


@pytest.mark.parametrize("label", MODELS)
def test_last_updated_is_an_iso_datetime_in_utc(service: Service, label: str) -> None:
    """`last_updated`: datetime, ISO 8601, UTC."""
    before = datetime.datetime.now(datetime.UTC)
    written = Case(service, label).make()["last_updated"]
    assert written.endswith("Z")
    assert before <= datetime.datetime.fromisoformat(written) <= datetime.datetime.now(datetime.UTC)


def test_tags_are_a_list_of_the_tags_applied(api: Api, make: Any) -> None:
    """`tags`: list; tags applied to the object."""
    tags = [make("/api/extras/tags/", content_types=["tenancy.tenant"]) for _ in range(2)]
    assert make(TENANTS)["tags"] == []
    tagged = make(TENANTS, tags=[{"slug": tag["slug"]} for tag in tags])
    assert sorted(tag["id"] for tag in api.get(tagged["url"])["tags"]) == sorted(tag["id"] for tag in tags)


def test_custom_fields_are_keyed_by_custom_field_name(api: Api, make: Any, unique: Unique) -> None:
    """`custom_fields`: object; custom field values keyed by custom field name."""
    name = unique()
    body = {"name": name, "slug": name, "label": name, "type": "text", "content_types": ["tenancy.tenant"]}
    field = api.post("/api/extras/custom-fields/", body)
    try:
        tenant = make(TENANTS, custom_fields={name: "a value"})
        assert api.get(tenant["url"])["custom_fields"][name] == "a value"
    finally:
        api.delete(field["url"])


# -- Choice fields


def test_a_choice_is_returned_as_an_object_of_value_and_label(site: Any, make: Any) -> None:
    """Choice fields (e.g. `status`, `family`) are returned as an object {value, label}."""
    assert site["status"] == {"value": "active", "label": "Active"}
    rack = make(RACKS, site=site["id"], status="active")
    assert rack["width"] == {"value": 19, "label": "19 inches"}


@pytest.mark.parametrize(("network", "value"), [("10.9.0.0/16", 4), ("IPv6", 6)])
def test_the_family_is_returned_as_value_and_label(api: Api, unique: Unique, network: str, value: int) -> None:
    """Choice fields (e.g. `status`, `family`) are returned as an object {value, label}."""
    prefix = network if value == 4 else f"{unique.ipv6()}::/48"
    vrf = api.post("/api/ipam/vrfs/", {"name": unique()})
    made = api.post(PREFIXES, {"prefix": prefix, "vrf": vrf["id"]})
    assert made["family"] == {"value": value, "label": f"IPv{value}"}


def test_a_choice_is_written_as_its_plain_value(api: Api, site: Any) -> None:
    """On write, a choice is given as its plain value."""
    api.patch(site["url"], {"status": "planned"})
    assert api.get(site["url"])["status"] == {"value": "planned", "label": "Planned"}
    assert "status" in api.patch(site["url"], {"status": "no such value"}, status=400)


# -- Representations


def test_the_base_representation_has_stored_fields_and_parents_but_no_children(api: Api, make: Any) -> None:
    """The full representation contains all stored fields and nested parent objects, not child objects: a VLAN
    includes its parent VLAN group but not its prefixes.
    """
    group = make("/api/ipam/vlan-groups/")
    given = {"vid": 12, "status": "active", "description": "of the test"}
    vlan = api.post(VLANS, {"name": group["name"], "group": group["id"], **given})
    prefix = api.post(PREFIXES, {"prefix": "10.8.0.0/16", "vlan": vlan["id"], "vrf": vrf_of(api, group["name"])})
    shown = api.get(vlan["url"])
    assert (shown["vid"], shown["name"], shown["description"]) == (12, group["name"], "of the test")
    assert shown["group"]["id"] == group["id"]
    assert "prefixes" not in shown and prefix["id"] not in str(shown)


def vrf_of(api: Api, name: str) -> str:
    """The id of a new VRF, so that networks of other tests are no duplicates."""
    return str(api.post("/api/ipam/vrfs/", {"name": name})["id"])


def test_a_related_object_is_nested_with_what_identifies_it(site: Any, make: Any) -> None:
    """A foreign key is returned as a nested representation: `id`, `url`, and typically `name` and `slug`."""
    nested = make(RACKS, site=site["id"], status="active")["site"]
    assert {name: nested[name] for name in ("id", "url", "name", "slug")} == {
        name: site[name] for name in ("id", "url", "name", "slug")
    }


def test_a_nested_device_has_name_and_display(service: Service, unique: Unique) -> None:
    """A nested representation of a device has `name` and `display`."""
    device = Case(service, "dcim.device").make(name=unique())
    nested = Case(service, "dcim.interface").make(device=device["id"])["device"]
    assert {name: nested[name] for name in ("id", "url", "name", "display")} == {
        name: device[name] for name in ("id", "url", "name", "display")
    }
    assert nested["name"] is not None


# -- Writing related objects


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
@pytest.mark.parametrize("way", ["key", "attributes"])
def test_a_related_object_is_given_by_key_or_by_attributes(
    api: Api, site: Any, make: Any, method: str, way: str
) -> None:
    """On POST, PUT and PATCH, a related object is given by its primary key, or by attributes that identify it."""
    other = make(SITES, status="active")
    given = other["id"] if way == "key" else {"name": other["name"]}
    body = {"name": site["name"], "status": "active", "site": given}
    if method == "POST":
        rack = api.post(RACKS, body)
    else:
        rack = make(RACKS, site=site["id"], status="active")
        api.send(method, rack["url"], body if method == "PUT" else {"site": given}, status=200)
    assert api.get(rack["url"])["site"]["id"] == other["id"]


def test_attributes_may_hold_a_nested_object(service: Service, site: Any, unique: Unique) -> None:
    """A rack is given by its name plus a nested site identified by its name."""
    api, other = service.api, service.api.post(SITES, {"name": unique(), "status": "active"})
    racks = [api.post(RACKS, {"name": "R1", "site": place["id"], "status": "active"}) for place in (site, other)]
    given = {"name": "R1", "site": {"name": other["name"]}}
    device = Case(service, "dcim.device").make(site=other["id"], rack=given)
    assert device["rack"]["id"] == racks[1]["id"]


def test_attributes_that_match_no_object_are_a_validation_error(api: Api, unique: Unique) -> None:
    """When the attributes do not match exactly one object, a validation error is raised: none matches."""
    body = {"name": unique(), "status": "active", "site": {"name": unique()}}
    assert "site" in api.post(RACKS, body, status=400)
    assert api.get(RACKS, {"name": body["name"]})["count"] == 0


def test_attributes_that_match_several_objects_are_a_validation_error(api: Api, make: Any, unique: Unique) -> None:
    """When the attributes do not match exactly one object, a validation error is raised: two match."""
    facility = unique()
    for _ in range(2):
        make(SITES, status="active", facility=facility)
    body = {"name": facility, "status": "active", "site": {"facility": facility}}
    assert "site" in api.post(RACKS, body, status=400)
    assert api.get(RACKS, {"name": facility})["count"] == 0


# -- Generic relations


@pytest.mark.parametrize("label", ["dcim.interface", "virtualization.vminterface"])
def test_a_generic_relation_is_written_by_type_and_id_and_returned_resolved(
    service: Service, unique: Unique, label: str
) -> None:
    """Generic relations are written with `assigned_object_type` and `assigned_object_id`; the resolved object is
    returned in `assigned_object`.
    """
    target = Case(service, label).make()
    given = {"assigned_object_type": label, "assigned_object_id": target["id"]}
    made = service.api.post(ADDRESSES, {"address": f"{unique.ipv6()}::1/64", "status": "active", **given})
    shown = service.api.get(made["url"])
    assert (shown["assigned_object_type"], shown["assigned_object_id"]) == (label, target["id"])
    assert (shown["assigned_object"]["id"], shown["assigned_object"]["url"]) == (target["id"], target["url"])
    assert shown["assigned_object"]["name"] == target["name"]
