"""The specification's sections "VLAN", "Site", "Relationships" and "Other resources", one test for each sentence."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Case, Service, Unique

VLANS, SITES, RELATIONSHIPS = "/api/ipam/vlans/", "/api/dcim/sites/", "/api/extras/relationships/"
TENANTS, GROUPS = "/api/tenancy/tenants/", "/api/tenancy/tenant-groups/"


@pytest.fixture
def post_vlan(api: Api, unique: Unique) -> Any:
    """``post_vlan(…)``: a new VLAN."""

    def post(**members: Any) -> Any:
        return api.post(VLANS, {"vid": 5, "name": unique(), "status": "active", **members})

    return post


# -- VLAN


@pytest.mark.parametrize(
    ("field", "path", "members"),
    [
        ("site", SITES, {"status": "active"}),
        ("group", "/api/ipam/vlan-groups/", {}),
        ("tenant", TENANTS, {}),
        ("role", "/api/ipam/roles/", {}),
    ],
)
def test_a_reference_of_a_vlan_is_nested_or_null(
    post_vlan: Any, make: Any, field: str, path: str, members: Any
) -> None:
    """VLAN: `site` (nested or null), `group` (nested VLAN group or null), `tenant`, `role` (nested or null). The VLAN
    group path is /api/ipam/vlan-groups/; roles are under /api/ipam/roles/.
    """
    assert post_vlan()[field] is None
    target = make(path, **members)
    nested = post_vlan(**{field: target["id"]})[field]
    assert [nested[name] for name in ("id", "url", "name")] == [target[name] for name in ("id", "url", "name")]


@pytest.mark.parametrize("vid", [1, 4094])
def test_the_vid_of_a_vlan_is_an_integer(api: Api, post_vlan: Any, vid: int) -> None:
    """VLAN: `vid` (integer)."""
    assert api.get(post_vlan(vid=vid)["url"])["vid"] == vid
    assert "vid" in api.patch(post_vlan()["url"], {"vid": "many"}, status=400)


def test_a_vlan_has_a_name_a_description_and_a_display(api: Api, post_vlan: Any, unique: Unique) -> None:
    """VLAN: `name` (string), `description`, `display`."""
    name = unique()
    shown = api.get(post_vlan(name=name, description="of the test")["url"])
    assert (shown["name"], shown["description"]) == (name, "of the test")
    assert name in shown["display"]


def test_the_status_of_a_vlan_is_value_and_label(post_vlan: Any) -> None:
    """VLAN: `status` ({value, label})."""
    assert post_vlan(status="reserved")["status"] == {"value": "reserved", "label": "Reserved"}


@pytest.mark.parametrize("label", ["ipam.vlan", "dcim.site"])
def test_an_object_has_custom_fields(service: Service, unique: Unique, label: str) -> None:
    """VLAN: `custom_fields`. Site: `custom_fields`."""
    name, api = unique(), service.api
    body = {"name": name, "slug": name, "label": name, "type": "integer", "content_types": [label]}
    field = api.post("/api/extras/custom-fields/", body)
    try:
        made = Case(service, label).make(custom_fields={name: 17})
        assert api.get(made["url"])["custom_fields"][name] == 17
    finally:
        api.delete(field["url"])


# -- Site


def test_a_site_has_id_url_name_slug_and_status(api: Api, unique: Unique) -> None:
    """Site: `id`, `url`, `name`, `slug`, `status`."""
    name, slug = unique(), unique()
    made = api.post(SITES, {"name": name, "slug": slug, "status": "planned"})
    shown = api.get(f"{SITES}{made['id']}/")
    assert (shown["id"], shown["url"]) == (made["id"], f"http://localhost{SITES}{made['id']}/")
    assert (shown["name"], shown["slug"], shown["status"]["value"]) == (name, slug, "planned")


@pytest.mark.parametrize("attribute", ["id", "name", "slug"])
def test_the_region_of_a_site_is_nested_and_may_be_given_by_attributes(make: Any, attribute: str) -> None:
    """Site: `region` (nested, may be given by attributes such as its name)."""
    region = make("/api/dcim/regions/")
    assert make(SITES, status="active")["region"] is None
    nested = make(SITES, status="active", region={attribute: region[attribute]})["region"]
    assert [nested[name] for name in ("id", "url", "name")] == [region[name] for name in ("id", "url", "name")]


# -- Relationships


@pytest.fixture
def relate(api: Api, unique: Unique) -> Any:
    """``relate(type)``: a new relationship of tenant groups with tenants; gone after the test."""
    made = []

    def post(kind: str) -> Any:
        slug = f"r_{unique()}"
        types = {"source_type": "tenancy.tenantgroup", "destination_type": "tenancy.tenant"}
        made.append(api.post(RELATIONSHIPS, {"name": slug.upper(), "slug": slug, "type": kind, **types}))
        return made[-1]

    yield post
    for relationship in made:
        api.delete(relationship["url"])


@pytest.mark.parametrize("kind", ["one-to-one", "one-to-many", "many-to-many"])
def test_a_relationship_definition_has_id_url_name_and_type(api: Api, relate: Any, kind: str) -> None:
    """Relationships: /api/extras/relationships/; fields `id`, `url`, `name`, `type` such as one-to-one,
    many-to-many.
    """
    made = relate(kind)
    shown = api.get(f"{RELATIONSHIPS}{made['id']}/")
    assert (shown["id"], shown["url"]) == (made["id"], f"http://localhost{RELATIONSHIPS}{made['id']}/")
    assert (shown["name"], shown["type"]) == (made["slug"].upper(), kind)


def test_objects_are_linked_by_a_relationship_whose_slug_is_the_key(api: Api, make: Any, relate: Any) -> None:
    """Relationships: objects can be linked by custom definitions; slug is the key in responses."""
    definition, group, tenant = relate("many-to-many"), make(GROUPS), make(TENANTS)
    body = {"relationship": definition["id"], "source_id": group["id"], "destination_id": tenant["id"]}
    types = {name: definition[name] for name in ("source_type", "destination_type")}
    api.post("/api/extras/relationship-associations/", body | types)
    for item, side, other in ((group, "destination", tenant), (tenant, "source", group)):
        shown = api.get(item["url"], {"include": "relationships"})["relationships"][definition["slug"]]
        assert [found["id"] for found in shown[side]["objects"]] == [other["id"]]


# -- Other resources


def test_jobs_are_listed(api: Api) -> None:
    """Other resources: jobs exist at /api/extras/jobs/."""
    page = api.get("/api/extras/jobs/")
    assert page["count"] >= 1
    job = page["results"][0]
    assert api.get(f"/api/extras/jobs/{job['id']}/")["url"] == job["url"]
